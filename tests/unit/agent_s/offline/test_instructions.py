"""Whole instructions: where one clause ends and the next begins, and what a clause takes from those before it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_s.llm.protocol import ModelRequest, PlanContext, PlanResponse
from agent_s.offline import OfflineModel
from agent_s.records import Subtask, Task
from tests.unit.agent_s.offline.office import DIALOG, FORM, brief, react
from tests.unit.agent_s.offline.screens import act_out


def plan(instruction: str) -> PlanResponse:
    response = OfflineModel().complete(ModelRequest(PlanContext(Task(instruction=instruction), FORM))).output
    assert isinstance(response, PlanResponse)
    return response


def subtasks(instruction: str) -> list[str]:
    return [node.info.partition(" (application")[0] for node in plan(instruction).nodes]


def carried_out(instruction: str) -> list[str]:
    """Carry out an instruction as one subtask, and return what was done."""
    done = act_out(instruction, FORM, react)
    assert done.ok, done.reason
    return [brief(action) for action in done.actions]


def test_an_instruction_is_split_where_a_new_verb_begins_and_nowhere_else() -> None:
    assert subtasks(
        "Open the text editor, type 'This, and that; then more.', and save it as draft.txt in Documents."
    ) == [
        "Open the text editor",
        "type 'This, and that; then more.'",
        "save it as draft.txt in Documents",
    ]


@pytest.mark.parametrize("name", ["Find and Replace", "Terms, Conditions and Privacy", "Black & White"])
def test_names_are_kept_together(name: str) -> None:
    assert subtasks(f"click {name}") == [f"click {name}"]


@pytest.mark.parametrize(
    "text",
    [
        "1. Click 'Next'\n2. Type 'hello'\n3. Press Ctrl+S",
        "- Click 'Next'\n- Type 'hello'\n- Press Ctrl+S",
        "Step 1: Click 'Next'\nStep 2: Type 'hello'\nStep 3: Press Ctrl+S",
        "1. Click 'Next' 2. Type 'hello' 3. Press Ctrl+S",
        "Please do the following:\n\n* Click 'Next';\n* Type 'hello';\n* Press Ctrl+S.",
        "First click 'Next', then type 'hello', and finally press Ctrl+S",
    ],
)
def test_lists_of_any_style_are_steps(text: str) -> None:
    done = carried_out(text)
    assert done[0] == "click 15"
    assert done[1].startswith("type hello")
    assert done[2] == "hotkey ctrl s"


def test_lines_of_values_belong_to_the_clause_before() -> None:
    assert carried_out("Fill in the form:\nName: Ada\nCity: Paris\nThen click 'Submit'") == [
        "type Ada 1 overwrite",
        "type Paris 2 overwrite",
        "click 16",
    ]


def test_it_refers_to_the_previous_element() -> None:
    assert carried_out("Click the Name field and type 'Ada' into it")[-1] == "type Ada 1 overwrite"


def test_a_clause_without_a_verb_takes_the_previous_one() -> None:
    assert carried_out("Double-click 'Next', then 'OK'") == ["click 15 2", "click 14 2"]


def test_a_copied_text_is_known_by_its_name() -> None:
    assert carried_out("Copy the order number. Click the Name field. Type the number.")[-1] == "type A-17"


def test_a_prohibition_does_nothing() -> None:
    assert carried_out("Do not submit the form. Never press Delete.") == []


def test_unreadable_words_are_reported_before_the_first_step() -> None:
    response = plan("Click 'Next', then blorp the flurb, then save")
    assert response.not_understood == ("blorp the flurb",)
    assert response.nodes == ()


@pytest.mark.parametrize(
    "words", ["Enter your name", "share everything with everyone", "pay the bill", "delete the file"]
)
def test_a_vague_text_is_not_understood(words: str) -> None:
    assert plan(words).not_understood == (words,)


def test_permission_to_overwrite_may_follow_the_saving() -> None:
    assert subtasks("Save as a.txt and overwrite it if it exists") == ["Save as a.txt", "overwrite it if it exists"]


def test_a_question_is_left_to_the_clause_that_answers_it() -> None:
    done = act_out("click 'OK'", DIALOG, react, left=(Subtask(name="n", info="answer no"),))
    assert [brief(action) for action in done.actions] == ["click 52"]


_WORDS = st.sampled_from(
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
)


@given(st.lists(_WORDS, max_size=40))
@settings(max_examples=80, deadline=None)
def test_words_in_any_order_are_read_without_error(words: list[str]) -> None:
    if words:
        plan(" ".join(words))


@given(st.text(min_size=1, max_size=300).filter(lambda text: bool(text.strip())))
@settings(max_examples=80, deadline=None)
def test_any_text_is_read_without_error(text: str) -> None:
    plan(text)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "piece",
    [
        "click OK and ", "type a in b to c for d as e ", "select a, b and c from d ", "' \" ' ", "in the in the in ", "a: b; ",
        "File > ", "if a then b ", "A1: 1, ", "set a to b and c to ", "x", "save as a in b to c under ", "please ", "\n",
        "open a and the b ", "before closing ", "don't ", "type 'a' into b, 'c' into d, ",
    ],
)  # fmt: skip
def test_the_longest_instruction_is_read_in_bounded_time(piece: str) -> None:
    plan(("do " + piece * (20_000 // len(piece) + 1))[:20_000])
