"""Targeting: the point at which to act on an element, verified immediately before the input.

Between observation and action, a model thinks for seconds. An element is used where it was seen if it is still there
and nothing has changed in its window. Otherwise the screen is observed again: an element that has moved is used at its
new position; one that is gone, covered, renamed or in another state is refused, and so are keys if the focus has moved.
A new observation is unnecessary if the element itself can be queried: for a cell of a sheet, whose name is its address,
and for keys, if the element that had the focus reports that it still has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from aci.accessibility.texts import FoundText
from aci.acting.result import Refusal
from aci.acting.spans import NotFound, Spans, middle
from aci.acting.targets import Described, Place, Span, Target, Whole, element_at, window_at
from aci.acting.wording import no_element
from aci.observation.geometry import Point, Rect
from aci.observation.identity import describe, find_again
from aci.observation.observation import Element, Observation
from aci.observation.sheet_text import is_sheet_cell
from aci.observation.sightings import NEAR_PX, distance
from aci.observation.visibility import uncovered
from aci.screen.screen import looks_as_seen
from aci.waiting import Clock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aci.observation.snapshot import State, Window

_TOOLTIP_LIMIT_S = 0.6
_POLL_S = 0.02
_ASIDE_PX = 16  # distance of the parked pointer from the screen corner, which is an emergency stop
_MAX_NAME = 60
_COMPARED_STATES: frozenset[State] = frozenset({"checked", "mixed", "pressed", "expanded", "disabled"})

_CHANGED_BY_WHEEL = frozenset({"spin button", "slider", "combo box", "scroll bar"})
# roles that react to the wheel
_SCROLLABLE = _CHANGED_BY_WHEEL | {
    "scroll pane", "viewport", "list", "list box", "table", "tree", "tree table", "text", "terminal", "page tab list",
    "document web", "document frame", "document text", "document spreadsheet", "internal frame",
}  # fmt: skip
_MIN_FREE_PX2 = 64  # minimum free area that the pointer can hit
_COMPARED_PX = 12  # radius around a target pixel within which the screen must look as it did


class Refused(Exception):
    """A primitive cannot be performed; the message is for the Worker. Never leaves `aci.acting.performer`."""

    def __init__(self, message: str, refusal: Refusal = "stale") -> None:
        super().__init__(message)
        self.refusal = refusal


class Locator(Protocol):
    """The current places of elements."""

    def locate(self, element_id: int) -> Rect | None:
        """Return the current extents of an element, px; None if it is gone."""

    def has_focus(self, element_id: int) -> bool:
        """Return whether an element has the keyboard focus now."""

    def is_unchanged(self, element_id: int) -> bool:
        """Return whether an element still reports the name, role and states of the latest observation.

        The answers of browsers lag behind their pixels.
        """


class Windows(Protocol):
    """The windows of a screen."""

    @property
    def rect(self) -> Rect:
        """The whole screen."""

    def windows(self) -> tuple[Window, ...]:
        """Return the visible windows, topmost first."""

    def window_at(self, point: Point) -> int | None:
        """Return the id of the window that receives a click at a point."""

    def is_tooltip(self, window_id: int) -> bool:
        """Return whether a window is a tooltip."""

    def active_window(self) -> int | None:
        """Return the id of the window with the keyboard."""

    def dark(self) -> tuple[Rect, ...]:
        """Return the areas of the screen that no monitor shows."""


@dataclass(frozen=True, slots=True)
class Aim:
    """Finds and verifies the pixel to act on."""

    screen: Windows
    locator: Locator  # the current places of elements
    frame: Callable[[], NDArray[np.uint32]]  # returns the current pixels, (H, W) uint32
    look: Callable[[], Observation]  # returns a new observation
    look_closely: Callable[[], Observation]  # the same, including changes without accessibility events
    move: Callable[[Point], None]  # moves the pointer
    rest: Callable[[], None]  # waits until the screen has settled, for a bounded time
    has_new_events: Callable[[], bool]  # returns whether accessibility events came since the latest observation
    spans: Spans
    clock: Clock

    def element(self, element_id: int, seen: Observation | None) -> Element:
        """Return an element of an observation.

        Raises:
            Refused: The observation has no such element.
        """
        element = seen.by_id.get(element_id) if seen is not None else None
        if element is None:
            raise Refused(no_element(element_id, seen), "unknown_id")
        return element

    def locate(self, target: Target, seen: Observation | None, restless: Sequence[Rect] = ()) -> Point:
        """Return the current pixel of a target.

        Args:
            target: The target.
            seen: The observation that it was chosen from.
            restless: Areas that change all the time, px, whose pixels are not compared.

        Raises:
            Refused: The target is unknown, gone, changed, covered or off the screen.
        """
        match target:
            case Whole():
                return self.point(target.element_id, seen)
            case Place():
                element = self.current(target.element_id, seen)
                return self.checked(element, target.inside(element.rect))
            case Described():
                raise Refused(
                    f"{target.text!r} was not found: words are looked for in an element, so give its id, too.",
                    "unknown_id",
                )
            case Span():
                element = self.current(target.element_id, seen)
                return self.checked(element, middle(self.boxes(element, target.text, target.occurrence)))
        return self._pixel(target, seen, restless)

    def current(self, element_id: int, seen: Observation | None) -> Element:
        """Return the current state of an element.

        Raises:
            Refused: The element is unknown, gone, changed or covered.
        """
        element = self.element(element_id, seen)
        assert seen is not None  # it contains the element
        self._check_dialogs(element, seen)
        there = element.point is not None and self._is_at(element, element.point)
        if there and not self.has_new_events() and self._looks_as_seen(element, seen):
            return element
        return self._recheck(element, seen)

    def checked(self, element: Element, point: Point) -> Point:
        """Return a pixel of an element, after a check that nothing covers it.

        Raises:
            Refused: Another window covers it.
        """
        if self._on_top(element, point):
            return point
        hit = self.screen.window_at(point)
        cover = self._window_name(hit, self.screen.windows()) if hit is not None else "nothing; its window has gone"
        raise Refused(f"That place of element {element.id} is covered by {cover} now.", "covered")

    def find(self, element: Element, words: str, occurrence: int = 1, until: str = "") -> FoundText | None:
        """Return words in an element's text; None if it has no text, so that only its pixels may show them.

        Raises:
            Refused: The text does not contain the words.
        """
        try:
            return self.spans.find(element, words, occurrence, until)
        except NotFound as error:
            raise Refused(str(error), error.refusal) from error

    def boxes(self, element: Element, words: str, occurrence: int = 1, until: str = "") -> list[Rect]:
        """Return the boxes of the visible characters of words in an element, px; at least one.

        Raises:
            Refused: The words are missing, or out of sight.
        """
        try:
            return self.spans.boxes(element, words, occurrence, until)
        except NotFound as error:
            raise Refused(str(error), error.refusal) from error

    def _pixel(self, point: Point, seen: Observation | None, restless: Sequence[Rect]) -> Point:
        """Return a pixel of the screen, if the same thing is still there."""
        screen = self.screen.rect
        if not screen.contains(point) or any(area.contains(point) for area in self.screen.dark()):
            raise Refused(
                f"The pixel {point.x},{point.y} is not on the screen, which has {screen.width} x {screen.height} "
                "pixels.",
                "off_screen",
            )
        if seen is None:
            return point
        before = element_at(point, seen)
        # A list that has scrolled by a row may look the same, if all rows have a button of their own.
        stays = before is None or self._is_at(before, point)
        if stays and self._pixels_match(point, seen, self.frame(), restless):
            return point
        self.rest()
        if stays and self._pixels_match(point, seen, self.frame(), restless):
            return point
        now = self.look()
        after = element_at(point, now)
        alike = [one for one in now.elements if _is_similar(one, before)]
        # If its id was not carried over, only a unique element is certain to be the same.
        if before is not None and before.name and after in alike and (after.id == before.id or len(alike) == 1):
            return point
        what = "it is not a known element" if after is None else f"it is the {_describe(after)}"
        raise Refused(f"What lies at {point.x},{point.y} has changed: now {what}. Look at it again before acting.")

    def _pixels_match(
        self, point: Point, seen: Observation, frame: NDArray[np.uint32], restless: Sequence[Rect]
    ) -> bool:
        """Return whether the pixels around a point are unchanged and belong to the same window."""
        window = window_at(point, seen)
        hit = self.screen.window_at(point)
        if window is not None and hit is not None and self.screen.is_tooltip(hit) and hit != window.id:
            hit = self._without_tooltip(point, hit)
        if frame.shape != seen.screenshot.shape[:2] or (window is not None and hit not in (None, window.id)):
            return False
        if any(area.contains(point) for area in restless):
            return True
        return looks_as_seen(seen, frame, Rect(point.x, point.y, 1, 1).grown(_COMPARED_PX, _COMPARED_PX))

    def point(self, element_id: int, seen: Observation | None) -> Point:
        """Return the pixel at which to act on an element now.

        Raises:
            Refused: The element is unknown, gone, changed or covered.
        """
        element = self.element(element_id, seen)
        assert seen is not None  # it contains the element
        self._check_dialogs(element, seen)
        point = element.point
        there = point is not None and self._is_at(element, point) and self._on_top(element, point)
        if there and point is not None and not self.has_new_events() and self._looks_as_seen(element, seen):
            return point
        if there and point is not None and self._is_unchanged_cell(element, seen):
            return point
        found = self._recheck(element, seen)
        assert found.point is not None  # `_recheck` refuses covered elements
        return found.point

    def check_keyboard(self, seen: Observation | None, by_focus: bool) -> Element | None:
        """Check that keys still go where they went when the screen was observed, and return the focused element.

        Typing may have moved the focus to a similar element, such as the next paragraph.

        Args:
            seen: The observation that the keys were chosen from.
            by_focus: Whether their effect depends on the focused element, and not only on the window.

        Returns:
            The focused element; None if it is unknown, or does not matter.

        Raises:
            Refused: Another window, menu or element has the keyboard.
        """
        if seen is None:
            return None
        if self._new_keyboard_owner(seen) is not None:
            self.rest()  # while a window is being replaced, none has the keyboard for a moment
        if (other := self._new_keyboard_owner(seen)) is not None:
            raise Refused(f"The keyboard now belongs to {other}. Look at the screen again before pressing keys.")
        focused = seen.by_id.get(seen.focus_id) if by_focus and seen.focus_id is not None else None
        if focused is None:
            return None
        # Several paragraphs may report the focus while it moves from one to the next.
        unambiguous = is_sheet_cell(focused) or "editable" not in focused.states
        if unambiguous and self.locator.has_focus(focused.id) and self.locator.is_unchanged(focused.id):
            return focused
        drawn = not self._looks_as_seen(focused, seen)
        if not (drawn or self.has_new_events()) and self.locator.has_focus(focused.id):
            return focused
        if drawn:
            self.rest()  # pixels change first, events follow
        now = self.look()
        held = now.focused
        if held is None or held.id == focused.id or (_is_similar(held, focused) and held.path == focused.path):
            return held or focused
        raise Refused(
            f"The focus is no longer on the {_describe(focused)}, but on the {_describe(held)}. Look at it again."
        )

    def _new_keyboard_owner(self, seen: Observation) -> str | None:
        """Return what has taken the keyboard since the observation, in words; None if nothing has."""
        active, before = self.screen.active_window(), seen.active_window
        windows = self.screen.windows()
        if active is not None and active != (before.id if before is not None else None):
            known = before is None and any(window.id == active for window in seen.windows)
            return None if known else self._window_name(active, windows)
        pid = before.pid if before is not None else None
        menus = [{window.id for window in each if self._is_menu(window, pid)} for each in (seen.windows, windows)]
        if menus[1] - menus[0]:
            return "a menu or list that has opened"
        return "no menu any more; the one that was open has closed" if menus[0] - menus[1] else None

    def _is_menu(self, window: Window, pid: int | None) -> bool:
        return window.popup and window.pid == pid and not self.screen.is_tooltip(window.id)

    def _check_dialogs(self, element: Element, seen: Observation) -> None:
        """Check that no dialog has opened in front of the element's window."""
        active = self.screen.active_window()
        if active is None or active == element.window_id or any(window.id == active for window in seen.windows):
            return
        windows = self.screen.windows()
        owner = next((window for window in seen.windows if window.id == element.window_id), None)
        new = next((window for window in windows if window.id == active), None)
        if new is not None and owner is not None and (new.modal or new.pid == owner.pid):
            cover = self._window_name(active, windows)
            raise Refused(f"Element {element.id} is covered by {cover} now; answer or close that first.", "covered")

    def _window_name(self, window_id: int, windows: Sequence[Window]) -> str:
        window = next((window for window in windows if window.id == window_id), None)
        return f"the window {(window.title or window.app)!r}" if window is not None else "another window"

    def wheel_point(self, target: Target, seen: Observation | None, restless: Sequence[Rect] = ()) -> Point:
        """Return the pixel at which the wheel scrolls an element itself rather than something inside it.

        Raises:
            Refused: The element is unknown, gone or covered.
        """
        point = self.locate(target, seen, restless)
        if not isinstance(target, Whole):
            return point
        element = self.element(target.element_id, seen)
        others = () if seen is None else seen.elements
        inside = [other.rect for other in others if other.role in _SCROLLABLE and _is_inside(other, element)]
        moved = not element.rect.contains(point)
        if moved or element.role in _CHANGED_BY_WHEEL or not any(rect.contains(point) for rect in inside):
            return point
        free = sorted(uncovered(element.rect, inside), key=lambda rect: -rect.area)
        centers = (rect.center for rect in free if rect.area >= _MIN_FREE_PX2)
        return next((center for center in centers if self.screen.window_at(center) == element.window_id), point)

    def _recheck(self, element: Element, seen: Observation) -> Element:
        """Observe the screen again and return the element, which is visible and in the same state.

        Raises:
            Refused: The element is gone, changed or covered.
        """
        now = self.look()
        found = self._find_same(element, seen, now)
        if found is None or found.point is None or not self._on_top(found, found.point):
            self.rest()  # pixels change first, events follow
            now = self.look()
            found = self._find_same(element, seen, now)
        if found is None:
            raise Refused(self._explain_absence(element, seen, now))
        if found.point is None or not self._on_top(found, found.point):
            cover = self._describe_cover(found, found.point or found.rect.center, seen, now)
            raise Refused(
                f"Element {element.id} is covered by {cover} now; close that or bring its window to the front.",
                "covered",
            )
        if found.states & _COMPARED_STATES != element.states & _COMPARED_STATES:
            raise Refused(f"Element {element.id}, the {_describe(found)}, has changed its state. Look at it again.")
        return found

    def _find_same(self, element: Element, seen: Observation, now: Observation) -> Element | None:
        """Return the same element in a later observation, even under another id if it merely moved far away.

        A nearby element with a new id is not trusted: its id was not carried over because its surroundings changed.
        """
        kept = now.by_id.get(element.id)
        if kept is not None:
            return kept if _is_similar(element, kept) else None
        twins = [sum(_is_similar(element, other) for other in each.elements) for each in (seen, now)]
        found = find_again(describe(element, seen), now) if twins == [1, 1] else None
        return found if found is not None and distance(found.rect, element.rect) > NEAR_PX else None

    def _explain_absence(self, element: Element, seen: Observation, now: Observation) -> str:
        kept = now.by_id.get(element.id)
        if kept is not None:
            return f"Element {element.id} has changed: it is the {_describe(kept)} now. Look at it again before acting."
        if element.source == "ocr":
            return f"Element {element.id} is no longer on the screen: the text {element.name!r} is not where it was."
        if element.point is not None and self.locator.locate(element.id) is not None:
            cover = self._describe_cover(element, element.point, seen, now)
            return f"Element {element.id} is covered by {cover} now, or scrolled out of view."
        return f"Element {element.id} is no longer on the screen."

    def _is_at(self, element: Element, point: Point) -> bool:
        if element.source != "accessibility":
            return True
        rect = self.locator.locate(element.id)
        return rect is not None and rect.contains(point)

    def _on_top(self, element: Element, point: Point) -> bool:
        hit = self.screen.window_at(point)
        if hit is not None and hit != element.window_id and self.screen.is_tooltip(hit):
            hit = self._without_tooltip(point, hit)
        return hit == element.window_id

    def _is_unchanged_cell(self, element: Element, seen: Observation) -> bool:
        """Return whether a cell of a sheet is unchanged, whatever else has changed; its name is its address."""
        return (
            is_sheet_cell(element)
            and self.locator.is_unchanged(element.id)
            and looks_as_seen(seen, self.frame(), element.rect)
        )

    def _looks_as_seen(self, element: Element, seen: Observation) -> bool:
        window = next((window.rect for window in seen.windows if window.id == element.window_id), element.rect)
        return looks_as_seen(seen, self.frame(), window)

    def _without_tooltip(self, point: Point, tooltip: int) -> int | None:
        """Move the pointer away to close a tooltip, and return the window that is then at the point."""
        screen = self.screen.rect
        self.move(Point(screen.right - _ASIDE_PX, screen.bottom - _ASIDE_PX))
        self.clock.until(lambda: self.screen.window_at(point) != tooltip, _TOOLTIP_LIMIT_S, _POLL_S)
        return self.screen.window_at(point)

    def _describe_cover(self, element: Element, point: Point, seen: Observation, now: Observation) -> str:
        hit = self.screen.window_at(point)
        if hit is None:
            return "nothing; its window has gone"
        if hit != element.window_id:
            window = next((window for window in self.screen.windows() if window.id == hit), None)
            return f"the window {window.title or window.app!r}" if window is not None else "another window"
        over = [
            other
            for other in now.elements
            if other.point is not None and other.rect.contains(point) and other.id != element.id
        ]
        smallest = min(over, key=lambda other: other.rect.area, default=None)
        if smallest is not None:
            return f"the {_describe(smallest)}"
        new = next((e for e in now.elements if e.window_id == hit and e.id not in seen.by_id), None)
        return f"what came into its window with the {_describe(new)}" if new is not None else "something in its window"


def _is_inside(inner: Element, outer: Element) -> bool:
    same = inner.id == outer.id or inner.window_id != outer.window_id or inner.rect.area >= outer.rect.area
    return not same and inner.rect.intersection(outer.rect) == inner.rect


def _is_similar(element: Element, other: Element | None) -> bool:
    return other is not None and (other.role, other.name) == (element.role, element.name)


def _describe(element: Element) -> str:
    name = element.name or element.label or element.description
    return f"{element.role} {name[:_MAX_NAME]!r} ({element.id})"
