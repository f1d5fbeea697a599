"""Carrying out primitives: the target is checked at the moment of input, never before."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from aci.actions import (
    Action,
    CallUser,
    Click,
    Done,
    DragAndDrop,
    Fail,
    HoldAndPress,
    Hotkey,
    SaveToBuffer,
    Scroll,
    SwitchApplications,
    Type,
    Wait,
)
from aci.applications import Catalog
from aci.desktop import ActionResult
from aci.errors import CannotType, KeysHeld, LaunchFailed
from aci.geometry import Point, Rect
from aci.input.hands import Hands
from aci.input.keys import UnknownKey, chord
from aci.input.typist import NothingArrived, Place, Typist
from aci.launching import Process
from aci.observation import Element, Observation
from aci.screen import Screen
from aci.settle import FIRST_CHANGE_S, QUIET_S, Settle
from aci.switching import find_window

_LINES = frozenset({"text", "entry", "password text"})
"""Roles of fields with one line, in which End leads behind what is there."""
_LAUNCH_QUIET_S = 0.4
_SCROLL_QUIET_S, _SCROLL_FIRST_S = 0.5, 1.0
"""A page may draw what the pointer passes over at once, and its new place only half a second later."""
_TOOLTIP_LIMIT_S = 0.6
_POLL_S = 0.02


class Refused(Exception):
    """A primitive cannot be carried out; the message tells the Worker why. Never leaves this module."""


class Locator(Protocol):
    """Where elements are now."""

    def locate(self, element_id: int) -> Rect | None:
        """Return where an element is now, px; None when it is gone."""
        ...

    def has_focus(self, element_id: int) -> bool:
        """Tell whether an element itself has the keyboard now."""
        ...


class Performer:
    """Carries out primitives on one screen."""

    def __init__(
        self,
        screen: Screen,
        hands: Hands,
        typist: Typist,
        locator: Locator,
        settle: Settle,
        launch: Callable[[Sequence[str]], Process],
        catalog: Callable[[], Catalog],
        buffer: list[str],
        is_stop_key: Callable[[Sequence[int]], bool] = lambda symbols: False,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Take what acting needs.

        Args:
            screen: Windows.
            hands: Keyboard and pointer.
            typist: Types texts.
            locator: Where elements are now.
            settle: Waits for the screen to come to rest.
            launch: Starts a program and waits for its window.
            catalog: Returns the installed applications.
            buffer: Where `save_to_buffer` puts texts.
            is_stop_key: Tells whether keysyms together are those by which the person stops everything.
            clock: Seconds on a steady clock.
            pause: Waits for some seconds.
        """
        self._screen = screen
        self._hands = hands
        self._typist = typist
        self._locator = locator
        self._settle = settle
        self._launch = launch
        self._catalog = catalog
        self._buffer = buffer
        self._is_stop_key = is_stop_key
        self._clock = clock
        self._pause = pause

    def perform(self, action: Action, seen: Observation | None) -> ActionResult:
        """Carry out one primitive and wait until the screen has settled.

        Args:
            action: What to do.
            seen: The observation that its element ids are of.

        Raises:
            ConnectionLost: The screen or the accessibility bus went away.
            Halted: The person stopped everything.
        """
        try:
            match action:
                case Done() | Fail() | CallUser():
                    return ActionResult(ok=True)
                case SaveToBuffer():
                    self._buffer.append(action.text)
                    return ActionResult(ok=True, note="kept in the buffer")
                case Wait():
                    self._pause(action.time)
                    return ActionResult(ok=True)
                case SwitchApplications():
                    return self._switch(action)
                case _:
                    return self._act(action, seen)
        except (Refused, UnknownKey, LaunchFailed, NothingArrived, KeysHeld, CannotType) as refusal:
            return ActionResult(ok=False, error=str(refusal))

    def _act(
        self, action: Click | Type | Scroll | Hotkey | HoldAndPress | DragAndDrop, seen: Observation | None
    ) -> ActionResult:
        note, quiet, first = "", QUIET_S, FIRST_CHANGE_S
        before, started = self._settle.look(), self._clock()
        match action:
            case Click():
                hold = self._chord(action.hold_keys)
                point = self._target(action.element_id, seen)
                self._hands.click(point, action.num_clicks, action.button_type, hold)
            case Scroll():
                self._hands.scroll(self._target(action.element_id, seen), action.clicks)
                quiet, first = _SCROLL_QUIET_S, _SCROLL_FIRST_S
            case DragAndDrop():
                hold = self._chord(action.hold_keys)
                start, end = self._target(action.drag_from_id, seen), self._target(action.drop_on_id, seen)
                self._hands.drag(start, end, hold)
            case Hotkey():
                self._hands.press(self._chord(action.keys))
            case HoldAndPress():
                self._chord([*action.hold_keys, *action.press_keys])
                self._hands.press_each(chord(action.hold_keys), [chord([key]) for key in action.press_keys])
            case Type():
                note = self._type(action, seen)
        settled = self._settle.wait(before, started, quiet_s=quiet, first_change_s=first)
        return ActionResult(ok=True, settled_after_s=settled, note=note)

    def _type(self, action: Type, seen: Observation | None) -> str:
        element = None if action.element_id is None else self._element(action.element_id, seen)
        if element is not None:
            self._focus(element, seen, keep_caret=not action.overwrite)
        elif seen is not None and seen.focus_id is not None:
            element = seen.by_id.get(seen.focus_id)
        place = Place(element, self._app_with_keyboard(), chosen=action.element_id is not None)
        chosen = element if action.element_id is not None else None

        def click_again() -> None:
            if chosen is not None:
                self._click_into(chosen, seen, keep_caret=not action.overwrite)

        note = self._typist.type(place, action.text, action.overwrite, click_again if chosen is not None else None)
        if action.enter:
            self._hands.press(chord(["Return"]))
        return note

    def _focus(self, element: Element, seen: Observation | None, keep_caret: bool) -> None:
        """Give an element the keyboard, unless it says itself that it has it."""
        self._target(element.id, seen)
        known = seen is not None and seen.focus_id == element.id
        active = self._screen.active_window() == element.window_id
        if not (known and active and self._locator.has_focus(element.id)):
            self._click_into(element, seen, keep_caret)

    def _click_into(self, element: Element, seen: Observation | None, keep_caret: bool) -> None:
        """Click a field; the caret goes behind what one with a single line holds."""
        before, started = self._settle.look(), self._clock()
        point = self._target(element.id, seen)
        self._hands.click(point)
        self._settle.wait(before, started, quiet_s=0.06, first_change_s=0.1, limit_s=1.0)
        if (
            keep_caret
            and element.role in _LINES
            and "editable" in element.states
            and "multi_line" not in element.states
        ):
            self._hands.press(chord(["End"]))

    def _switch(self, action: SwitchApplications) -> ActionResult:
        before, started = self._settle.look(), self._clock()
        order = {window.id: place for place, window in enumerate(self._screen.windows())}
        # Minimized windows, which have no place in the stack, come last.
        windows = sorted(self._screen.managed_windows(), key=lambda window: order.get(window.id, len(order)))
        catalog = self._catalog()
        window = find_window(action.app_code, windows, catalog)
        if window is None:
            application = catalog.find(action.app_code)
            self._launch(application.argv)
            settled = self._settle.wait(before, started, quiet_s=_LAUNCH_QUIET_S)
            return ActionResult(ok=True, settled_after_s=settled, note=f"started {application.name}")
        if not self._screen.activate(window.id):
            raise Refused(f"The window {window.title!r} did not come to the front.")
        settled = self._settle.wait(before, started)
        return ActionResult(ok=True, settled_after_s=settled, note=f"switched to {window.title!r}")

    def _chord(self, names: Sequence[str]) -> list[int]:
        symbols = chord(names)
        if self._is_stop_key(symbols):
            raise Refused(f"{'+'.join(names)} is the key by which the person stops the run; it is not pressed.")
        return symbols

    def _app_with_keyboard(self) -> str:
        active = self._screen.active_window()
        return next((window.app for window in self._screen.managed_windows() if window.id == active), "")

    def _element(self, element_id: int, seen: Observation | None) -> Element:
        element = seen.by_id.get(element_id) if seen is not None else None
        if element is None:
            raise Refused(f"There is no element {element_id} on the screen.")
        return element

    def _target(self, element_id: int, seen: Observation | None) -> Point:
        """Return the pixel to act on, after making sure that it still is the element's."""
        element = self._element(element_id, seen)
        if element.point is None:
            raise Refused(f"Element {element_id} is covered; bring its window to the front or close what is over it.")
        point = self._point_now(element, element.point)
        hit = self._screen.window_at(point)
        if hit is not None and hit != element.window_id and self._screen.is_tooltip(hit):
            hit = self._without_tooltip(point, hit)
        if hit != element.window_id:
            raise Refused(f"Element {element_id} is covered by {self._name(hit)} now.")
        return point

    def _point_now(self, element: Element, point: Point) -> Point:
        """Follow an element that has moved since it was seen."""
        if element.source != "accessibility":
            return point
        rect = self._locator.locate(element.id)
        visible = rect.intersection(self._screen.rect) if rect is not None else None
        if visible is None:
            raise Refused(f"Element {element.id} is no longer on the screen.")
        return point if visible.contains(point) else visible.center

    def _without_tooltip(self, point: Point, tooltip: int) -> int | None:
        """Move the pointer away so that a tooltip closes; return what lies at the point then."""
        size = self._screen.size
        self._hands.move(Point(size[0] - 1, size[1] - 1))
        deadline = self._clock() + _TOOLTIP_LIMIT_S
        while (hit := self._screen.window_at(point)) == tooltip and self._clock() < deadline:
            self._pause(_POLL_S)
        return hit

    def _name(self, window_id: int | None) -> str:
        if window_id is None:
            return "nothing; its window has gone"
        window = next((window for window in self._screen.windows() if window.id == window_id), None)
        return f"the window {window.title or window.app!r}" if window is not None else "another window"
