"""Delivery of typed text: what a field reads, compared with what was typed into it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from difflib import SequenceMatcher
from typing import Literal

from pydantic import BaseModel, ConfigDict

DeliveryState = Literal[
    "exact",  # the field holds the text, read back
    "shown",  # the field cannot be read, but the screen shows the text
    "rewritten",  # the application took the text and shows it in its own form, such as a number format
    "different",  # the field holds something else
    "unread",  # nothing shows whether the text arrived
]
Unread = Literal["", "no_window", "no_field", "password", "terminal", "cell", "lines", "no_text"]
"""Why typed text could not be read back."""


class Delivery(BaseModel):
    """How typed text arrived."""

    model_config = ConfigDict(frozen=True)

    state: DeliveryState
    by: Literal["keys", "paste", "accessibility"] = "keys"  # how it was entered
    reads: str = ""  # what the field reads now, shortened, if that is not the text itself
    unread: Unread = ""  # why it could not be read back

    @property
    def confirmed(self) -> bool:
        """Whether something shows that the text is there."""
        return self.state in ("exact", "shown", "rewritten")


Arrival = Literal["exact", "rewritten", "first_lines", "different", "partial", "nothing"]

_ALIKE = 0.8  # least similarity of an autocorrected text
_LONGEST_COMPARED = 2000  # similarity takes quadratic time
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Expected:
    """What was typed, and into what."""

    before: str
    text: str
    overwrite: bool
    selection: tuple[int, int] | None = None  # what was selected, as [start, end) of `before`, if that is known

    def met_by(self, now: str | None) -> bool:
        """Return whether the text is in the field, whole, and nothing else has changed, wherever the caret was."""
        if now is None:
            return False
        text = self.text.replace("\r\n", "\n")
        if self.overwrite:
            return now.removesuffix("\n") == text.removesuffix("\n")
        # What was selected is replaced, as in an address bar, whose text is selected by the click into it.
        return now != self.before and any(
            self.before.startswith(now[:at]) and self.before[at:].endswith(now[at + len(text) :])
            for at in _starts(now, text)
            if at <= len(self.before)
        )

    def missed_by(self, now: str | None, way: str) -> bool:
        """Return whether the field proves that nothing arrived; a line end may submit or start another object."""
        breaks = self.text[:1] in "\r\n" or (way == "keys" and "\n" in self.text)
        return now == self.before and not self.met_by(now) and not breaks

    def completed_by(self, now: str) -> bool:
        """Return whether the field offers a completion, selected behind the caret."""
        # What stood behind the selection stays, as the extension of a file that is renamed.
        kept = self.before[self.selection[1] :] if self.selection is not None and not self.overwrite else ""
        grown = bool(self.text) and now.startswith(self.text) and now not in (self.text, self.text + kept)
        return grown and (self.overwrite or not self.before or self.before not in now)

    def arrival(self, now: str) -> Arrival:
        """Return how the text arrived, given what the field reads now."""
        if self.met_by(now):
            return "exact"
        shown = now if self.overwrite else _inserted(self.before, now)
        if now == self.before and not self.overwrite:
            return "nothing"
        if self.text.startswith(shown) and self.text[len(shown) :][:1] in ("\r", "\n"):
            return "first_lines"  # the others may be elements of their own
        if is_rewritten(self.text, shown):
            return "rewritten"
        if len(shown) < len(self.text) and _is_subsequence(shown.strip(), self.text):
            return "partial"
        return "different"


def is_rewritten(text: str, shown: str) -> bool:
    """Return whether a text is another form of the typed one.

    The application may have changed its case, punctuation or number format, put a date in order, corrected the
    spelling, or completed it. Lost characters are not among these.
    """
    typed, read = _plain(text), _plain(shown)
    if not typed or not read:
        return text.strip() == shown.strip()
    if typed == read or typed in read or _same_number(text, shown) or _same_parts(text, shown):
        return True
    if _is_subsequence(read, typed) or max(len(typed), len(read)) > _LONGEST_COMPARED:
        return False
    return len(read) >= _ALIKE * len(typed) and SequenceMatcher(None, typed, read).ratio() >= _ALIKE


def _plain(text: str) -> str:
    """Return the letters and digits of a text, without case."""
    return "".join(one for one in unicodedata.normalize("NFKC", text).casefold() if one.isalnum())


def _same_number(text: str, shown: str) -> bool:
    return bool(_values(text) & _values(shown))


def _values(text: str) -> set[Decimal]:
    """Return the numbers that a text may stand for, with either sign as its decimal point."""
    bare = re.sub(r"[^\d.,+-]", "", text)
    if not bare or re.search(r"[^\W\d]", text):
        return set()
    values = set()
    for group, point in ((",", "."), (".", ",")):
        try:
            values.add(Decimal(bare.replace(group, "").replace(point, ".")))
        except InvalidOperation:
            continue
    return values


def _same_parts(text: str, shown: str) -> bool:
    """Return whether two texts have the numbers of the same date or time, in any order."""
    one, other = (sorted(int(part) % 100 for part in _NUMBERS.findall(each)) for each in (text, shown))
    return len(one) > 1 and one == other and not re.search(r"[^\W\d]{3}", text)


def _inserted(before: str, now: str) -> str:
    """Return what a field reads besides its earlier content."""
    start = 0
    while start < min(len(before), len(now)) and before[start] == now[start]:
        start += 1
    end = 0
    while end < min(len(before), len(now)) - start and before[-1 - end] == now[-1 - end]:
        end += 1
    return now[start : len(now) - end]


def _is_subsequence(part: str, whole: str) -> bool:
    characters = iter(whole)
    return all(one in characters for one in part)


def _starts(whole: str, part: str) -> list[int]:
    starts, at = [], whole.find(part)
    while at >= 0:
        starts.append(at)
        at = whole.find(part, at + 1)
    return starts
