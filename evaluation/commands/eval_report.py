"""`agent-s eval report`: compares the results of evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_s.terminal.lazy import examples
from agent_s.terminal.options import EXISTING_FOLDER, FILE, json_option
from agent_s.terminal.output import echo_json, shorten, show_table

if TYPE_CHECKING:
    from evaluation.report.comparison import Comparison, Table
    from evaluation.report.statistics import Summary


@click.command(
    epilog=examples(
        "agent-s eval report results-a results-b", "agent-s eval report results-a results-b --html compared.html"
    )
)
@click.argument("results", nargs=-1, required=True, type=EXISTING_FOLDER)
@click.option("--html", metavar="FILE", type=FILE, help="Write a page with plots to this file.")
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
    evaluations = comparison.evaluations
    names = [one.name for one in evaluations]
    headings = list(evaluations[0].as_texts())
    totals = [(one.name, *one.as_texts().values()) for one in evaluations]
    show_table(("Run", *headings), totals, figures=headings[1:])
    if kinds := comparison.failure_kinds:
        counts = [(one.name, *(str(one.summary.failures.get(kind, 0)) for kind in kinds)) for one in evaluations]
        show_table(("Failures", *kinds), counts, kinds)
    for group, table in comparison.groups.items():
        if group != "task" or len(comparison.groups) == 1:
            _show_rates(group.capitalize(), table)
    for one in evaluations:
        _show_rates(one.name, one.matrix)
    if comparison.settings:
        rows = [(name, *(shorten(str(value), 40) for value in row)) for name, row in comparison.settings.items()]
        show_table(("Setting", *names), rows)


def _show_rates(title: str, table: Table) -> None:
    """Show the success rates of a table, if it has any rows."""

    def text(one: Summary | None) -> str:
        return f"{100 * one.successes / one.judged:.0f}% of {one.judged}" if one is not None and one.judged else "-"

    if table:
        columns = list(next(iter(table.values())))
        show_table((title, *columns), [(label, *map(text, row.values())) for label, row in table.items()], columns)
