from __future__ import annotations

import pytest

from intents.statements import read_statement, split_instruction, split_statement


@pytest.mark.parametrize(
    ("instruction", "parts"),
    [
        (
            "Make a chart titled Sales from A1:B5 and save it as report.xlsx",
            ("Make a chart titled Sales from A1:B5", "save it as report.xlsx"),
        ),
        ("Type 'salt and pepper', then save the file", ("Type 'salt and pepper'", "save the file")),
        ("Turn on line numbers and word wrap", ("Turn on line numbers", "turn on word wrap")),
        ("Bold the title", ("Bold the title",)),
    ],
)
def test_an_instruction_is_split_into_what_it_asks_for(instruction: str, parts: tuple[str, ...]) -> None:
    assert split_instruction(instruction) == parts


@pytest.mark.parametrize(
    ("statement", "parts"),
    [
        ("Cell B5 is 42 and B6 is 43.", ("Cell B5 is 42", "B6 is 43")),
        (
            "The page is open; the box 'A and B is C' is checked",
            ("The page is open", "the box 'A and B is C' is checked"),
        ),
        ("Line numbers and word wrap are turned on", ("Line numbers and word wrap are turned on",)),
        ("notes.txt exists and it holds 'x'", ("notes.txt exists and it holds 'x'",)),
        ("notes.txt says 'x', without 'y'", ("notes.txt says 'x'", "notes.txt is without 'y'")),
    ],
)
def test_a_statement_is_split_where_each_part_has_a_subject(statement: str, parts: tuple[str, ...]) -> None:
    assert split_statement(statement) == parts


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        ("The file notes.txt in Documents contains 'hello' and 'bye'", ("notes.txt", "hello", "bye")),
        ("Set the theme to dark", ("dark",)),
        ("Type hello", ("hello",)),
        ("The total in B7 is 1,200.50", ("B7", "1,200.50")),
        ("Line numbers are shown", ()),
    ],
)
def test_values_are_what_must_be_found_literally(statement: str, values: tuple[str, ...]) -> None:
    assert set(read_statement(statement).values) == set(values)


@pytest.mark.parametrize(
    ("statement", "denies"),
    [
        ("Word wrap is on", False),
        ("Word wrap is off", True),
        ("Word wrap is not disabled", False),
        ("old.txt no longer exists", True),
        ("The row 'Ada' is deleted", True),
        ("Do not delete original.txt", False),
        ("'no' is typed into Answer", False),
    ],
)
def test_denials_are_recognized(statement: str, denies: bool) -> None:
    assert read_statement(statement).denies is denies


@pytest.mark.parametrize(
    ("statement", "saved"),
    [
        ("notes.txt contains 'hello'", True),
        ("The document is saved", True),
        ("report.odt is open in Writer", False),
        ("example.com shows the form", False),
        ("The theme is dark", False),
    ],
)
def test_claims_about_stored_files_are_recognized(statement: str, saved: bool) -> None:
    assert read_statement(statement).saved is saved


def test_cells_are_paired_with_their_values() -> None:
    assert read_statement("Put 42 in B5").cells == (("B5", "42"),)
    assert read_statement("B5 is 42, C5 is 17").cells == (("B5", "42"), ("C5", "17"))
    assert read_statement("A1:B5 is the range of the chart 'Sales'").cells == ()


def test_what_is_said_of_a_subject_must_be_found() -> None:
    claim = read_statement("The theme is dark")
    assert claim.predicate == {"dark"}
    assert claim.topics == (frozenset({"theme", "dark"}),)
    assert read_statement("Line numbers are shown in Mousepad").predicate == frozenset()


@pytest.mark.parametrize(
    ("statement", "sheet", "cells"),
    [
        ("In a.xlsx, sheet Summary, B2 is 42", "Summary", (("B2", "42"),)),
        ("On the Summary sheet of a.xlsx B2 is 42", "Summary", (("B2", "42"),)),
        ("B2 on the sheet named 'Q1 Data' is 42", "Q1 Data", (("B2", "42"),)),
        ("The sheet has 42 in B2", "", (("B2", "42"),)),
    ],
)
def test_a_cell_is_on_the_sheet_that_is_named(statement: str, sheet: str, cells: tuple[tuple[str, str], ...]) -> None:
    claim = read_statement(statement)
    assert (claim.sheet, claim.cells) == (sheet, cells)


@pytest.mark.parametrize(
    ("statement", "gone"),
    [
        ("Every whole word 'roof' in garden.odt is replaced by 'rooftop'", ("roof",)),
        ("The file draft.txt in Documents was renamed to final.txt", ("draft.txt",)),
        ("Replace 'red' with 'blue'", ("red",)),
        ("The word 'roof' is in garden.odt", ()),
        ("The file was renamed to final.txt", ()),
        ("'x' is replaced by 'x'", ()),
    ],
)
def test_what_was_replaced_is_gone(statement: str, gone: tuple[str, ...]) -> None:
    assert read_statement(statement).gone == gone
