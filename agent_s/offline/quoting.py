"""Quoted text: taken out before a sentence is split or parsed, so that its words are never read as instructions.

Each quoted text is replaced by a placeholder of three parts: an opening mark, its number, a closing mark. The marks are
private-use characters, which no instruction needs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

OPEN, CLOSE = "\ue000", "\ue001"
PLACEHOLDER = f"{OPEN}\\d+{CLOSE}"
"""Pattern of one placeholder."""

_PLACEHOLDER = re.compile(f"{OPEN}(\\d+){CLOSE}")
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "'": "'", "\\": "\\", "`": "`"}
_CLOSERS = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“", "`": "`", "「": "」"}
_OPENING_AFTER = set(" \t\n([{<=:,;-–—>+/|\u00a0") | {CLOSE}


@dataclass(frozen=True, slots=True)
class Guarded:
    """A text whose quoted parts are placeholders.

    Attributes:
        text: The text with placeholders.
        literals: What was quoted, by number; escapes are resolved.
    """

    text: str
    literals: tuple[str, ...] = ()

    def part(self, text: str) -> Guarded:
        """Return another text that uses the same literals."""
        return Guarded(text, self.literals)

    @property
    def plain(self) -> str:
        """The text with the quoted parts put back, without their quotes."""
        return _PLACEHOLDER.sub(lambda match: self.literals[int(match[1])], self.text)

    @property
    def quoted(self) -> str:
        """The text with the quoted parts put back in quotes; `guard` reads it again."""
        return _PLACEHOLDER.sub(self._requote, self.text)

    def _requote(self, match: re.Match[str]) -> str:
        following = self.text[match.end() : match.end() + 1]
        return quote(self.literals[int(match[1])], double=following.isalnum() or following == "_")

    @property
    def only_literal(self) -> str | None:
        """What was quoted, where the text is nothing but one quoted part."""
        match = _PLACEHOLDER.fullmatch(self.text.strip())
        return self.literals[int(match[1])] if match else None

    @property
    def quotes(self) -> tuple[str, ...]:
        """The quoted parts of this text, in order."""
        return tuple(self.literals[int(match[1])] for match in _PLACEHOLDER.finditer(self.text))


def guard(text: str) -> Guarded:
    """Replace each quoted part by a placeholder; a quote that is never closed, or an apostrophe, stays as it is."""
    text = text.replace(OPEN, "").replace(CLOSE, "")
    out: list[str] = []
    literals: list[str] = []
    unclosed: set[str] = set()
    position = start = 0
    while position < len(text):
        found = _quoted_at(text, position, unclosed)
        if found is None:
            position += 1
            continue
        content, end = found
        out += [text[start:position], f"{OPEN}{len(literals)}{CLOSE}"]
        literals.append(content)
        position = start = end
    out.append(text[start:])
    return Guarded("".join(out), tuple(literals))


def quote(text: str, double: bool = False) -> str:
    """Put a text in quotes that `guard` reads back as the same text; `double` where a letter follows them."""
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    if "'" not in text and not double:
        return f"'{escaped}'"
    return '"' + escaped.replace('"', '\\"') + '"'


def _quoted_at(text: str, position: int, unclosed: set[str]) -> tuple[str, int] | None:
    """Return the quoted text that opens here and the position after it; None where none does.

    Args:
        text: The whole text.
        position: Where to look.
        unclosed: Quotes known to have no closing partner further on; filled in, so that the search stays linear.
    """
    opener = text[position]
    if opener not in _CLOSERS or (position and text[position - 1] not in _OPENING_AFTER):
        return None
    if text.startswith("```", position):
        fence = text.find("```", position + 3)
        return (text[position + 3 : fence].strip("\n"), fence + 3) if fence > 0 else None
    if opener in unclosed:
        return None
    end = _closing(text, position + 1, opener)
    if end is None:
        unclosed.add(opener)
        return None
    return _unescape(text[position + 1 : end]), end + 1


def _closing(text: str, start: int, opener: str) -> int | None:
    closer = _CLOSERS[opener]
    position = start
    while (position := text.find(closer, position)) >= 0:
        if not _is_escaped(text, position, start) and _closes(text, position, opener):
            return position
        position += 1
    return None


def _closes(text: str, position: int, opener: str) -> bool:
    """Tell a closing single quote from an apostrophe inside a word; other quotes always close."""
    if opener not in "'‘":
        return True
    following = text[position + 1 : position + 2]
    return not following.isalnum() and following != "_"


def _is_escaped(text: str, position: int, start: int) -> bool:
    slashes = 0
    while position - slashes > start and text[position - slashes - 1] == "\\":
        slashes += 1
    return slashes % 2 == 1


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), text, flags=re.DOTALL)
