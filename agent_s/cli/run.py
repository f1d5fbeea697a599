"""`agent-s run`: carries out one task on a desktop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_s.errors import install_command
from agent_s.terminal.exits import EnvironmentProblem, is_signal
from agent_s.terminal.lazy import examples
from agent_s.terminal.options import (
    FOLDER,
    Number,
    acting_options,
    check_cluster,
    cluster_option,
    files_option,
    json_option,
    quiet_option,
    read_settings,
    settings_options,
    task_argument,
    with_default_model,
)
from agent_s.terminal.output import shell_word

if TYPE_CHECKING:
    from agent_s.view.live import LiveRun


@click.command(
    epilog=examples(
        "agent-s run \"Open the text editor and type 'hello'.\"",
        "agent-s run --virtual --json \"Open the calculator, click '7', click '8'.\"",
        "agent-s run --virtual --view \"Open the text editor and type 'hello'.\"",
        "agent-s run --display :1 -c limits.max_steps=30 --record my-run \"Click 'Save'.\"",
        "agent-s run --virtual --files ~/papers 'Rename the papers by author and year.'",
        "agent-s run --virtual --attempts 3 \"Open the calculator, click '7', click '8'.\"",
        "agent-s run --virtual --replay-only \"Open the text editor and type 'goodbye'.\"",
    )
)
@task_argument(required=True)
@settings_options
@acting_options
@click.option("--replay-only", is_flag=True, help="Replay from memory only; never call a model.")
@click.option("--record", metavar="DIR", type=FOLDER, help="Folder to record the run in.")
@json_option("Write the outcome as one JSON object; progress goes to standard error.")
@click.option("--events", is_flag=True, help="Write each event as one line of JSON as it happens.")
@click.option("--view", is_flag=True, help="Watch and control the run in a browser; prints the address.")
@click.option(
    "--attempts",
    type=Number(1, 16),
    default=1,
    show_default=True,
    help="Run the task N times, side by side on private desktops, and keep the best run.",
)
@files_option
@cluster_option
@quiet_option
def run(
    task: str,
    config_file: Path | None,
    overrides: tuple[str, ...],
    model: str | None,
    display: str | None,
    virtual: bool,
    confirm: str | None,
    replay_only: bool,
    record: Path | None,
    as_json: bool,
    events: bool,
    view: bool,
    attempts: int,
    files: Path | None,
    cluster: str | None,
    quiet: bool,
) -> int:
    """Carry out TASK, a sentence or several, on a desktop.

    Without --display or --virtual, the task runs on your screen if DISPLAY is set, else on a virtual desktop. A
    virtual desktop has a home of its own, empty or a copy of --files; files saved there are copied to the folder of
    the run. With --attempts, a model compares the runs, and the best one is replayed on your screen if you agree; the
    other attempts never touch it.

    Exit status: 0 done, 1 not done, 2 wrong usage, 3 a requirement is missing or does not work, 130 stopped with
    Ctrl-C.
    """
    from agent_s.runs.reading import EVENTS_FILE
    from agent_s.terminal.desktop_choice import choose_desktop, with_files
    from agent_s.terminal.running import make_task, run_once

    if as_json and events:
        raise click.UsageError("Give --json or --events, not both.")
    if attempts > 1 and (replay_only or record is not None or events or view):
        raise click.UsageError("--attempts cannot be combined with --replay-only, --record, --events or --view.")
    if cluster is not None and attempts == 1:
        raise click.UsageError("--cluster needs --attempts.")
    given = {"model": model, "policy.confirm": confirm, "replay": "only" if replay_only else None}
    settings = with_default_model(read_settings(config_file, overrides, given))
    check_cluster(cluster, settings)
    choice = choose_desktop(display, virtual)
    if record is not None and (record / EVENTS_FILE).exists():
        raise click.UsageError(f"--record: {record} already holds a run. Choose another folder.")
    if attempts > 1:
        from agent_s.cli.attempts import run_attempts

        return run_attempts(make_task(task), settings, choice, attempts, files, cluster, as_json=as_json, quiet=quiet)
    status = run_once(
        make_task(task),
        settings,
        with_files(choice, files),
        as_json=as_json,
        quiet=quiet,
        events=events,
        record=record,
        watcher=_browser_watcher() if view else None,
    )
    if is_signal(status):
        next_step = (
            "continue: agent-s resume last" if choice.display else f"start it again: {_command(task, files, model)}"
        )
        click.echo(f"Keys are released. To {next_step}", err=True)
    return status


def _command(task: str, files: Path | None, model: str | None) -> str:
    """Return a command line that starts the task again on a virtual desktop."""
    given = {"--files": str(files) if files else "", "--model": model or ""}
    options = (f"{option} {shell_word(value)}" for option, value in given.items() if value)
    return " ".join(("agent-s run --virtual", *options, shell_word(task)))


def _browser_watcher() -> LiveRun:
    try:
        from agent_s.view.live import LiveRun
    except ImportError as error:
        raise EnvironmentProblem(f"--view needs more packages: {install_command('view')} ({error}).") from error
    return LiveRun(lambda text: click.echo(text, err=True))
