"""Days and times as people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass

MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)


@dataclass(frozen=True, slots=True)
class Day:
    """A day of the calendar."""

    year: int
    month: int
    day: int


@dataclass(frozen=True, slots=True)
class TimeOfDay:
    """A time, in 24 hours."""

    hour: int
    minute: int


def parse_day(text: str) -> Day | None:
    """Read "2024-05-17", "05/17/2024", "17.05.2024", "17 May 2024" or "May 17th, 2024"; slashes put the month first."""
    stripped = text.strip().casefold()
    if match := re.fullmatch(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})", stripped):
        return _day(int(match[1]), int(match[2]), int(match[3]))
    if match := re.fullmatch(r"(\d{1,2})([/.-])(\d{1,2})[/.-](\d{4})", stripped):
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        return _day(year, second, first) if match[2] == "." or first > 12 else _day(year, first, second)
    return _named_month(stripped)


def _named_month(text: str) -> Day | None:
    match = re.fullmatch(r"(?:the )?(\d{1,2})(?:st|nd|rd|th)?(?: of)?[ -]([a-z]{3,9})\.?,?[ -](\d{4})", text)
    if match:
        return _day(int(match[3]), month_number(match[2]), int(match[1]))
    match = re.fullmatch(r"([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})", text)
    return _day(int(match[3]), month_number(match[1]), int(match[2])) if match else None


def month_number(word: str) -> int:
    """Return the number of a month by its name or the beginning of it; 0 where it is none."""
    lowered = word.casefold()
    return next((number for number, name in enumerate(MONTHS, 1) if len(lowered) >= 3 and name.startswith(lowered)), 0)


def _day(year: int, month: int, day: int) -> Day | None:
    return Day(year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 and 1 <= year <= 9999 else None


def parse_time(text: str) -> TimeOfDay | None:
    """Read "16:05" or "4:05 PM"."""
    match = re.fullmatch(r"(\d{1,2}):(\d{2})(?::\d{2})?\s*([ap])?\.?(?:m\.?)?", text.strip().casefold())
    if match is None:
        return None
    hour, minute = int(match[1]), int(match[2])
    if match[3]:
        hour = hour % 12 + (12 if match[3] == "p" else 0)
    return TimeOfDay(hour, minute) if hour < 24 and minute < 60 else None
