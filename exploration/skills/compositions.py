"""Proposes composite tasks from unit skills, by rules, from easy to hard (OSExpert, section 3.2).

There are three kinds:

- A dialog is **confirmed** after something was set in it.
- What was switched is switched **back**, which gives a skill of its own: "turn off line numbers".
- Two skills that begin on the first screen, or in the same dialog, are done **in turn**, and three if two worked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from aci.acting.actions import Hotkey
from agent_s.records import Change, GroundedStep
from agent_s.replay.skill_matching import THEN
from exploration.search.places import Path
from exploration.search.prober import CHECKED_ROLES
from exploration.search.records import Attempt, UnitSkill
from exploration.skills.naming import Naming, describe, name_unit
from intents.intent import Do
from intents.labels import label

MOST_OF_A_KIND = 8  # maximum number of tasks of each kind; half as many of three skills

_STRICT = ("setting", "file", "state", "value", "text", "opened", "title")
_OPPOSITES = {"true": "false", "checked": "not checked", "pressed": "not pressed"}
_OPPOSITES |= {off: on for on, off in _OPPOSITES.items()}
_ESCAPE = Hotkey(keys=("Escape",))
_LONGEST_PART = 5


@dataclass(frozen=True, slots=True)
class Part:
    """Steps that are done in one go, and the changes that they must cause."""

    steps: Path
    effect: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Composition:
    """A composite task."""

    key: str  # identifies it
    units: tuple[str, ...]  # keys of the unit skills in it
    naming: Naming  # its names
    parts: tuple[Part, ...]  # what is done
    kept: int = 0  # index of the first part whose steps are kept; earlier parts only bring about a precondition
    led: int = 0  # number of steps of the first part that lead to where the kept parts begin

    @property
    def length(self) -> int:
        """Number of steps."""
        return sum(len(part.steps) for part in self.parts)


def propose(
    skills: Sequence[UnitSkill], attempts: Mapping[str, Attempt], worked: Collection[str] = ()
) -> list[Composition]:
    """Return composite tasks, from easy to hard.

    Args:
        skills: Verified unit skills, in the order in which they were found.
        attempts: The attempts that found them, by key.
        worked: Keys of composite tasks that worked; tasks of three skills extend them.
    """
    known = [skill for skill in skills if skill.key in attempts and not skill.prepared and _expected(skill)]
    confirmed = [task for skill in known for task in _confirmed(skill, attempts)][:MOST_OF_A_KIND]
    back = [task for skill in known for task in _back(skill, attempts)][:MOST_OF_A_KIND]
    pairs = _in_turn([(skill,) for skill in known], known, MOST_OF_A_KIND)
    by_key = {skill.key: skill for skill in known}
    begun = [tuple(by_key[key] for key in task.units) for task in pairs if task.key in worked]
    # Alternate between the kinds, so that little time gives some of each.
    turns = [task for row in zip_longest(confirmed, back, pairs) for task in row if task is not None]
    return [*turns, *_in_turn(begun, known, MOST_OF_A_KIND // 2)]


def _confirmed(skill: UnitSkill, attempts: Mapping[str, Attempt]) -> Iterator[Composition]:
    """Yield the task that closes the dialog after something was set in it."""
    closing = _closing(skill, attempts)
    if closing is None:
        return
    part, button = closing
    where = f"{skill.where} > {button}"
    yield Composition(
        key=f"confirm {skill.key}",
        units=(skill.key,),
        naming=Naming(skill.intent, skill.aliases, describe(skill.name, where, skill.app), where, skill.preconditions),
        parts=(Part(skill.steps, _expected(skill)), part),
    )


def _back(skill: UnitSkill, attempts: Mapping[str, Attempt]) -> Iterator[Composition]:
    """Yield the task that switches something back, if a replay can see whether it is on."""
    last = skill.steps[-1]
    effect = _expected(skill)
    visible = last.state_before is not None and last.state_after not in (None, last.state_before)
    if not (visible or last.end.settings) or any(
        change.after not in _OPPOSITES or change.kind not in ("setting", "state") for change in effect
    ):
        return
    turned = tuple(
        change.model_copy(update={"before": change.after, "after": _OPPOSITES[change.after]}) for change in effect
    )
    closing = _closing(skill, attempts)
    opened = _dialog_at(skill)
    yield Composition(
        key=f"back {skill.key}",
        units=(skill.key, skill.key),
        naming=name_unit(attempts[skill.key].model_copy(update={"effect": turned}), skill.app),
        parts=(
            Part(skill.steps, effect),
            Part(skill.steps[-1:] if opened else skill.steps, turned),
            *((closing[0],) if closing is not None else ()),
        ),
        kept=1,
        led=len(skill.steps) - 1 if opened else 0,
    )


def _in_turn(begun: Sequence[tuple[UnitSkill, ...]], skills: Sequence[UnitSkill], most: int) -> list[Composition]:
    """Return tasks that add one skill to those begun, so that all skills and kinds of skills are used about equally."""
    used: Counter[str] = Counter()
    found: list[Composition] = []

    def cost(pair: tuple[tuple[UnitSkill, ...], UnitSkill]) -> tuple[int, int, int]:
        both = (*pair[0], pair[1])
        same = len(both) - len({_kind(unit) for unit in both})
        times = sum(4 * used[unit.key] + used[_kind(unit)] for unit in both)
        return same + times, sum(len(unit.steps) for unit in both), times

    fits = [
        (units, skill)
        for units in begun
        for skill in skills
        if all(_can_follow(unit, skill) for unit in units) and not any(map(_opens, units))
    ]
    while fits and len(found) < most:
        units, skill = best = min(fits, key=cost)
        fits = [pair for pair in fits if pair != best]
        used.update([*(unit.key for unit in units), skill.key, _kind(skill), *map(_kind, units)])
        found.append(_turn((*units, skill)))
    return sorted(found, key=lambda task: task.length)


def _turn(units: tuple[UnitSkill, ...]) -> Composition:
    parts = [Part(units[0].steps, _expected(units[0]))]
    for before, unit in pairwise(units):
        parts.append(Part(unit.steps[_shared(before, unit) :], _expected(unit)))
    where = THEN.join(unit.where for unit in units)
    name = THEN.join(unit.name for unit in units)
    alias = THEN.join((*unit.aliases, unit.name)[0] for unit in units)
    preconditions = tuple(dict.fromkeys(each for unit in units for each in unit.preconditions))
    return Composition(
        key=" + ".join(unit.key for unit in units),
        units=tuple(unit.key for unit in units),
        naming=Naming(
            Do(object=name),
            (alias,) if alias != name else (),
            describe(name, where, units[0].app),
            where,
            preconditions,
        ),
        parts=tuple(parts),
    )


def _can_follow(before: UnitSkill, after: UnitSkill) -> bool:
    """Return whether a skill can be done after another: on the same screen, and with another effect."""
    if before.key == after.key or max(len(before.steps), len(after.steps)) > _LONGEST_PART:
        return False
    about = [{(change.kind, change.what) for change in _expected(unit)} for unit in (before, after)]
    texts = [any(change.kind == "text" for change in unit.effect) for unit in (before, after)]
    vanished = " ".join(change.what for change in before.effect if change.kind == "vanished")
    first = next(iter(after.steps[0].targets.values()), None)
    covered = first is not None and bool(first.name) and f"{first.role} {first.name}" in vanished
    same_screen = _dialog_at(before) == 0 or _shared(before, after) > 0
    return same_screen and not covered and not all(texts) and not about[0] & about[1]


def _shared(before: UnitSkill, after: UnitSkill) -> int:
    """Return the number of steps of a skill that are done already, since both are in one dialog."""
    at = _dialog_at(before)
    same = at and [_identity(step) for step in before.steps[:at]] == [_identity(step) for step in after.steps[:at]]
    return at if same and len(after.steps) > at else 0


def _identity(step: GroundedStep) -> tuple[str, ...]:
    target = next(iter(step.targets.values()), None)
    return (step.intent,) if target is None else (step.action.action, target.role, target.name, *target.path)


def _dialog_at(skill: UnitSkill) -> int:
    """Return the number of steps that lead to the dialog of a skill; 0 for a skill of the first screen."""
    opening = [number for number, step in enumerate(skill.steps[:-1], start=1) if any(step.names_of("opened"))]
    return opening[-1] if opening else 0


def _closing(skill: UnitSkill, attempts: Mapping[str, Attempt]) -> tuple[Part, str] | None:
    """Return what closes the dialog of a skill, and the name of its button."""
    if not _dialog_at(skill) or _opens(skill):
        return None
    openers = [one for key, one in attempts.items() if skill.key.startswith(f"{key} > ")]
    for opener in sorted(openers, key=lambda one: -len(one.key)):
        title = next((change.what for change in opener.effect if change.kind == "opened"), "")
        if not title:
            continue
        closed = Change(kind="closed", what=title, before="open")
        buttons = [offer for offer in opener.offers if label("confirms").fullmatch(offer.control.name)]
        if buttons:
            # "OK" applies what was set; dialogs with "Close" have applied it at once.
            button = min(buttons, key=lambda offer: bool(label("confirms_nothing").fullmatch(offer.control.name)))
            return Part((button.step,), (closed,)), button.control.name
        if any(change.kind in ("setting", "file") for change in skill.effect):
            return Part((GroundedStep(action=_ESCAPE, front=title, intent="close the dialog"),), (closed,)), "Escape"
    return None


def _opens(skill: UnitSkill) -> bool:
    return any(change.kind in ("opened", "closed") for change in skill.effect)


def _kind(skill: UnitSkill) -> str:
    """Return what a skill changes, and by which kind of control."""
    target = next(iter(skill.steps[-1].targets.values()), None)
    return f"{_expected(skill)[0].kind} {target.role if target else ''}"


def _expected(skill: UnitSkill) -> tuple[Change, ...]:
    """Return the changes that show whatever was done before: no marks in menus, and titles only if nothing else."""
    strict = [
        change
        for change in skill.effect
        if change.kind in _STRICT and not (change.kind == "state" and change.what.startswith(CHECKED_ROLES))
    ]
    telling = tuple(change for change in strict if change.kind != "title") or tuple(strict)
    return telling or tuple(change for change in skill.effect if change.kind in ("appeared", "vanished"))
