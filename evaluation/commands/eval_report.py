"""`agent-s eval report` and `export`: compare results, or write them in the formats of other harnesses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_s.terminal.lazy import examples
from agent_s.terminal.options import EXISTING_FOLDER, FILE, FOLDER, json_option
from agent_s.terminal.output import echo_json, plural, shorten, show_result, show_table

if TYPE_CHECKING:
    from evaluation.report.comparison import Table
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
    from evaluation.report.comparison import compare, write_page

    comparison = compare(results)
    if html is not None:
        write_page(comparison, html)
    if as_json:
        echo_json({**comparison.as_json(), "html": html})
        return
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
    if html is not None:
        click.echo(f"Report: {html}")


def _show_rates(title: str, table: Table) -> None:
    """Show the success rates of a table, if it has any rows."""

    def text(one: Summary | None) -> str:
        return f"{100 * one.successes / one.judged:.0f}% of {one.judged}" if one is not None and one.judged else "-"

    if table:
        columns = list(next(iter(table.values())))
        show_table((title, *columns), [(label, *map(text, row.values())) for label, row in table.items()], columns)


@click.command(
    epilog=examples(
        "agent-s eval export results --out for-osworld", "agent-s eval export results --format atif --out trajectories"
    )
)
@click.argument("results", type=EXISTING_FOLDER)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["osworld", "atif"]),
    default="osworld",
    show_default=True,
    help="OSWorld's folders, or a trajectory.json per run as Harbor reads it.",
)
@click.option("--out", metavar="DIR", required=True, type=FOLDER, help="Folder.")
@json_option("Write one JSON object: `out` and `tasks`.")
def export(results: Path, kind: str, out: Path, as_json: bool) -> None:
    """Write the results of an evaluation in the format of another harness; RESULTS is its folder (--out).

    Recordings of successes exist only if it was run with --keep-all.
    """
    from agent_s.runs.reading import read_trajectory
    from agent_s.trajectory.atif import write_atif
    from evaluation.harness.results import read_results
    from evaluation.report.osworld_layout import write_osworld

    if kind == "osworld":
        written = write_osworld(results, out)
    else:
        recorded = [result for result in read_results(results)[1].values() if result.trajectory]
        written = [
            write_atif(read_trajectory(results / result.trajectory), out / Path(result.trajectory).name)
            for result in recorded
        ]
    tasks = plural(len(written), "task")
    show_result({"out": out, "tasks": len(written)}, f"{tasks} written to {out}.", as_json)
