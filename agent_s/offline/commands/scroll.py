"""Scroll in a direction, to an end, or until something is in sight."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from aci.acting.actions import Scroll as Turn
from aci.observation.observation import Element
from agent_s.offline.commands.base import Command
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import elements_within
from agent_s.offline.finding.screen import name_of
from agent_s.offline.finding.targets import Target
from agent_s.offline.ui import UI
from agent_s.offline.words import meanings
from intents.text import Phrase

Direction = Literal["up", "down", "left", "right"]
_MAX_SCROLLS = 15
_NOTCHES = meanings("notches")


@dataclass(frozen=True, slots=True)
class Scroll(Command):
    """Scroll by notches of the wheel, to an end, or until something is in sight."""

    direction: Direction = "down"
    notches: int = 5
    to_end: bool = False
    until: Target | None = None
    within: Target | None = None

    def run(self, ui: UI) -> Execution:
        """Turn the wheel, or press keys where nothing in sight takes it."""
        up = self.direction in ("up", "left")
        if self.until is not None:
            return (yield from self._until(self.until, ui))
        for _ in range(_MAX_SCROLLS if self.to_end else 1):
            surface, before = self._surface(ui), ui.screen.elements
            if surface is None:
                keys = ("ctrl", "Home" if up else "End") if self.to_end else ("Page_Up" if up else "Page_Down",)
                yield from ui.press(*keys, purpose=f"scroll {self.direction}, since nothing in sight takes the wheel")
                break
            notches = 50 if self.to_end else min(100, self.notches)
            action = Turn(element_id=surface.id, clicks=notches if up else -notches)
            yield from ui.do(action, f"scroll {self.direction}")
            if before == ui.screen.elements:
                break
        return f"scrolled {self.direction}"

    def _surface(self, ui: UI) -> Element | None:
        if self.within is None:
            return ui.surface()
        found = ui.rank(self.within)
        inside = elements_within(self.within, ui.screen) or frozenset()
        held = [element for element in ui.screen.elements if element.id in inside and element.point is not None]
        return found[0].element if found else held[0] if held else ui.surface()

    def _until(self, target: Target, ui: UI) -> Execution:
        for _ in range(_MAX_SCROLLS):
            found = [one for one in ui.rank(target) if one.element.point is not None]
            if found:
                return f"{name_of(found[0].element)} is in sight"
            if not (yield from ui.scroll(self.direction, f"scroll {self.direction} to {target.describe()!r}")):
                break
        if not ui.rank(target):
            give_up(ui.not_found(target))
        return f"{target.describe()!r} is in sight"

    def at(self, place: Target) -> Command:
        """Return the scrolling of a place."""
        return replace(self, within=place) if self.within is None else self


def read(
    direction: Direction | Phrase = "down",
    end: str = "",
    count: int = 0,
    unit: Phrase | str = "",
    until: Target | None = None,
    where: Target | None = None,
) -> Command | None:
    """Read the direction, and how far."""
    way = str(direction).casefold()
    if way not in ("up", "down", "left", "right"):
        return None
    notches = count * int(_NOTCHES.get(unit.casefold(), 1)) or 5
    return Scroll(way, notches, bool(end), until, where)  # type: ignore[arg-type]  # one of the four
