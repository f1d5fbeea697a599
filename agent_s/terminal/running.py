"""Runs of the command line: build the agent, carry out a task, show and record it, and report how it ended."""

from __future__ import annotations

import errno
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import ValidationError

from aci.remote.addresses import without_token
from agent_s.errors import TrajectoryError
from agent_s.events import Event, RunEnded, RunStarted, Troubled
from agent_s.records import Outcome, Task
from agent_s.terminal.desktop_choice import DesktopChoice
from agent_s.terminal.exits import DONE, ENVIRONMENT, NOT_DONE, EnvironmentProblem
from agent_s.terminal.kept_files import NOTHING_SAVED, Kept, keep_files
from agent_s.terminal.output import echo_json, plural, printable
from agent_s.terminal.progress import Display
from agent_s.terminal.watching import Watcher, watched

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from aci.desktop.virtual import VirtualDesktop
    from aci.desktop.x11 import X11Desktop
    from aci.remote.desktop import OSWorldDesktop
    from agent_s.llm.protocol import Model
    from agent_s.loop.agent import AgentS
    from agent_s.loop.unfinished import UnfinishedRun
    from agent_s.safety.confirmation import Consent
    from agent_s.settings import Settings
    from agent_s.terminal.interrupts import Interrupts
    from agent_s.trajectory.recorder import Recorder
    from memory_store import MemoryStore


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A finished run."""

    outcome: Outcome  # how it ended
    model: str  # name of the model
    folder: Path | None = None  # its recording; None if it could not be recorded
    report: Path | None = None  # its page; None if it could not be written
    seconds: float = 0.0  # how long it took, with the time a person took to answer, s
    files: Kept = NOTHING_SAVED  # what it saved on a virtual desktop

    @property
    def used(self) -> str:
        """Steps, calls, time and cost, for a person."""
        usage = self.outcome.usage
        parts = [plural(usage.steps, "step"), plural(usage.model_calls, "model call"), f"{self.seconds:.0f} s"]
        if usage.tokens:
            parts.append("cost unknown" if usage.dollars is None else f"${usage.dollars:.2f}")
        return ", ".join(parts)


def open_memory(settings: Settings) -> AbstractContextManager[MemoryStore | None]:
    """Return the memory in a `with` block; None if the settings switch it off.

    Raises:
        MemoryStoreError: It cannot be opened.
    """
    if not settings.memory.enabled:
        return nullcontext(None)
    from agent_s.memory import open_memory

    return open_memory(settings)


def run_once(
    task: Task,
    settings: Settings,
    choice: DesktopChoice,
    *,
    as_json: bool,
    quiet: bool,
    events: bool = False,
    record: Path | None = None,
    trusted_run: str = "",
    unfinished: UnfinishedRun | None = None,
    watcher: Watcher | None = None,
) -> int:
    """Open the desktop and the memory, carry out one task, show how it ended, and return the exit status.

    The run is recorded in the folder `record`, or in a new one. It may replay the run with the id `trusted_run` even if
    that was never verified. An `unfinished` run is resumed instead of starting the task. A `watcher` sees the run, and
    is asked instead of the person at the terminal.

    Raises:
        AciError: The desktop cannot be used.
        MemoryStoreError: The memory cannot be opened.
        SettingsError: The settings name a model that does not exist.
    """
    from agent_s.terminal.interrupts import Interrupts
    from agent_s.terminal.progress import choose_display

    display = choose_display(quiet=quiet, json=as_json, events=events)
    with Interrupts(display.notice) as interrupts, open_memory(settings) as memory, choice.open(settings) as desktop:
        agent = build_agent(settings, desktop, memory, display, trusted_run, watcher)
        introduce(agent, choice, display)
        if desktop.halt is not None and desktop.halt.reason:  # a run lifts what stopped earlier ones
            raise KeyboardInterrupt
        home = desktop.home if desktop.private else None
        ended = carry_out(agent, task, settings.runs_folder, display, interrupts, record, home, unfinished, watcher)
    announce(task.instruction, ended, settings)
    status = exit_status(ended.outcome) or (DONE if ended.files.in_place else ENVIRONMENT)
    if not events:
        show_end(task.instruction, ended, choice, as_json)
    return status if interrupts.exit_status is None else interrupts.exit_status


def carry_out(
    agent: AgentS,
    task: Task,
    runs_folder: Path,
    display: Display,
    interrupts: Interrupts,
    record: Path | None = None,
    home: Path | None = None,
    unfinished: UnfinishedRun | None = None,
    watcher: Watcher | None = None,
) -> FinishedRun:
    """Carry out a task, or resume an unfinished run: show it, record it, and write its report.

    It is recorded in the folder `record`, or in a new one in `runs_folder`. The files that it writes are copied there
    from `home`, that of a virtual desktop.

    Raises:
        EnvironmentProblem: Another run works on the same screen.
    """
    from agent_s.runs.listing import run_folder

    recorder: Recorder | None = None
    outcome: Outcome | None = None
    model, began, since = "", time.monotonic(), time.time()
    listeners: list[Callable[[Event], None]] = [display] if watcher is None else [display, watcher]
    with _alone_on_its_screen(agent), display, _stopped_from_the_screen(agent, interrupts), ExitStack() as watching:
        try:
            events = agent.resume(unfinished) if unfinished else agent.stream(task)
            for event in interrupts.watch(events, agent.stop, agent.pause if agent.services.people.take_over else None):
                if isinstance(event, RunStarted):
                    model = event.model
                    recorder = _start_recording(record or run_folder(runs_folder, event), display)
                    if recorder is not None:
                        listeners.insert(0, recorder)
                        watching.enter_context(watched(agent, recorder.folder, watcher, interrupts))
                for listener in listeners:
                    listener(event)
                if isinstance(event, RunEnded):
                    outcome = event.outcome
        finally:  # what was saved outlives the desktop, however the run ends
            if recorder is not None:
                recorder.close()
            folder = recorder.folder if recorder is not None else None
            files = keep_files(home, folder, display, since) if home is not None else NOTHING_SAVED
        if outcome is None:  # the end was lost to a second Ctrl-C that came with it
            raise KeyboardInterrupt
        seconds = time.monotonic() - began
        report = _write_report(folder, display) if folder is not None else None
        return FinishedRun(outcome, model, folder, report, seconds, files)


def ready_models(settings: Settings) -> Model:
    """Return the models that the settings name, once it is known that they can be used.

    Raises:
        SettingsError: There is no such model, or dollars are limited and its price is unknown.
        ModelError: One is not available.
    """
    from agent_s.llm.build import build_models

    models = build_models(settings, os.environ)
    check = getattr(models, "check", None)
    if check is not None:
        check()
    return models


def make_task(instruction: str, follows: Sequence[str] = ()) -> Task:
    """Return the task for what the person typed; it may follow earlier tasks, each with how it ended.

    Raises:
        click.UsageError: The instruction is empty or too long.
    """
    try:
        return Task(instruction=instruction, follows=tuple(follows))
    except ValidationError as error:
        raise click.UsageError(f"TASK: {error.errors()[0]['msg'].removeprefix('Value error, ')}.") from error


def exit_status(outcome: Outcome) -> int:
    """Return the exit status of a command whose run ended like this."""
    return {"done": DONE, "error": ENVIRONMENT}.get(outcome.status, NOT_DONE)


def show_end(task: str, ended: FinishedRun, choice: DesktopChoice, as_json: bool) -> None:
    """Show how a run ended."""
    from agent_s.trajectory.presenting import heading

    outcome = ended.outcome
    if as_json:
        echo_json(
            {
                "task": task,
                "model": ended.model,
                "display": without_token(choice.display) if choice.display else None,
                **outcome.model_dump(mode="json"),
                "run": ended.folder,
                "report": ended.report,
                "files": ended.files.copies,
            }
        )
    else:
        click.echo(f"{heading(outcome)}. {printable(outcome.reason)}".strip())
        click.echo(f"{ended.used}.")
        show_advice(ended)
        if ended.report is not None:
            click.echo(f"Report: {ended.report}")


def show_advice(ended: FinishedRun) -> None:
    """Say what can be done about a task that the offline model did not begin with."""
    outcome = ended.outcome
    if ended.model == "offline" and outcome.status == "failed" and not outcome.usage.steps:
        click.echo(
            "The offline model follows plain English sentences, such as: Open the text editor and type 'hello'."
            " For any others, name a language model with --model."
        )


def announce(task: str, ended: FinishedRun, settings: Settings) -> None:
    """Show a desktop notification if the settings ask for one after a run as long as this."""
    if settings.notify_after_s is None or ended.seconds < settings.notify_after_s:
        return
    from agent_s.terminal.notification import notify
    from agent_s.trajectory.presenting import heading

    notify(heading(ended.outcome), f"{task} ({ended.used})", os.environ)


def introduce(agent: AgentS, choice: DesktopChoice, display: Display) -> None:
    """Show the model and the desktop, which may both be defaults."""
    from agent_s.llm.protocol import model_name

    name = model_name(agent.services.model)
    if name == "none":
        display.say(f"Replaying from memory, without a model, on {choice.words}.")
        return
    hint = " (follows plain instructions, needs no network)" if name == "offline" else ""
    display.say(f"Model {name}{hint}, on {choice.words}.")


def build_agent(
    settings: Settings,
    desktop: X11Desktop | VirtualDesktop | OSWorldDesktop,
    memory: MemoryStore | None,
    display: Display,
    trusted_run: str = "",
    watcher: Watcher | None = None,
) -> AgentS:
    """Build the agent; it can ask the watcher or, on a terminal, the person there, for which it pauses the display.

    Raises:
        SettingsError: The settings name something that does not exist.
    """
    from agent_s.loop.agent import AgentS

    def ask(question: str) -> str:
        with display.paused():
            return str(click.prompt(f"The agent asks: {printable(question)}\nYour answer", err=True))

    def confirm(consent: Consent) -> bool:
        with display.paused(), _shown(consent) as picture:
            click.echo(f"This needs your consent. Screenshot: {picture}", err=True)
            return click.confirm(printable(str(consent)), err=True)

    def take_over() -> None:
        with display.paused():
            click.echo("Paused: the screen is yours. The agent looks at it again when you hand it back.", err=True)
            click.prompt("Press Enter to hand it back", default="", show_default=False, prompt_suffix=" ", err=True)

    people: dict[str, Any] = {}
    if watcher is not None:
        people = {"ask": watcher.ask, "confirm": watcher.confirm, "take_over": watcher.take_over}
    elif sys.stdin.isatty():
        people = {"ask": ask, "confirm": confirm, "take_over": take_over}
    return AgentS.from_settings(settings, desktop, memory=memory, trusted_run=trusted_run, **people)


@contextmanager
def _shown(consent: Consent) -> Iterator[Path]:
    """Keep the screenshot of a question in a private file until it is answered."""
    with tempfile.TemporaryDirectory(prefix="agent-s-") as folder:
        path = Path(folder) / "consent.png"
        path.write_bytes(consent.as_png())
        yield path


@contextmanager
def _alone_on_its_screen(agent: AgentS) -> Iterator[None]:
    """Keep other runs of this user off the person's own screen."""
    from aci.desktop.x11 import X11Desktop

    desktop = agent.services.desktop
    if not isinstance(desktop, X11Desktop) or desktop.private:
        yield
        return
    host, _, number = desktop.display.partition(":")
    with socket.socket(socket.AF_UNIX) as lock:
        try:
            # An abstract name is no file, and free again once the process has ended, however it ends.
            lock.bind(f"\0agent-s-{os.getuid()}-screen-{host}:{number.partition('.')[0]}")
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise EnvironmentProblem(
                f"Another run works on the screen {desktop.display}. Wait until it ends, or work beside it on a "
                "virtual desktop (--virtual)."
            ) from error
        yield


def _stopped_from_the_screen(agent: AgentS, interrupts: Interrupts) -> AbstractContextManager[None]:
    """Let the stop key and the mouse in a corner interrupt a run, even while it waits for a model."""
    halt = agent.services.desktop.halt
    return nullcontext() if halt is None else halt.notifying(lambda reason: interrupts.call())


def _start_recording(folder: Path, display: Display) -> Recorder | None:
    from agent_s.trajectory.recorder import Recorder

    def warn(problem: str) -> None:
        display(Troubled(problem=problem))

    try:
        return Recorder(folder, warn)
    except TrajectoryError as error:
        warn(f"{error} The run continues without a recording.")
        return None


def _write_report(folder: Path, display: Display) -> Path | None:
    from agent_s.runs.reading import read_trajectory
    from agent_s.trajectory.report import write_report

    try:
        return write_report(read_trajectory(folder))
    except TrajectoryError as error:
        display(Troubled(problem=str(error)))
        return None
