"""Execution of a command as a generator that yields moves and receives their results.

The model keeps no state between calls. On each call, the command is restarted and fed the results of the steps so far.
Since it is deterministic, it arrives at the same point, and its next move is the answer. After a foreign step, from a
replay that stopped half-way, it starts over on the screen after that step.
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
    """A primitive to perform, its purpose, and the observation that it is based on."""

    action: Action
    purpose: str
    seen: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a move.

    Attributes:
        screen: The screen after it.
        ok: Whether it was carried out.
        error: The reason if it was refused.
        started: The application that it started.
        worked: Whether, as far as known, it had an effect.
    """

    screen: Screen
    ok: bool = True
    error: str = ""
    started: str = ""
    worked: bool = True


class GaveUp(Exception):
    """Ends a command that cannot be carried out; never leaves this module.

    Args:
        reason: The reason.
        final: Whether the application itself refuses it, so that no alternative is worth trying.
    """

    def __init__(self, reason: str, final: bool = False) -> None:
        super().__init__(reason)
        self.final = final


Execution = Generator[Move, Result, str]
"""A running command; it returns the evidence of its success, or "" if nothing on the screen shows it."""


def give_up(reason: str, final: bool = False) -> NoReturn:
    """End the command with a reason; see `GaveUp`."""
    raise GaveUp(reason, final)


@dataclass(frozen=True, slots=True)
class _End:
    evidence: str = ""
    reason: str = ""
    final: bool = False


def _advance(execution: Execution, result: Result | None) -> Move | _End:
    try:
        return next(execution) if result is None else execution.send(result)
    except StopIteration as stop:
        return _End(evidence=str(stop.value or ""))
    except GaveUp as reason:
        return _End(reason=str(reason), final=reason.final)


def decide(start: Callable[[Screen], Execution], steps: Sequence[Step], observation: Observation) -> ActResponse:
    """Return the next step of a command, after the steps that were taken."""
    match _resume(start, steps, observation):
        case Move(action, said, seen):
            pass
        case _End("", reason) if reason:
            said, seen, action = "give up", reason, Fail(reason=reason[:_MAX_REASON])
        case _End(seen):
            said, action = "the subtask is done", Done()
    return ActResponse(
        previous_action_check=_check(steps, observation),
        observation_analysis=seen or describe_screen(observation),
        next_action=said,
        action=action,
    )


def is_refused_for_good(start: Callable[[Screen], Execution], steps: Sequence[Step], observation: Observation) -> bool:
    """Return whether a command ends after these steps because the application itself refuses it."""
    end = _resume(start, steps, observation)
    return isinstance(end, _End) and end.final


def _resume(start: Callable[[Screen], Execution], steps: Sequence[Step], observation: Observation) -> Move | _End:
    """Restart a command, and feed it the steps taken so far."""
    screens = _screens(steps, observation)
    execution = start(Screen(screens[0]))
    move = _advance(execution, None)
    for step, after in zip(steps, map(Screen, screens[1:]), strict=True):
        if isinstance(move, Move) and _is_same(move.action, step):
            done = step.result
            move = _advance(execution, Result(after, done.ok, done.error or "", done.started, step.worked))
        else:
            execution = start(after)
            move = _advance(execution, None)
    return move


def _screens(steps: Sequence[Step], observation: Observation) -> list[Observation]:
    """Return the screen before each step, and the current one; the next screen replaces one that was not kept."""
    screens = [observation]
    for step in reversed(steps):
        screens.append(screens[-1] if step.recalled else step.observation)
    return screens[::-1]


def _is_same(action: Action, step: Step) -> bool:
    """Return whether a step performed a move; element ids of a recalled step are not compared."""
    done = step.response.action
    if not step.recalled:
        return action == done
    ids = set(ID_FIELDS)
    return type(action) is type(done) and action.model_dump(exclude=ids) == done.model_dump(exclude=ids)


def describe_screen(observation: Observation) -> str:
    """Return a sentence that describes the active window."""
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
    """Return a brief description of the changes between two observations."""
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
