"""Alignment of two wordings of a task by their values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intents.alignment import Parameters, align
from intents.text import tokens

DRAFT = "Open the text editor, type 'This is a draft.', and save it as draft.txt in the Documents folder."


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        (DRAFT, DRAFT, {}),
        (
            DRAFT,
            'Open the text editor, type "Don\'t panic", and save it as minutes.txt in the Downloads folder.',
            {"This is a draft.": "Don't panic", "draft.txt": "minutes.txt", "Documents": "Downloads"},
        ),
        (
            "type Item into A1, 12 into B2 and =SUM(B2:B3) into B4",
            "Type 'Unit price' into C1, 15.5 into D2 and =SUM(D2:D3, 4) into D4",
            {
                "Item": "Unit price",
                "A1": "C1",
                "12": "15.5",
                "B2": "D2",
                "=SUM(B2:B3)": "=SUM(D2:D3, 4)",
                "B4": "D4",
            },
        ),
        (
            "Set Date to 2026-03-14.",
            "Set the Date to 2027-03-09",
            {"2026-03-14": "2027-03-09", "2026": "2027", "14": "09"},
        ),
        ("select Pottery from Workshop", "please select Wood carving from Workshop", {"Pottery": "Wood carving"}),
        ("turn on line numbers", "turn off line numbers", {"on": "off"}),
        ("Click 'Save'", "Click 'save'", {"Save": "save"}),
        ("type x into Name", "Type X into Name", {"x": "X"}),
    ],
)
def test_values_that_differ_are_parameters(old: str, new: str, pairs: dict[str, str]) -> None:
    found = align(old, new)
    assert found is not None and found.pairs == pairs


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Click 'Save'", "Do not click 'Save'"),
        ("Save it as draft.txt", "Save it as draft.txt and close the window"),
        ("type 3 into A1 and 3 into B2", "type 4 into A1 and 5 into B2"),
        ("type Save into Name and click Save", "type Ada into Name and click Save"),
        ("type 'a' into Name", r"type 'a\nb' into Name"),
        ("save as draft.txt in Documents", "save as /tmp/draft.txt in Documents"),
        ("Set Date to 2026-03-03", "Set Date to 2026-05-07"),
        ("type 14 and set Date to 2026-03-14", "type 14 and set Date to 2026-03-15"),
        ("type hello and save it", "type bye and close the window and save it"),
        ("type 'a' into Name", "type 'a\nb' into Name"),
        ("type 'a' into Name", "type '' into Name"),
        ("press ctrl and +", "press ctrl and -"),
    ],
)
def test_other_differences_make_another_task(old: str, new: str) -> None:
    assert align(old, new) is None


def parameters(**pairs: str) -> Parameters:
    return Parameters(pairs)


def test_values_are_replaced_as_whole_words_only() -> None:
    change = Parameters({"3": "7", "draft.txt": "plan.txt", "Item": "Thing"})
    assert change.replace("~/Documents/draft.txt") == "~/Documents/plan.txt"
    assert change.replace("=SUM(B3:B30)+3.5, Items, Item") == "=SUM(B3:B30)+3.5, Items, Thing"
    assert change.replace("2026-3-3 and 3") == "2026-3-3 and 7"


def test_a_kept_name_that_holds_an_old_value_stays() -> None:
    found = align("type 'draft' and save it as draft-2.txt", "type 'plan' and save it as draft-2.txt")
    assert found is not None
    assert found.replace("~/draft-2.txt") == "~/draft-2.txt" and found.replace("a draft") == "a plan"


def test_values_that_change_places_are_replaced_at_once() -> None:
    found = align("type 1 into A1 and 2 into A2", "type 2 into A1 and 1 into A2")
    assert found is not None and found.replace("1 2") == "2 1"


def test_a_wording_gets_quotes_that_hold_the_new_value() -> None:
    change = Parameters({"hello": "it's"})
    assert change.replace_in_wording("Type 'hello', then stop") == 'Type "it\'s", then stop'
    assert Parameters({"a": "'\"`"}).replace_in_wording("Type 'a'") is None


def test_value_in_no_recorded_text_is_unexplained() -> None:
    found = align("uncheck 'Gift wrap' in A1", "check 'Gift wrap' in A1")
    assert found is not None and found.unexplained(["Gift wrap", "A1"]) == ["uncheck"]
    assert parameters(draft="plan").unexplained(["a draft"]) == []


@given(st.text(max_size=80))
def test_any_text_is_the_same_as_itself(text: str) -> None:
    found = align(text, text)
    assert found is not None and not found
    assert all(text[token.start : token.end] for token in tokens(text))


def test_a_date_is_explained_by_itself_or_by_its_parts() -> None:
    found = align("Set Date to 2026-03-14", "Set Date to 2027-05-14")
    assert found is not None and found.pairs == {"2026-03-14": "2027-05-14", "2026": "2027", "03": "05"}
    assert found.unexplained(["03", "14", "2026"]) == [] == found.unexplained(["2026-03-14"])
    assert found.unexplained(["03", "Date"]) == ["2026-03-14"]


def test_wordings_without_a_common_word_are_different_tasks() -> None:
    assert align("quit", "fly to the moon") is None
    assert align("Quit Mousepad", "fly to the moon") is None
