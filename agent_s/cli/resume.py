"""`agent-s resume`: resumes a run that was stopped or killed, or that ran out of budget."""

from __future__ import annotations

from pathlib import Path

import click

from agent_s.terminal.lazy import examples
from agent_s.terminal.options import (
    display_option,
    json_option,
    quiet_option,
    read_settings,
    run_argument,
    settings_options,
)
from agent_s.terminal.output import shell_word


@click.command(epilog=examples("agent-s resume last", "agent-s resume 1f0c9a --display :1 -c limits.max_steps=200"))
@run_argument
@settings_options
@click.option("--model", metavar="NAME", help="Model to use (default: that of the run).")
@display_option
@json_option("Write the outcome as one JSON object; progress goes to standard error.")
@quiet_option
def resume(
    run: str,
    config_file: Path | None,
    overrides: tuple[str, ...],
    model: str | None,
    display: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Resume RUN from the current screen. RUN is an id or the start of one, a folder, or "last".

    Neither finished subtasks nor steps already carried out are repeated. A run on a virtual desktop cannot be resumed,
    since its desktop is gone; start it again instead.
    """
    from agent_s.events import RunStarted
    from agent_s.loop.unfinished import read_unfinished
    from agent_s.runs.listing import find_run
    from agent_s.runs.reading import read_trajectory
    from agent_s.terminal.desktop_choice import choose_desktop
    from agent_s.terminal.running import run_once

    events = read_trajectory(find_run(read_settings(config_file, overrides).runs_folder, run)).events
    unfinished = read_unfinished(events)
    name = display or unfinished.desktop
    if name in ("", "virtual"):
        again = f"agent-s run --virtual {shell_word(unfinished.task.instruction)}"
        raise click.UsageError(
            f"Run {unfinished.run_id} used a virtual desktop, which is gone. Start it again: {again}"
        )
    started = next(event for event in events if isinstance(event, RunStarted))
    settings = read_settings(config_file, overrides, {"model": model or started.model})
    choice = choose_desktop(name, virtual=False)
    return run_once(unfinished.task, settings, choice, as_json=as_json, quiet=quiet, unfinished=unfinished)
