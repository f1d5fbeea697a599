"""How a policy runs: as a generator that yields moves and is sent what came of them.

The model keeps nothing between calls. For each call the policy starts again and is fed the steps that were taken so far;
it then stands where it stood, since it is deterministic, and its next move is the answer. Steps that are not its own (a
replay that stopped half-way) make it start afresh on the screen they left behind.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from aci.acting.actions import Action, Done, Fail
from aci.observation.observation import Observation
from agent_s.llm.protocol import ActResponse
from agent_s.offline.screen import Screen
from agent_s.records import ID_FIELDS, Step

MOST_REASON = 1500


@dataclass(frozen=True, slots=True)
class Move:
    """A primitive that a policy wants performed.

    Attributes:
        action: The primitive.
        purpose: What it is for, in words.
        seen: What the screen shows, as far as it matters here.
        check: What came of the move before.
    """

    action: Action
    purpose: str
    seen: str = ""
    check: str = ""


@dataclass(frozen=True, slots=True)
class Sight:
    """What a policy is told after a move.

    Attributes:
        screen: The screen now.
        ok: Whether the primitive was carried out.
        error: Why not.
        note: What the desktop said about it.
    """

    screen: Screen
    ok: bool = True
    error: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Achieved:
    """The end of a policy that did what it should.

    Attributes:
        evidence: What shows it; empty where nothing on the screen does.
    """

    evidence: str = ""


class GaveUp(Exception):
    """Ends a policy that cannot do what it should; never leaves `decide`."""


Course = Generator[Move, Sight, Achieved]
"""A policy at work."""
MakeCourse = Callable[[Screen], Course]


def give_up(reason: str) -> NoReturn:
    """End the policy with a reason."""
    raise GaveUp(reason)


@dataclass(slots=True)
class _Runner:
    """A course and where it stands: its next move, or how it ended."""

    make: MakeCourse
    course: Course | None = None
    move: Move | None = None
    ending: Achieved | GaveUp | None = None

    def start(self, screen: Screen) -> None:
        self.course = self.make(screen)
        self._advance(None)

    def send(self, sight: Sight) -> None:
        self._advance(sight)

    def _advance(self, sight: Sight | None) -> None:
        if self.course is None:
            return
        try:
            self.move = next(self.course) if sight is None else self.course.send(sight)
            self.ending = None
        except StopIteration as stop:
            self.move, self.ending = None, stop.value if isinstance(stop.value, Achieved) else Achieved()
        except GaveUp as reason:
            self.move, self.ending = None, reason


def decide(make: MakeCourse, steps: Sequence[Step], observation: Observation, instruction: str = "") -> ActResponse:
    """Return the next step of a policy, after the steps that were taken; a text that is the instruction is not seen."""
    runner = run_through(make, steps, observation, instruction)
    if runner.move is not None:
        move = runner.move
        return ActResponse(
            previous_action_check=move.check or _check(steps, observation),
            observation_analysis=move.seen or describe_screen(observation),
            next_action=move.purpose,
            action=move.action,
        )
    if isinstance(runner.ending, GaveUp):
        reason = str(runner.ending)
        return ActResponse(
            previous_action_check=_check(steps, observation),
            observation_analysis=reason,
            next_action="give up",
            action=Fail(reason=reason[:MOST_REASON]),
        )
    evidence = runner.ending.evidence if runner.ending is not None else ""
    return ActResponse(
        previous_action_check=_check(steps, observation),
        observation_analysis=evidence or describe_screen(observation),
        next_action="the subtask is done",
        action=Done(),
    )


def run_through(make: MakeCourse, steps: Sequence[Step], observation: Observation, instruction: str = "") -> _Runner:
    """Run a policy through the steps that were taken; see the module."""
    runner = _Runner(make)
    screens = _screens(steps, observation)
    runner.start(Screen(screens[0], instruction))
    for step, after in zip(steps, screens[1:], strict=True):
        if runner.move is not None and _is_same(runner.move.action, step):
            result = step.result
            runner.send(Sight(Screen(after, instruction), result.ok, result.error or "", result.note))
        else:
            runner.start(Screen(after, instruction))
    return runner


def _screens(steps: Sequence[Step], observation: Observation) -> list[Observation]:
    """Return what was seen before each step, and now; for what is not kept the next screen that is stands in."""
    screens = [observation]
    for step in reversed(steps):
        screens.append(screens[-1] if step.recalled else step.observation)
    return screens[::-1]


def _is_same(action: Action, step: Step) -> bool:
    """Tell whether a move is what was done in a step; the ids of a recalled one are those of another run."""
    done = step.response.action
    if not step.recalled:
        return action == done
    return type(action) is type(done) and _without_ids(action) == _without_ids(done)


def _without_ids(action: Action) -> dict[str, object]:
    return action.model_dump(exclude=set(ID_FIELDS))


def describe_screen(observation: Observation) -> str:
    """Say in a sentence what is in front."""
    active = observation.active_window
    where = f"The window {active.title or active.app!r} is in front" if active else "No window is in front"
    popups = sum(window.popup for window in observation.windows)
    return f"{where}, with {len(observation.elements)} elements in sight{' and a menu open' if popups else ''}."


def _check(steps: Sequence[Step], observation: Observation) -> str:
    """Say what the last step changed."""
    if not steps:
        return ""
    last = steps[-1]
    if not last.result.ok:
        return f"The last action was not carried out: {last.result.error}"
    return f"The last action was carried out; {what_changed(last.observation, observation)}."


def what_changed(before: Observation, after: Observation) -> str:
    """Say what differs between two observations, in few words."""
    old, new = ({window.id: window for window in seen.windows} for seen in (before, after))
    changes = [f"{_called(new[key])} opened" for key in new if key not in old]
    changes += [f"{_called(old[key])} closed" for key in old if key not in new]
    changes += [
        f"the title became {new[key].title!r}" for key in new if key in old and new[key].title != old[key].title
    ]
    if not changes:
        were, are = before.by_id, after.by_id
        count = len(were.keys() ^ are.keys()) + sum(were[key] != are[key] for key in were.keys() & are.keys())
        changes = [f"{count} elements changed"] if count else ["nothing on the screen changed"]
    return "; ".join(changes[:3])


def _called(window: object) -> str:
    title, app = getattr(window, "title", ""), getattr(window, "app", "")
    return f"the window {title!r}" if title else f"a menu of {app or 'the application'}"
