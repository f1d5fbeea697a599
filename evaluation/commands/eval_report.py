"""`agent-s eval report`: compares the results of evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_s.terminal.lazy import examples
from agent_s.terminal.options import json_option
from agent_s.terminal.output import echo_json, shorten, show_table

if TYPE_CHECKING:
    from evaluation.report.comparison import Comparison, Evaluation

FIGURES = (
    *("Episodes", "Success", "95% interval", "Median s", "Steps", "Calls"),
    *("Tokens", "Dollars", "Seconds", "Errors"),
)


@click.command(
    epilog=examples(
        "agent-s eval report results-a results-b", "agent-s eval report results-a results-b --html compared.html"
    )
)
@click.argument(
    "results",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="RESULTS...",
)
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page with plots to this file.")
@json_option("Write one JSON object: `runs`, `groups` and `settings`.")
def report(results: tuple[Path, ...], html: Path | None, as_json: bool) -> None:
    """Compare the results of evaluations; RESULTS are their folders (--out).

    Shows success by application, level and domain, effort, kinds of failures, and the settings that differ.
    """
    from evaluation.report.comparison import compare
    from evaluation.report.comparison_page import write_page

    comparison = compare(results)
    if html is not None:
        write_page(comparison, html)
    if as_json:
        echo_json({**comparison.as_json(), "html": html})
        return
    _show(comparison)
    if html is not None:
        click.echo(f"Report: {html}")


def _show(comparison: Comparison) -> None:
    names = [one.name for one in comparison.evaluations]
    show_table(("Run", "Model", *FIGURES), [_totals(one) for one in comparison.evaluations], figures=FIGURES)
    if kinds := comparison.failure_kinds:
        counts = [[str(one.summary.failures.get(kind, 0)) for kind in kinds] for one in comparison.evaluations]
        show_table(
            ("Failures", *kinds), [(name, *row) for name, row in zip(names, counts, strict=True)], figures=tuple(kinds)
        )
    for group, rows in comparison.groups.items():
        if group != "task" or len(comparison.groups) == 1:
            table = [
                (value, *("-" if one is None else _rate(one.successes, one.episodes - one.errors) for one in summaries))
                for value, summaries in rows.items()
            ]
            show_table((group.capitalize(), *names), table, figures=tuple(names))
    for one in comparison.evaluations:
        if (matrix := one.matrix) is not None:
            cells = [
                (level, *("-" if sum_ is None else _rate(sum_.successes, sum_.episodes - sum_.errors) for sum_ in row))
                for level, row in zip(matrix.levels, matrix.rows, strict=True)
            ]
            show_table((one.name, *matrix.domains), cells, figures=matrix.domains)
    if comparison.settings:
        table = [(name, *(shorten(str(value), 40) for value in row)) for name, row in comparison.settings.items()]
        show_table(("Setting", *names), table)


def _totals(one: Evaluation) -> tuple[str, ...]:
    summary = one.summary
    low, high = summary.interval
    return (
        one.name,
        one.header.model,
        str(summary.episodes),
        "-" if summary.success_rate is None else f"{100 * summary.success_rate:.1f}%",
        "-" if summary.success_rate is None else f"{100 * low:.0f}-{100 * high:.0f}%",
        "-" if summary.median_s is None else f"{summary.median_s:.1f}",
        str(summary.steps),
        str(summary.model_calls),
        str(one.tokens),
        "-" if one.dollars is None else f"{one.dollars:.2f}",
        f"{one.seconds:.0f}",
        str(summary.errors),
    )


def _rate(successes: int, judged: int) -> str:
    return f"{100 * successes / judged:.0f}% of {judged}" if judged else "-"
