"""`agent-s runs`: lists, shows, exports and replays recorded runs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent_s.terminal.lazy import SuggestingGroup, examples
from agent_s.terminal.options import (
    FILE,
    FOLDER,
    Number,
    display_option,
    files_option,
    json_option,
    quiet_option,
    read_settings,
    run_argument,
    settings_options,
    with_settings,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_s.events import ModelCalled
    from agent_s.runs.listing import RunSummary
    from agent_s.settings import Settings


@click.group(
    cls=SuggestingGroup, epilog=examples("agent-s runs list", "agent-s runs show last", "agent-s runs replay last")
)
def runs() -> None:
    """List, show, report and replay recorded runs."""


@runs.command("list", epilog=examples("agent-s runs list", "agent-s runs list --limit 5 --json"))
@with_settings
@click.option("--limit", type=Number(min=1), default=20, show_default=True, help="Maximum number of runs.")
@json_option("Write one JSON array.")
def list_command(settings: Settings, limit: int, as_json: bool) -> None:
    """List recorded runs, newest first."""
    from agent_s.runs.listing import list_runs
    from agent_s.terminal.output import echo_json, show_table

    found = list_runs(settings.runs_folder)[:limit]
    if as_json:
        echo_json([_as_values(run) for run in found])
    elif found:
        show_table(
            ("Run", "Started", "Status", "Verified", "Steps", "Calls", "Seconds", "Task"),
            [_row(run) for run in found],
            figures=("Steps", "Calls", "Seconds"),
        )
    else:
        click.echo(f'No runs are recorded in {settings.runs_folder}. Start one with: agent-s run "TASK"')


@runs.command(
    epilog=examples("agent-s runs show last", "agent-s runs show last --calls", "agent-s runs show 1f --json")
)
@run_argument
@with_settings
@click.option("--calls", is_flag=True, help="Show every prompt and answer; repeated parts are only referenced.")
@click.option("--call", "number", type=Number(min=1), metavar="N", help="Show only this call, in full.")
@json_option("Write one JSON object with all events, prompts and answers included.")
def show(run: str, settings: Settings, calls: bool, number: int | None, as_json: bool) -> None:
    """Show the steps of RUN.

    RUN is an id or the start of one, a folder, or "last".
    """
    from agent_s.runs.listing import find_run, format_bytes, measure_run
    from agent_s.runs.reading import read_trajectory
    from agent_s.terminal.output import echo_json, plural, sentence
    from agent_s.terminal.progress import lines_of
    from agent_s.trajectory.presenting import heading
    from agent_s.trajectory.timeline import build_timeline

    folder = find_run(settings.runs_folder, run)
    trajectory, size = read_trajectory(folder), measure_run(folder)
    if as_json:
        events = [event.model_dump(mode="json") for event in trajectory.events]
        echo_json({"run": folder, "problem": trajectory.problem, "bytes": asdict(size), "events": events})
        return
    timeline = build_timeline(trajectory.events)
    if calls or number is not None:
        _show_calls(timeline.calls, number)
        return
    for event in trajectory.events:
        for line in lines_of(event):
            click.echo(line)
    reason = timeline.outcome.reason if timeline.outcome else trajectory.problem
    click.echo(f"{heading(timeline.outcome)}. {sentence(reason)}".strip())
    click.echo(f"{plural(len(timeline.calls), 'model call')}, {timeline.seconds:.1f} s. Recorded in {folder}")
    steps = sum(len(entry.steps) for entry in timeline.subtasks)
    each = f", {format_bytes(size.total / steps)} per step" if steps else ""
    click.echo(f"{format_bytes(size.total)}{each}: {size}")


@runs.command(epilog=examples("agent-s runs report last", "agent-s runs report 1f0c9a --output run.html"))
@run_argument
@with_settings
@click.option("-o", "--output", metavar="FILE", type=FILE, help="Write the page, with its screenshots, to this file.")
@json_option("Write one JSON object with the path.")
def report(run: str, settings: Settings, output: Path | None, as_json: bool) -> None:
    """Write the HTML report of RUN.

    RUN is an id or the start of one, a folder, or "last". Without --output, the page is written to the run's folder and
    links to the screenshots there.
    """
    from agent_s.runs.listing import find_run
    from agent_s.runs.reading import read_trajectory
    from agent_s.terminal.output import show_result
    from agent_s.trajectory.report import write_report

    folder = find_run(settings.runs_folder, run)
    page = write_report(read_trajectory(folder), output, embed=output is not None)
    show_result({"run": folder, "report": page}, str(page), as_json)


@runs.command(
    epilog=examples("agent-s runs export last --html run.html", "agent-s runs export 1f0c9a --out trajectory")
)
@run_argument
@with_settings
@click.option("--html", metavar="FILE", type=FILE, help="One file for a browser.")
@click.option("--out", metavar="DIR", type=FOLDER, help="Folder for a trajectory in ATIF, which Harbor reads.")
@json_option("Write one JSON object with the path.")
def export(run: str, settings: Settings, html: Path | None, out: Path | None, as_json: bool) -> None:
    """Export RUN to share it: as a page, as a trajectory, or both.

    RUN is an id or the start of one, a folder, or "last". The page is a single file with all pictures; it opens
    without a server or a network.
    """
    from agent_s.runs.listing import find_run
    from agent_s.runs.reading import read_trajectory
    from agent_s.terminal.output import show_result
    from agent_s.trajectory.atif import write_atif
    from agent_s.trajectory.report import write_report

    if html is None and out is None:
        raise click.UsageError("Give --html FILE for a page, --out DIR for a trajectory in ATIF, or both.")
    folder = find_run(settings.runs_folder, run)
    trajectory = read_trajectory(folder)
    written: dict[str, Path] = {}
    if html is not None:
        written["report"] = write_report(trajectory, html, embed=True)
    if out is not None:
        written["trajectory"] = write_atif(trajectory, out)
    show_result({"run": folder, **written}, "\n".join(map(str, written.values())), as_json)


@runs.command(
    epilog=examples("agent-s runs replay last", "agent-s runs replay 1f0c9a --virtual --set draft.txt=minutes.txt")
)
@run_argument
@settings_options
@click.option("--set", "values", metavar="OLD=NEW", multiple=True, help="Replace a value in the task; repeatable.")
@display_option
@click.option("--virtual", is_flag=True, help="Work on a private virtual desktop.")
@files_option
@json_option("Write the outcome as one JSON object; progress goes to standard error.")
@quiet_option
def replay(
    run: str,
    config_file: Path | None,
    overrides: tuple[str, ...],
    values: tuple[str, ...],
    display: str | None,
    virtual: bool,
    files: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Replay RUN without a model. RUN is an id or the start of one, a folder, or "last".

    Each step is located on the current screen and its effect is checked; the replay stops at the first difference. A
    run is replayed even if its result was never verified. Without --display or --virtual, the replay works where the
    run did.
    """
    from agent_s.runs.listing import find_run
    from agent_s.runs.reading import read_trajectory
    from agent_s.terminal.desktop_choice import choose_desktop, with_files
    from agent_s.terminal.repeating import repeatable, values_given, with_values
    from agent_s.terminal.running import make_task, run_once

    settings = read_settings(config_file, overrides, {"replay": "only"})
    started = repeatable(run, read_trajectory(find_run(settings.runs_folder, run)).events)
    instruction = started.task.instruction
    task = with_values(instruction, values_given(instruction, values))
    own = started.desktop not in ("", "virtual")
    if not display and not virtual:
        display, virtual = (started.desktop, False) if own else (None, True)
    choice = with_files(choose_desktop(display, virtual), files)
    return run_once(make_task(task), settings, choice, as_json=as_json, quiet=quiet, trusted_run=started.run_id)


def _show_calls(events: Sequence[ModelCalled], number: int | None) -> None:
    """Show all model calls, or one of them in full."""
    from agent_s.terminal.output import plural, printable
    from agent_s.trajectory.prompts import describe_call, list_calls

    if number is not None and number > len(events):
        raise click.UsageError(f"--call {number}: the run made {plural(len(events), 'model call')}.")
    shown = list_calls(events, whole=number is not None)
    for call in shown if number is None else [shown[number - 1]]:
        for line in describe_call(call):
            click.echo(printable(line))


def _row(run: RunSummary) -> tuple[str, ...]:
    from agent_s.terminal.output import in_words, local_time, shorten

    figures = ("", "", "", "")
    if run.status:
        figures = (in_words(run.verified), str(run.steps), str(run.model_calls), f"{run.seconds:.1f}")
    task = shorten(run.instruction or run.problem, 90)
    return (run.run_id, local_time(run.started), run.status or "cut off", *figures, task)


def _as_values(run: RunSummary) -> dict[str, Any]:
    return {**asdict(run), "started": run.started.isoformat() if run.started else None}
