"""`agent-s run`: one task on one desktop."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent_s.terminal.exits import DONE, ENVIRONMENT, NOT_DONE
from agent_s.terminal.lazy import examples
from agent_s.terminal.options import acting_options, json_option, read_settings, settings_options, with_default_model

if TYPE_CHECKING:
    from agent_s.settings import Settings
    from agent_s.terminal.interrupts import Interrupts
    from agent_s.terminal.progress import Display
    from agent_s.terminal.run_conduct import Conducted, DesktopChoice

SHELL_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:;-_+/@%=")


@click.command(
    epilog=examples(
        "agent-s run \"Open the text editor and type 'hello'.\"",
        "agent-s run --virtual --json \"Open the calculator, click '7', click '8', check '78'.\"",
        "agent-s run --display :1 -c limits.max_steps=30 --record my-run \"Click 'Save'.\"",
        "agent-s run --virtual --replay-only \"Open the text editor and type 'goodbye'.\"",
    )
)
@click.argument("task")
@settings_options
@acting_options
@click.option("--replay-only", is_flag=True, help="Replay from memory only; never call a model.")
@click.option("--record", metavar="DIR", type=click.Path(path_type=Path), help="Folder to record the run in.")
@json_option("Write the outcome as one JSON object; progress goes to standard error.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
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
    quiet: bool,
) -> int:
    """Carry out TASK, a sentence or several, on a desktop.

    Without --display or --virtual, the task runs on your screen if DISPLAY is set, else on a virtual desktop. Files
    saved on a virtual desktop are copied to the folder of the run.

    Exit status: 0 done, 1 not done, 2 wrong usage, 3 something is missing on this machine, 130 stopped with Ctrl-C.
    """
    from agent_s.terminal.interrupts import Interrupts
    from agent_s.terminal.progress import choose_display
    from agent_s.terminal.run_conduct import choose_desktop

    given = {"model": model, "policy.confirm": confirm, "replay": "only" if replay_only else None}
    settings = with_default_model(read_settings(config_file, overrides, given))
    choice = choose_desktop(display, virtual)
    if record is not None:
        refuse_used_folder(record)
    screen = choose_display(quiet=quiet, json=as_json)
    with Interrupts(screen.notice) as interrupts:
        ended = run_task(task, settings, choice, record, screen, interrupts)
    status = show_end(task, ended, choice, as_json)
    return status if interrupts.exit_status is None else _suggest_continuing(task, choice, interrupts.exit_status)


def run_task(
    instruction: str,
    settings: Settings,
    choice: DesktopChoice,
    record: Path | None,
    screen: Display,
    interrupts: Interrupts,
    trusted_run: str = "",
) -> Conducted:
    """Open the desktop and the memory, carry out one task, and close them.

    Raises:
        click.UsageError: The instruction is empty or too long.
        AciError: The desktop cannot be used.
        MemoryStoreError: The memory cannot be opened.
        SettingsError: The settings name a model that does not exist.
    """
    from agent_s.terminal.run_conduct import build_agent, conduct, introduce, open_memory
    from agent_s.trajectory.recorder import run_folder

    task = make_task(instruction)
    with open_memory(settings) as memory, choice.open(settings) as desktop:
        agent = build_agent(settings, desktop, memory, screen, trusted_run)
        introduce(agent, choice, screen)
        home = desktop.home if desktop.private else None
        return conduct(
            agent,
            task,
            display=screen,
            interrupts=interrupts,
            name_folder=lambda started: record or run_folder(settings.runs_folder, started),
            finish=None if home is None else lambda folder: _keep(home, folder, screen),
        )


def make_task(instruction: str, follows: Sequence[str] = ()) -> Any:
    """Return the task for an instruction.

    Args:
        instruction: What the person typed.
        follows: Earlier tasks, and how they ended.

    Raises:
        click.UsageError: The instruction is empty or too long.
    """
    from pydantic import ValidationError

    from agent_s.records import Task

    try:
        return Task(instruction=instruction, follows=tuple(follows))
    except ValidationError as error:
        raise click.UsageError(f"TASK: {error.errors()[0]['msg'].removeprefix('Value error, ')}.") from error


def refuse_used_folder(record: Path) -> None:
    """Refuse a folder that already holds a run.

    Raises:
        click.UsageError: It does.
    """
    from agent_s.trajectory.recorder import EVENTS_FILE

    if (record / EVENTS_FILE).exists():
        raise click.UsageError(f"--record: {record} already holds a run. Choose another folder.")


def show_end(task: str, ended: Conducted, choice: DesktopChoice, as_json: bool) -> int:
    """Show how a run ended, and return its exit status."""
    from agent_s.terminal.output import echo_json, plural, printable
    from agent_s.trajectory.report import heading

    outcome = ended.outcome
    if as_json:
        echo_json(as_values(task, ended, choice))
    else:
        usage = outcome.usage
        click.echo(f"{heading(outcome)}. {printable(outcome.reason)}".strip())
        click.echo(f"{plural(usage.steps, 'step')}, {plural(usage.model_calls, 'model call')}.")
        if ended.report is not None:
            click.echo(f"Report: {ended.report}")
    return {"done": DONE, "error": ENVIRONMENT}.get(outcome.status, NOT_DONE)


def as_values(task: str, ended: Conducted, choice: DesktopChoice) -> dict[str, Any]:
    """Return a run as the JSON object of `--json`."""
    from agent_s.terminal.run_conduct import FILES_FOLDER

    files = ended.folder / FILES_FOLDER if ended.folder else None
    return {
        "task": task,
        "model": ended.model,
        "display": choice.display,
        **ended.outcome.model_dump(mode="json"),
        "run": ended.folder,
        "report": ended.report,
        "files": sorted(path for path in files.rglob("*") if path.is_file()) if files else [],
    }


def _suggest_continuing(task: str, choice: DesktopChoice, status: int) -> int:
    command = f"agent-s run {quoted(task)}" if choice.display is None else "agent-s resume last"
    click.echo(f"Keys are released, and finished subtasks are kept in memory. To continue: {command}", err=True)
    return status


def quoted(text: str) -> str:
    """Return a text as one word of a shell's command line."""
    import shlex

    return f'"{text}"' if set(text) <= SHELL_PLAIN | {"'"} else shlex.quote(text)


def _keep(home: Path, folder: Path, screen: Display) -> None:
    from agent_s.terminal.run_conduct import keep_files

    try:
        copies = keep_files(home, folder)
    except OSError as error:
        screen.notice(f"Files saved on the virtual desktop could not be copied: {error.strerror or error}.")
        return
    for copy in copies:
        screen.say(f"Copied from the virtual desktop: {copy}")
