"""Parsing of written numbers: "4,368", "4 368", "1.20" and "1,2" have several readings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from intents.alignment import holds

NUMBER = r"(?<![\w.,])[-+−]?\d+(?:[.,'’]\d+|[ \u00a0\u202f\u2009]\d{3}(?!\d))*(?!\w|[.,]\d)"
"""Pattern of a number with its sign and its separators."""

_GROUPS = ",.'’ \u00a0\u202f\u2009"
_TIMES = re.compile(r"(?<=\d)[x×](?=\d)")
_CODE = re.compile(r"[-+−]?0\d")  # digits that are no quantity, such as 007


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a written number."""

    value: Decimal
    group: str  # thousands separator; empty if there is none
    point: str  # decimal separator; empty if there is none


def is_number(text: str) -> bool:
    """Return whether a text is a number."""
    return re.fullmatch(NUMBER, text.strip()) is not None


@lru_cache(maxsize=16_384)
def numbers_in(text: str) -> tuple[re.Match[str], ...]:
    """Return the numbers in a text."""
    return tuple(re.finditer(NUMBER, text))


def readings(text: str) -> list[Reading]:
    """Return the possible readings of a written number: "4,368" is 4368 or 4.368."""
    plain = text.strip().replace("−", "-")
    found = []
    for group in ("", *(mark for mark in _GROUPS if mark in plain)):
        for point in ("", *(mark for mark in ".," if mark in plain and mark != group)):
            whole, _, part = plain.partition(point) if point else (plain, "", "")
            digits = whole.lstrip("+-")
            grouped = re.fullmatch(rf"\d{{1,3}}(?:{re.escape(group)}\d{{3}})+", digits) if group else digits.isdecimal()
            if grouped and (part.isdecimal() if point else not part):
                number = Decimal(f"{'-' if whole.startswith('-') else ''}{re.sub(r'[^0-9]', '', digits)}.{part or 0}")
                found.append(Reading(number, group, point))
    return found


def value_of(text: str) -> Decimal | None:
    """Return the value of a written number, in the English notation if possible; None for a code."""
    if not is_number(text) or _CODE.match(text.strip()):
        return None
    every = readings(text)
    return next((one.value for one in sorted(every, key=_is_foreign)), None)


def _is_foreign(reading: Reading) -> bool:
    return reading.point == "," or reading.group not in ("", ",")


def shows(text: str, value: str) -> bool:
    """Return whether a text contains a value.

    A number also matches in another format ("1.2" shows "1.20"), and as one side of a size such as "320x240".
    """
    if holds(text, value):
        return True
    wanted = value_of(value)
    return wanted is not None and any(number == wanted for number in _values_in(_TIMES.sub(" × ", text)))


def _values_in(text: str) -> Iterator[Decimal]:
    for match in numbers_in(text):
        number = value_of(match[0])
        if number is not None:
            yield number
