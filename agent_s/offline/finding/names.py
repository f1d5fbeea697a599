"""Similarity of names in instructions and names on the screen."""

from __future__ import annotations

import re

from intents.lexicon import small_words

_FUZZY = 87.0
_SIGNS = {"×": "*", "x": "*", "X": "*", "⋅": "*", "÷": "/", "∕": "/", "−": "-", "–": "-", "—": "-", "✕": "x", "✖": "x"}


def name_score(wanted: str, name: str) -> tuple[float, str]:
    """Compare a name in an instruction with one on the screen: exactly, without case or marks, by words, by spelling.

    Returns:
        A score from 0 to 100, and the reason.
    """
    if not wanted or not name:
        return 0.0, ""
    if wanted == name:
        return 100.0, "the exact name"
    if wanted.casefold() == name.casefold():
        return 98.0, "the name in another case"
    one, other = normalize(wanted), normalize(name)
    if not one or not other:
        return 0.0, ""
    if len(wanted) == len(name) == 1 and _SIGNS.get(wanted, wanted) == _SIGNS.get(name, name):
        return 95.0, "another sign for the same"
    if one == other:
        return 96.0, "the name without marks"
    words, names = one.split(), other.split()
    if _holds(names, words):
        share = len(one) / len(other)
        bonus = 4 if names[: len(words)] == words else 0
        return 66.0 + 18 * share + bonus, "words of the name"
    small = small_words()
    if [word for word in words if word not in small] == [word for word in names if word not in small]:
        return 92.0, "the name without small words"
    return _alike(one, other)


def normalize(text: str) -> str:
    """Normalize a name: remove case, punctuation at its ends, mnemonics and shortcuts."""
    said = text.strip()
    text = text.casefold().replace("&", " and ").replace("’", "'").replace("…", "...")
    text = re.sub(r"\t.*$|\s\(?(?:ctrl|alt|shift)\+\S+\)?$|(?<=\w)\s*\[[^\]]{1,20}\]$", "", text)
    text = re.sub(r"(?<=\w)_(?=\w)|^_(?=\w)", "", text) if text.count("_") == 1 else text
    text = re.sub(r"[\s/|,;‐-―−-]+", " ", text)
    bare = text.strip(" .:*?!\"'()[]{}<>")
    return bare or text.strip() or said


def _alike(one: str, other: str) -> tuple[float, str]:
    """Compare names that may contain typing errors; numbers must agree."""
    from rapidfuzz import fuzz
    from rapidfuzz.distance import OSA

    shorter = min(len(one), len(other))
    if shorter < 4 or re.findall(r"\d+", one) != re.findall(r"\d+", other):
        return 0.0, ""
    ratio = max(fuzz.ratio(one, other), fuzz.ratio(one.replace(" ", ""), other.replace(" ", "")) - 1)
    if ratio >= _FUZZY:
        return 60.0 + (ratio - _FUZZY) * 1.6, "a name spelled alike"
    slip = shorter >= 6 and OSA.distance(one, other, score_cutoff=1) <= 1
    return (64.0, "a name with a slip in it") if slip else (0.0, "")


def _holds(names: list[str], words: list[str]) -> bool:
    length = len(words)
    return any(names[start : start + length] == words for start in range(len(names) - length + 1))
