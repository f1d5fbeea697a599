"""Parsing of days and times."""

from __future__ import annotations

import re
from datetime import date, time
from functools import lru_cache

from intents.tables import table

_DAY = re.compile(
    r"\b(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}\w{0,2}(?: of)?[ -][a-z]{3,9}\.?,?[ -]\d{4}"
    r"|[a-z]{3,9}\.? \d{1,2}\w{0,2},? \d{4})\b"
)
_RATIO = "\u2236"
_TIME = re.compile(
    rf"(?<![\w:{_RATIO}])\d{{1,2}}[:{_RATIO}]\d{{2}}(?:[:{_RATIO}]\d{{2}})?(?:\s*[ap]\.?m\b)?(?![\w:{_RATIO}])"
)


def parse_day(text: str) -> date | None:
    """Read "2024-05-17", "05/17/2024", "17.05.2024", "17 May 2024" or "May 17th, 2024"; slashes put the month first."""
    text = text.strip().casefold()
    if match := re.fullmatch(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})", text):
        return _day(int(match[1]), int(match[2]), int(match[3]))
    if match := re.fullmatch(r"(\d{1,2})([/.-])(\d{1,2})[/.-](\d{4})", text):
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        return _day(year, second, first) if match[2] == "." or first > 12 else _day(year, first, second)
    if match := re.fullmatch(r"(?:the )?(\d{1,2})(?:st|nd|rd|th)?(?: of)?[ -]([a-z]{3,9})\.?,?[ -](\d{4})", text):
        return _day(int(match[3]), month_number(match[2]), int(match[1]))
    match = re.fullmatch(r"([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})", text)
    return _day(int(match[3]), month_number(match[1]), int(match[2])) if match else None


def holds_day(text: str) -> bool:
    """Return whether a text contains a day."""
    return any(parse_day(match[0]) is not None for match in _DAY.finditer(text.casefold()))


def shows_moment(text: str, value: str) -> bool:
    """Return whether a text contains a day or a time in any format: "06:30 PM" shows "18:30" as well as "6:30"."""
    if (day := parse_day(value)) is not None:
        return any(parse_day(match[0]) == day for match in _DAY.finditer(text.casefold()))
    if (moment := parse_time(value)) is None:
        return False
    found = [match[0] for match in _TIME.finditer(text.casefold())]
    return any(moment in (parse_time(one), parse_time(one.rstrip("apm. "))) for one in found)


def parse_time(text: str) -> time | None:
    """Read "16:05" or "4:05 PM"; some clocks write the sign for a ratio between the numbers."""
    plain = text.strip().casefold().replace(_RATIO, ":")
    match = re.fullmatch(r"(\d{1,2}):(\d{2})(?::\d{2})?\s*([ap])?\.?(?:m\.?)?", plain)
    if match is None:
        return None
    hour, minute = int(match[1]), int(match[2])
    if match[3]:
        hour = hour % 12 + (12 if match[3] == "p" else 0)
    return time(hour, minute) if hour < 24 and minute < 60 else None


@lru_cache(maxsize=1)
def months() -> tuple[str, ...]:
    """Return the names of the months, in lower case."""
    return tuple(table("words")["months"].split())


def month_number(word: str) -> int:
    """Return the number of a month by its name or a prefix of it; 0 if it is not a month."""
    lowered = word.casefold()
    found = (number for number, name in enumerate(months(), 1) if name.startswith(lowered))
    return next(found, 0) if len(lowered) >= 3 else 0


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
