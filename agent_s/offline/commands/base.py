"""The command protocol."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

from agent_s.offline.commands.conditions import Condition
from agent_s.offline.execution import Execution
from agent_s.offline.finding.screen import Screen
from agent_s.offline.finding.targets import Target
from agent_s.offline.ui import UI
from agent_s.records import Step

Finding = tuple[bool | None, str]  # whether a command had its effect (None if undecided), and the evidence

UNDECIDED: Finding = (None, "")


@dataclass(frozen=True, slots=True)
class Seen:
    """Evidence about a command: its steps, the screen after it, and the last screen of the task."""

    steps: tuple[Step, ...]
    after: Screen
    last: Screen


@runtime_checkable
class Command(Protocol):
    """A parsed command: a frozen dataclass with a method `run`, and the other methods as far as they apply."""

    __slots__ = ()
    lasting: ClassVar[bool] = True
    """Whether it has a visible effect, without which a task does not count as verified."""

    @abstractmethod
    def run(self, ui: UI) -> Execution:
        """Carry out the command; return the evidence of its success."""

    def about(self) -> tuple[Target, ...]:
        """Return the targets of the first field that has any; a later "it" refers to the last of them."""
        return next(filter(None, map(_targets, _values(self).values())), ())

    def at(self, place: Target) -> Command:
        """Return the command restricted to a part of a window."""
        narrowed = {name: _narrow(value, place) for name, value in _values(self).items()}
        return replace(self, **narrowed)  # type: ignore[type-var]  # a dataclass

    def judge(self, seen: Seen) -> Finding:
        """Return whether the evidence proves or refutes the effect of the command."""
        return UNDECIDED

    def another_way(self) -> str:
        """Return a sentence for an alternative way to the same goal; empty if there is none."""
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
