"""What a part of an instruction asks for, with the policy that carries it out."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

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


@runtime_checkable
class Command(Protocol):
    """One intent: a frozen dataclass with a method `run`, and those of the others that apply."""

    __slots__ = ()
    lasting: ClassVar[bool] = True
    """Whether it is to leave something behind that can be seen, so that a task is not verified without it."""

    @abstractmethod
    def run(self, desk: Desk) -> Course:
        """Carry it out; return the evidence of its success."""

    def about(self) -> tuple[Target, ...]:
        """Return the elements that its first field with any describes; "it" stands for the last of them afterwards."""
        return next(filter(None, map(_targets, _values(self).values())), ())

    def at(self, place: Target) -> Command:
        """Return the command narrowed down to a part of a window."""
        narrowed = {name: _narrow(value, place) for name, value in _values(self).items()}
        return replace(self, **narrowed)  # type: ignore[type-var]  # a dataclass

    def judge(self, seen: Seen) -> Finding:
        """Return whether what was seen proves or refutes it."""
        return UNDECIDED

    def another_way(self) -> str:
        """Return a sentence for another way to the same end, "" where there is none."""
        return ""


def _values(command: Command) -> dict[str, Any]:
    return {field.name: getattr(command, field.name) for field in fields(command)}  # type: ignore[arg-type]


def _targets(value: object) -> tuple[Target, ...]:
    match value:
        case Target():
            return (value,)
        case Command():
            return value.about()
        case Condition(target=target):
            return (target,)
        case tuple():
            return tuple(target for item in value for target in _targets(item))
    return ()


def _narrow(value: object, place: Target) -> object:
    match value:
        case Target() | Command() | Condition():
            return value.at(place)
        case tuple():
            return tuple(_narrow(item, place) for item in value)
    return value
