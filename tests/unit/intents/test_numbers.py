"""Numbers are the same in all the forms in which applications show them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from intents.numbers import shows, value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("B3 is 2.5", "2.50"),
        ("total 1,250.00 EUR", "1250"),
        ("1.250,00 EUR", "1250"),
        ("$1,200", "1200.00"),
        ("3,5 kg", "3.5"),
        ("−5 °C", "-5"),
        ("room 007", "007"),
        ("image 320x240", "320"),
        ("image 320x240", "240"),
        ("no number", "number"),
    ],
)
def test_a_text_shows_a_number_in_any_form(text: str, value: str) -> None:
    assert shows(text, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,200", "1.2"),
        ("room 7", "007"),
        ("45", "4.5"),
        ("-5", "5"),
        ("1.2.3", "1.2"),
        ("x12", "12"),
        ("12", ""),
        ("320x240", "32"),
    ],
)
def test_another_number_is_not_shown(text: str, value: str) -> None:
    assert not shows(text, value)


def test_a_number_is_read_as_in_english_where_it_can_be() -> None:
    assert [value_of(one) for one in ("1,200", "1.200", "1.200,5", "ten")] == [
        1200,
        Decimal("1.2"),
        Decimal("1200.5"),
        None,
    ]
