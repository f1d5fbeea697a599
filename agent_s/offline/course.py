"""How a command is carried out: as a generator that yields moves and receives what came of them.

The model keeps nothing between calls. For each call the command starts again and is sent the results of the steps that
were taken so far; since it is deterministic, it arrives where it was, and its next move is the answer. Steps that are
not its own (a replay that stopped half-way) make it start afresh on the screen that they left.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from aci.acting.actions import Action, Done, Fail
from aci.observation.observation import Observation
from agent_s.llm.protocol import ActResponse
from agent_s.offline.finding.screen import Screen
from agent_s.records import ID_FIELDS, Step

_MAX_REASON = 1500


@dataclass(frozen=True, slots=True)
class Move:
    """A primitive to perform, its purpose, and what of the screen is the reason for it."""

    action: Action
    purpose: str
    seen: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a move: the screen after it, why it was refused if it was, and the desktop's note on it."""

    screen: Screen
    ok: bool = True
    error: str = ""
    note: str = ""


class GaveUp(Exception):
    """Ends a command that cannot do what it should; never leaves `decide`."""


Course = Generator[Move, Result, str]
"""A command being carried out; it returns the evidence of its success, "" where nothing on the screen shows it."""


def give_up(reason: str) -> NoReturn:
    """End the command with a reason."""
    raise GaveUp(reason)


class _Runner:
    """A course with its next move, or how it ended."""

    def __init__(self, start: Callable[[Screen], Course]) -> None:
        self._start = start
        self._course: Course | None = None
        self.move: Move | None = None
        self.evidence = self.reason = ""

    def send(self, result: Result, is_own: bool) -> None:
        try:
            if is_own and self._course is not None:
                self.move = self._course.send(result)
            else:
                self._course = self._start(result.screen)
                self.move = next(self._course)
        except StopIteration as stop:
            self.move, self.evidence, self.reason = None, str(stop.value or ""), ""
        except GaveUp as reason:
            self.move, self.reason = None, str(reason)


def decide(start: Callable[[Screen], Course], steps: Sequence[Step], observation: Observation) -> ActResponse:
    """Return the next step of a command, after the steps that were taken."""
    runner = _Runner(start)
    screens = _screens(steps, observation)
    runner.send(Result(Screen(screens[0])), is_own=False)
    for step, after in zip(steps, screens[1:], strict=True):
        is_own = runner.move is not None and _is_same(runner.move.action, step)
        runner.send(Result(Screen(after), step.result.ok, step.result.error or "", step.result.note), is_own)
    move = runner.move
    if move is not None:
        said, seen, action = move.purpose, move.seen, move.action
    elif runner.reason:
        said, seen, action = "give up", runner.reason, Fail(reason=runner.reason[:_MAX_REASON])
    else:
        said, seen, action = "the subtask is done", runner.evidence, Done()
    return ActResponse(
        previous_action_check=_check(steps, observation),
        observation_analysis=seen or describe_screen(observation),
        next_action=said,
        action=action,
    )


def _screens(steps: Sequence[Step], observation: Observation) -> list[Observation]:
    """Return the screen before each step, and now; the next one stands in for a screen that was not kept."""
    screens = [observation]
    for step in reversed(steps):
        screens.append(screens[-1] if step.recalled else step.observation)
    return screens[::-1]


def _is_same(action: Action, step: Step) -> bool:
    """Return whether a move is what a step did; the ids of a recalled step are those of another run."""
    done = step.response.action
    if not step.recalled:
        return action == done
    ids = set(ID_FIELDS)
    return type(action) is type(done) and action.model_dump(exclude=ids) == done.model_dump(exclude=ids)


def describe_screen(observation: Observation) -> str:
    """Return a sentence about what is in front."""
    active = observation.active_window
    where = f"The window {active.title or active.app!r} is in front" if active else "No window is in front"
    menu = " and a menu open" if any(window.popup for window in observation.windows) else ""
    return f"{where}, with {len(observation.elements)} elements in sight{menu}."


def _check(steps: Sequence[Step], observation: Observation) -> str:
    if not steps:
        return ""
    last = steps[-1]
    if not last.result.ok:
        return f"The last action was not carried out: {last.result.error}"
    return f"The last action was carried out; {what_changed(last.observation, observation)}."


def what_changed(before: Observation, after: Observation) -> str:
    """Return in few words what differs between two observations."""
    old, new = ({window.id: window for window in seen.windows} for seen in (before, after))

    def called(title: str, app: str) -> str:
        return f"the window {title!r}" if title else f"a menu of {app or 'the application'}"

    changes = [f"{called(one.title, one.app)} opened" for key, one in new.items() if key not in old]
    changes += [f"{called(one.title, one.app)} closed" for key, one in old.items() if key not in new]
    changes += [
        f"the title became {new[key].title!r}" for key in new if key in old and new[key].title != old[key].title
    ]
    if not changes:
        were, are = before.by_id, after.by_id
        count = len(were.keys() ^ are.keys()) + sum(were[key] != are[key] for key in were.keys() & are.keys())
        changes = [f"{count} elements changed"] if count else ["nothing on the screen changed"]
    return "; ".join(changes[:3])
