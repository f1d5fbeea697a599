"""The HTML page of a comparison: tables, and plots as inline SVG; no script, no network, all text escaped."""

from __future__ import annotations

from pathlib import Path

from agent_s.trajectory.html import render_page
from evaluation.errors import ResultsError
from evaluation.report.comparison import LEVELS, Comparison
from evaluation.report.statistics import percent

LABEL_PX, PLOT_PX, ROW_PX = 230, 560, 20
MAX_PLOT_ROWS = 150
COLORS = ("#2456c9", "#e8590c", "#12805c", "#9333c4", "#b8860b", "#0e7490", "#b3261e", "#64748b")
"""Colors of the evaluations, used again where there are more."""


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
