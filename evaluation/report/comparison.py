"""Comparison of evaluations: success by group, effort, failures by kind, and the settings that differ.

Its HTML page has tables, and plots as inline SVG; no script, no network, all text escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_s.trajectory.html import render_page
from evaluation.errors import ResultsError
from evaluation.harness.results import Header, Result, read_results
from evaluation.report.statistics import Summary, percent, summarize, summarize_some

GROUPS = ("application", "level", "domain", "task")  # groups of results: labels of the tasks, and the tasks themselves
LEVELS = {"L1": "L1 execution", "L2": "L2 planning", "L3": "L3 adaptability", "L4": "L4 orchestration"}
"""Names of the levels of automation (OS-MAP, table 1)."""
ALL = "all"
NO_LABEL = "-"

Table = dict[str, dict[str, Summary | None]]  # summaries by row and column; None where there is no such task
MAX_PLOT_ROWS = 150
COLORS = ("#2456c9", "#e8590c", "#12805c", "#9333c4", "#b8860b", "#0e7490", "#b3261e", "#64748b")
"""Colors of the evaluations, used again where there are more."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One of the evaluations compared."""

    name: str  # name of its folder, with the path where two have the same
    folder: Path  # folder of the results
    header: Header  # what was evaluated
    results: tuple[Result, ...]

    @property
    def summary(self) -> Summary:
        """Summary of all results."""
        return summarize(self.results)

    @property
    def matrix(self) -> Table:
        """OS-MAP's matrix: success by level and domain; empty if no task has both."""
        return matrix_of(self.results)

    @property
    def tokens(self) -> int:
        """Tokens sent and received."""
        return sum(result.input_tokens + result.output_tokens for result in self.results)

    @property
    def dollars(self) -> float | None:
        """Cost; None if the price of an episode is unknown."""
        costs = [result.dollars for result in self.results if result.outcome != "error" or result.model_calls]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if costs and len(known) == len(costs) else None

    @property
    def seconds(self) -> float:
        """Wall time of all runs in total, s."""
        return sum(result.seconds for result in self.results)

    def as_json(self) -> dict[str, Any]:
        """Return the totals and the matrix for `--json`."""
        matrix = {
            level: {domain: summary.as_json() for domain, summary in row.items() if summary is not None}
            for level, row in self.matrix.items()
        }
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
            "matrix": matrix or None,
        }

    def as_texts(self) -> dict[str, str]:
        """Return the totals for tables, by their headings."""
        return {
            "Model": self.header.model,
            **self.summary.as_texts(),
            "Tokens": str(self.tokens),
            "Dollars": "-" if self.dollars is None else f"{self.dollars:.2f}",
            "Seconds": f"{self.seconds:.0f}",
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Several evaluations."""

    evaluations: tuple[Evaluation, ...]  # in the order they were named
    groups: dict[str, Table]  # for each of `GROUPS` that some task has, a table of its values by evaluation
    settings: dict[str, tuple[Any, ...]]  # for each setting in which they differ, its value in each evaluation

    @property
    def failure_kinds(self) -> list[str]:
        """The kinds of failure that occurred."""
        return sorted({kind for one in self.evaluations for kind in one.summary.failures})

    def as_json(self) -> dict[str, Any]:
        """Return all values for `--json`."""
        return {
            "runs": [evaluation.as_json() for evaluation in self.evaluations],
            "groups": {
                group: {
                    value: [None if summary is None else summary.as_json() for summary in row.values()]
                    for value, row in table.items()
                }
                for group, table in self.groups.items()
            },
            "settings": {name: list(values) for name, values in self.settings.items()},
        }


def compare(folders: Sequence[Path]) -> Comparison:
    """Read and compare evaluations.

    Raises:
        ResultsError: The results of one cannot be read.
    """
    names = [folder.resolve().name for folder in folders]
    evaluations = []
    for folder, name in zip(folders, names, strict=True):
        header, results = read_results(folder)
        unique = name if names.count(name) == 1 else str(folder)
        evaluations.append(Evaluation(unique, folder, header, tuple(results.values())))
    groups = {group: table for group in GROUPS if (table := _table(evaluations, group))}
    return Comparison(tuple(evaluations), groups, _differing([one.header for one in evaluations]))


def matrix_of(results: Sequence[Result]) -> Table:
    """Return OS-MAP's matrix of those results whose tasks have a level and a domain; the last of each is `ALL`."""
    labelled = [result for result in results if {"level", "domain"} <= result.labels.keys()]
    levels, domains = (sorted({result.labels[name] for result in labelled}) for name in ("level", "domain"))

    def summary(level: str, domain: str) -> Summary | None:
        return summarize_some(
            labelled, lambda one: level in (ALL, one.labels["level"]) and domain in (ALL, one.labels["domain"])
        )

    return {level: {domain: summary(level, domain) for domain in (*domains, ALL)} for level in (*levels, ALL) if levels}


def _table(evaluations: Sequence[Evaluation], group: str) -> Table:
    """Return the summaries of a group by its values and the evaluations; empty if no task is labelled."""

    def label(result: Result) -> str:
        return result.task if group == "task" else result.labels.get(group, NO_LABEL)

    def summary(one: Evaluation, value: str) -> Summary | None:
        return summarize_some(one.results, lambda result: label(result) == value)

    values = sorted({label(result) for one in evaluations for result in one.results})
    return {value: {one.name: summary(one, value) for one in evaluations} for value in values if values != [NO_LABEL]}


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


LABEL_PX, PLOT_PX, ROW_PX = 230, 560, 20


def write_page(comparison: Comparison, path: Path) -> None:
    """Write the page.

    Raises:
        ResultsError: It cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(comparison_page(comparison), encoding="utf-8")
    except OSError as error:
        raise ResultsError(f"Cannot write the report {path}: {error.strerror or error}.") from error


def comparison_page(comparison: Comparison) -> str:
    """Return the page."""
    names = [one.name for one in comparison.evaluations]
    return render_page(
        "comparison.html.j2",
        {"percent": percent, "shade": shade},
        comparison=comparison,
        colors={name: COLORS[number % len(COLORS)] for number, name in enumerate(names)},
        overall={"all": {one.name: one.summary for one in comparison.evaluations}},
        level_names=LEVELS,
        label_px=LABEL_PX,
        plot_px=PLOT_PX,
        row_px=ROW_PX,
        max_plot_rows=MAX_PLOT_ROWS,
    )


def shade(rate: float | None) -> str:
    """Return the background of a cell of the matrix: the more of its tasks succeed, the greener; see-through."""
    return "transparent" if rate is None else f"hsl({round(8 + 132 * rate)} 65% 50% / 0.3)"
