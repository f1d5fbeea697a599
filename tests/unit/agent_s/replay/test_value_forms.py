"""What may stand in the place of a learned value, and how it is typed."""

from __future__ import annotations

import pytest

from agent_s.replay.value_forms import is_distinctive, occurrences, typed_form, values_like


@pytest.mark.parametrize(
    ("text", "typed", "shown"),
    [
        ("Your code is 8123", "8123", ["8123"]),
        ("Total: 4,368.50 EUR", "4368.5", ["4,368.50"]),
        ("Summe: 4.368,50", "4368.50", ["4.368,50"]),
        ("−22", "-22", ["−22"]),
        ("-22", "22", []),
        ("18123 and 8123.5", "8123", []),
        ("Code QX-7", "qx-7", ["QX-7"]),
        ("3 of 3", "3", ["3", "3"]),
    ],
)
def test_value_is_found_in_what_the_screen_shows(text: str, typed: str, shown: list[str]) -> None:
    assert [value for value, _ in occurrences(text, typed)] == shown


@pytest.mark.parametrize(
    ("value", "around", "now", "found"),
    [
        ("8123", ("Your code is ", ""), "Your code is 77", {"77"}),
        ("8123", ("Your code is ", ""), "Your code is none", set()),
        ("8123", ("Your code is ", ""), "Your last code is 77", set()),
        ("408", ("", ""), "−22", {"−22"}),
        ("408", ("", ""), "Malformed expression", set()),
        ("408", ("", ""), "", set()),
        ("408", ("12×34 = ", ""), "5×6.5 = 32.5", {"32.5"}),
        ("3", ("Items: ", ", total 3"), "Items: 5, total 9", {"5"}),
        ("X1-408", ("", ""), "Y2-999", {"Y2-999"}),
        ("X1-408", ("", ""), "SALE-2026", set()),
        ("2026-11-22", ("", ""), "2026-11-23", {"2026-11-23"}),
        ("9:58", ("", ""), "10:02", {"10:02"}),
        ("Grace Hopper", ("Name: ", ""), "Name: Ada King Lovelace", {"Ada King Lovelace"}),
        ("Grace Hopper", ("", ""), "Access denied", set()),
    ],
)
def test_values_of_the_same_form_are_found(value: str, around: tuple[str, str], now: str, found: set[str]) -> None:
    assert values_like(now, value, around) == found


@pytest.mark.parametrize(
    ("value", "typed", "now", "expected"),
    [
        ("408", "408", "4368", "4368"),
        ("408", "408", "−22", "-22"),
        ("4,368", "4368", "1,234,567", "1234567"),
        ("4,368", "4368", "12", "12"),
        ("4,368", "4368", "12.5", None),
        ("4.368,50", "4368.50", "99,90", "99.90"),
        ("4.368", "4368", "2.500", "2500"),
        ("4.368", "4368", "2.5", None),
        ("3,14", "3.14", "1.234,5", None),
        ("119.60", "119.6", "80.50", "80.5"),
        ("Grace", "GRACE", "Ada", "ADA"),
        ("8123", "code", "9", None),
    ],
)
def test_new_value_is_converted_to_the_typed_form(value: str, typed: str, now: str, expected: str | None) -> None:
    assert typed_form(value, typed, now) == expected


@pytest.mark.parametrize("value", ["8123", "X1-408", "7FQ2-99", "the quick brown fox"])
def test_distinctive_values_are_not_coincidences(value: str) -> None:
    assert is_distinctive(value)


@pytest.mark.parametrize(
    "value", ["4", "408", "2026", "2026-11-22", "22 November", "10:31", "Total", "Sheet1", "Untitled 1", "1/2/26"]
)
def test_common_values_may_be_a_coincidence(value: str) -> None:
    assert not is_distinctive(value)
