"""The words of keys: which of them count, and what forms of a word have in common."""

from __future__ import annotations

import re
from functools import lru_cache

from memory_store.keys import FILLERS

_WORD = re.compile(r"\w+(?:[-+.]\w+)*")


def content_words(text: str) -> list[str]:
    """Return the words of a text that say what it is about, in order, each once, in lower case."""
    words = (word.casefold() for word in _WORD.findall(text))
    return list(dict.fromkeys(word for word in words if word not in FILLERS))


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return what forms of one English word have in common, roughly."""
    for ending, kept in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not (ending == "s" and word.endswith("ss")):
            word = word[: len(word) - len(ending)] + kept
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


@lru_cache(maxsize=16_384)
def stems(text: str) -> frozenset[str]:
    """Return the stems of the words that say what a text is about."""
    return frozenset(stem(word) for word in content_words(text))
