"""Progress of a run: a live display on a terminal, plain lines elsewhere, or nothing."""

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

MOST_AHEAD = 4  # subtasks that the live display names in advance
STATUS_S = 20.0  # longest silence of a log
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
        """Show a status; "" clears it where it can be replaced. A log shows it if nothing was written for a while."""
        if text and self._clock() - self._written_at >= STATUS_S:
            self.notice(text)

    def notice(self, text: str) -> None:
        """Show something important, even if progress is hidden."""
        self._written_at = self._clock()
        self._console.print(printable(text))

    def paused(self) -> AbstractContextManager[None]:
        """Leave the terminal to something else within a `with` block."""
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
    """Return an event as lines for a log; none for an event of no interest to a person."""
    match event:
        case RunStarted():
            return [f"Task: {shorten(event.task.instruction, 500)}"]
        case Planned():
            reason = f" ({shorten(event.reason, 200)})" if event.reason else ""
            what = f"{'New plan' if event.replan else 'Plan'}{reason}"
            source = " from verified memory" if event.plan.source == "memory" else ""
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
    return _remarks(event)


def _remarks(event: Event) -> list[str]:
    match event:
        case ReplayStarted():
            return [f"    {SKIPPED} replaying {plural(event.steps, 'verified step')} without a model"]
        case ReplayStopped():
            return [f"    the screen differs, the model takes over: {shorten(event.reason, 300)}"]
        case Reflected():
            return [f"    reflection: {shorten(event.reflection, 300)}"]
        case Verified() if event.verdict.by != "status":  # which is shown at the end
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
    """Return what a step does, with the element it touches."""
    return shorten(describe_action(event.action, event.target), 160)


def result_of(event: ActionPerformed) -> str:
    """Return the result of a step."""
    if not event.result.ok:
        return shorten(f"{BAD} {event.result.error or 'not carried out'}", 300)
    arrived = event.result.delivery
    seen = arrived if arrived is not None and not arrived.unread else None  # else the screen tells: `effect_of`
    came = describe_result(event.result.model_copy(update={"effect": None, "delivery": seen}))
    return shorten(f"{GOOD} {event.seconds:.2f} s{'' if came == CARRIED_OUT else f', {came}'}", 300)


def effect_of(event: EffectSeen) -> str:
    """Return the result of a step, once the screen after it has been seen; empty if there is nothing to say."""
    arrived = event.result.delivery
    told = describe_delivery(arrived) if arrived is not None and arrived.unread else ""
    came = "; ".join(filter(None, (told, describe_effect(event.result))))
    return shorten(f"-> {came}", 300) if came else ""


def dropped_of(event: ActionsDropped) -> str:
    """Return what was not performed and why."""
    return shorten(
        f"{SKIPPED} {plural(len(event.dropped.actions), 'further action')} dropped: {event.dropped.reason}", 300
    )


def ending_of(event: SubtaskEnded) -> str:
    """Return how a subtask ended."""
    how = "replayed" if event.replayed else plural(event.steps, "step")
    if event.ok:
        return f"{GOOD} done ({how})"
    return shorten(f"{BAD} failed ({how}): {event.reason}", 500)


class LiveDisplay(Display):
    """The current task, subtask, step, result and time, redrawn in place; finished lines scroll up."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        from rich.live import Live

        super().__init__(console, clock)
        self._began = clock()
        self._now = _Now()
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
                self._now = _Now(task=event.task.instruction, model=event.model, limits=event.limits)
            case Planned():
                self._now.ahead = [subtask.name for subtask in event.plan.subtasks]
            case SubtaskStarted():
                self._now.subtask, self._now.place = event.subtask.name, f"{event.index}/{event.total}"
                self._now.ahead = self._now.ahead[-(event.total - event.index) :] if event.index < event.total else []
                self._now.step = self._now.result = ""
            case ActionChosen():
                self._now.step, self._now.result = f"{event.step}. {call_of(event)}", ""
                self._now.steps = event.step
            case ActionPerformed():
                self._now.result = result_of(event)
            case EffectSeen():
                if line := effect_of(event):
                    self._now.result = f"{GOOD if event.result.worked else BAD} {line}"
            case ModelCalled():
                self._now.count(event)
            case SubtaskEnded():
                self._console.print(f"  {ending_of(event)[:1]} {self._now.place} {shorten(event.subtask.name, 200)}")
                if not event.ok:
                    self._console.print(f"      {shorten(event.reason, 500)}", style="red")
            case RunEnded():
                self._now = _Now()
            case _:
                for line in _remarks(event):
                    self._console.print(line, style="dim" if not isinstance(event, Troubled) else "yellow")

    def status(self, text: str) -> None:
        """Show a status in place, as long as there is no task."""
        self._status = text

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop drawing within a `with` block, so that the person can be asked."""
        self._live.stop()
        try:
            yield
        finally:
            self._live.start()

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        now, width = self._now, self._console.width - 2
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
class _Now:
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
        """Count a call of the model; the cost is unknown as soon as that of one call is."""
        self.calls += 1
        self.tokens += call.usage.tokens
        if call.usage.dollars is not None and self.dollars is not None:
            self.dollars += call.usage.dollars
        elif call.usage.tokens:
            self.dollars = None

    def meter(self, spent_s: float) -> str:
        """Return the share of its limits that the run has used."""
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
        """Return the subtasks that follow, a few as lines and the rest as a number."""
        rest = len(self.ahead) - MOST_AHEAD
        return [*(f"· {name}" for name in self.ahead[:MOST_AHEAD]), *([f"· {rest} more"] if rest > 0 else [])]
