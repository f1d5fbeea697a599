"""Keys as people write them: "ctrl+s", "Control-Shift-T", "the down arrow", "page up"."""

from __future__ import annotations

import re

MODIFIERS = {
    "ctrl": "ctrl",
    "control": "ctrl",
    "ctl": "ctrl",
    "strg": "ctrl",
    "⌃": "ctrl",
    "alt": "alt",
    "option": "alt",
    "shift": "shift",
    "⇧": "shift",
    "super": "super",
    "win": "super",
    "windows": "super",
    "meta": "super",
    "cmd": "ctrl",
    "command": "ctrl",
    "⌘": "ctrl",
    "altgr": "altgr",
}
"""Canonical modifier by how it is written; the Mac's command key does here what control does."""

_NAMED = {
    "enter": "Return",
    "return": "Return",
    "tab": "Tab",
    "tabulator": "Tab",
    "esc": "Escape",
    "escape": "Escape",
    "space": "space",
    "spacebar": "space",
    "space bar": "space",
    "backspace": "BackSpace",
    "back space": "BackSpace",
    "delete": "Delete",
    "del": "Delete",
    "insert": "Insert",
    "ins": "Insert",
    "home": "Home",
    "end": "End",
    "page up": "Page_Up",
    "pageup": "Page_Up",
    "pgup": "Page_Up",
    "page down": "Page_Down",
    "pagedown": "Page_Down",
    "pgdn": "Page_Down",
    "pgdown": "Page_Down",
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
    "menu": "Menu",
    "context menu": "Menu",
    "caps lock": "Caps_Lock",
    "capslock": "Caps_Lock",
    "print screen": "Print",
    "printscreen": "Print",
    "plus": "plus",
    "minus": "minus",
    "dash": "minus",
    "hyphen": "minus",
    "comma": "comma",
    "period": "period",
    "dot": "period",
    "slash": "slash",
    "backslash": "backslash",
    "semicolon": "semicolon",
    "colon": "colon",
    "equals": "equal",
    "equal": "equal",
    "asterisk": "asterisk",
}
_SYMBOLS = {
    "+": "plus",
    "-": "minus",
    "*": "asterisk",
    "/": "slash",
    "=": "equal",
    ",": "comma",
    ".": "period",
    ";": "semicolon",
    ":": "colon",
    "%": "percent",
    "(": "parenleft",
    ")": "parenright",
    "↑": "Up",
    "↓": "Down",
    "←": "Left",
    "→": "Right",
    "⏎": "Return",
    "\\": "backslash",
    "^": "asciicircum",
    "!": "exclam",
    "?": "question",
    "#": "numbersign",
    "&": "ampersand",
    "@": "at",
    "'": "apostrophe",
    '"': "quotedbl",
    "[": "bracketleft",
    "]": "bracketright",
    "<": "less",
    ">": "greater",
    "_": "underscore",
    "$": "dollar",
    " ": "space",
}
_ARROW = re.compile(r"(up|down|left|right)[ -]?(?:arrow|cursor)|(?:arrow|cursor)[ -]?(up|down|left|right)")
_JOIN = re.compile(r"\s*\+\s*|(?<=\w)-(?=[\w+])|\s*\bplus\b\s*(?=\S)|\s+(?:and|with|,)?\s*")
_DECORATION = re.compile(r"\b(?:the|keys?|keyboard|shortcut|combination|combo|chord|hotkey|button)\b", re.IGNORECASE)

Chord = tuple[str, ...]
"""Keys pressed together, in the names that primitives use."""


def parse_key(word: str) -> str | None:
    """Return the name of one key that is no modifier; None where the word names none."""
    lowered = word.strip().casefold()
    if lowered in _NAMED:
        return _NAMED[lowered]
    if arrow := _ARROW.fullmatch(lowered):
        return (arrow[1] or arrow[2]).capitalize()
    if re.fullmatch(r"f([1-9]|1\d|2[0-4])", lowered):
        return lowered.upper()
    if len(word.strip()) == 1:
        symbol = word.strip()
        return _SYMBOLS.get(symbol, symbol.lower() if symbol.isalnum() else None)
    return None


def parse_chord(text: str) -> Chord | None:
    """Read one key or keys that are pressed together, such as "Ctrl+Shift+S"; None where it is neither."""
    words = _DECORATION.sub(" ", text).strip()
    if not words:
        return None
    if (key := parse_key(words)) is not None:
        return (key,)
    parts = [part for part in _JOIN.split(words) if part]
    if re.search(r"(?:\+\s*|\w\s+|\w-)[+-]$", words):
        parts = [part for part in _JOIN.split(words[:-1]) if part] + [words[-1]]
    return _chord_of(parts)


def parse_keys(text: str) -> tuple[Chord, ...] | None:
    """Read one or several chords, "ctrl+a, Delete" or "Tab and Enter"; None where a part is no key."""
    if (chord := parse_chord(text)) is not None:
        return (chord,)
    parts = [part for part in re.split(r"\s*,\s*(?:and\s+|then\s+)*|\s+(?:and\s+then|and|then)\s+", text) if part]
    if len(parts) < 2:
        parts = text.split()
    chords = tuple(parse_chord(part) for part in parts)
    return tuple(chord for chord in chords if chord) if chords and all(chords) else None


def show_chord(chord: Chord) -> str:
    """Write a chord as people do."""
    return "+".join(chord)


def _chord_of(parts: list[str]) -> Chord | None:
    """Read words as modifiers followed by one key, which may be named by two words."""
    modifiers: list[str] = []
    for position, part in enumerate(parts):
        modifier = MODIFIERS.get(part.casefold())
        if modifier is None:
            key = parse_key(" ".join(parts[position:]))
            return (*modifiers, key) if key and modifiers else None
        modifiers.append(modifier)
    return tuple(modifiers) or None
