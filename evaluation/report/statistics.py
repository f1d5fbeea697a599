"""Summaries of results: success rate with its confidence interval, time and effort."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from evaluation.harness.results import Result

Z_95 = 1.959963984540054
"""Quantile of the standard normal distribution for a two-sided interval of 95%."""


def wilson(successes: int, trials: int, z: float = Z_95) -> tuple[float, float]:
    """Return the Wilson score interval of a success rate (Wilson 1927, JASA 22, p. 209).

    Unlike the normal approximation it stays within 0 and 1 and holds for few trials and rates near 1. Without any
    trial everything is possible.
    """
    if trials == 0:
        return 0.0, 1.0
    rate = successes / trials
    weight = 1 + z * z / trials
    center = (rate + z * z / (2 * trials)) / weight
    half = z * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials)) / weight
    return max(0.0, center - half), min(1.0, center + half)


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary of several results.

    Attributes:
        episodes: Number of results, errors included.
        successes: Number of successes.
        errors: Number of results whose environment broke.
        success_rate: Successes among those without an error; None if there is none.
        interval: Its 95% confidence interval.
        median_s: Median wall time of those without an error, s; None if there is none.
        steps: Primitives in total.
        model_calls: Model calls in total.
        failures: Number of failures of each kind.
    """

    episodes: int
    successes: int
    errors: int
    success_rate: float | None
    interval: tuple[float, float]
    median_s: float | None
    steps: int
    model_calls: int
    failures: dict[str, int]

    @property
    def judged(self) -> int:
        """Number of results without an error."""
        return self.episodes - self.errors

    def as_json(self) -> dict[str, Any]:
        """Return the values for `--json`, rounded."""
        return {
            "episodes": self.episodes,
            "success_rate": None if self.success_rate is None else round(self.success_rate, 4),
            "interval": [round(bound, 4) for bound in self.interval],
            "median_s": None if self.median_s is None else round(self.median_s, 3),
            "steps": self.steps,
            "model_calls": self.model_calls,
            "errors": self.errors,
            "failures": self.failures,
        }

    def as_texts(self) -> dict[str, str]:
        """Return the values for tables, by their headings."""
        low, high = self.interval
        return {
            "Episodes": str(self.episodes),
            "Success": percent(self.success_rate),
            "95% interval": "-" if self.success_rate is None else f"{100 * low:.0f}-{100 * high:.0f}%",
            "Median s": "-" if self.median_s is None else f"{self.median_s:.1f}",
            "Steps": str(self.steps),
            "Calls": str(self.model_calls),
            "Errors": str(self.errors),
        }


def percent(rate: float | None) -> str:
    """Return a rate as a text, "-" where there is none."""
    return "-" if rate is None else f"{100 * rate:.1f}%"


def summarize(results: Iterable[Result]) -> Summary:
    """Sum up results."""
    every = list(results)
    judged = [result for result in every if result.outcome != "error"]
    successes = sum(result.outcome == "success" for result in judged)
    failures = Counter(result.failure for result in every if result.failure is not None)
    return Summary(
        episodes=len(every),
        successes=successes,
        errors=len(every) - len(judged),
        success_rate=successes / len(judged) if judged else None,
        interval=wilson(successes, len(judged)),
        median_s=statistics.median(result.seconds for result in judged) if judged else None,
        steps=sum(result.steps for result in every),
        model_calls=sum(result.model_calls for result in every),
        failures=dict(sorted(failures.items())),
    )


def summarize_some(results: Iterable[Result], wanted: Callable[[Result], bool]) -> Summary | None:
    """Sum up the wanted ones of some results; return None where there is none."""
    some = [result for result in results if wanted(result)]
    return summarize(some) if some else None


def by_task(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Group results by their task, in alphabetical order."""
    grouped: dict[str, list[Result]] = {}
    for result in sorted(results, key=lambda result: (result.task, result.seed or 0)):
        grouped.setdefault(result.task, []).append(result)
    return grouped
