"""Rules with times relative to today, such as "next Monday", which are filled in when the task is checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from evaluation.errors import CheckFailed
from evaluation.state.context import TaskContext, substituted
from evaluation.state.parameters import Parameters
from evaluation.state.reading import Reading

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_WEEKEND = 4  # from Friday on, a day belongs to the weekend that it is near


class RelativeRules(Parameters):
    """Values with placeholders such as `{Month} {DayD}`, and the days that they stand for."""

    relativeTime: Mapping[str, str]  # noqa: N815 - OSWorld's name; `from`, and for a span also `to`
    # the values; `time` or `from` is about the first day, `to` about the second, and for days with `split` in their
    # words, values that begin with `pu` and `do`
    expected: dict[str, Any]
    # texts for `rule_relativeTime_formatted`, in which `{time}` is the value `time`
    formatted: dict[str, str] | None = None
    timezone: str | None = None  # where today is; by default where this machine is
    expect_in_result: bool | None = None  # see `check_direct_json_object`


def rule_relativeTime(context: TaskContext, *, rules: RelativeRules) -> Reading:  # noqa: N802
    """Rules whose placeholders are filled in for today."""
    filled: dict[str, Any] = {"expected": filled_in(rules, today(rules.timezone))}
    if rules.expect_in_result is not None:
        filled["expect_in_result"] = rules.expect_in_result
    return Reading(filled, f"rules {filled}")


def rule_relativeTime_formatted(context: TaskContext, *, rules: RelativeRules) -> Reading:  # noqa: N802
    """The texts `formatted`, with the value `time` in place of `{time}`."""
    time = filled_in(rules, today(rules.timezone)).get("time", "")
    texts = substituted(rules.formatted or {}, {"time": str(time)})
    return Reading(texts, f"rules {texts}")


def filled_in(rules: RelativeRules, now: date) -> dict[str, Any]:
    """Return the expected values of rules for a day."""
    words = rules.relativeTime
    first = day_of(words["from"], now)
    second = day_of(words["to"], now, words["from"], first) if "to" in words else None
    values = dict(rules.expected)
    for name, value in values.items():
        if not isinstance(value, str):
            continue
        if name in ("time", "from") or (name.startswith("pu") and words["from"].endswith("split")):
            values[name] = formatted(value, first)
        elif second is not None and (name == "to" or (name.startswith("do") and words["to"].endswith("split"))):
            values[name] = formatted(value, second)
    return values


def formatted(text: str, day: date) -> str:
    """Return a text with the parts of a day in place of `{DoW}`, `{Month}`, `{DayD}`, `{Year}`, `{Month0D}`, ..."""
    parts = {
        "DoW": f"{day:%a}",
        "Month": f"{day:%b}",
        "MonthFull": f"{day:%B}",
        "month": f"{day:%B}".lower(),
        "MonthD": str(day.month),
        "Month0D": f"{day:%m}",
        "DayD": str(day.day),
        "Day0D": f"{day:%d}",
        "Year": str(day.year),
    }
    return str(substituted(text, parts))


def day_of(words: str, now: date, before: str = "", first: date | None = None) -> date:
    """Return the day that words mean.

    Args:
        words: Such as "tomorrow", "this Saturday", "next week Friday", "5th next month", "first monday four months
            later".
        now: Today.
        before: The words for the first day of a span whose last day is meant.
        first: That day.

    Raises:
        CheckFailed: They mean no day.
    """
    text = words.lower().removesuffix(" split")
    if text in ("tomorrow", "this month"):
        return now + timedelta(days=text == "tomorrow")
    if text == "last year":
        return _in_month(now.year - 1, now.month, now.day)
    if match := re.fullmatch(r"(?:after )?(\d+) days(?: later)?", text):
        return now + timedelta(days=int(match[1]))
    if match := re.fullmatch(r"(\d+)(?:st|nd|rd|th) next month", text):
        return _in_month(now.year, now.month + 1, int(match[1]))
    if match := re.fullmatch(rf"first ({'|'.join(WEEKDAYS)}) (\w+) months later", text):
        start = _in_month(now.year, now.month + NUMBERS.index(match[2]) + 1, 1)
        return start + timedelta(days=(WEEKDAYS.index(match[1]) - start.weekday()) % 7)
    if match := re.fullmatch(rf"(this|next|next week) ({'|'.join(WEEKDAYS)})", text):
        return _weekday(match[1], WEEKDAYS.index(match[2]), now, before.lower(), first)
    raise CheckFailed(f"{words!r} means no day")


def _weekday(which: str, wanted: int, now: date, before: str, first: date | None) -> date:
    monday = now - timedelta(days=now.weekday())
    if which == "this":
        return monday + timedelta(days=wanted)
    if which == "next week":
        return monday + timedelta(days=7 + wanted)
    if first is not None and before.startswith("next "):  # the end of a span lies in the week of its beginning
        return first + timedelta(days=(wanted - first.weekday()) % 7)
    if wanted >= _WEEKEND:
        return now + timedelta(days=(wanted - now.weekday()) % 7 or 7)
    return monday + timedelta(days=7 + wanted)


def _in_month(year: int, month: int, day: int) -> date:
    """Return a day of a month, which may be after December; the last one where the month is too short."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    while True:
        try:
            return date(year, month, day)
        except ValueError:
            day -= 1


def today(timezone: str | None) -> date:
    """Return today in a time zone, by default that of this machine.

    Raises:
        CheckFailed: There is no such time zone.
    """
    if timezone is None:
        return datetime.now().astimezone().date()
    try:
        return datetime.now(ZoneInfo(timezone)).date()
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise CheckFailed(f"there is no time zone {timezone!r}") from error
