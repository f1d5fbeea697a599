"""Putting unit skills together: each task is tried on a fresh desktop, and kept as a skill where it worked.

Each part must have the effect that its unit skill is known for, and at the end all of them must still be there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

from agent_s.records import GroundedStep
from exploration.errors import ApplicationUnusable
from exploration.search.changes import changes, happened_again
from exploration.search.ledger import Ledger
from exploration.search.navigator import Path, PrivateDesktop, Trouble, Walker
from exploration.search.records import Composed, UnitSkill
from exploration.search.states import Look
from exploration.skills.compositions import Composition, Part, propose
from exploration.skills.skill_memory import SkillKeeper
from memory_store import MemoryStore

_USUAL_S = 4.0
"""What a task usually takes, s."""
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
    """Try tasks of several of the skills that a search found, and yield how each went, which is in the ledger then.

    Args:
        desktop: A started private desktop; it is reset for each task.
        ledger: What the search found, and which tasks were tried already.
        seconds: Time for all of them, those of earlier turns included, s.
        memory: Gets what worked; None to keep it in the ledger alone.
        clock: Seconds on a steady clock.
        pause: Waits for some seconds.

    Raises:
        LedgerError: The ledger cannot be written.
        MemoryStoreError: Memory cannot be written.
        DesktopError: The desktop does not come up any more.
    """
    desktop.reset()
    walker = Walker(desktop, ledger.argv, clock, pause)
    keeper = SkillKeeper(memory, f"explore {ledger.app}")
    began = clock() - ledger.composing_seconds
    try:
        while clock() - began + _USUAL_S <= seconds and (task := next(_left(ledger), None)) is not None:
            problem, steps = _try(walker, task)
            skill = None if problem else keeper.keep(_skill(task, walker.app, steps))
            event = Composed(
                seconds=round(clock() - began, 3),
                key=task.key,
                units=task.units,
                name=task.name,
                skill=skill,
                why=problem,
            )
            ledger.write(event)
            yield event
    except ApplicationUnusable:
        return  # it has been explored, and is not what ends the job


def is_composed(ledger: Ledger) -> bool:
    """Tell whether everything that can be put together was tried."""
    return next(_left(ledger), None) is None


def _left(ledger: Ledger) -> Iterator[Composition]:
    """Yield the tasks that were not tried yet, in order; those of three skills follow from those of two that worked."""
    worked = {key for key, event in ledger.composed.items() if event.skill is not None}
    for task in propose(tuple(ledger.skills.values()), ledger.attempts, worked):
        if task.key not in ledger.composed:
            yield task


def _try(walker: Walker, task: Composition) -> tuple[str, Path]:
    """Do a task on a fresh desktop; return why it did not work, or an empty text, and the steps that are kept."""
    start = walker.go((), fresh=True)
    if isinstance(start, Trouble):
        return start.reason, ()
    look = start
    done: list[tuple[GroundedStep, ...]] = []
    for part in task.parts:
        problem, look, steps = _do(walker, part, look, last=part is task.parts[-1])
        if problem:
            return problem, ()
        done.append(steps)
    problem = _lacks(task, start, look)
    return problem, (*done[0][: task.led], *(step for steps in done[task.kept :] for step in steps))


def _do(walker: Walker, part: Part, ground: Look, last: bool) -> tuple[str, Look, tuple[GroundedStep, ...]]:
    """Do one part and wait for its effect."""
    before, look = ground, ground
    steps: list[GroundedStep] = []
    for step in part.steps:
        before = look
        after = walker.act(step, before)
        if isinstance(after, Trouble):
            return after.reason, before, ()
        look = walker.steady(after)
        steps.append(walker.done(step, before, look))
    problem = _missing(part, (ground, before), look)
    for _ in range(_LOOKS):
        later = walker.look_again(_LATE_S) if problem else None
        if later is None or isinstance(later, Trouble):
            break
        look = later
        problem = _missing(part, (ground, before), look)
    steps[-1] = walker.done(part.steps[-1], before, look, part.steps[-1].left.settings, last=last)
    return problem, look, tuple(steps)


def _missing(part: Part, grounds: Iterable[Look], look: Look) -> str:
    """Say which effect of a part is not to be seen, beside how it was before, or in the dialog that it is done in."""
    return happened_again(part.effect, tuple(change for ground in grounds for change in changes(ground, look)))


def _lacks(task: Composition, start: Look, end: Look) -> str:
    """Say what of the effects of the parts is not there any more at the end; empty where all is."""
    latest = {(change.kind, change.what): change for part in task.parts for change in part.effect}
    for change in latest.values():
        if change.kind == "setting" and end.home.settings.get(change.what) != change.after:
            return f"the setting {change.what} is not {change.after} at the end"
        if change.kind == "file" and (problem := happened_again((change,), changes(start, end))):
            return f"at the end {problem}"
    return ""


def _skill(task: Composition, app: str, steps: Path) -> UnitSkill:
    effect = [change for part in task.parts[task.kept :] for change in part.effect]
    return UnitSkill(
        key=task.key,
        app=app,
        name=task.name,
        description=task.description,
        preconditions=task.preconditions,
        steps=steps,
        effect=tuple(effect),
    )
