"""The result of one reading of the accessibility bus."""

from __future__ import annotations

from dataclasses import dataclass

from aci.observation.snapshot import Element


@dataclass(frozen=True, slots=True)
class Reading:
    """What the applications show."""

    elements: tuple[Element, ...] = ()  # topmost window first, in reading order
    focus_id: int | None = None  # element with the keyboard focus, or None
    notes: tuple[str, ...] = ()  # what is missing and why
    unfilled: tuple[int, ...] = ()  # windows whose application answers but shows no elements in them yet
    windowless: tuple[str, ...] = ()  # names of applications that have none of the windows
