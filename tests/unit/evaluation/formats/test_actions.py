"""The judgement of an agent's own actions."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.errors import CheckFailed
from tests.unit.evaluation.judging import judge

EXPECTED: list[dict[str, Any]] = [
    {"action_type": "CLICK", "parameters": {"bbox": [10, 10, 50, 30]}},
    {"action_type": "TYPING", "parameters": {"text": "hello"}},
    {"action_type": "HOTKEY", "parameters": {"keys": ["ctrl", "s"]}},
]
DONE: list[Any] = [
    {"action_type": "MOVE_TO", "parameters": {"x": 20, "y": 20}},
    {"action_type": "CLICK", "parameters": {"button": "left"}},
    "WAIT",
    {"action_type": "TYPING", "text": "hello"},
    {"action_type": "HOTKEY", "parameters": {"keys": ["ctrl", "s"]}},
    "DONE",
]


def test_the_expected_actions_pass_with_moves_and_waits_between_them() -> None:
    assert judge("check_step_actions", DONE, {"expected": EXPECTED}).value == 1


def test_actions_and_rules_may_be_the_wrong_way_round() -> None:
    assert judge("check_step_actions", {"action": EXPECTED}, DONE).value == 1


@pytest.mark.parametrize(
    ("number", "action", "why"),
    [
        (0, {"action_type": "MOVE_TO", "parameters": {"x": 90, "y": 20}}, "it is at"),
        (1, {"action_type": "PRESS", "parameters": {"key": "a"}}, "it is PRESS, expected CLICK"),
        (3, {"action_type": "TYPING", "text": "hullo"}, "text is 'hullo'"),
        (4, {"action_type": "HOTKEY", "parameters": {"keys": ["ctrl", "q"]}}, "keys is"),
        (4, "FAIL", "gave up"),
    ],
)
def test_another_action_fails_and_says_which(number: int, action: Any, why: str) -> None:
    score = judge("check_step_actions", [*DONE[:number], action, *DONE[number + 1 :]], {"expected": EXPECTED})
    assert score.value == 0
    assert why in score.why


def test_one_action_too_many_fails() -> None:
    more = [*DONE[:-1], {"action_type": "PRESS", "parameters": {"key": "enter"}}]
    assert "one more than expected" in judge("check_step_actions", more, {"expected": EXPECTED}).why


def test_what_cannot_be_judged_is_refused() -> None:
    with pytest.raises(CheckFailed, match="expected"):
        judge("check_step_actions", DONE, {"anything": EXPECTED})
    with pytest.raises(CheckFailed, match="not an action of the space"):
        judge("check_step_actions", ["JUMP"], {"expected": EXPECTED})
