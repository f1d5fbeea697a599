"""The point at which to act on an element, verified in the instant before the input.

Between look and act a model thinks for seconds. An element is used where it was seen if it still lies there and nothing
has stirred in its window. Otherwise the screen is looked at again: an element that moved is used at its new place, one
that is gone, covered, renamed or in another state is refused, and so are keys if something else has the keyboard. Where
the element's own answers are enough, the screen is not looked at: for a cell of a sheet, whose name is its address, and
for keys, if the element that had the keyboard still says that it has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from aci.accessibility.texts import FoundText
from aci.acting.result import Refusal
from aci.acting.spans import NotFound, Spans, middle
from aci.acting.targets import Described, Place, Span, Target, Whole, element_at, window_at
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
_ASIDE_PX = 16  # where the pointer is parked, measured from the screen corner, which is an emergency stop
_SHOWN_NAME = 60
_TELLING: frozenset[State] = frozenset({"checked", "mixed", "pressed", "expanded", "disabled"})

_TURNED_BY_VALUE = frozenset({"spin button", "slider", "combo box", "scroll bar"})
# roles that react to the wheel; those above change their value
_TURNED = _TURNED_BY_VALUE | {
    "scroll pane", "viewport", "list", "list box", "table", "tree", "tree table", "text", "terminal", "page tab list",
    "document web", "document frame", "document text", "document spreadsheet", "internal frame",
}  # fmt: skip
_LEAST_FREE = 64  # px²; large enough for the pointer
_AROUND_PX = 12  # around a pixel that is pointed at, where the screen has to look as it did


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

    def says_the_same(self, element_id: int) -> bool:
        """Return whether an element reports the name, role and states of the latest look, as they are now.

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
        """Return the parts of the screen that no monitor shows."""


@dataclass(frozen=True, slots=True)
class Aim:
    """Finds the pixel to act on."""

    screen: Windows
    locator: Locator  # the current places of elements
    frame: Callable[[], NDArray[np.uint32]]  # returns the current pixels, (H, W) uint32
    look: Callable[[], Observation]  # returns a new observation
    look_closely: Callable[[], Observation]  # the same, and reads anew what applications have not announced
    move: Callable[[Point], None]  # moves the pointer
    rest: Callable[[], None]  # waits until the screen has come to rest, for a bounded time
    stirred: Callable[[], bool]  # returns whether an application has announced a change since the latest observation
    spans: Spans
    clock: Clock

    def element(self, element_id: int, seen: Observation | None) -> Element:
        """Return a seen element.

        Raises:
            Refused: It was not seen.
        """
        element = seen.by_id.get(element_id) if seen is not None else None
        if element is None:
            raise Refused(f"There is no element {element_id} on the screen.", "unknown_id")
        return element

    def locate(self, target: Target, seen: Observation | None, restless: Sequence[Rect] = ()) -> Point:
        """Return the pixel of a target now.

        Args:
            target: What is meant.
            seen: The screen that it was chosen on.
            restless: Areas that keep changing, px; there the pixels need not be as they were.

        Raises:
            Refused: It was never seen, is gone, has changed, is covered, or is not on the screen.
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
        """Return an element as it is now.

        Raises:
            Refused: It was never seen, is gone, has changed, or is covered.
        """
        element = self.element(element_id, seen)
        assert seen is not None  # It holds the element.
        self._check_dialogs(element, seen)
        there = element.point is not None and self._is_at(element, element.point)
        if there and not self.stirred() and self._looks_as_seen(element, seen):
            return element
        return self._still(element, seen)

    def checked(self, element: Element, point: Point) -> Point:
        """Return a pixel of an element.

        Raises:
            Refused: Another window covers it.
        """
        if self._on_top(element, point):
            return point
        hit = self.screen.window_at(point)
        cover = self._named(hit, self.screen.windows()) if hit is not None else "nothing; its window has gone"
        raise Refused(f"That place of element {element.id} is covered by {cover} now.", "covered")

    def find(self, element: Element, words: str, occurrence: int = 1, until: str = "") -> FoundText | None:
        """Return words of an element's text; None if it has none, and only its pixels may show them.

        Raises:
            Refused: It has a text without these words.
        """
        try:
            return self.spans.find(element, words, occurrence, until)
        except NotFound as error:
            raise Refused(str(error), error.refusal) from error

    def boxes(self, element: Element, words: str, occurrence: int = 1, until: str = "") -> list[Rect]:
        """Return the boxes of the characters of words of an element that can be seen, px; never none.

        Raises:
            Refused: The words are not there, or out of sight.
        """
        try:
            return self.spans.boxes(element, words, occurrence, until)
        except NotFound as error:
            raise Refused(str(error), error.refusal) from error

    def _pixel(self, point: Point, seen: Observation | None, restless: Sequence[Rect]) -> Point:
        """Return a pixel of the screen if what lies there is what was seen there."""
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
        # What has scrolled by a row may look as before, where all rows have a button of their own.
        stays = before is None or self._is_at(before, point)
        if stays and self._shows(point, seen, self.frame(), restless):
            return point
        self.rest()
        if stays and self._shows(point, seen, self.frame(), restless):
            return point
        now = self.look()
        after = element_at(point, now)
        alike = [one for one in now.elements if _alike(one, before)]
        # An id that is gone was not passed on; only one of a kind is surely the same.
        if before is not None and before.name and after in alike and (after.id == before.id or len(alike) == 1):
            return point
        what = "it is not a known element" if after is None else f"it is the {_shown(after)}"
        raise Refused(f"What lies at {point.x},{point.y} has changed: now {what}. Look at it again before acting.")

    def _shows(self, point: Point, seen: Observation, frame: NDArray[np.uint32], restless: Sequence[Rect]) -> bool:
        """Return whether the pixels around a point are as they were, and of the same window."""
        window = window_at(point, seen)
        hit = self.screen.window_at(point)
        if window is not None and hit is not None and self.screen.is_tooltip(hit) and hit != window.id:
            hit = self._without_tooltip(point, hit)
        if frame.shape != seen.screenshot.shape[:2] or (window is not None and hit not in (None, window.id)):
            return False
        if any(area.contains(point) for area in restless):
            return True
        return looks_as_seen(seen, frame, Rect(point.x, point.y, 1, 1).grown(_AROUND_PX, _AROUND_PX))

    def point(self, element_id: int, seen: Observation | None) -> Point:
        """Return the pixel at which an element can be used now.

        Raises:
            Refused: It was never seen, is gone, has changed, or is covered.
        """
        element = self.element(element_id, seen)
        assert seen is not None  # It holds the element.
        self._check_dialogs(element, seen)
        point = element.point
        there = point is not None and self._is_at(element, point) and self._on_top(element, point)
        if there and point is not None and not self.stirred() and self._looks_as_seen(element, seen):
            return point
        if there and point is not None and self._is_same_cell(element, seen):
            return point
        return self._found_again(element, seen)

    def check_keyboard(self, seen: Observation | None, by_focus: bool) -> Element | None:
        """Check that keys still go to where they went when the screen was seen, and return the element that has them.

        Typing may have led on to an element that is like the seen one, such as the next paragraph. None is returned
        where the element is not known, or does not matter.

        Args:
            seen: The screen that the keys were chosen on.
            by_focus: Whether their effect depends on the focused element, and not on the window alone.

        Raises:
            Refused: Another window, menu or element has the keyboard.
        """
        if seen is None:
            return None
        if self._keyboard_window(seen) is not None:
            self.rest()  # a window that has just been replaced leaves the keyboard to nobody for a moment
        if (other := self._keyboard_window(seen)) is not None:
            raise Refused(f"The keyboard now belongs to {other}. Look at the screen again before pressing keys.")
        focused = seen.by_id.get(seen.focus_id) if by_focus and seen.focus_id is not None else None
        if focused is None:
            return None
        # Several paragraphs of a text may say that they have the keyboard, when it has just gone from one to the next.
        alone = is_sheet_cell(focused) or "editable" not in focused.states
        if alone and self.locator.has_focus(focused.id) and self.locator.says_the_same(focused.id):
            return focused
        drawn = not self._looks_as_seen(focused, seen)
        if not (drawn or self.stirred()) and self.locator.has_focus(focused.id):
            return focused
        if drawn:
            self.rest()  # Pixels change first; events follow when the application has drawn.
        now = self.look()
        held = now.focused
        if held is None or held.id == focused.id or (_alike(held, focused) and held.path == focused.path):
            return held or focused
        raise Refused(f"The focus is no longer on the {_shown(focused)}, but on the {_shown(held)}. Look at it again.")

    def _keyboard_window(self, seen: Observation) -> str | None:
        """Return what has the keyboard now if that is something else than when the screen was seen."""
        active, before = self.screen.active_window(), seen.active_window
        windows = self.screen.windows()
        if active is not None and active != (before.id if before is not None else None):
            known = before is None and any(window.id == active for window in seen.windows)
            return None if known else self._named(active, windows)
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
            raise Refused(
                f"Element {element.id} is covered by {self._named(active, windows)} now; answer or close that first.",
                "covered",
            )

    def _named(self, window_id: int, windows: Sequence[Window]) -> str:
        window = next((window for window in windows if window.id == window_id), None)
        return f"the window {(window.title or window.app)!r}" if window is not None else "another window"

    def wheel_point(self, target: Target, seen: Observation | None, restless: Sequence[Rect] = ()) -> Point:
        """Return the pixel at which the wheel acts on an element itself, not on something that scrolls inside it.

        Raises:
            Refused: It was never seen, is gone, or is covered.
        """
        point = self.locate(target, seen, restless)
        if not isinstance(target, Whole):
            return point
        element = self.element(target.element_id, seen)
        others = () if seen is None else seen.elements
        inside = [other.rect for other in others if other.role in _TURNED and _lies_in(other, element)]
        moved = not element.rect.contains(point)
        if moved or element.role in _TURNED_BY_VALUE or not any(rect.contains(point) for rect in inside):
            return point
        free = sorted(uncovered(element.rect, inside), key=lambda rect: -rect.area)
        centers = (rect.center for rect in free if rect.area >= _LEAST_FREE)
        return next((center for center in centers if self.screen.window_at(center) == element.window_id), point)

    def _found_again(self, element: Element, seen: Observation) -> Point:
        """Return the pixel of an element that is the same, wherever it is now."""
        found = self._still(element, seen)
        assert found.point is not None  # It is on top there.
        return found.point

    def _still(self, element: Element, seen: Observation) -> Element:
        """Return an element as it is now."""
        now = self.look()
        found = self._same(element, seen, now)
        if found is None or found.point is None or not self._on_top(found, found.point):
            self.rest()  # Pixels change first; events follow when the application has drawn.
            now = self.look()
            found = self._same(element, seen, now)
        if found is None:
            raise Refused(self._absence(element, seen, now))
        if found.point is None or not self._on_top(found, found.point):
            cover = self._cover(found, found.point or found.rect.center, seen, now)
            raise Refused(
                f"Element {element.id} is covered by {cover} now; close that or bring its window to the front.",
                "covered",
            )
        if found.states & _TELLING != element.states & _TELLING:
            raise Refused(f"Element {element.id}, the {_shown(found)}, has changed its state. Look at it again.")
        return found

    def _same(self, element: Element, seen: Observation, now: Observation) -> Element | None:
        """Return the element in a later observation, whatever its id there.

        An id that is gone was not passed on because something around the element changed, unless it only is far away.
        """
        kept = now.by_id.get(element.id)
        if kept is not None:
            return kept if _alike(element, kept) else None
        twins = [sum(_alike(element, other) for other in each.elements) for each in (seen, now)]
        found = find_again(describe(element, seen), now) if twins == [1, 1] else None
        return found if found is not None and distance(found.rect, element.rect) > NEAR_PX else None

    def _absence(self, element: Element, seen: Observation, now: Observation) -> str:
        kept = now.by_id.get(element.id)
        if kept is not None:
            return f"Element {element.id} has changed: it is the {_shown(kept)} now. Look at it again before acting."
        if element.source == "ocr":
            return f"Element {element.id} is no longer on the screen: the text {element.name!r} is not where it was."
        if element.point is not None and self.locator.locate(element.id) is not None:
            cover = self._cover(element, element.point, seen, now)
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

    def _is_same_cell(self, element: Element, seen: Observation) -> bool:
        """Return whether a cell of a sheet is as it was, whatever else has changed: its name is its address."""
        return (
            is_sheet_cell(element)
            and self.locator.says_the_same(element.id)
            and looks_as_seen(seen, self.frame(), element.rect)
        )

    def _looks_as_seen(self, element: Element, seen: Observation) -> bool:
        window = next((window.rect for window in seen.windows if window.id == element.window_id), element.rect)
        return looks_as_seen(seen, self.frame(), window)

    def _without_tooltip(self, point: Point, tooltip: int) -> int | None:
        """Move the pointer away so that a tooltip closes; return the window at the point then."""
        screen = self.screen.rect
        self.move(Point(screen.right - _ASIDE_PX, screen.bottom - _ASIDE_PX))
        self.clock.until(lambda: self.screen.window_at(point) != tooltip, _TOOLTIP_LIMIT_S, _POLL_S)
        return self.screen.window_at(point)

    def _cover(self, element: Element, point: Point, seen: Observation, now: Observation) -> str:
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
            return f"the {_shown(smallest)}"
        new = next((e for e in now.elements if e.window_id == hit and e.id not in seen.by_id), None)
        return f"what came into its window with the {_shown(new)}" if new is not None else "something in its window"


def _lies_in(inner: Element, outer: Element) -> bool:
    same = inner.id == outer.id or inner.window_id != outer.window_id or inner.rect.area >= outer.rect.area
    return not same and inner.rect.intersection(outer.rect) == inner.rect


def _alike(element: Element, other: Element | None) -> bool:
    return other is not None and (other.role, other.name) == (element.role, element.name)


def _shown(element: Element) -> str:
    name = element.name or element.label or element.description
    return f"{element.role} {name[:_SHOWN_NAME]!r} ({element.id})"
