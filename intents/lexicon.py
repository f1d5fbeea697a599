"""Word forms: stems, base forms of verbs, number words, and content words."""

from __future__ import annotations

import re
from functools import lru_cache

import Stemmer

from intents.tables import table, words

_WORD = re.compile(r"\w+(?:[-+.]\w+)*")
_VERB = re.compile(r"[A-Za-z][A-Za-z-]*(?![\w'])")


@lru_cache(maxsize=1)
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("porter")


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return the stem of an English word, by the Porter algorithm; the word itself where that takes it for another."""
    if word in words("words", "apart"):
        return word
    stemmed: str = _stemmer().stemWord(word)
    return stemmed


@lru_cache(maxsize=16_384)
def stems(text: str) -> frozenset[str]:
    """Return the stems of the content words of a text."""
    return frozenset(map(stem, content_words(text)))


def content_words(text: str) -> list[str]:
    """Return the content words of a text in order, without duplicates, in lower case."""
    found = (word.casefold() for word in _WORD.findall(text))
    return list(dict.fromkeys(word for word in found if word not in fillers()))


def fillers() -> frozenset[str]:
    """Return the stop words."""
    return words("words", "fillers")


def small_words() -> frozenset[str]:
    """Return the words in which a name on the screen and the same name in an instruction may differ."""
    return words("words", "small")


def on_or_off(word: str) -> bool | None:
    """Return whether a word such as "ticked" means on or off; None if it means neither."""
    lowered = word.strip().casefold()
    negated, plain = lowered.startswith("not "), lowered.removeprefix("not ")
    if plain in words("words", "states_on"):
        return not negated
    return False if lowered in words("words", "states_off") else None


@lru_cache(maxsize=1)
def _verbs_by_stem() -> dict[str, str]:
    return {stem(verb): verb for verb in sorted(words("verbs", "commands"), key=len, reverse=True)}


@lru_cache(maxsize=4096)
def base_form(word: str) -> str:
    """Return the base form of a verb's "-ing" form, "click" for "clicking"; any other word in lower case."""
    lowered = word.casefold()
    if lowered.endswith("ing") and lowered not in words("verbs", "commands"):
        return _verbs_by_stem().get(stem(lowered), lowered)
    return lowered


def first_verb(text: str, start: int = 0) -> str:
    """Return the base form of the verb that a text begins with; empty if it does not begin with one."""
    match = _VERB.match(text, start)
    word = base_form(match[0]) if match else ""
    return word if word in words("verbs", "commands") else ""


@lru_cache(maxsize=1)
def _numbers() -> tuple[dict[str, int], dict[str, int]]:
    cardinals, ordinals = table("words")["numbers"], table("words")["ordinals"]
    return (
        {word: int(number) for number, group in cardinals.items() for word in group.split()},
        {word: int(number) for number, group in ordinals.items() for word in group.split()},
    )


def read_number(word: str) -> int | None:
    """Parse a whole number in digits or words."""
    lowered = word.strip().casefold()
    if lowered.isascii() and lowered.isdigit() and len(lowered) < 8:
        return int(lowered)
    return _numbers()[0].get(lowered)


def read_ordinal(word: str) -> int | None:
    """Parse an ordinal such as "second", "2nd" or "#2"; -1 means the last."""
    lowered = word.casefold()
    if match := re.fullmatch(r"(\d{1,4})(?:st|nd|rd|th)|#(\d{1,4})", lowered):
        return int(match[1] or match[2])
    return _numbers()[1].get(lowered)
