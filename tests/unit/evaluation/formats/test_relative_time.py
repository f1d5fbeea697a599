"""Days relative to today, and rules with placeholders for them."""

from __future__ import annotations

from datetime import date

import pytest

from evaluation.errors import CheckFailed
from evaluation.formats.relative_time import RelativeRules, day_of, filled_in, today
from evaluation.state.context import TaskContext
from tests.unit.evaluation.judging import read

WEDNESDAY = date(2026, 11, 25)


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("tomorrow", date(2026, 11, 26)),
        ("this month", WEDNESDAY),
        ("last year", date(2025, 11, 25)),
        ("10 days later", date(2026, 12, 5)),
        ("5th next month", date(2026, 12, 5)),
        ("first monday four months later", date(2027, 3, 1)),
        ("this Saturday", date(2026, 11, 28)),
        ("next week Friday", date(2026, 12, 4)),
        ("next Monday", date(2026, 11, 30)),
        ("next Saturday", date(2026, 11, 28)),
    ],
)
def test_words_mean_a_day(words: str, day: date) -> None:
    assert day_of(words, WEDNESDAY) == day


def test_the_end_of_a_span_follows_its_beginning() -> None:
    first = day_of("next Monday", WEDNESDAY)
    assert day_of("next Friday", WEDNESDAY, "next Monday", first) == date(2026, 12, 4)


def test_a_day_that_a_month_lacks_is_its_last() -> None:
    assert day_of("31st next month", date(2027, 1, 30)) == date(2027, 2, 28)
    assert day_of("last year", date(2028, 2, 29)) == date(2027, 2, 28)


def test_words_without_a_day_are_refused() -> None:
    with pytest.raises(CheckFailed, match="'some day' means no day"):
        day_of("some day", WEDNESDAY)


def test_placeholders_are_filled_in_with_the_days_of_a_span() -> None:
    rules = RelativeRules.model_validate(
        {
            "relativeTime": {"from": "next Monday split", "to": "next Friday split"},
            "expected": {
                "from": "{DoW}, {Month} {DayD}, {Year}",
                "to": "{MonthFull} {Day0D}",
                "puDay": "{DayD}",
                "doDay": "{DayD}",
                "city": "{Month}",
                "count": 2,
            },
        }
    )
    assert filled_in(rules, WEDNESDAY) == {
        "from": "Mon, Nov 30, 2026",
        "to": "December 04",
        "puDay": "30",
        "doDay": "4",
        "city": "{Month}",
        "count": 2,
    }


def test_rules_are_read_for_today_in_a_time_zone(context: TaskContext) -> None:
    rules = {
        "relativeTime": {"from": "tomorrow"},
        "timezone": "Europe/Berlin",
        "expected": {"time": "{Year}-{Month0D}-{Day0D}"},
        "formatted": {"address": "https://example.org/{time}"},
    }
    tomorrow = read(context, "rule_relativeTime", rules=rules).value["expected"]["time"]
    assert date.fromisoformat(tomorrow) > today("Europe/Berlin")
    formatted = read(context, "rule_relativeTime_formatted", rules=rules).value
    assert formatted == {"address": f"https://example.org/{tomorrow}"}
    with pytest.raises(CheckFailed, match="no time zone 'Mars/Base'"):
        today("Mars/Base")
