"""Alignment of two wordings of one task, which finds their different values: texts, numbers, names and files.

Two wordings are aligned word by word. They may differ only in values; if anything else differs, they are different
tasks. A value counts as a parameter only if the recorded actions contain it (`Parameters.unexplained`): "check" versus
"uncheck" never does, since it is in no typed text and no name of an element.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from intents.tables import words
from intents.text import SORTS, Token, tokens

LONGEST_NAME = 6  # words of a name that is not quoted

_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_FILE = re.compile(SORTS["file"])
_QUOTES = ("'", '"', "`")
_SENTENCE_ENDS = frozenset(".!?;:")
_PUNCTUATION = frozenset(".,;:!?()[]\"'`“”‘’«»…–—")  # Other marks, such as "+", may be pressed or typed.


@dataclass(frozen=True, slots=True)
class Parameters:
    """The values that differ between an old and a new wording."""

    pairs: dict[str, str] = field(default_factory=dict)  # new value by old value; none of them is equal to its old one
    kept: frozenset[str] = frozenset()  # old values that stay the same, and so must stay everywhere
    ignored: frozenset[str] = frozenset()  # words of only one wording that were ignored as fillers, in lower case

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.pairs)

    def replace(self, text: str) -> str:
        """Return a text with old values replaced by new ones, where they are whole words."""
        if not text or not self.pairs:
            return text
        if text in self.pairs:
            return self.pairs[text]
        return self._pattern.sub(lambda match: self.pairs.get(match[0], match[0]), text)

    def replace_in_wording(self, text: str) -> str | None:
        """Return a wording with new values, requoted if necessary; None if they cannot be written into it."""
        pieces: list[str] = []
        end = 0
        for token in tokens(text):
            if token.sort == "quoted" and (new := self.replace(token.value)) != token.value:
                quote = _quote_for(new, text[token.start])
                if quote is None:
                    return None
                pieces += (self.replace(text[end : token.start]), f"{quote}{new}{quote}")
                end = token.end
        return "".join((*pieces, self.replace(text[end:])))

    def unexplained(self, texts: Iterable[str]) -> list[str]:
        """Return the old values that occur in none of the texts, so that their purpose is unknown."""
        every = list(texts)
        unheld = {old for old in self.pairs if not any(holds(text, old) for text in every)}
        dates = {old: {part for part, _ in _parts_of_dates({old: new})} for old, new in self.pairs.items()}
        derived = {part for parts in dates.values() for part in parts}
        explained = {old for old, parts in dates.items() if parts and not parts & unheld}
        return [old for old in self.pairs if old in unheld and old not in explained | derived]

    @property
    def _pattern(self) -> re.Pattern[str]:
        # What stays and holds an old value, as "draft-2.txt" does "draft", is matched first and put back.
        around = [kept for kept in self.kept if any(old in kept for old in self.pairs)]
        longest_first = sorted({*self.pairs, *around}, key=len, reverse=True)
        return re.compile("|".join(_whole(value) for value in longest_first))


def skeleton(text: str) -> str:
    """Return the words of a wording without values, which are equal for two wordings of one task."""
    return " ".join(token.value for token in tokens(text) if token.sort == "word")


def align(old: str, new: str) -> Parameters | None:
    """Align two wordings.

    Args:
        old: The recorded wording.
        new: The current wording.

    Returns:
        The values that differ; None if more than values differs, if no word is common, or if the mapping of values is
        ambiguous.
    """
    mine, theirs = tokens(old), tokens(new)
    matcher = SequenceMatcher(None, [token.key for token in mine], [token.key for token in theirs], autojunk=False)
    pairs: list[tuple[str, str]] = []
    ignored: set[str] = set()
    for tag, a, b, c, d in matcher.get_opcodes():
        before, after = mine[a:b], theirs[c:d]
        if tag == "equal":
            begins = {number for number in range(a, b) if number == 0 or mine[number - 1].value in _SENTENCE_ENDS}
            pairs += [
                (one.value, one.value if number in begins and not one.literal else other.value)
                for number, one, other in zip(range(a, b), before, after, strict=True)
                if one.sort != "mark"
            ]
        elif _says_nothing(before) and _says_nothing(after):
            ignored |= {token.key for token in (*before, *after)}
        elif (pair := _named(before, after, old, new)) is not None:
            pairs.append(pair)
        else:
            return None
    return _consistent(pairs, frozenset(ignored))


def _consistent(pairs: list[tuple[str, str]], ignored: frozenset[str]) -> Parameters | None:
    """Return parameters for pairs, dates with their parts; None if an old value would become two new ones."""
    changed = {old: new for old, new in pairs if old != new}
    if not all(_may_become(old, new) for old, new in changed.items()):
        return None
    parts = _parts_of_dates(changed)
    new = dict([*pairs, *parts])
    if changed and all(old in changed for old, _ in pairs):
        return None  # no word stays: it is another task altogether
    # What stays stays everywhere: "type Save into Name and click Save" with another name still clicks Save.
    if any(new[old] != value for old, value in (*pairs, *parts)):
        return None
    changed |= {old: value for old, value in parts if old != value}
    return Parameters(changed, frozenset(new) - frozenset(changed), ignored)


def _may_become(old: str, new: str) -> bool:
    """Return whether one value can replace another without side effects.

    A line end or a tab would submit a form or move to the next field, and escapes would be typed literally.
    """
    unlike = any((mark in old) != (mark in new) for mark in "\n\r\t")
    escaped, blank = "\\" in old + new, not old.strip() or not new.strip()
    return not unlike and not escaped and not blank and not ("/" in new and "/" not in old and _FILE.fullmatch(old))


def _parts_of_dates(pairs: dict[str, str]) -> list[tuple[str, str]]:
    """Return year, month and day of dates that differ, since a date editor is typed into part by part."""
    parts: list[tuple[str, str]] = []
    for old, new in pairs.items():
        before, after = _DATE.fullmatch(old), _DATE.fullmatch(new)
        if before and after:
            parts += zip(before.groups(), after.groups(), strict=True)
    return parts


def _says_nothing(part: list[Token]) -> bool:
    return all(
        token.value.casefold() in (_PUNCTUATION if token.sort == "mark" else words("words", "ignored"))
        for token in part
    )


def _named(before: list[Token], after: list[Token], old: str, new: str) -> tuple[str, str] | None:
    """Return the names that replace each other, if each part is one."""
    if not before or not after or max(len(before), len(after)) > LONGEST_NAME:
        return None
    if any(token.sort == "mark" for token in (*before, *after)):
        return None
    if len(before) > 1 and any(token.literal for token in before):
        return None
    if len(after) > 1 and any(token.literal for token in after):
        return None
    if _joins(before) != _joins(after):
        return None
    return _text_of(before, old), _text_of(after, new)


def _joins(part: list[Token]) -> list[str]:
    return [token.key for token in part if token.key in words("words", "joining")]


def _text_of(part: list[Token], text: str) -> str:
    return part[0].value if len(part) == 1 else text[part[0].start : part[-1].end]


def _quote_for(value: str, preferred: str) -> str | None:
    if preferred in _QUOTES:
        return next((quote for quote in (preferred, *_QUOTES) if quote not in value), None)
    return '"' if '"' not in value else None


def _whole(value: str) -> str:
    """Return a pattern for a value that is not part of a longer word or number."""
    before = r"(?<![\w.,:-])" if value[0].isdigit() else r"(?<!\w)" if value[0].isalnum() else ""
    after = r"(?!\w|[.,:-]\d)" if value[-1].isdigit() else r"(?!\w)" if value[-1].isalnum() else ""
    return f"{before}{re.escape(value)}{after}"


def holds(text: str, value: str) -> bool:
    """Return whether a text contains a value that is not part of a longer word or number; False for an empty value."""
    return bool(text and value) and re.search(_whole(value), text) is not None
