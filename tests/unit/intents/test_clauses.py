from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents.clauses import is_polite_only, split, without_politeness


@pytest.mark.parametrize(
    ("instruction", "clauses"),
    [
        ("Open the File menu and click Save As.", ["Open the File menu", "click Save As"]),
        ("type 'open the door and click' into Name, then press Enter", ["type '...' into Name", "press Enter"]),
        ("1. Click File. 2. Click Open.", ["Click File", "Click Open"]),
        ("- click A\n- click B", ["click A", "click B"]),
        ("In the Edit menu, click Find and Replace", ["In the Edit menu, click Find and Replace"]),
        ("If a dialog opens, click OK and type x", ["If a dialog opens, click OK", "type x"]),
        ("select 'France' from the Country list and 'Paris' from the City list",
         ["select '...' from the Country list", "'...' from the City list"]),
    ],
)  # fmt: skip
def test_instruction_is_split_where_another_one_begins(instruction: str, clauses: list[str]) -> None:
    found = [clause.words for clause in split(instruction)]
    assert [clause.part(_dots(clause.marked)).marked for clause in found] == clauses


def _dots(marked: str) -> str:
    return re.sub("\ue000\\d+\ue001", "'...'", marked)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Could you please click OK, thanks", "click OK"),
        ("finally, clicking on OK", "click on OK"),
        ("last tab", "last tab"),
        ("first, open the file", "open the file"),
        ("How do I save a file?", "save a file?"),
        ("please", "please"),
    ],
)
def test_polite_phrases_are_dropped(text: str, plain: str) -> None:
    assert without_politeness(text) == plain


def test_time_grows_linearly_with_repeated_polite_phrases() -> None:
    text = "please, " * 20_000
    assert without_politeness(f"{text}click OK") == "click OK"
    assert without_politeness(f"click OK {text}") == "click OK"
    assert is_polite_only(text) and not is_polite_only(f"{text}click OK")


@given(st.text(max_size=120))
def test_splitting_never_raises(text: str) -> None:
    split(text)
