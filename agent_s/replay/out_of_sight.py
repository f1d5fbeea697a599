"""Scrolls to what a learned step needs and the window has out of sight, with the wheel, as a person does.

Lists and pages may not tell what they have out of sight, so that only scrolling shows it.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

from aci.acting.actions import Scroll
from aci.observation.geometry import Point, Rect
from aci.observation.identity import ElementDescription, find_again, titles_agree
from aci.observation.observation import Element, Observation
from agent_s.events import Event
from agent_s.llm.protocol import ActResponse
from agent_s.records import Step
from agent_s.replay.screen import Screen

_MOST_SCROLLS = 25  # in one direction
_MOST_BLIND = 8  # of these where the container shows nothing
_PART_PX, _MOST_CLICKS = 100, 5  # of a view for each click of the wheel, so that none of it is skipped
_TURNED_BY_WHEEL = frozenset(
    {"combo box", "spin button", "slider", "dial", "scroll bar", "page tab", "page tab list", "menu", "menu bar"}
)  # what takes another value or page if the wheel is turned over it
_NEVER_SCROLLED = frozenset({"menu", "menu item", "check menu item", "radio menu item", "page tab"})
_CONTENT = frozenset({"drawing area", "canvas", "image", "terminal", "application", "embedded"})  # may zoom instead


@dataclass(slots=True)
class Wheel:
    """Turns the wheel over what lies in the same containers as an element, the innermost first."""

    screen: Screen  # looks and scrolls
    wanted: ElementDescription  # the element
    steps: list[Step]  # receives each scroll
    _at: Point | None = field(default=None, init=False)  # where it was turned

    def search(self, seen: Observation) -> Generator[Event, None, Observation]:
        """Scroll until a screen shows the element, and return it; else the last one.

        Args:
            seen: The screen, which lacks it.
        """
        wanted = self.wanted
        if wanted.role in _NEVER_SCROLLED or any(window.popup for window in seen.windows):
            return seen
        tried: list[set[int]] = []
        for depth in range(max(len(wanted.path), 1), 0, -1):
            surfaces = _surfaces(wanted, depth, seen)
            if not surfaces or {one.id for one in surfaces} in tried:
                continue
            tried.append({one.id for one in surfaces})
            height = max(one.rect.bottom for one in surfaces) - min(one.rect.y for one in surfaces)
            clicks = min(_MOST_CLICKS, max(1, height // _PART_PX))
            # The rows of a sheet have a beginning, where its words are, but no end.
            for turn in (clicks,) if wanted.cell is not None else (-clicks, clicks):
                first, seen = seen, (yield from self._until_found(depth, turn, seen))
                if find_again(wanted, seen) is not None:
                    return (yield from self._a_little_further(depth, turn, seen))
                if wanted.cell is None and turn > 0 and _places(first) != _places(seen):
                    return seen  # this container scrolls, and was gone through
        return seen

    def _until_found(self, depth: int, clicks: int, seen: Observation) -> Generator[Event, None, Observation]:
        """Turn the wheel until the element is found or nothing moves any more."""
        blind = 0
        for _ in range(_MOST_SCROLLS):
            before, seen = seen, (yield from self._turn(depth, clicks, seen))
            blind = 0 if _surfaces(self.wanted, depth, seen) else blind + 1
            rests = not blind and _places(seen) == _places(before)
            if rests or blind > _MOST_BLIND or find_again(self.wanted, seen) is not None:
                break
        return seen

    def _a_little_further(self, depth: int, clicks: int, seen: Observation) -> Generator[Event, None, Observation]:
        """Show also what lies behind the element, such as a label in which its effect will appear."""
        further = yield from self._turn(depth, clicks, seen)
        if find_again(self.wanted, further) is not None:
            return further
        return (yield from self._turn(depth, -clicks, further))

    def _turn(self, depth: int, clicks: int, seen: Observation) -> Generator[Event, None, Observation]:
        """Turn the wheel over what is nearest to the middle of a container, else where it was turned, and look."""
        surfaces = _surfaces(self.wanted, depth, seen)
        if surfaces:
            middle = (min(one.rect.y for one in surfaces) + max(one.rect.bottom for one in surfaces)) // 2
            surface = min(surfaces, key=lambda one: abs(one.rect.center.y - middle))
            self._at = surface.point
            action = Scroll(element_id=surface.id, clicks=clicks)
        elif self._at is not None and not any(one.rect.contains(self._at) for one in seen.elements):
            action = Scroll(at=(self._at.x, self._at.y), clicks=_MOST_CLICKS if clicks > 0 else -_MOST_CLICKS)
        else:
            return seen
        what = f"look for the {self.wanted.role} {self.wanted.name or self.wanted.label!r}"
        response = ActResponse(next_action=what, action=action)
        self.steps.append((yield from self.screen.step(seen, response, replayed=True)))
        return (yield from self.screen.look(check=False))


def _surfaces(wanted: ElementDescription, depth: int, seen: Observation) -> list[Element]:
    """Return the elements within the same container, down to a depth, over which the wheel does nothing but scroll."""
    front = seen.active_window
    if front is None or not titles_agree(wanted.window, front.title):
        return []
    return [
        one
        for one in seen.elements
        if one.window_id == front.id
        and one.point is not None
        and one.role not in _TURNED_BY_WHEEL
        and one.path[1:depth] == wanted.path[1:depth]  # the first one is the window
        and not any(part.partition(":")[0] in _CONTENT for part in (f"{one.role}:", *one.path))
    ]


def _places(seen: Observation) -> list[tuple[int, Rect]]:
    return [(one.id, one.rect) for one in seen.elements]
