"""Tries composite tasks, each on a fresh desktop, and keeps those that work as skills.

Each part must have the effect that its unit skill is known for, and at the end all of these effects must still hold.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from agent_s.records import GroundedStep
from exploration.errors import ApplicationUnusable
from exploration.search.changes import changes, missing_change
from exploration.search.dfs import SHARED_POLL_S
from exploration.search.ledger import Ledger
from exploration.search.navigator import Navigator, Trouble
from exploration.search.places import Path
from exploration.search.records import Composed, UnitSkill
from exploration.search.starting import PrivateDesktop
from exploration.search.states import Look
from exploration.skills.compositions import Composition, Part, propose
from exploration.skills.skill_keeper import SkillKeeper
from memory_store import MemoryStore

_USUAL_S = 4.0  # usual time for a task, s
_LOOKS, _LATE_S = 8, 0.25


def compose(
    desktop: PrivateDesktop,
    ledger: Ledger,
    *,
    seconds: float,
    memory: MemoryStore | None = None,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[Composed]:
    """Try composite tasks of the skills that a search found, and yield each result after it is in the ledger.

    Args:
        desktop: A started private desktop; it is reset for each task.
        ledger: The skills that were found, and the tasks that were tried already.
        seconds: Time for all tasks, interrupted runs included, s.
        memory: The store; None to keep skills in the ledger alone.
        clock: Monotonic clock, s.
        pause: Waits for a number of seconds.

    Raises:
        LedgerError: The ledger cannot be written.
        MemoryStoreError: Memory cannot be written.
        DesktopError: The desktop does not come up any more.
    """
    desktop.reset()
    navigator = Navigator(desktop, ledger.argv, clock, pause)
    keeper = SkillKeeper(memory, f"explore {ledger.app}")
    began = clock() - ledger.composing_seconds
    try:
        while clock() - began + _USUAL_S <= seconds and not is_composed(ledger):
            task = next((task for task in _untried(ledger) if ledger.claim(task.key)), None)
            if task is None:  # other desktops are at the rest
                pause(SHARED_POLL_S)
                ledger.refresh()
                continue
            if task.key in ledger.composed:
                ledger.release(task.key)
                continue
            problem, steps = _try(navigator, task)
            skill = None
            if not problem:
                effect = tuple(change for part in task.parts[task.kept :] for change in part.effect)
                found = UnitSkill(key=task.key, app=navigator.app, steps=steps, effect=effect, **task.naming.fields())
                skill = keeper.keep(found)
            event = Composed(
                seconds=round(clock() - began, 3),
                key=task.key,
                units=task.units,
                name=task.naming.name,
                skill=skill,
                why=problem,
            )
            ledger.write(event)
            ledger.release(task.key)
            yield event
    except ApplicationUnusable:
        return  # the search has succeeded, and composite tasks are an addition to it


def is_composed(ledger: Ledger) -> bool:
    """Return whether every composite task was tried."""
    return next(_untried(ledger), None) is None


def _untried(ledger: Ledger) -> Iterator[Composition]:
    """Yield the tasks that were not tried, in order; those of three skills extend those of two that worked."""
    worked = {key for key, event in ledger.composed.items() if event.skill is not None}
    for task in propose(tuple(ledger.skills.values()), ledger.attempts, worked):
        if task.key not in ledger.composed:
            yield task


def _try(navigator: Navigator, task: Composition) -> tuple[str, Path]:
    """Do a task on a fresh desktop; return why it failed, or an empty text, and the steps to keep."""
    start = navigator.go((), fresh=True)
    if isinstance(start, Trouble):
        return start.reason, ()
    look = start
    done: list[tuple[GroundedStep, ...]] = []
    for part in task.parts:
        problem, look, steps = _do(navigator, part, look, last=part is task.parts[-1])
        if problem:
            return problem, ()
        done.append(steps)
    problem = _lost(task, start, look)
    return problem, (*done[0][: task.led], *(step for steps in done[task.kept :] for step in steps))


def _do(navigator: Navigator, part: Part, ground: Look, last: bool) -> tuple[str, Look, tuple[GroundedStep, ...]]:
    """Do one part and wait for its effect, compared with the screen before it or the dialog that it is done in."""
    before, look = ground, ground
    steps: list[GroundedStep] = []
    for step in part.steps:
        before = look
        after = navigator.act(step, before, check=True)
        if isinstance(after, Trouble):
            return after.reason, before, ()
        look = navigator.steady(after)
        steps.append(navigator.with_effect(step, before, look))

    def missing(seen: Look) -> str:
        return missing_change(part.effect, (*changes(ground, seen), *changes(before, seen)))

    problem = missing(look)
    for _ in range(_LOOKS):
        later = navigator.look_again(_LATE_S) if problem else None
        if later is None or isinstance(later, Trouble):
            break
        look = later
        problem = missing(look)
    steps[-1] = navigator.with_effect(part.steps[-1], before, look, part.steps[-1].end.settings, last=last)
    return problem, look, tuple(steps)


def _lost(task: Composition, start: Look, end: Look) -> str:
    """Return which effect of a part no longer holds at the end; empty if all do."""
    latest = {(change.kind, change.what): change for part in task.parts for change in part.effect}
    for change in latest.values():
        if change.kind == "setting" and end.home.settings.get(change.what) != change.after:
            return f"the setting {change.what} is not {change.after} at the end"
        if change.kind == "file" and (problem := missing_change((change,), changes(start, end))):
            return f"at the end {problem}"
    return ""
