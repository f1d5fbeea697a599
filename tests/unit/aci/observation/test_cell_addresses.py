from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aci.observation.cell_addresses import address_of, parse_address


@given(st.integers(0, 1_048_575), st.integers(0, 16_383))
def test_address_names_one_cell(row: int, column: int) -> None:
    assert parse_address(address_of((row, column))) == (row, column)


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("A1", (0, 0)),
        ("B7", (6, 1)),
        ("Z1", (0, 25)),
        ("AA1", (0, 26)),
        ("$Sheet1.$C$3", (2, 2)),
        ("XFD1048576", (1048575, 16383)),
    ],
)
def test_addresses_as_applications_write_them(name: str, cell: tuple[int, int]) -> None:
    assert parse_address(name) == cell


@pytest.mark.parametrize("name", ["", "A", "1", "A0", "Total", "A1:B2", "a1"])
def test_other_text_is_not_an_address(name: str) -> None:
    assert parse_address(name) is None
