"""What several attempts at one task use together."""

from __future__ import annotations

from agent_s.records import Usage
from evaluation.attempts import total_usage
from evaluation.harness.results import Result


def attempt(steps: int, calls: int, dollars: float | None) -> Result:
    return Result(task="a", status="done", outcome="success", steps=steps, model_calls=calls, dollars=dollars)


def test_usage_of_all_attempts_and_of_the_choice_is_added_up() -> None:
    choice = Usage(model_calls=1, input_tokens=500, dollars=0.01)
    total = total_usage([attempt(3, 4, 0.25), attempt(5, 6, 0.5)], choice)
    assert total == Usage(steps=8, model_calls=11, input_tokens=500, dollars=0.76)


def test_cost_is_unknown_if_that_of_one_attempt_is() -> None:
    assert total_usage([attempt(3, 4, 0.25), attempt(5, 6, None)], Usage(dollars=0.0)).dollars is None
