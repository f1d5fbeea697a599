"""Running a task from the command line: building the agent, showing and recording the run, reporting its outcome."""

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
from agent_s.terminal.output import echo_json, plural, printable, sentence
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
    folder: Path | None = None  # folder of its recording; None if it could not be recorded
    report: Path | None = None  # HTML report; None if it could not be written
    seconds: float = 0.0  # duration, including the time a person took to answer, s
    files: Kept = NOTHING_SAVED  # files that it saved on a virtual desktop

    @property
    def used(self) -> str:
        """Steps, calls, time and cost, for a person."""
        usage = self.outcome.usage
        parts = [plural(usage.steps, "step"), plural(usage.model_calls, "model call"), f"{self.seconds:.0f} s"]
        if usage.tokens:
            parts.append("cost unknown" if usage.dollars is None else f"${usage.dollars:.2f}")
        return ", ".join(parts)


def open_memory(settings: Settings) -> AbstractContextManager[MemoryStore | None]:
    """Open the memory as a context manager, which yields None if the settings disable it.

    Raises:
        MemoryStoreError: The memory cannot be opened.
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
    """Open the desktop and the memory, carry out one task, show its outcome, and return the exit status.

    Args:
        task: The task.
        settings: The settings.
        choice: The desktop.
        as_json: Whether to write the outcome as JSON.
        quiet: Whether to suppress progress.
        events: Whether to write each event as JSON instead.
        record: Folder for the recording; None for a new one.
        trusted_run: Id of a run that may be replayed even if it was never verified.
        unfinished: Run to resume instead of starting the task.
        watcher: Observer that sees the run, and is asked questions instead of the person at the terminal.

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
        if desktop.halt is not None and desktop.halt.reason:  # halted already; starting the run would reset that
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
    """Carry out a task, or resume an unfinished run, while showing and recording it; then write its report.

    The run is recorded in the folder `record`, or in a new one in `runs_folder`. Files that it saves in `home`, the
    home of a virtual desktop, are copied there.

    Raises:
        EnvironmentProblem: Another run is using the same screen.
    """
    from agent_s.runs.listing import run_folder

    recorder: Recorder | None = None
    outcome: Outcome | None = None
    model, began, since = "", time.monotonic(), time.time()
    listeners: list[Callable[[Event], None]] = [display] if watcher is None else [display, watcher]
    with _screen_lock(agent), display, _emergency_stop(agent, interrupts), ExitStack() as watching:
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
        finally:  # saved files outlive the desktop, however the run ends
            if recorder is not None:
                recorder.close()
            folder = recorder.folder if recorder is not None else None
            files = keep_files(home, folder, display, since) if home is not None else NOTHING_SAVED
        if outcome is None:  # a second Ctrl-C at the last moment took the final event
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
    """Return the task for an instruction; `follows` are earlier tasks with their outcomes.

    Raises:
        click.UsageError: The instruction is empty or too long.
    """
    try:
        return Task(instruction=instruction, follows=tuple(follows))
    except ValidationError as error:
        raise click.UsageError(f"TASK: {error.errors()[0]['msg'].removeprefix('Value error, ')}.") from error


def exit_status(outcome: Outcome) -> int:
    """Return the exit status for the outcome of a run."""
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
        click.echo(f"{heading(outcome)}. {sentence(outcome.reason)}".strip())
        click.echo(f"{ended.used}.")
        show_advice(ended)
        if ended.report is not None:
            click.echo(f"Report: {ended.report}")


def show_advice(ended: FinishedRun) -> None:
    """Show advice if the offline model could not start on the task."""
    outcome = ended.outcome
    if ended.model == "offline" and outcome.status == "failed" and not outcome.usage.steps:
        click.echo(
            "The offline model follows plain English sentences, such as: Open the text editor and type 'hello'."
            " For any others, name a language model with --model."
        )


def announce(task: str, ended: FinishedRun, settings: Settings) -> None:
    """Show a desktop notification if the settings request one for a run of this duration."""
    if settings.notify_after_s is None or ended.seconds < settings.notify_after_s:
        return
    from agent_s.terminal.notification import notify
    from agent_s.trajectory.presenting import heading

    notify(heading(ended.outcome), f"{task} ({ended.used})", os.environ)


def introduce(agent: AgentS, choice: DesktopChoice, display: Display) -> None:
    """Show which model and desktop are used."""
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
    """Build an agent that asks the watcher or, on a terminal, the person there; the display pauses for questions.

    Raises:
        SettingsError: The settings name something that does not exist.
    """
    from agent_s.loop.agent import AgentS

    def ask(question: str) -> str:
        with display.paused():
            return str(click.prompt(f"The agent asks: {printable(question)}\nYour answer", err=True))

    def confirm(consent: Consent) -> bool:
        with display.paused(), _screenshot_file(consent) as picture:
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
def _screenshot_file(consent: Consent) -> Iterator[Path]:
    """Write the screenshot for a question to a private file, and delete it once it is answered."""
    with tempfile.TemporaryDirectory(prefix="agent-s-") as folder:
        path = Path(folder) / "consent.png"
        path.write_bytes(consent.as_png())
        yield path


@contextmanager
def _screen_lock(agent: AgentS) -> Iterator[None]:
    """Hold a lock that keeps this user's other runs off the person's own screen."""
    from aci.desktop.x11 import X11Desktop

    desktop = agent.services.desktop
    if not isinstance(desktop, X11Desktop) or desktop.private:
        yield
        return
    host, _, number = desktop.display.partition(":")
    with socket.socket(socket.AF_UNIX) as lock:
        try:
            # An abstract socket needs no file and is released when the process ends, however it ends.
            lock.bind(f"\0agent-s-{os.getuid()}-screen-{host}:{number.partition('.')[0]}")
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise EnvironmentProblem(
                f"Another run is using the screen {desktop.display}. Wait until it ends, or use a virtual desktop "
                "(--virtual)."
            ) from error
        yield


def _emergency_stop(agent: AgentS, interrupts: Interrupts) -> AbstractContextManager[None]:
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
