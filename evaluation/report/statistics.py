"""Summaries of results: success rate with its confidence interval, time and effort."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.harness.results import Result

Z_95 = 1.959963984540054  # quantile of the standard normal distribution for a two-sided interval of 95%


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return the Wilson score interval of a success rate (Wilson 1927, JASA 22, p. 209).

    Unlike the normal approximation it stays within 0 and 1 and holds for few trials and rates near 1. Without any
    trial everything is possible.
    """
    if trials == 0:
        return 0.0, 1.0
    rate, z = successes / trials, Z_95
    weight = 1 + z * z / trials
    center = (rate + z * z / (2 * trials)) / weight
    half = z * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials)) / weight
    return max(0.0, center - half), min(1.0, center + half)


@dataclass(frozen=True, slots=True)
class Summary:
    """Summary of several results."""

    episodes: int  # number of results, errors included
    successes: int  # number of successes
    errors: int  # number of results whose environment broke
    success_rate: float | None  # successes among those without an error; None if there is none
    interval: tuple[float, float]  # its 95% confidence interval
    median_s: float | None  # median wall time of those without an error, s; None if there is none
    steps: int  # primitives in total
    model_calls: int  # model calls in total
    failures: dict[str, int]  # number of failures of each kind

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


def describe_effort(results: Sequence[Result]) -> dict[str, Any]:
    """Return a summary of results, with means per episode that could be judged; the dollars None if unknown."""
    judged = [result for result in results if result.outcome != "error"]
    number = max(1, len(judged))
    dollars = [result.dollars for result in judged]
    known = [each for each in dollars if each is not None]
    return {
        **summarize(results).as_json(),
        "mean_steps": sum(result.steps for result in judged) / number,
        "mean_model_calls": sum(result.model_calls for result in judged) / number,
        "mean_tokens": sum(result.input_tokens + result.output_tokens for result in judged) / number,
        "mean_dollars": sum(known) / number if judged and len(known) == len(dollars) else None,
    }


def paired_difference(results: Iterable[Result], reference: Iterable[Result]) -> tuple[float, float, float] | None:
    """Return the difference of two success rates on the same episodes, and its interval.

    The interval is the adjusted Wald interval for matched pairs (Agresti and Min 2005, Statistics in Medicine 24,
    p. 729): half an episode is added to each of the four combinations of success and failure. None if no episode was
    judged in both.
    """
    other = {result.job: result.outcome == "success" for result in reference if result.outcome != "error"}
    pairs = [
        (one.outcome == "success", other[one.job]) for one in results if one.outcome != "error" and one.job in other
    ]
    if not pairs:
        return None
    better, worse = (sum(pair == only for pair in pairs) for only in ((True, False), (False, True)))
    center = (better - worse) / (len(pairs) + 2)
    variance = better + worse + 1 - (better - worse) ** 2 / (len(pairs) + 2)
    half = Z_95 * math.sqrt(variance) / (len(pairs) + 2)
    return (better - worse) / len(pairs), max(-1.0, center - half), min(1.0, center + half)


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
