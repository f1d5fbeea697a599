"""Lists of words, written as text."""

from __future__ import annotations

from collections.abc import Iterator


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text that lists them, divided by white space."""
    return frozenset(text.split())


def lines(text: str) -> Iterator[str]:
    """Yield the lines of a text that lists something; an indented line goes on with the one before."""
    yield from text.strip().replace("\n ", " ").splitlines()
