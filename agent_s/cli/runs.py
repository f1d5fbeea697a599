"""`agent-s runs`: the runs that were recorded."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent_s.cli.exits import DONE
from agent_s.cli.lazy import SuggestingGroup, examples
from agent_s.cli.options import json_option, read_settings, settings_options

if TYPE_CHECKING:
    from agent_s.trajectory import RunSummary


@click.group(cls=SuggestingGroup, epilog=examples("agent-s runs list", "agent-s runs show last"))
def runs() -> None:
    """List, show and report recorded runs."""


@runs.command("list", epilog=examples("agent-s runs list", "agent-s runs list --limit 5 --json"))
@settings_options
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many.")
@json_option("Write one JSON array.")
def list_command(config_file: Path | None, overrides: tuple[str, ...], limit: int, as_json: bool) -> int:
    """List the recorded runs, newest first."""
    from agent_s.cli.terminal import echo_json, show_table
    from agent_s.trajectory import list_runs

    folder = read_settings(config_file, overrides).runs_folder
    found = list_runs(folder)[:limit]
    if as_json:
        echo_json([_as_values(run) for run in found])
    elif found:
        show_table(
            ("Run", "Started", "Status", "Verified", "Steps", "Calls", "Seconds", "Task"),
            [_row(run) for run in found],
            figures=("Steps", "Calls", "Seconds"),
        )
    else:
        click.echo(f'No run is recorded in {folder} yet: start one with agent-s run "TASK".')
    return DONE


@runs.command(epilog=examples("agent-s runs show last", "agent-s runs show 1f0c9a --json"))
@click.argument("run")
@settings_options
@json_option("Write one JSON object with all events.")
def show(run: str, config_file: Path | None, overrides: tuple[str, ...], as_json: bool) -> int:
    """Show what happened in RUN: its id, the beginning of it, its folder, or the word last."""
    from agent_s.chronicle import tell
    from agent_s.cli.progress import lines_of
    from agent_s.cli.terminal import echo_json, plural, printable
    from agent_s.report import heading
    from agent_s.trajectory import find_run, read_trajectory

    folder = find_run(read_settings(config_file, overrides).runs_folder, run)
    trajectory = read_trajectory(folder)
    if as_json:
        events = [event.model_dump(mode="json") for event in trajectory.events]
        echo_json({"run": folder, "problem": trajectory.problem, "events": events})
        return DONE
    for event in trajectory.events:
        for line in lines_of(event):
            click.echo(line)
    story = tell(trajectory.events)
    reason = story.outcome.reason if story.outcome else trajectory.problem
    click.echo(f"{heading(story.outcome)}. {printable(reason)}".strip())
    click.echo(f"{plural(len(story.calls), 'model call')}, {story.seconds:.1f} s. Recorded in {folder}")
    return DONE


@runs.command(epilog=examples("agent-s runs report last", "agent-s runs report 1f0c9a --output run.html"))
@click.argument("run")
@settings_options
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="The page, with the screenshots in it."
)
@json_option("Write one JSON object with the path.")
def report(run: str, config_file: Path | None, overrides: tuple[str, ...], output: Path | None, as_json: bool) -> int:
    """Write the HTML report of RUN: its id, the beginning of it, its folder, or the word last.

    Without --output the page lies in the run's folder, beside the screenshots that it shows.
    """
    from agent_s.cli.terminal import echo_json
    from agent_s.report import write_report
    from agent_s.trajectory import find_run, read_trajectory

    folder = find_run(read_settings(config_file, overrides).runs_folder, run)
    page = write_report(read_trajectory(folder), output, embed=output is not None)
    if as_json:
        echo_json({"run": folder, "report": page})
    else:
        click.echo(page)
    return DONE


def _row(run: RunSummary) -> tuple[str, ...]:
    from agent_s.cli.terminal import in_words, local_time, shorten

    status = run.status or "cut off"
    return (
        run.run_id,
        local_time(run.started),
        status,
        in_words(run.verified) if run.status else "",
        str(run.steps) if run.status else "",
        str(run.model_calls) if run.status else "",
        f"{run.seconds:.1f}" if run.status else "",
        shorten(run.instruction or run.problem, 90),
    )


def _as_values(run: RunSummary) -> dict[str, Any]:
    return {**asdict(run), "started": run.started.isoformat() if run.started else None}
