"""`agent-s` without a command: an interactive prompt that carries out tasks one after another on one desktop."""

from __future__ import annotations

import atexit
import difflib
import signal
import sys
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_s.terminal.exits import DONE, EnvironmentProblem
from agent_s.terminal.output import local_time, plural, printable, sentence, shorten

if TYPE_CHECKING:
    from aci.desktop.virtual import VirtualDesktop
    from aci.desktop.x11 import X11Desktop
    from aci.remote.desktop import OSWorldDesktop
    from agent_s.loop.agent import AgentS
    from agent_s.settings import Settings
    from agent_s.terminal.desktop_choice import DesktopChoice
    from agent_s.terminal.interrupts import Interrupts
    from agent_s.terminal.progress import Display
    from agent_s.terminal.running import FinishedRun
    from memory_store import MemoryStore

REMEMBERED = 5  # number of earlier tasks that the planner sees, so that "now save it" makes sense
MAX_EARLIER = 500  # characters of an earlier task
HISTORY_LINES = 1000  # number of lines in the history file
SHOWN_EXPERIENCES = 5
LEAVING = frozenset({"quit", "exit", "bye", "q", ":q"})


@dataclass(slots=True)
class Prompt:
    """The interactive prompt and its session."""

    agent: AgentS
    settings: Settings
    choice: DesktopChoice
    desktop: X11Desktop | VirtualDesktop | OSWorldDesktop
    memory: MemoryStore | None
    screen: Display
    finished: list[FinishedRun] = field(default_factory=list)  # finished runs, oldest first
    # latest tasks with their outcomes, for the planner
    earlier: deque[str] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    def help(self) -> None:
        """Explain what can be typed at the prompt."""
        click.echo("Type a task, such as: Open the text editor and type 'hello'.")
        click.echo("A task may refer to the previous one: Now save it as a.txt.")
        click.echo("While a task runs, Ctrl-Z pauses it, and Ctrl-C stops it.\n")
        for word, (does, _) in WORDS.items():
            click.echo(f"  {word:<9}{does}")
        click.echo("\nTo give a task that is one of these words, write a sentence: Open the help.")

    def status(self) -> None:
        """Show the model, the desktop and the usage so far."""
        from agent_s.terminal.running import introduce

        introduce(self.agent, self.choice, self.screen)
        titles = [printable(window.title or window.app) for window in self.desktop.observe(read_texts=False).windows]
        click.echo(f"Windows: {', '.join(titles) or 'none'}")
        used = [run.outcome.usage for run in self.finished]
        steps, calls = sum(one.steps for one in used), sum(one.model_calls for one in used)
        done = sum(run.outcome.status == "done" for run in self.finished)
        dollars = [one.dollars for one in used if one.dollars]
        cost = f", ${sum(dollars):.2f}" if dollars else ""
        click.echo(f"Tasks: {len(self.finished)}, {done} done; {plural(steps, 'step')}, {plural(calls, 'call')}{cost}")

    def show_memory(self) -> None:
        """Show the latest experiences in memory."""
        if self.memory is None:
            click.echo("The memory is switched off (memory.enabled).")
            return
        from agent_s.memory import title_of

        newest = self.memory.list_experiences(limit=SHOWN_EXPERIENCES)
        for experience in newest:
            click.echo(f"  {local_time(experience.provenance.created_at)}  {shorten(title_of(experience), 90)}")
        click.echo("`agent-s memory` searches and shows all of it." if newest else "Nothing has been learned yet.")

    def details(self) -> None:
        """Show the latest run step by step."""
        from agent_s.runs.reading import read_trajectory
        from agent_s.terminal.progress import lines_of

        run = self.finished[-1] if self.finished else None
        if run is None or run.folder is None:
            click.echo("No run has been recorded yet.")
            return
        for event in read_trajectory(run.folder).events:
            for line in lines_of(event):
                click.echo(line)
        click.echo(f"{sentence(run.outcome.reason)}\nReport: {run.report or run.folder}".strip())

    def reset(self) -> None:
        """Restore a virtual desktop to its initial state; on the person's own screen, offer to end applications."""
        from aci.desktop.x11 import X11Desktop
        from aci.remote.desktop import OSWorldDesktop

        self.earlier.clear()
        if isinstance(self.desktop, OSWorldDesktop):
            self.screen.notice("agent-s cannot restore this machine: revert it to its snapshot.")
            return
        if isinstance(self.desktop, X11Desktop):
            names = ", ".join(process.argv[0] for process in self.desktop.started)
            if not names:
                self.screen.say("No application started here is still running.")
                return
            if not sys.stdin.isatty() or not click.confirm(f"End {names}? Unsaved changes are lost."):
                return
        self.desktop.reset()
        self.screen.say("The desktop is restored.")

    def carry_out(self, instruction: str) -> int | None:
        """Carry out a task; return the exit status for the signal that ended it, or None."""
        from agent_s.terminal.interrupts import Interrupts
        from agent_s.terminal.running import announce, carry_out, make_task, show_advice
        from agent_s.trajectory.presenting import heading

        try:
            task = make_task(instruction, self.earlier)
        except click.UsageError as error:
            self.screen.notice(error.message)
            return None
        home = self.desktop.home if self.desktop.private else None
        with Interrupts(self.screen.notice) as interrupts:
            try:
                ended = carry_out(self.agent, task, self.settings.runs_folder, self.screen, interrupts, home=home)
            except EnvironmentProblem as error:  # another run uses the screen
                self.screen.notice(error.message)
                return None
        self.finished.append(ended)
        click.echo(f"{heading(ended.outcome)}. {shorten(sentence(ended.outcome.reason), 300)}".strip())
        click.echo(f"{ended.used}. 'details' shows every step.")
        show_advice(ended)
        announce(instruction, ended, self.settings)
        self.earlier.append(f"{task.instruction[:MAX_EARLIER]} ({ended.outcome.status})")
        return interrupts.exit_status


WORDS: Mapping[str, tuple[str, Callable[[Prompt], None]]] = {
    "help": ("show this help", Prompt.help),
    "status": ("show the model, the desktop and the usage so far", Prompt.status),
    "memory": ("show what was learned last", Prompt.show_memory),
    "details": ("show the latest run step by step", Prompt.details),
    "reset": ("restore the desktop", Prompt.reset),
    "quit": ("leave; also exit and Ctrl-D", lambda prompt: None),
}


def ask_for_tasks(settings: Settings, choice: DesktopChoice) -> int:
    """Carry out tasks, one per line, on one desktop until the input ends; return an exit status."""
    from agent_s.terminal.interrupts import Interrupts
    from agent_s.terminal.progress import choose_display
    from agent_s.terminal.running import build_agent, introduce, open_memory

    screen = choose_display(quiet=False, json=False)
    with Interrupts(screen.notice) as idle, open_memory(settings) as memory, choice.open(settings) as desktop:
        agent = build_agent(settings, desktop, memory, screen)
        introduce(agent, choice, screen)
        screen.say("Type a task in a sentence, or 'help'. Ctrl-Z pauses a task, Ctrl-C stops it, Ctrl-D leaves.")
        if sys.stdin.isatty():
            _set_up_readline(settings.runs_folder.parent / "history")
        prompt = Prompt(agent, settings, choice, desktop, memory, screen)
        while (line := _read_line(idle)) is not None:
            word = line.strip().casefold().rstrip("?!.") or ("help" if line.strip() else "")
            if word in WORDS:
                WORDS[word][1](prompt)
            elif near := _nearest_word(word):
                screen.notice(f"{line.strip()!r} is not a task. Did you mean {near!r}?")
            elif word:
                status = prompt.carry_out(line)
                if status is not None and not sys.stdin.isatty():
                    return status
        return idle.exit_status or DONE


def _nearest_word(word: str) -> str:
    """Return the prompt's word that a mistyped word resembles, if any."""
    near = difflib.get_close_matches(word, WORDS, n=1, cutoff=0.75) if word.isalpha() else []
    return near[0] if near else ""


def _read_line(idle: Interrupts) -> str | None:
    """Return the next line; None at the end of the input, or when the person leaves."""
    try:
        line = input("> " if sys.stdin.isatty() else "")
    except EOFError:
        click.echo()
        return None
    except KeyboardInterrupt:
        click.echo()
        if not sys.stdin.isatty() or idle.caught != signal.SIGINT:
            return None
        idle.forget()
        click.echo("Ctrl-D leaves.")
        return ""
    return None if line.strip().casefold() in LEAVING else line


def _set_up_readline(history: Path) -> None:
    """Enable line editing, completion and a history that persists between sessions."""
    with suppress(ImportError):  # Python may be built without readline
        import readline

        def complete(prefix: str, number: int) -> str | None:
            matches = [word for word in WORDS if word.startswith(prefix)] if readline.get_begidx() == 0 else []
            return matches[number] if number < len(matches) else None

        def save_history() -> None:
            with suppress(OSError):  # the history is not essential
                readline.write_history_file(history)
                history.chmod(0o600)

        with suppress(OSError):  # no history yet, or it is unreadable
            readline.read_history_file(history)
        readline.set_history_length(HISTORY_LINES)
        readline.set_completer(complete)
        readline.parse_and_bind("tab: complete")
        atexit.register(save_history)
