"""Several evaluations side by side: success by group, effort, failures by kind, and in which settings they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.harness.results import Header, Result, read_results
from evaluation.report.matrix import Matrix, matrix_of
from evaluation.report.statistics import Summary, summarize

GROUPS = ("application", "level", "domain", "task")
"""What results are grouped by: labels of the tasks, and the tasks themselves."""
NO_LABEL = "-"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One of the evaluations compared.

    Attributes:
        name: Its folder's name, longer where two have the same.
        folder: Where its results lie.
        header: What was evaluated.
        results: Its results.
    """

    name: str
    folder: Path
    header: Header
    results: tuple[Result, ...]

    @property
    def summary(self) -> Summary:
        """What all its results come to."""
        return summarize(self.results)

    @property
    def matrix(self) -> Matrix | None:
        """Success by level and domain; None where the tasks have none."""
        return matrix_of(self.results)

    @property
    def tokens(self) -> int:
        """Tokens sent and received."""
        return sum(result.input_tokens + result.output_tokens for result in self.results)

    @property
    def dollars(self) -> float | None:
        """Cost; None where the price of an episode is not known."""
        costs = [result.dollars for result in self.results if result.outcome != "error" or result.model_calls]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if costs and len(known) == len(costs) else None

    @property
    def seconds(self) -> float:
        """Wall time of all runs together, s."""
        return sum(result.seconds for result in self.results)

    def as_json(self) -> dict[str, Any]:
        """Return its totals and its matrix."""
        matrix = self.matrix
        return {
            "name": self.name,
            "folder": str(self.folder),
            "benchmark": self.header.benchmark,
            "model": self.header.model,
            "version": self.header.version,
            "started": self.header.started.isoformat(),
            **self.summary.as_json(),
            "tokens": self.tokens,
            "dollars": self.dollars,
            "seconds": round(self.seconds, 3),
            "matrix": None if matrix is None else matrix.as_json(),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Evaluations side by side.

    Attributes:
        evaluations: In the order they were named.
        groups: For each of `GROUPS` that some task has: for each value, one summary per evaluation, None where it has
            no such task.
        settings: For each setting in which they differ, its value in each evaluation.
    """

    evaluations: tuple[Evaluation, ...]
    groups: dict[str, dict[str, tuple[Summary | None, ...]]]
    settings: dict[str, tuple[Any, ...]]

    @property
    def failure_kinds(self) -> list[str]:
        """The kinds of failure that there are."""
        return sorted({kind for one in self.evaluations for kind in one.summary.failures})

    def as_json(self) -> dict[str, Any]:
        """Return all values for `--json`."""
        return {
            "runs": [evaluation.as_json() for evaluation in self.evaluations],
            "groups": {
                group: {
                    value: [None if summary is None else summary.as_json() for summary in row]
                    for value, row in rows.items()
                }
                for group, rows in self.groups.items()
            },
            "settings": {name: list(values) for name, values in self.settings.items()},
        }


def compare(folders: Sequence[Path]) -> Comparison:
    """Read evaluations and set them side by side.

    Raises:
        ResultsError: The results of one cannot be read.
    """
    evaluations = []
    for folder, name in zip(folders, _names(folders), strict=True):
        header, results = read_results(folder)
        evaluations.append(Evaluation(name, folder, header, tuple(results.values())))
    return Comparison(tuple(evaluations), _groups(evaluations), _differing([one.header for one in evaluations]))


def _names(folders: Sequence[Path]) -> list[str]:
    short = [folder.resolve().name for folder in folders]
    return [name if short.count(name) == 1 else str(folder) for name, folder in zip(short, folders, strict=True)]


def _groups(evaluations: Sequence[Evaluation]) -> dict[str, dict[str, tuple[Summary | None, ...]]]:
    every = [result for evaluation in evaluations for result in evaluation.results]
    groups = {}
    for group in GROUPS:
        values = sorted({_label(result, group) for result in every})
        if values and values != [NO_LABEL]:
            groups[group] = {
                value: tuple(_summary(evaluation.results, group, value) for evaluation in evaluations)
                for value in values
            }
    return groups


def _summary(results: Iterable[Result], group: str, value: str) -> Summary | None:
    fitting = [result for result in results if _label(result, group) == value]
    return summarize(fitting) if fitting else None


def _label(result: Result, group: str) -> str:
    return result.task if group == "task" else result.labels.get(group, NO_LABEL)


def _differing(headers: Sequence[Header]) -> dict[str, tuple[Any, ...]]:
    flat = [dict(_flat(header.settings)) for header in headers]
    names = sorted({name for settings in flat for name in settings})
    rows = {name: tuple(settings.get(name) for settings in flat) for name in names}
    return {name: row for name, row in rows.items() if any(value != row[0] for value in row)}


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
