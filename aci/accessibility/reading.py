"""The result of one reading of the accessibility bus."""

from __future__ import annotations

from dataclasses import dataclass

from aci.accessibility.atspi import Ref
from aci.observation.snapshot import Element


@dataclass(frozen=True, slots=True)
class Lost:
    """An application that ended while it was read."""

    name: str  # name it reported
    pid: int  # its process
    session: int  # the process that began its session, as a launched program does


@dataclass(frozen=True, slots=True)
class Documents:
    """The pages and other documents that show."""

    filled: frozenset[Ref] = frozenset()  # those with content
    blank: frozenset[Ref] = frozenset()  # those without

    def is_loading(self, before: Documents) -> bool:
        """Return whether a document has given way to one without content since an earlier reading."""
        return bool(self.blank - before.blank) and bool(before.filled - self.filled)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the applications show."""

    elements: tuple[Element, ...] = ()  # topmost window first, in reading order
    focus_id: int | None = None  # element with the keyboard focus, or None
    notes: tuple[str, ...] = ()  # what is missing and why
    unfilled: tuple[int, ...] = ()  # windows whose application answers but shows no elements in them yet
    silent: frozenset[int] = frozenset()  # processes of the applications that did not answer
    lost: tuple[Lost, ...] = ()  # applications that ended while they were read
    windowless: tuple[str, ...] = ()  # names of applications that have none of the windows
    documents: Documents = Documents()
    lags: bool = False  # whether an application may draw what its tree does not show yet
    delays_places: bool = False  # whether one reports places at intervals, so that those after quick changes come late
