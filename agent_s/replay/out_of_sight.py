"""Search for off-screen targets of a replay by scrolling with the wheel.

Lists and pages may expose only their visible part to accessibility. Then scrolling is the only way to find an element.
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

_MAX_SCROLLS = 25  # maximum number of scrolls in one direction
_MAX_BLIND_SCROLLS = 8  # maximum number of consecutive scrolls in which no element of the container is visible
_PX_PER_CLICK, _MAX_CLICKS = 100, 5  # height scrolled per click of the wheel, so that nothing is skipped
_CHANGED_BY_WHEEL = frozenset(
    {"combo box", "spin button", "slider", "dial", "scroll bar", "page tab", "page tab list", "menu", "menu bar"}
)  # roles whose value or page the wheel changes
_NEVER_SCROLLED = frozenset({"menu", "menu item", "check menu item", "radio menu item", "page tab"})
_CONTENT = frozenset(
    {"drawing area", "canvas", "image", "terminal", "application", "embedded"}
)  # the wheel may zoom there


@dataclass(slots=True)
class ScrollSearch:
    """Scrolls the containers of an element, the innermost first, until the element is visible."""

    screen: Screen
    wanted: ElementDescription  # the element to find
    steps: list[Step]  # performed scrolls are appended here
    _at: Point | None = field(default=None, init=False)  # position of the latest scroll

    def search(self, seen: Observation) -> Generator[Event, None, Observation]:
        """Scroll until the element is visible, and return the last screen, whether or not it shows the element.

        Args:
            seen: The current screen, which does not show it.
        """
        wanted = self.wanted
        if wanted.role in _NEVER_SCROLLED or any(window.popup for window in seen.windows):
            return seen
        tried: list[set[int]] = []
        for depth in range(max(len(wanted.path), 1), 0, -1):
            surfaces = _scroll_surfaces(wanted, depth, seen)
            if not surfaces or {one.id for one in surfaces} in tried:
                continue
            tried.append({one.id for one in surfaces})
            height = max(one.rect.bottom for one in surfaces) - min(one.rect.y for one in surfaces)
            clicks = min(_MAX_CLICKS, max(1, height // _PX_PER_CLICK))
            # A sheet is searched from its top, where its headers are; it has no bottom.
            for turn in (clicks,) if wanted.cell is not None else (-clicks, clicks):
                first, seen = seen, (yield from self._scroll_until_found(depth, turn, seen))
                if find_again(wanted, seen) is not None:
                    return (yield from self._scroll_past(depth, turn, seen))
                if wanted.cell is None and turn > 0 and _positions(first) != _positions(seen):
                    return seen  # this container does scroll, and was searched completely
        return seen

    def _scroll_until_found(self, depth: int, clicks: int, seen: Observation) -> Generator[Event, None, Observation]:
        """Scroll until the element is found or nothing moves any more."""
        blind = 0
        for _ in range(_MAX_SCROLLS):
            before, seen = seen, (yield from self._scroll(depth, clicks, seen))
            blind = 0 if _scroll_surfaces(self.wanted, depth, seen) else blind + 1
            rests = not blind and _positions(seen) == _positions(before)
            if rests or blind > _MAX_BLIND_SCROLLS or find_again(self.wanted, seen) is not None:
                break
        return seen

    def _scroll_past(self, depth: int, clicks: int, seen: Observation) -> Generator[Event, None, Observation]:
        """Scroll on a little, to show what follows the element, such as a label that will show its effect."""
        further = yield from self._scroll(depth, clicks, seen)
        if find_again(self.wanted, further) is not None:
            return further
        return (yield from self._scroll(depth, -clicks, further))

    def _scroll(self, depth: int, clicks: int, seen: Observation) -> Generator[Event, None, Observation]:
        """Scroll over the element nearest to the middle of a container, else at the previous position, and observe."""
        surfaces = _scroll_surfaces(self.wanted, depth, seen)
        if surfaces:
            middle = (min(one.rect.y for one in surfaces) + max(one.rect.bottom for one in surfaces)) // 2
            surface = min(surfaces, key=lambda one: abs(one.rect.center.y - middle))
            self._at = surface.point
            action = Scroll(element_id=surface.id, clicks=clicks)
        elif self._at is not None and not any(one.rect.contains(self._at) for one in seen.elements):
            action = Scroll(at=(self._at.x, self._at.y), clicks=_MAX_CLICKS if clicks > 0 else -_MAX_CLICKS)
        else:
            return seen
        what = f"look for the {self.wanted.role} {self.wanted.name or self.wanted.label!r}"
        response = ActResponse(next_action=what, action=action)
        self.steps.append((yield from self.screen.step(seen, response, replayed=True)))
        return (yield from self.screen.look(check=False))


def _scroll_surfaces(wanted: ElementDescription, depth: int, seen: Observation) -> list[Element]:
    """Return the elements that share the ancestors down to a depth, and over which the wheel only scrolls."""
    front = seen.active_window
    if front is None or not titles_agree(wanted.window, front.title):
        return []
    return [
        one
        for one in seen.elements
        if one.window_id == front.id
        and one.point is not None
        and one.role not in _CHANGED_BY_WHEEL
        and one.path[1:depth] == wanted.path[1:depth]  # the first one is the window
        and not any(part.partition(":")[0] in _CONTENT for part in (f"{one.role}:", *one.path))
    ]


def _positions(seen: Observation) -> list[tuple[int, Rect]]:
    return [(one.id, one.rect) for one in seen.elements]
