"""Progress displays for runs: live on a terminal, plain lines for logs, JSON events, or quiet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import click

from aci.acting.wording import CARRIED_OUT, describe_action, describe_delivery, describe_effect, describe_result
from agent_s.events import (
    ActionChosen,
    ActionPerformed,
    ActionsDropped,
    Concluded,
    EffectSeen,
    Event,
    KnowledgeGathered,
    ModelCalled,
    Planned,
    Reflected,
    ReplayStarted,
    ReplayStopped,
    RunEnded,
    RunStarted,
    SubtaskEnded,
    SubtaskStarted,
    Troubled,
    Verified,
)
from agent_s.terminal.output import new_console, plural, printable, shorten

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from agent_s.records import Limits

MAX_AHEAD = 4  # maximum number of upcoming subtasks in the live display
STATUS_S = 20.0  # after this time without output, a log shows the status, s
GOOD, BAD, SKIPPED = "✓", "✗", "»"


class Display:
    """Shows the events of runs as plain lines, for logs and pipes."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._written_at = clock()

    def __enter__(self) -> Self:
        """Start showing events."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the terminal as it was."""

    def __call__(self, event: Event) -> None:
        """Show one event."""
        for line in lines_of(event):
            self._console.print(line)

    def say(self, text: str) -> None:
        """Show a line of progress."""
        self.notice(text)

    def status(self, text: str) -> None:
        """Show a status, or clear it with ""; a log shows it only if nothing was written for `STATUS_S`."""
        if text and self._clock() - self._written_at >= STATUS_S:
            self.notice(text)

    def notice(self, text: str) -> None:
        """Show something important, even if progress is hidden."""
        self._written_at = self._clock()
        self._console.print(printable(text))

    def paused(self) -> AbstractContextManager[None]:
        """Stop using the terminal within the block, so that the person can be asked."""
        return nullcontext()


class QuietDisplay(Display):
    """Shows only notices and problems, on standard error."""

    def __call__(self, event: Event) -> None:
        """Show a problem."""
        if isinstance(event, Troubled):
            self.notice(event.problem)

    def say(self, text: str) -> None:
        """Do nothing."""

    def status(self, text: str) -> None:
        """Do nothing."""


class EventLines(QuietDisplay):
    """Writes each event as one line of JSON on standard output, without the prompts and answers of model calls."""

    def __call__(self, event: Event) -> None:
        """Write one event."""
        click.echo(event.model_dump_json(exclude={"exchanges"}))


def choose_display(*, quiet: bool, json: bool, events: bool = False) -> Display:
    """Return the display for this terminal; with JSON on standard output it writes to standard error."""
    if events:
        return EventLines(new_console(stderr=True))
    if quiet:
        return QuietDisplay(new_console(stderr=True))
    console = new_console(stderr=json)
    return LiveDisplay(console) if console.is_terminal and not console.is_dumb_terminal else Display(console)


def lines_of(event: Event) -> list[str]:
    """Return the log lines for an event; empty if it is of no interest to a person."""
    match event:
        case RunStarted():
            return [f"Task: {shorten(event.task.instruction, 500)}"]
        case Planned():
            reason = f" ({shorten(event.reason, 200)})" if event.reason else ""
            what = f"{'New plan' if event.replan else 'Plan'}{reason}"
            source = " from memory" if event.plan.source == "memory" else ""
            return [f"{what}{source}: {plural(len(event.plan.subtasks), 'subtask')}"]
        case SubtaskStarted():
            return [f"[{event.index}/{event.total}] {shorten(event.subtask.name, 300)}"]
        case ActionChosen():
            return [f"    {event.step}. {call_of(event)}"]
        case ActionPerformed():
            return [f"       {result_of(event)}"]
        case ActionsDropped():
            return [f"       {dropped_of(event)}"]
        case EffectSeen():
            return [f"       {line}"] if (line := effect_of(event)) else []
        case SubtaskEnded():
            return [f"    {ending_of(event)}"]
    return _message_lines(event)


def _message_lines(event: Event) -> list[str]:
    match event:
        case ReplayStarted():
            return [f"    {SKIPPED} replaying {plural(event.steps, 'learned step')} without a model"]
        case ReplayStopped():
            return [f"    the screen differs, the model takes over: {shorten(event.reason, 300)}"]
        case Reflected():
            return [f"    reflection: {shorten(event.reflection, 300)}"]
        case Verified() if event.verdict.by != "status":  # the status is shown at the end anyway
            word = {True: f"{GOOD} verified", False: f"{BAD} not verified", None: "not checkable"}
            return [f"{word[event.verdict.verified]}: {shorten(event.verdict.reason, 300)}"]
        case KnowledgeGathered():
            return [f"Continuing without: {shorten(problem, 300)}" for problem in event.problems]
        case Concluded():
            return [f"Ended: {event.outcome.status}"]
        case Troubled():
            return [f"Problem: {shorten(event.problem, 500)}"]
    return []


def call_of(event: ActionChosen) -> str:
    """Return the action of a step and its target, in words."""
    return shorten(describe_action(event.action, event.target), 160)


def result_of(event: ActionPerformed) -> str:
    """Return the result of a step."""
    if not event.result.ok:
        return shorten(f"{BAD} {event.result.error or 'not carried out'}", 300)
    arrived = event.result.delivery
    known = arrived if arrived is not None and not arrived.unread else None  # otherwise reported by `effect_of`
    result = describe_result(event.result.model_copy(update={"effect": None, "delivery": known}))
    return shorten(f"{GOOD} {event.seconds:.2f} s{'' if result == CARRIED_OUT else f', {result}'}", 300)


def effect_of(event: EffectSeen) -> str:
    """Return the effect of a step in words; empty if there is nothing to report."""
    arrived = event.result.delivery
    delivery = describe_delivery(arrived) if arrived is not None and arrived.unread else ""
    effect = "; ".join(filter(None, (delivery, describe_effect(event.result))))
    return shorten(f"-> {effect}", 300) if effect else ""


def dropped_of(event: ActionsDropped) -> str:
    """Return which actions were dropped and why, in words."""
    return shorten(
        f"{SKIPPED} {plural(len(event.dropped.actions), 'further action')} dropped: {event.dropped.reason}", 300
    )


def ending_of(event: SubtaskEnded) -> str:
    """Return how a subtask ended, in words."""
    how = "replayed" if event.replayed else plural(event.steps, "step")
    if event.ok:
        return f"{GOOD} done ({how})"
    return shorten(f"{BAD} failed ({how}): {event.reason}", 500)


class LiveDisplay(Display):
    """Shows the current task, subtask, step, result and time, redrawn in place; finished subtasks scroll up."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        from rich.live import Live

        super().__init__(console, clock)
        self._began = clock()
        self._state = _State()
        self._status = ""
        self._live = Live(get_renderable=self.__rich__, console=console, refresh_per_second=8, transient=True)

    def __enter__(self) -> Self:
        """Start drawing."""
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what was drawn in place."""
        self._live.stop()

    def __call__(self, event: Event) -> None:  # noqa: C901 - one case per event
        """Show an event."""
        match event:
            case RunStarted():
                self._began = self._clock()
                self._state = _State(task=event.task.instruction, model=event.model, limits=event.limits)
            case Planned():
                self._state.ahead = [subtask.name for subtask in event.plan.subtasks]
            case SubtaskStarted():
                self._state.subtask, self._state.place = event.subtask.name, f"{event.index}/{event.total}"
                self._state.ahead = (
                    self._state.ahead[-(event.total - event.index) :] if event.index < event.total else []
                )
                self._state.step = self._state.result = ""
            case ActionChosen():
                self._state.step, self._state.result = f"{event.step}. {call_of(event)}", ""
                self._state.steps = event.step
            case ActionPerformed():
                self._state.result = result_of(event)
            case EffectSeen():
                if line := effect_of(event):
                    self._state.result = f"{GOOD if event.result.worked else BAD} {line}"
            case ModelCalled():
                self._state.count(event)
            case SubtaskEnded():
                self._console.print(f"  {ending_of(event)[:1]} {self._state.place} {shorten(event.subtask.name, 200)}")
                if not event.ok:
                    self._console.print(f"      {shorten(event.reason, 500)}", style="red")
            case RunEnded():
                self._state = _State()
            case _:
                for line in _message_lines(event):
                    self._console.print(line, style="dim" if not isinstance(event, Troubled) else "yellow")

    def status(self, text: str) -> None:
        """Show a status in place, as long as there is no task."""
        self._status = text

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop drawing within the block, so that the person can be asked."""
        self._live.stop()
        try:
            yield
        finally:
            self._live.start()

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        now, width = self._state, self._console.width - 2
        if not now.task:
            return Text(shorten(self._status, width), style="dim")
        meter = now.meter(self._clock() - self._began)
        return Group(
            Text(shorten(now.task, width), style="bold"),
            Text(shorten(f"{now.place} {now.subtask}" if now.subtask else "planning", width), style="cyan"),
            Text(shorten(f"  {now.step}", width)),
            Text(shorten(f"  {now.result}", width), style="green" if now.result.startswith(GOOD) else "red"),
            *(Text(shorten(line, width), style="dim") for line in now.plan_ahead()),
            Text(shorten(meter, width), style="dim"),
            Text(shorten(f"Ctrl-Z pauses · Ctrl-C stops · {now.model}", width), style="dim"),
        )


@dataclass
class _State:
    """The state that the live display draws."""

    task: str = ""
    model: str = ""
    limits: Limits | None = None
    subtask: str = ""
    place: str = ""
    ahead: list[str] = field(default_factory=list)  # names of the subtasks that follow
    step: str = ""
    result: str = ""
    steps: int = 0
    calls: int = 0
    tokens: int = 0
    dollars: float | None = 0.0

    def count(self, call: ModelCalled) -> None:
        """Count a model call; the total cost is unknown as soon as the cost of one call is."""
        self.calls += 1
        self.tokens += call.usage.tokens
        if call.usage.dollars is not None and self.dollars is not None:
            self.dollars += call.usage.dollars
        elif call.usage.tokens:
            self.dollars = None

    def meter(self, spent_s: float) -> str:
        """Return what the run has used of its limits, in words."""
        limits = self.limits
        if limits is None:
            return ""
        used = [f"step {self.steps}/{limits.max_steps}", f"call {self.calls}/{limits.max_model_calls}"]
        if self.tokens:
            most = "" if limits.max_tokens is None else f"/{limits.max_tokens:,}"
            used += [f"{self.tokens:,}{most} tokens"]
            price = "cost unknown" if self.dollars is None else f"${self.dollars:.2f}"
            used += [price if limits.max_dollars is None else f"{price}/{limits.max_dollars:.2f}"]
        return " · ".join([*used, f"{spent_s:.0f}/{limits.max_seconds:.0f} s"])

    def plan_ahead(self) -> list[str]:
        """Return the upcoming subtasks: the first ones as lines, the rest as a count."""
        rest = len(self.ahead) - MAX_AHEAD
        return [*(f"· {name}" for name in self.ahead[:MAX_AHEAD]), *([f"· {rest} more"] if rest > 0 else [])]
