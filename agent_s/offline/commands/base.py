"""What a part of an instruction asks for, with the policy that carries it out."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import ClassVar

from agent_s.offline.commands.conditions import Condition
from agent_s.offline.course import Course
from agent_s.offline.desk import Desk
from agent_s.offline.finding.screen import Screen
from agent_s.offline.finding.targets import Target
from agent_s.records import Step

Finding = tuple[bool | None, str]
"""Whether a command is fulfilled and what shows it; None where nothing decides it."""

UNDECIDED: Finding = (None, "")


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of a command: the steps that it took, the screen that it left, and the last screen of the task."""

    steps: tuple[Step, ...]
    after: Screen
    last: Screen


class Command:
    """A frozen dataclass with the fields of one intent; subclasses implement `run` and whatever else applies."""

    __slots__ = ()
    lasting: ClassVar[bool] = True
    """Whether it is to leave something behind that can be seen, so that a task is not verified without it."""

    def run(self, desk: Desk) -> Course:
        """Carry it out; return the evidence of its success."""
        raise NotImplementedError

    def about(self) -> tuple[Target, ...]:
        """Return the elements that its first field with any describes; "it" stands for the last of them afterwards."""
        found = (_targets(getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
        return next(filter(None, found), ())

    def at(self, place: Target) -> Command:
        """Return the command narrowed down to a part of a window."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return replace(self, **{name: _placed(value, place) for name, value in values.items()})  # type: ignore[type-var]

    def judge(self, seen: Seen) -> Finding:
        """Return whether what was seen proves or refutes it."""
        return UNDECIDED

    def another_way(self) -> str:
        """Return a sentence for another way to the same end, "" where there is none."""
        return ""


def _targets(value: object) -> tuple[Target, ...]:
    match value:
        case Target():
            return (value,)
        case Command():
            return value.about()
        case Condition():
            return (value.target,)
        case tuple():
            return tuple(target for item in value for target in _targets(item))
        case _:
            return ()


def _placed(value: object, place: Target) -> object:
    """Return the value of a field with each description of an element narrowed down to a place."""
    match value:
        case Target():
            return value.inside(place)
        case Command():
            return value.at(place)
        case Condition():
            return value.at(place)
        case tuple():
            return tuple(_placed(item, place) for item in value)
        case _:
            return value
