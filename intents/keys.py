"""Parsing of keys as people write them: "ctrl+s", "Control-Shift-T", "the down arrow", "page up"."""

from __future__ import annotations

import re
from functools import lru_cache

from intents.tables import pattern, table

Chord = tuple[str, ...]
"""Keys pressed together, in the names that actions use."""


@lru_cache(maxsize=1)
def _modifiers() -> dict[str, str]:
    return {word: name for name, spelled in table("keys")["modifiers"].items() for word in spelled.split()}


@lru_cache(maxsize=1)
def _keys() -> dict[str, str]:
    return {word: name for name, spelled in table("keys")["keys"].items() for word in spelled.split(", ")}


@lru_cache(maxsize=1)
def _signs() -> dict[str, str]:
    return {sign: name for name, signs in table("keys")["signs"].items() for sign in signs}


def is_modifier(word: str) -> bool:
    """Return whether a word is the name of a modifier key."""
    return word.strip().casefold() in _modifiers()


def parse_key(word: str) -> str | None:
    """Parse the name of one key that is not a modifier; None if the word names none."""
    stripped = word.strip()
    lowered = stripped.casefold()
    if lowered in _keys():
        return _keys()[lowered]
    if arrow := pattern("arrow").fullmatch(lowered):
        return (arrow[1] or arrow[2]).capitalize()
    if re.fullmatch(r"f([1-9]|1\d|2[0-4])", lowered):
        return lowered.upper()
    if len(stripped) == 1 or word == " ":
        return _signs().get(stripped or word, lowered if stripped.isalnum() else None)
    return None


def parse_chord(text: str) -> Chord | None:
    """Parse one key or a chord such as "Ctrl+Shift+S"; None if it is neither."""
    words = pattern("key_decoration").sub(" ", text).strip()
    if not words:
        return None
    if (key := parse_key(words)) is not None:
        return (key,)
    join = pattern("key_join")
    parts = [part for part in join.split(words) if part]
    if re.search(r"(?:\+\s*|\w\s+|\w-)[+-]$", words):
        parts = [part for part in join.split(words[:-1]) if part] + [words[-1]]
    modifiers: list[str] = []
    for position, part in enumerate(parts):
        modifier = _modifiers().get(part.casefold())
        if modifier is None:
            key = parse_key(" ".join(parts[position:]))
            return (*modifiers, key) if key and modifiers else None
        modifiers.append(modifier)
    return tuple(modifiers) or None


def parse_keys(text: str) -> tuple[Chord, ...] | None:
    """Parse one or several chords, such as "ctrl+a, Delete" or "Tab and Enter"; None if a part is not a key."""
    if (chord := parse_chord(text)) is not None:
        return (chord,)
    parts = [part for part in pattern("chords_join").split(text) if part]
    chords = tuple(parse_chord(part) for part in (parts if len(parts) > 1 else text.split()))
    return tuple(chord for chord in chords if chord) if chords and all(chords) else None
