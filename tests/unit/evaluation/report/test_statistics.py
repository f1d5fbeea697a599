from __future__ import annotations

import pytest

from evaluation.harness.results import Result
from evaluation.report.statistics import by_task, summarize, wilson


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    # Newcombe 1998, Statistics in Medicine 17, table I, method 3
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_interval_equals_published_values(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)


def test_interval_without_trials_is_0_to_1() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def a_result(task: str, outcome: str, seconds: float = 1.0, failure: str | None = None, seed: int = 1) -> Result:
    status = {"success": "done", "failure": "failed", "error": "error"}[outcome]
    values = {"outcome": outcome, "status": status, "seconds": seconds, "failure": failure, "steps": 2}
    return Result.model_validate({"task": task, "seed": seed, "model_calls": 3, **values})


def test_errors_are_not_counted_as_failures() -> None:
    summary = summarize(
        [
            a_result("a", "success", 1.0),
            a_result("a", "failure", 3.0, "grounding"),
            a_result("b", "success", 2.0),
            a_result("b", "error", 99.0, "environment"),
        ]
    )

    assert summary.as_json() == {
        "episodes": 4,
        "success_rate": 0.6667,
        "interval": [0.2077, 0.9385],
        "median_s": 2.0,
        "steps": 8,
        "model_calls": 12,
        "errors": 1,
        "failures": {"environment": 1, "grounding": 1},
    }


def test_success_rate_is_unknown_when_all_results_are_errors() -> None:
    summary = summarize([a_result("a", "error")])

    assert (summary.success_rate, summary.median_s, summary.interval) == (None, None, (0.0, 1.0))


def test_results_are_grouped_by_task_in_order() -> None:
    grouped = by_task([a_result("b", "success", seed=2), a_result("a", "success"), a_result("b", "failure", seed=1)])

    assert {name: [result.seed for result in group] for name, group in grouped.items()} == {"a": [1], "b": [1, 2]}
    assert list(grouped) == ["a", "b"]
