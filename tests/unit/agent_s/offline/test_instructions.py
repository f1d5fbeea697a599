"""Whole instructions: where one clause ends and the next begins, and what only their neighbours tell."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_s.offline.clauses import split_instruction
from agent_s.offline.grammar import application_of, parse_clause
from agent_s.offline.reading import not_understood, read_instruction
from tests.unit.agent_s.offline.brief import brief, readings


def clauses(instruction: str) -> list[str]:
    return [clause.words.plain for clause in split_instruction(instruction)]


def test_splits_where_a_new_verb_begins_and_nowhere_else() -> None:
    assert clauses(
        "Open the text editor, type 'This, and that; then more.', and save it as draft.txt in Documents."
    ) == [
        "Open the text editor",
        "type This, and that; then more.",
        "save it as draft.txt in Documents",
    ]


@pytest.mark.parametrize(
    "name", ["Find and Replace", "Terms, Conditions and Privacy", "Save, Print and Close Options", "Black & White"]
)
def test_keeps_names_together(name: str) -> None:
    assert len(clauses(f"click {name}")) == 1


def test_reads_numbered_lists_of_any_style() -> None:
    expected = readings("Open Mousepad. Type hello. Press Ctrl+S.")
    for text in (
        "1. Open Mousepad\n2. Type hello\n3. Press Ctrl+S",
        "1) Open Mousepad\n2) Type hello\n3) Press Ctrl+S",
        "- Open Mousepad\n- Type hello\n- Press Ctrl+S",
        "Step 1: Open Mousepad\nStep 2: Type hello\nStep 3: Press Ctrl+S",
        "1. Open Mousepad 2. Type hello 3. Press Ctrl+S",
        "Please do the following:\n\n* Open Mousepad;\n* Type hello;\n* Press Ctrl+S.",
        "First open Mousepad, then type hello, and finally press Ctrl+S",
    ):
        assert readings(text) == expected, text


def test_lines_of_values_belong_to_the_clause_before() -> None:
    assert readings("Fill in the form:\nName: Ada\nCountry: France\nThen click Submit") == [
        "FillIn(<Name>='Ada', <Country>='France')",
        "ClickOn(<Submit>)",
    ]


def test_reads_tables_of_lines() -> None:
    text = "Start LibreOffice Calc and enter the following table:\n| Item | Price |\n|---|---|\n| Tea | 3 |\nSave it as t.ods"
    assert readings(text)[1:] == ["EnterCells(A1:Item B1:Price A2:Tea B2:3)", "SaveFile('t.ods', save_as=True)"]


def test_a_text_of_several_lines_is_typed_as_it_is() -> None:
    assert readings("Type the following text:\nDear all,\nOpen the door.\n\nSave the file as x.txt") == [
        "TypeText('Dear all,\\nOpen the door.')",
        "SaveFile('x.txt', save_as=True)",
    ]


def test_it_stands_for_the_element_named_before() -> None:
    assert readings("Click the Name field and type 'Ada' into it")[1] == "TypeText('Ada', <'Name field'>)"


def test_a_clause_without_a_verb_takes_the_one_before() -> None:
    assert readings("Double-click 'A', then 'B'") == ["ClickOn(<'A'>, clicks=2)", "ClickOn(<'B'>, clicks=2)"]


def test_a_copied_text_is_known_by_its_name() -> None:
    assert (
        readings("Copy the confirmation code. Open Mousepad. Type the code.")[-1]
        == "TypeText(kept='confirmation code')"
    )


def test_permission_to_overwrite_belongs_to_the_saving() -> None:
    assert readings("Save as a.txt and overwrite it if it exists") == [
        "SaveFile('a.txt', overwrite=True, save_as=True)"
    ]
    assert readings("Save as a.txt") == ["SaveFile('a.txt', save_as=True)"]


def test_what_is_not_to_be_done_is_not_done() -> None:
    assert readings("Do not submit the form. Never press Delete.") == ["NothingToDo()", "NothingToDo()"]


def test_names_the_words_that_it_does_not_understand() -> None:
    parts = read_instruction("Open Mousepad, then blorp the flurb, then save")
    assert [words for part in parts for words in not_understood(part.intent)] == ["blorp the flurb"]


def test_the_application_is_remembered_beside_the_clause_and_does_not_change_it() -> None:
    part = read_instruction("Open the text editor and type 'x'")[1]
    assert part.application == "text editor"
    info = f"{part.words} (application: {part.application})"
    assert application_of(info) == "text editor"
    assert brief(parse_clause(info)) == "TypeText('x')"


@pytest.mark.parametrize("instruction", [
    "Open Mousepad, type \"it's\" and 'say \"hi\"', save as 'a b.txt' in Documents and overwrite it",
    "Copy the code, open Mousepad, paste it, then close it without saving",
    "Select 'France' from the 'Country' list, 'Paris' from the 'City' list, then click the 'Ok' button, then the 'Next' button",
])  # fmt: skip
def test_each_part_reads_the_same_by_itself(instruction: str) -> None:
    for part in read_instruction(instruction):
        assert brief(parse_clause(part.words)) == brief(part.intent)


_WORDS = st.sampled_from(
    [
        *(
            [
                "click",
                "type",
                "open",
                "save",
                "select",
                "press",
                "the",
                "a",
                "and",
                "then",
                "in",
                "on",
                "to",
                "into",
                "from",
                "with",
                "by",
                "before",
                "after",
                "until",
                "wait",
                "for",
            ]
        ),
        *(
            [
                "check",
                "that",
                "name",
                "it",
                "not",
                "as",
                "of",
                "row",
                "list",
                "button",
                "field",
                "if",
                "don't",
                "'x'",
                '"y"',
                "File",
                "Save",
                "As",
                "B2",
                "ctrl+s",
                "5",
                "1.",
                "-",
                ">",
                ",",
                ".",
                ";",
                ":",
            ]
        ),
        "\n",
    ]
)


@given(st.lists(_WORDS, max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_order_of_words_is_read_without_error(words: list[str]) -> None:
    for part in read_instruction(" ".join(words)):
        assert part.words
        parse_clause(part.words)


@given(st.text(max_size=400))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_without_error(text: str) -> None:
    for part in read_instruction(text):
        parse_clause(part.words)


@pytest.mark.parametrize(
    "piece",
    [
        "click OK and ", "type a in b to c for d as e ", "select a, b and c from d ", "' \" ' ", "in the in the in ", "a: b; ",
        "File > ", "1. ", "if a then b ", "the the ", "A1: 1, ", "set a to b and c to ", "x", "save as a in b to c under ",
        "( ", "please ", "\n", "open a and the b ", "before closing ", "don't ", "- ", "type 'a' into b, 'c' into d, ",
    ],
)  # fmt: skip
def test_the_longest_instruction_is_read_in_bounded_time(piece: str) -> None:
    started = time.process_time()
    read_instruction((piece * (20_000 // len(piece) + 1))[:20_000])
    assert time.process_time() - started < 20
