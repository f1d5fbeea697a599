"""`agent-s record`: learns a task from a person's demonstration, so that it can be replayed without a model."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_s.terminal.exits import DONE, NOT_DONE
from agent_s.terminal.lazy import examples
from agent_s.terminal.options import json_option, read_settings, settings_options, task_argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_s.demonstration.demonstration import Demonstration
    from agent_s.demonstration.interpretation import Shown
    from agent_s.settings import Settings
    from agent_s.terminal.desktop_choice import DesktopChoice

END_KEY = "ctrl+shift+F12"


def _known_keys(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    from aci.input.keys import UnknownKey, chord

    try:
        chord([value])
    except UnknownKey as error:
        raise click.BadParameter(str(error)) from error
    return value


@click.command(
    epilog=examples(
        "agent-s record \"Write 'hello' into notes.txt.\"",
        "agent-s record --virtual --open mousepad",
        'agent-s record --from last --vary name=Ada --yes "Add a contact"',
    )
)
@task_argument(required=False)
@settings_options
@click.option("--display", metavar=":N", help="X display to record on (default: your screen).")
@click.option("--virtual", is_flag=True, help="Record on a private virtual desktop; open it with a viewer of your own.")
@click.option("--open", "applications", metavar="APP", multiple=True, help="Start this application first; repeatable.")
@click.option(
    "--end-key",
    metavar="KEYS",
    default=END_KEY,
    show_default=True,
    callback=_known_keys,
    help="Keys that end the recording.",
)
@click.option("--vary", metavar="NAME=VALUE", multiple=True, help="A typed value that varies; repeatable.")
@click.option("--fixed", metavar="VALUE", multiple=True, help="A typed value that is always the same; repeatable.")
@click.option("--from", "run", metavar="RUN", help="Finish a recording that was interrupted.")
@click.option("--check", is_flag=True, help="Replay it on a private desktop at the end.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask: start at once and keep what was recorded.")
@json_option("Write what was recorded as one JSON object.")
def record(
    task: str,
    config_file: Path | None,
    overrides: tuple[str, ...],
    display: str | None,
    virtual: bool,
    applications: tuple[str, ...],
    end_key: str,
    vary: tuple[str, ...],
    fixed: tuple[str, ...],
    run: str | None,
    check: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Record how you do TASK, so that the agent can repeat it with other values and without a model.

    Do the task at your own pace; each step is listed as soon as it is recognized. The end key, or Ctrl-C in this
    terminal, ends the recording. Passwords are not recorded.

    Exit status: 0 it can be replayed, 1 it cannot, 2 wrong usage, 3 a requirement is missing or does not work.
    """
    from agent_s.demonstration.demonstration import finish, read_demonstration
    from agent_s.memory import open_memory
    from agent_s.runs.listing import find_run
    from agent_s.terminal.desktop_choice import choose_desktop

    if as_json and check:
        raise click.UsageError(
            "--json writes one object: replay it with agent-s runs replay RUN --json instead of --check."
        )
    asks = sys.stdin.isatty() and not yes
    changed = {"desktop.stop_key": end_key, "desktop.stop_corner": "false", "desktop.stop_virtual": "true"}
    settings = read_settings(config_file, overrides)
    if run is not None:
        folder = find_run(settings.runs_folder, run)
        demonstration = read_demonstration(folder)
    else:
        choice = choose_desktop(display, virtual)
        if not (virtual or yes) and not click.confirm(f"Record what you do on {choice.words}?", err=True, default=True):
            return NOT_DONE
        recording = read_settings(config_file, overrides, changed)
        demonstration, folder = _capture(task, recording, choice, applications, end_key)
    _show_steps(demonstration)
    try:
        final = _confirm(demonstration, task, vary, fixed, asks)
    except click.Abort:
        click.echo(f"\nNothing is lost. To finish: agent-s record --from {demonstration.run_id}", err=True)
        raise
    if final is None:
        click.echo(f"Not learned. The record is in {folder}", err=True)
        return NOT_DONE
    with open_memory(settings) as memory:
        problem = finish(final, folder, memory)
    _report(final, folder, problem, as_json)
    if problem:
        return NOT_DONE
    if check or (asks and click.confirm("Replay it on a private desktop to check it?", err=True, default=False)):
        return _replay(final, settings, as_json)
    return DONE


def _capture(
    task: str, settings: Settings, choice: DesktopChoice, applications: Sequence[str], end_key: str
) -> tuple[Demonstration, Path]:
    """Record until the end key or Ctrl-C; return the demonstration and its folder."""
    from aci.desktop.virtual import VirtualDesktop
    from aci.desktop.x11 import X11Desktop
    from aci.errors import ConnectionLost
    from agent_s.demonstration.capture import Capture
    from agent_s.demonstration.demonstration import write_run
    from agent_s.demonstration.noise import without_noise
    from agent_s.records import new_id

    with choice.open(settings) as desktop:
        if not isinstance(desktop, X11Desktop | VirtualDesktop):
            raise click.UsageError("A demonstration is recorded on an X display, not on a machine of OSWorld.")
        catalog = (desktop.x11 if isinstance(desktop, VirtualDesktop) else desktop).applications
        for application in applications:
            from aci.acting.actions import SwitchApplications

            result = desktop.perform(SwitchApplications(app_code=application))
            if not result.ok:
                raise click.UsageError(f"--open: {result.error}")
        capture = Capture(desktop, catalog, _own_processes(), on_shown=_Progress())
        click.echo(f"Recording on the display {desktop.display}. {end_key} or Ctrl-C ends it.", err=True)
        where, run_id, lost = "virtual" if desktop.private else desktop.display, new_id(), None
        try:
            capture.run()
        except ConnectionLost as error:
            lost = error
        kept, left_out = without_noise(capture.steps)
        written = write_run(kept, left_out, capture.last, task, where, run_id, settings.runs_folder, desktop.home)
        if lost is not None:
            raise ConnectionLost(f"{lost} To finish the recording: agent-s record --from {run_id}") from lost
        return written


def _confirm(
    demonstration: Demonstration, task: str, vary: Sequence[str], fixed: Sequence[str], asks: bool
) -> Demonstration | None:
    """Return the demonstration with its wording and named values; None if the person rejects it."""
    if asks and not click.confirm("Is this what you did?", err=True, default=True):
        return None
    wording = task or demonstration.wording
    if not wording and asks:
        wording = click.prompt("Describe the task in a sentence", err=True)
    if not wording.strip():
        raise click.UsageError(f'Name the task: agent-s record --from {demonstration.run_id} --yes "TASK"')
    names: dict[str, str | None] = dict.fromkeys(fixed)
    for one in vary:
        name, sign, value = one.partition("=")
        if not sign or not name.strip() or not value:
            raise click.UsageError(f"--vary takes NAME=VALUE, such as --vary file=notes.txt, not {one!r}.")
        names[value] = name.strip()
    demonstration = demonstration.model_copy(update={"wording": wording})
    for value in demonstration.values if asks else ():
        if value not in names and "{{secret:" not in value:
            question = f"{value!r} was typed. Name it if it varies (Enter if only the parts that the task names vary)"
            names[value] = click.prompt(question, default="", show_default=False, err=True).strip() or None
    return demonstration.named(wording, names)


def _report(final: Demonstration, folder: Path, problem: str, as_json: bool) -> None:
    """Show what was learned, or why it cannot be replayed and how to fix that."""
    from agent_s.terminal.output import echo_json

    if as_json:
        values = {"run": folder, "task": final.wording, "steps": final.lines, "left_out": final.left_out}
        echo_json({**values, "replayable": not problem, "problem": problem})
        return
    if not problem:
        click.echo(f"Learned: {final.wording}")
        click.echo(f"To repeat it: agent-s runs replay {final.run_id} --set OLD=NEW")
        return
    click.echo(f"It cannot be replayed: {problem}. The record is in {folder}")
    if final.steps and not final.problems:
        click.echo(
            "To finish it, say which typed values vary and which are fixed: "
            f'agent-s record --from {final.run_id} --vary NAME=VALUE --fixed VALUE --yes "{final.wording}"'
        )


def _show_steps(demonstration: Demonstration) -> None:
    from agent_s.terminal.output import printable

    for number, line in enumerate(demonstration.lines, start=1):
        click.echo(f"{number:3}. {printable(line)}", err=True)
    for line in demonstration.left_out:
        click.echo(f"  -  {printable(line)} (undone, so it is left out)", err=True)
    for problem in demonstration.problems:
        click.echo(f"  !  {printable(problem)}", err=True)


class _Progress:
    """Shows each step as soon as it is recognized."""

    def __init__(self) -> None:
        self._known = 0

    def __call__(self, steps: list[Shown]) -> None:
        from aci.acting.wording import describe_action, describe_target
        from agent_s.terminal.output import printable

        for step in steps[min(self._known, len(steps) - 1) :]:
            line = describe_action(step.action, describe_target(step.action, step.before.seen))
            click.echo(f"  {printable(line)}{f' ({step.problem})' if step.problem else ''}", err=True)
        self._known = len(steps)


def _replay(demonstration: Demonstration, settings: Settings, as_json: bool) -> int:
    from agent_s.terminal.desktop_choice import DesktopChoice
    from agent_s.terminal.running import make_task, run_once

    choice = DesktopChoice(None, "a virtual desktop")
    only = settings.model_copy(update={"replay": "only"})
    return run_once(
        make_task(demonstration.wording), only, choice, as_json=as_json, quiet=False, trusted_run=demonstration.run_id
    )


def _own_processes() -> frozenset[int]:
    """Return the ids of this process and its ancestors, such as the terminal."""
    from aci.processes import read_stat

    found, process = set(), read_stat(os.getpid())
    while process is not None and process.pid > 1:
        found.add(process.pid)
        process = read_stat(process.parent)
    return frozenset(found)
