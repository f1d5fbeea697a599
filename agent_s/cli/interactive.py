"""`agent-s` without a command: asks for tasks and carries them out one after another on the same desktop."""

from __future__ import annotations

import sys
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from agent_s.terminal.exits import DONE

if TYPE_CHECKING:
    from aci.desktop.virtual import VirtualDesktop
    from aci.desktop.x11 import X11Desktop
    from aci.remote.desktop import OSWorldDesktop
    from agent_s.settings import Settings
    from agent_s.terminal.progress import Display
    from agent_s.terminal.running import DesktopChoice

RESET = "reset"
REMEMBERED = 5  # number of earlier tasks the planner knows of, so that "now save it" makes sense
LONGEST_EARLIER = 500
LEAVING = frozenset({"quit", "exit", "bye", "q", ":q"})


def ask_for_tasks(settings: Settings, choice: DesktopChoice) -> int:
    """Carry out tasks, one a line, on one desktop until the input ends; return an exit status."""
    from agent_s.terminal.interrupts import Interrupts
    from agent_s.terminal.progress import choose_display
    from agent_s.terminal.running import build_agent, carry_out, introduce, make_task, open_memory, show_end

    screen = choose_display(quiet=False, json=False)
    with Interrupts(screen.notice) as idle, open_memory(settings) as memory, choice.open(settings) as desktop:
        agent = build_agent(settings, desktop, memory, screen)
        introduce(agent, choice, screen)
        screen.say("Type a task in a sentence. Ctrl-Z pauses it, Ctrl-C stops it.")
        screen.say("'reset' restores the desktop to its start; 'quit', 'exit' or Ctrl-D ends.")
        earlier: deque[str] = deque(maxlen=REMEMBERED)
        while (instruction := _read_line()) is not None:
            if not instruction.strip():
                continue
            if instruction.strip().casefold() == RESET:
                reset(desktop, screen)
                earlier.clear()
                continue
            try:
                task = make_task(instruction, earlier)
            except click.UsageError as error:
                screen.notice(error.message)
                continue
            with Interrupts(screen.notice) as interrupts:
                ended = carry_out(agent, task, settings.runs_folder, screen, interrupts)
            show_end(task.instruction, ended, choice, as_json=False)
            earlier.append(f"{task.instruction[:LONGEST_EARLIER]} ({ended.outcome.status})")
            if interrupts.exit_status is not None and not sys.stdin.isatty():
                return interrupts.exit_status
        return idle.exit_status or DONE


def reset(desktop: X11Desktop | VirtualDesktop | OSWorldDesktop, screen: Display) -> None:
    """Restore a virtual desktop to its start; on the person's own screen, offer to end what was started."""
    from aci.desktop.x11 import X11Desktop
    from aci.remote.desktop import OSWorldDesktop

    if isinstance(desktop, OSWorldDesktop):
        screen.notice("A machine is restored from outside: revert it to its snapshot.")
        return
    if isinstance(desktop, X11Desktop):
        names = ", ".join(process.argv[0] for process in desktop.started)
        if not names:
            screen.say("No application started here is still running.")
            return
        if not sys.stdin.isatty() or not click.confirm(f"End {names}? Unsaved changes are lost."):
            return
    desktop.reset()
    screen.say("The desktop is restored to its start.")


def _read_line() -> str | None:
    """Return the next task; None at the end of the input, or when the person leaves."""
    with suppress(ImportError):  # a Python built without it still reads lines
        import readline  # noqa: F401 - lets the person edit the line and call back earlier ones
    try:
        line = input("> " if sys.stdin.isatty() else "")
    except (EOFError, KeyboardInterrupt):
        click.echo()
        return None
    return None if line.strip().casefold() in LEAVING else line
