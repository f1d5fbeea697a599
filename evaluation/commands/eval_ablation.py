"""`agent-s eval ablation`: reproduces the ablation studies of the paper on a set of tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent_s.terminal.exits import DONE, NOT_DONE
from agent_s.terminal.lazy import examples
from agent_s.terminal.options import FILE
from agent_s.terminal.output import echo_json, show_table
from evaluation.commands.eval_run import Options, common_options, read_options, run_episodes
from evaluation.commands.eval_tasks import TIME_LIMIT_S, assignment_for, find_tasks, jobs_for, rights_of, rights_options

if TYPE_CHECKING:
    from evaluation.ablations import Planned, Rows, Start
    from evaluation.harness.results import Result

FIGURES = ("Episodes", "Success", "95% interval", "Difference", "Steps", "Calls", "Tokens", "Dollars", "Errors")


_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command(
    epilog=examples(
        "agent-s eval ablation everyday --model anthropic:NAME --memory explored.sqlite",
        "agent-s eval ablation my-tasks --row agent-s --row without-web --out my-ablation",
        "agent-s eval ablation everyday --table 3 --json",
    )
)
@click.argument("folder", metavar="TASKS", callback=lambda context, parameter, value: find_tasks(value))
@click.option("--row", "names", metavar="NAME", multiple=True, help="Only this row; repeatable.")
@click.option(
    "--table", "tables", metavar="N", type=int, multiple=True, help="Only the rows of this table of the paper."
)
@click.option("--only", metavar="ID", multiple=True, help="Only this task, by id; repeatable.")
@click.option("--memory", metavar="FILE", type=_FILE, help="Memory that an exploration filled (default: an empty one).")
@click.option("--raw-memory", metavar="FILE", type=_FILE, help="The same, explored with -c memory.summaries=false.")
@click.option("--rows", "table", metavar="FILE", type=FILE, help="Another table of rows (YAML).")
@rights_options
@common_options
def ablation(
    folder: Path,
    names: tuple[str, ...],
    tables: tuple[int, ...],
    only: tuple[str, ...],
    memory: Path | None,
    raw_memory: Path | None,
    table: Path | None,
    allow_commands: bool,
    files: Path | None,
    online: bool,
    **given: Any,
) -> int:
    """Run the rows of the paper's ablations on TASKS, a folder of task files or a bundled set, and compare them.

    Each row is a configuration in configs/ablations/paper.yaml, with results and memory of its own in --out; the same
    command with the same folder continues. Rows with the same configuration share their results.

    Exit status: 0 if every episode of every row could be judged.
    """
    from agent_s.settings import configs_folder
    from evaluation.ablations import choose_rows, load_rows, plan_rows, prepare_memory
    from evaluation.errors import EvaluationError

    try:
        rows = load_rows(table or configs_folder() / "ablations" / "paper.yaml")
        wanted = choose_rows(rows, names, tables)
    except EvaluationError as error:
        raise click.UsageError(str(error)) from error
    rights = rights_of(allow_commands, files, online)
    jobs, unreadable = jobs_for(folder, only)
    options = {name: _options_of(rows, name, given) for name in wanted}
    out = options[wanted[0]].out
    start: dict[Start, Path | None] = {"explored": memory, "raw": raw_memory, "empty": None}
    planned = plan_rows(rows, {name: one.settings for name, one in options.items()}, out, start)
    results: dict[str, list[Result]] = {}
    complete = True
    for one in planned:
        if one.same_as or one.left_out:
            continue
        prepare_memory(one)
        own = replace(options[one.name], settings=one.settings, out=out / one.name)
        done = run_episodes(jobs, assignment_for(folder, own, rights), own, unreadable, title=one.row.title)
        results[one.name] = done.results
        complete = complete and done.complete
        if done.exit_status is not None:
            return done.exit_status
    _show(rows, planned, results, out, given["as_json"])
    return DONE if complete else NOT_DONE


def _options_of(rows: Rows, name: str, given: Mapping[str, Any]) -> Options:
    """Return the options of a row: `common` settings, overridden by the command line, then by the row itself."""
    common, own = (_as_overrides(values) for values in (rows.common, rows.rows[name].set))
    return read_options("ablation", {**given, "overrides": (*common, *given["overrides"], *own)}, TIME_LIMIT_S)


def _as_overrides(values: Mapping[str, Any]) -> list[str]:
    return [f"{key}={json.dumps(value)}" for key, value in values.items()]


def _show(
    rows: Rows, planned: Sequence[Planned], results: Mapping[str, Sequence[Result]], out: Path, as_json: bool
) -> None:
    """Print each row with its difference from the reference row."""
    from evaluation.report.statistics import describe_effort, paired_difference

    reference = results.get(next((one.same_as or one.name for one in planned if one.name == rows.reference), ""))
    found: dict[str, dict[str, Any]] = {}
    for one in planned:
        own = results.get(one.same_as or one.name)
        known = {
            "title": one.row.title,
            "tables": list(one.row.tables),
            "same_as": one.same_as,
            "left_out": one.left_out,
        }
        if own is None:
            found[one.name] = known
            continue
        pair = paired_difference(own, reference) if reference is not None and own is not reference else None
        found[one.name] = {**known, **describe_effort(own), "difference": pair}
    if as_json:
        echo_json({"rows": found, "reference": rows.reference, "out": out})
        return
    show_table(("Row", *FIGURES), [(name, *_cells(row)) for name, row in found.items()], figures=FIGURES)
    for name, row in found.items():
        if row["same_as"]:
            click.echo(f"{name}: the same configuration as {row['same_as']} here, so its results are the same")
        if row["left_out"]:
            click.echo(f"{name}: not run, {row['left_out']}")
    click.echo(f"Intervals are 95%: Wilson's for success, Agresti and Min's for the difference from {rows.reference}.")
    click.echo("Steps, calls, tokens and dollars are means per episode.")
    click.echo(f"Results: {out}; by application: agent-s eval report {out}/*/")


def _cells(row: Mapping[str, Any]) -> list[str]:
    from evaluation.report.statistics import percent

    if "episodes" not in row:
        return ["-"] * len(FIGURES)
    low, high = row["interval"]
    difference = "-"
    if row["difference"] is not None:
        change, least, most = row["difference"]
        difference = f"{100 * change:+.1f} ({100 * least:+.0f} to {100 * most:+.0f})"
    dollars = "-" if row["mean_dollars"] is None else f"{row['mean_dollars']:.3f}"
    return [
        str(row["episodes"]),
        percent(row["success_rate"]),
        f"{100 * low:.0f}-{100 * high:.0f}%",
        difference,
        f"{row['mean_steps']:.1f}",
        f"{row['mean_model_calls']:.1f}",
        f"{row['mean_tokens']:.0f}",
        dollars,
        str(row["errors"]),
    ]
