"""OS-MAP's matrix: success by level of automation and by domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.harness.results import Result
from evaluation.report.statistics import Summary, summarize

ALL = "all"
LEVELS = {"L1": "L1 execution", "L2": "L2 planning", "L3": "L3 adaptability", "L4": "L4 orchestration"}
"""Names of the levels (OS-MAP, table 1)."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """A table of summaries.

    Attributes:
        levels: Of the rows; the last one is `ALL`.
        domains: Of the columns; the last one is `ALL`.
        rows: A summary for each level and domain; None where there is no such task.
    """

    levels: tuple[str, ...]
    domains: tuple[str, ...]
    rows: tuple[tuple[Summary | None, ...], ...]

    def as_json(self) -> dict[str, Any]:
        """Return the summaries by level and domain."""
        return {
            level: {
                domain: summary.as_json()
                for domain, summary in zip(self.domains, row, strict=True)
                if summary is not None
            }
            for level, row in zip(self.levels, self.rows, strict=True)
        }


def matrix_of(results: Sequence[Result]) -> Matrix | None:
    """Return the matrix of those results whose tasks have a level and a domain; None where none has."""
    labelled = [result for result in results if {"level", "domain"} <= result.labels.keys()]
    if not labelled:
        return None
    levels = (*sorted({result.labels["level"] for result in labelled}), ALL)
    domains = (*sorted({result.labels["domain"] for result in labelled}), ALL)
    rows = tuple(tuple(_summary(labelled, level, domain) for domain in domains) for level in levels)
    return Matrix(levels, domains, rows)


def _summary(results: Sequence[Result], level: str, domain: str) -> Summary | None:
    fitting = [
        result
        for result in results
        if level in (ALL, result.labels["level"]) and domain in (ALL, result.labels["domain"])
    ]
    return summarize(fitting) if fitting else None
