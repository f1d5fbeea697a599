from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_store.errors import InvalidExperience
from memory_store.keys import MAX_JSON_CHARS, MAX_TEXT_CHARS, check_json, exact_form, make_key


def same(left: str, right: str) -> bool:
    return make_key(left).digest == make_key(right).digest


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Open the editor", "open the editor"),
        ("open  the\n editor ", "open the editor"),
        ("don't  save the file", "don't save the file"),
        ("type 'a  b'  and save", "type 'a  b' and save"),
    ],
)
def test_wording_that_means_the_same_task_has_the_same_key(left: str, right: str) -> None:
    assert same(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("type Hello", "type hello"),
        ("save it as Draft.txt", "save it as draft.txt"),
        ("type 'a  b'", "type 'a b'"),
        ('type "it\'s  so"', 'type "it\'s so"'),
        ("type 'don't  stop' now", "type 'don't stop' now"),
        ("type “x  y”", "type “x y”"),
        ("save", "save as"),
    ],
)
def test_wording_that_asks_for_another_result_has_another_key(left: str, right: str) -> None:
    assert not same(left, right)


def test_parts_do_not_run_into_each_other() -> None:
    assert make_key("a b", "c").digest != make_key("a", "b c").digest
    assert make_key("a", "", "b").digest != make_key("a", "b", "").digest


def test_the_embedded_text_is_the_collapsed_text_of_all_parts() -> None:
    assert make_key(" save  a file ", "", "in\tMousepad").text == "save a file\nin Mousepad"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60))
def test_the_exact_form_is_stable(text: str) -> None:
    assert exact_form(exact_form(text)) == exact_form(text)


@pytest.mark.parametrize("text", ["", "  \n", "a\0b", "a\ud800", "a" * (MAX_TEXT_CHARS + 1)])
def test_unacceptable_keys_are_refused(text: str) -> None:
    with pytest.raises(InvalidExperience):
        make_key(text)


def cyclic() -> list[object]:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    return deep


@pytest.mark.parametrize(
    "value",
    [
        [{"text": "a\0b"}],
        [{"a\ud800": 1}],
        [{"n": float("nan")}],
        [{"deep": [{"n": float("-inf")}]}],
        [{"x": object()}],
        [{"x": "y" * MAX_TEXT_CHARS} for _ in range(MAX_JSON_CHARS // MAX_TEXT_CHARS + 1)],
        cyclic(),
    ],
    ids=["nul", "surrogate", "nan", "infinity", "object", "large", "deep"],
)
def test_unacceptable_json_is_refused(value: object) -> None:
    with pytest.raises(InvalidExperience):
        check_json(value, "the steps")


def test_ordinary_json_is_accepted() -> None:
    check_json([{"action": "type", "text": "é 漢", "n": 1.5, "on": True, "none": None, "keys": ["ctrl", "s"]}], "steps")
