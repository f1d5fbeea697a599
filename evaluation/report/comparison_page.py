"""The HTML page of a comparison: tables, and plots as inline SVG; no script, no network, all text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_s.trajectory.html import render_page
from evaluation.errors import ResultsError
from evaluation.report.comparison import Comparison
from evaluation.report.matrix import LEVELS
from evaluation.report.statistics import Summary

LABEL_PX, PLOT_PX, ROW_PX = 230, 560, 20
MAX_PLOT_ROWS = 150
COLORS = ("#2456c9", "#e8590c", "#12805c", "#9333c4", "#b8860b", "#0e7490", "#b3261e", "#64748b")
"""Colors of the evaluations, used again where there are more."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a plot; lengths and places in px, y from the top.

    Attributes:
        label: What it stands for; empty for the further bars of a group.
        width: Its length.
        low: Where its confidence interval begins, from the left end of the bars.
        high: Where that ends.
        value: The figure behind it.
    """

    label: str
    y: int
    width: float
    low: float
    high: float
    value: str
    color: str


@dataclass(frozen=True, slots=True)
class Plot:
    """Bars and their height together, px."""

    title: str
    bars: tuple[Bar, ...]
    height: int


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
    return render_page(
        "comparison.html.j2",
        {"percent": percent, "shade": shade},
        comparison=comparison,
        colors=[COLORS[number % len(COLORS)] for number in range(len(comparison.evaluations))],
        plots={group: success_plot(group, rows) for group, rows in comparison.groups.items()},
        overall=success_plot("all", {"all": tuple(one.summary for one in comparison.evaluations)}),
        level_names=LEVELS,
        label_px=LABEL_PX,
        plot_px=PLOT_PX,
        row_px=ROW_PX,
    )


def success_plot(title: str, rows: dict[str, tuple[Summary | None, ...]]) -> Plot:
    """Return the bars of success rates, one per evaluation in each row, with their 95% intervals."""
    bars: list[Bar] = []
    y = 0
    for label, summaries in list(rows.items())[:MAX_PLOT_ROWS]:
        group = _bars(label, summaries, y)
        bars += group
        y += len(group) * ROW_PX + 8
    return Plot(title, tuple(bars), y)


def _bars(label: str, summaries: Sequence[Summary | None], y: int) -> list[Bar]:
    bars: list[Bar] = []
    for number, summary in enumerate(summaries):
        if summary is None:
            continue
        rate = summary.success_rate
        low, high = summary.interval if rate is not None else (0.0, 0.0)
        bars.append(
            Bar(
                label="" if bars else label,
                y=y + len(bars) * ROW_PX,
                width=round((rate or 0.0) * PLOT_PX, 1),
                low=round(low * PLOT_PX, 1),
                high=round(high * PLOT_PX, 1),
                value="errors only" if rate is None else f"{percent(rate)} of {summary.episodes - summary.errors}",
                color=COLORS[number % len(COLORS)],
            )
        )
    return bars


def shade(rate: float | None) -> str:
    """Return the background of a cell of the matrix: the more of its tasks succeed, the greener; see-through."""
    return "transparent" if rate is None else f"hsl({round(8 + 132 * rate)} 65% 50% / 0.3)"


def percent(rate: float | None) -> str:
    """Return a rate as a text, "-" where there is none."""
    return "-" if rate is None else f"{100 * rate:.1f}%"
