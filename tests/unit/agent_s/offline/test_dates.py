from __future__ import annotations

import pytest

from agent_s.offline.dates import Day, TimeOfDay, parse_day, parse_time


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-05-17", Day(2024, 5, 17)),
        ("05/17/2024", Day(2024, 5, 17)),
        ("17/05/2024", Day(2024, 5, 17)),
        ("1.5.1990", Day(1990, 5, 1)),
        ("17 May 2024", Day(2024, 5, 17)),
        ("May 17th, 2024", Day(2024, 5, 17)),
        ("the 3rd of Oct 2025", Day(2025, 10, 3)),
    ],
)
def test_reads_days(text: str, day: Day) -> None:
    assert parse_day(text) == day


@pytest.mark.parametrize("text", ["hello", "13/13/2024", "2024-00-10", "12", "5 of 10", "99.99.9999"])
def test_takes_nothing_else_for_a_day(text: str) -> None:
    assert parse_day(text) is None


@pytest.mark.parametrize(
    ("text", "time"), [("16:05", TimeOfDay(16, 5)), ("4:05 PM", TimeOfDay(16, 5)), ("12:00 am", TimeOfDay(0, 0))]
)
def test_reads_times(text: str, time: TimeOfDay) -> None:
    assert parse_time(text) == time


def test_takes_no_impossible_time() -> None:
    assert parse_time("25:00") is None
    assert parse_time("noon") is None
