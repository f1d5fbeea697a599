"""Words that others wrote, kept out of memory: what a screen or the web said never becomes an instruction.

A summary is written by a model that has read the screen, so that a text there may talk it into writing down what to do
at the next task. Whatever repeats such a text word for word is left out of what is stored, and so are calls of
primitives. Words that merely mean the same are not found: experience stays marked as coming from a screen, is given to
models as data, and what is done because of it is decided by the policy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from aci.observation.observation import Observation

RUN = 6
"""So many words in a row, as they stood outside, are a quotation; names of elements and menus are shorter."""
MARK = "[...]"
"""Stands where words were left out."""

_WORD = re.compile(r"\w+")
_CALL = re.compile(r"""agent\s*\.\s*\w+\s*\([^()\n]*\)?|\{\s*["']action["'].*?\}""", re.DOTALL)


class Outside:
    """Remembers what screens and the web said during a run, and leaves it out of texts.

    Args:
        own: What the person wrote, which may be repeated.
    """

    def __init__(self, own: str) -> None:
        self._own = _runs(_words(own))
        self._texts: dict[str, None] = {}
        self._runs: set[tuple[str, ...]] = set()

    def heed(self, seen: Observation) -> None:
        """Remember the words of a screen that was looked at."""
        elements = ((element.name, element.text, element.label, element.description) for element in seen.elements)
        titles = [window.title for window in seen.windows]
        self.note([*titles, *(text for told in elements for text in told if text)])

    def note(self, texts: Iterable[str]) -> None:
        """Remember texts from outside, in the order in which they are read."""
        self._texts["\n".join(texts)] = None

    def quoted_in(self, text: str) -> bool:
        """Tell whether a text repeats words from outside, or holds a call of a primitive."""
        return self.left_out_of(text) != text

    def left_out_of(self, text: str) -> str:
        """Return a text with a mark in place of what it quotes from outside."""
        self._read()
        text = _CALL.sub(MARK, text)
        found = list(_WORD.finditer(text))
        words = [match[0].casefold() for match in found]
        runs = enumerate(zip(*(words[shift:] for shift in range(RUN)), strict=False))
        quoted = [number for number, run in runs if run in self._runs and run not in self._own]
        for first, last in reversed(_spans(quoted)):
            text = f"{text[: found[first].start()]}{MARK}{text[found[last].end() :]}"
        return text

    def _read(self) -> None:
        """Read what was noted since, only now that it is needed."""
        for text in self._texts:
            self._runs |= _runs(_words(text))
        self._texts.clear()


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _runs(words: list[str]) -> set[tuple[str, ...]]:
    return set(zip(*(words[shift:] for shift in range(RUN)), strict=False))


def _spans(starts: list[int]) -> list[tuple[int, int]]:
    """Return the first and the last word of each stretch that runs cover, which may overlap."""
    spans: list[tuple[int, int]] = []
    for start in starts:
        if spans and start <= spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], start + RUN - 1)
        else:
            spans.append((start, start + RUN - 1))
    return spans
