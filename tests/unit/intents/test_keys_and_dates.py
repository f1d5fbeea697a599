from __future__ import annotations

from datetime import date, time

import pytest

from intents.dates import parse_day, parse_time, shows_moment
from intents.keys import parse_chord, parse_keys
from intents.lexicon import read_number, read_ordinal


@pytest.mark.parametrize(
    ("text", "chord"),
    [
        ("ctrl+s", ("ctrl", "s")),
        ("Control-Shift-T", ("ctrl", "shift", "t")),
        ("the down arrow", ("Down",)),
        ("page up", ("Page_Up",)),
        ("Ctrl + +", ("ctrl", "plus")),
        ("F5", ("F5",)),
        ("Save", None),
    ],
)
def test_chords_are_read_as_people_write_them(text: str, chord: tuple[str, ...] | None) -> None:
    assert parse_chord(text) == chord


def test_several_chords_are_read() -> None:
    assert parse_keys("ctrl+a, Delete") == (("ctrl", "a"), ("Delete",))


@pytest.mark.parametrize("text", ["2024-05-17", "05/17/2024", "17.05.2024", "17 May 2024", "May 17th, 2024"])
def test_days_are_read(text: str) -> None:
    assert parse_day(text) == date(2024, 5, 17)


def test_day_that_does_not_exist_is_none() -> None:
    assert parse_day("2023-02-30") is None
    assert parse_time("4:05 PM") == time(16, 5)


def test_numbers_are_read_in_digits_and_words() -> None:
    assert (read_number("three"), read_number("12"), read_number("x")) == (3, 12, None)
    assert (read_ordinal("2nd"), read_ordinal("last")) == (2, -1)


@pytest.mark.parametrize(
    ("text", "value", "shown"),
    [
        ("Medicine 07\u223645 Mon", "7:45", True),
        ("Time 06:30 PM", "18:30", True),
        ("at 6:30 p.m", "18:30", True),
        ("Time 06:30 PM", "6:30", True),
        ("Birthday 03/14/1990", "14 March 1990", True),
        ("Time 06:30", "18:30", False),
        ("17:45", "7:45", False),
        ("07:45:30 left", "45:30", False),
        ("15 March 1990", "14 March 1990", False),
        ("Room 7", "7", False),
    ],
)
def test_a_day_or_time_is_shown_in_any_form(text: str, value: str, shown: bool) -> None:
    assert shows_moment(text, value) is shown
