"""Redaction of untrusted text, so that text from a screen or the web never becomes a stored instruction.

Summaries are written by a model that has read the screen, so a text there may induce it to store an instruction for the
next task (prompt injection). Therefore verbatim repetitions of such text, and calls of primitives, are removed before
storing, and so are quotations of a part of a text, such as a command from a page; names of elements stay. Paraphrases
are not detected. Hence experience stays marked as coming from a screen, models get it as data, and the policy decides
which resulting actions are allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from aci.observation.observation import Observation

QUOTE_WORDS = 6  # number of consecutive words that make a quotation; names of elements and menus are shorter
REDACTED = "[...]"

_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"""(?<=["“])[^"“”\n]+(?=["”])""")
_CALL = re.compile(r"""agent\s*\.\s*\w+\s*\([^()\n]*\)?|\{\s*["']action["'].*?\}""", re.DOTALL)


class UntrustedText:
    """Collects the text of screens and the web during a run, and redacts it.

    Args:
        trusted: The user's own words, which may be repeated.
    """

    def __init__(self, trusted: str) -> None:
        self._trusted = _sequences(_words(trusted))
        self._unread: dict[str, None] = {}
        self._sequences: set[tuple[str, ...]] = set()
        self._texts: set[str] = set()
        self._trusted_text = _spaced(trusted)

    def add_screen(self, seen: Observation) -> None:
        """Collect the text of a screen."""
        elements = ((element.name, element.text, element.label, element.description) for element in seen.elements)
        titles = [window.title for window in seen.windows]
        self.add([*titles, *(text for texts in elements for text in texts if text)])

    def add(self, texts: Iterable[str]) -> None:
        """Collect texts, in reading order."""
        joined = "\n".join(texts)
        if joined not in self._unread:
            self._unread[joined] = None
            self._texts.update(map(_spaced, joined.split("\n")))

    def is_quoted_in(self, text: str) -> bool:
        """Return whether a text repeats untrusted text at length, or contains a call of a primitive."""
        return self._without_repetitions(text) != text

    def redact(self, text: str) -> str:
        """Return a text with repetitions of untrusted text and calls of primitives replaced by a mark."""
        text = self._without_repetitions(text)
        return _QUOTED.sub(lambda match: REDACTED if self._is_part(match[0]) else match[0], text)

    def _without_repetitions(self, text: str) -> str:
        for unread in self._unread:
            self._sequences |= _sequences(_words(unread))
        self._unread.clear()
        text = _CALL.sub(REDACTED, text)
        found = list(_WORD.finditer(text))
        words = [match[0].casefold() for match in found]
        sequences = enumerate(zip(*(words[shift:] for shift in range(QUOTE_WORDS)), strict=False))
        quoted = [at for at, sequence in sequences if sequence in self._sequences and sequence not in self._trusted]
        for first, last in reversed(_spans(quoted)):
            text = f"{text[: found[first].start()]}{REDACTED}{text[found[last].end() :]}"
        return text

    def _is_part(self, quoted: str) -> bool:
        """Return whether several words are a proper part of an untrusted text, and not the user's own words."""
        spaced = _spaced(quoted)
        if len(spaced.split()) < 2 or spaced in self._texts or spaced in self._trusted_text:
            return False
        return any(spaced in text for text in self._texts)


def _spaced(text: str) -> str:
    """Return the words of a text, each between two blanks."""
    return f" {' '.join(_words(text))} "


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _sequences(words: list[str]) -> set[tuple[str, ...]]:
    return set(zip(*(words[shift:] for shift in range(QUOTE_WORDS)), strict=False))


def _spans(starts: list[int]) -> list[tuple[int, int]]:
    """Return the first and last word of each stretch that overlapping or adjacent quotations cover."""
    spans: list[tuple[int, int]] = []
    for start in starts:
        if spans and start <= spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], start + QUOTE_WORDS - 1)
        else:
            spans.append((start, start + QUOTE_WORDS - 1))
    return spans
