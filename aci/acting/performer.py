"""Execution of primitives, with the target verified at the moment of input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from aci.acting.actions import (
    Action,
    CallUser,
    Click,
    Done,
    DragAndDrop,
    Fail,
    HoldAndPress,
    Hotkey,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
    Move,
    Read,
    SaveToBuffer,
    Scroll,
    SelectText,
    SwitchApplications,
    Type,
    Wait,
    Zoom,
)
from aci.acting.effects import acted_on, changed_pixels
from aci.acting.looking import close_up, pages
from aci.acting.result import ActionResult, Refusal
from aci.acting.selecting import Selector
from aci.acting.settle import EFFECT_S, FIRST_CHANGE_S, QUIET_S, Settle, Settles
from aci.acting.spans import ends
from aci.acting.targeting import Aim, Locator, Refused
from aci.acting.targets import Place as Fractions
from aci.acting.targets import Span, Target, Whole, element_meant
from aci.acting.values import SET_BY_VALUE, Values, ValueSetter
from aci.applications.catalog import Catalog
from aci.applications.launching import Process
from aci.applications.switching import find_window
from aci.errors import CannotType, KeysHeld, LaunchFailed
from aci.input.input_device import InputDevice
from aci.input.keys import UnknownKey, chord
from aci.input.read_back import Delivery, Expected
from aci.input.typist import NothingArrived, PartlyArrived, Place, Typist
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, Observation
from aci.observation.sheet_text import is_sheet_cell
from aci.screen.screen import Screen, to_rgb
from aci.waiting import Clock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Pointing = Click | Scroll | DragAndDrop | Move | MouseDown | MouseUp
Input = Pointing | Type | SelectText | Hotkey | HoldAndPress | KeyDown | KeyUp
_EFFECT_ELSEWHERE = frozenset({"push button", "link", "menu", "menu item", "page tab", "combo box"})
"""Roles whose effect is never just a change of their own appearance."""
_LINES = frozenset({"text", "entry", "password text", "combo box"})
"""Single-line fields, in which End moves the caret behind the text; the address bar of Firefox is a combo box."""
_LARGE_PX = 64  # taller elements may be covered by what a click opens, such as a text by a menu
_COMMAND_KEYS = frozenset({"ctrl", "control", "alt", "super", "win", "meta", "cmd"})
"""Modifiers of shortcuts, which go to the window regardless of the focus in it."""
_LAUNCH_QUIET_S = 0.4
_SELECTED_LIMIT_S, _POLL_S = 0.5, 0.02  # longest wait until a click selects a cell or raises its window
_ENABLED_LIMIT_S = 0.5  # longest wait until a dialog enables its default button; GTK 3 takes 0.13 s after a file name
_MARKED_LIMIT_S = 0.5  # longest wait until a list marks the entry that starts with the typed text
_POINTED_LIMIT_S = 0.4  # longest wait until a submenu opens at the pointer; GTK 3 takes 0.23 s
_CLICKED_LIMIT_S = 0.2  # the same after a click
_UNSETTLED_QUIET_S, _UNSETTLED_FIRST_S = 0.04, 0.12  # for callers that check the effect themselves
_CLICKED_FIRST_S = 0.06  # the same after a click, which often changes nothing
_SCROLL_QUIET_S, _SCROLL_FIRST_S = 0.5, 1.0  # pages may draw hover effects at once but scroll half a second later
_REFUSALS: dict[type[Exception], Refusal] = {
    UnknownKey: "no_key",
    CannotType: "no_key",
    LaunchFailed: "not_started",
    NothingArrived: "not_typed",
    PartlyArrived: "partly_typed",
    KeysHeld: "keys_held",
}


@dataclass(eq=False)
class Performer:
    """Performs primitives on one screen."""

    screen: Screen
    device: InputDevice
    typist: Typist
    locator: Locator
    aim: Aim
    settle: Settle
    launch: Callable[[Sequence[str], bool], Process]
    catalog: Callable[[], Catalog]
    buffer: list[str]
    clipboard_changes: Callable[[], int]
    is_stop_key: Callable[[Sequence[int]], bool]
    values: InitVar[Values]
    clock: Clock
    _latest_changes: tuple[Rect, ...] = field(default=(), init=False)
    _held: dict[str, list[int]] = field(default_factory=dict, init=False)
    _submenus: set[tuple[str, tuple[str, ...], str]] = field(default_factory=set, init=False)
    """Submenus that have opened by pointing: the application, and the path and name of their entry."""
    # whether the caller of the current action wants the screen to settle
    _wants_settled: bool = field(default=True, init=False)
    _by_look: bool = field(
        default=True, init=False
    )  # whether no other action came between the observation and this one

    def __post_init__(self, values: Values) -> None:
        self._selector = Selector(self.aim, self.device, self.locator, self.clock)
        self._values = ValueSetter(self.device, self.locator, values, self.clock)

    @property
    def held_keys(self) -> tuple[str, ...]:
        """Keys that `key_down` holds, by name."""
        down = set(self.device.held.keys)
        return tuple(name for name, symbols in self._held.items() if down.issuperset(symbols))

    def perform(
        self, action: Action, seen: Observation | None, settle: Settles = True, by_look: bool = True
    ) -> ActionResult:
        """Perform one primitive on the elements of an observation, and wait until the screen has settled.

        Args:
            action: The primitive.
            seen: The observation.
            settle: Whether to wait for that; otherwise the wait is short, and a callback that detects the known effect
                ends it early.
            by_look: Whether no other action came after the observation, so that the focus must be as it shows.

        Raises:
            ConnectionLost: The screen or the accessibility bus went away.
            Halted: The user stopped everything.
        """
        try:
            match action:
                case Done() | Fail() | CallUser():
                    return ActionResult(ok=True)
                case SaveToBuffer():
                    self.buffer.append(action.text)
                    return ActionResult(ok=True)
                case Wait():
                    return self._wait(action.time, settle is True)
                case SwitchApplications():
                    return self._switch(action, settle is True)
                case Zoom():
                    return self._zoom(action, seen)
                case Read():
                    return self._read(action, seen)
                case _:
                    until = None if isinstance(settle, bool) else settle
                    return self._act(action, seen, settle is True, by_look, until)
        except Refused as refused:
            return ActionResult(ok=False, error=str(refused), refusal=refused.refusal)
        except tuple(_REFUSALS) as error:
            return ActionResult(ok=False, error=str(error), refusal=_REFUSALS[type(error)])

    def _wait(self, seconds: float, settle: bool) -> ActionResult:
        """Wait; without `settle`, only until the first change."""
        if settle:
            self.clock.pause(seconds)
            return ActionResult(ok=True)
        self.settle.is_working()  # before the wait, since observing makes applications busy
        before, started = self.settle.look(), self.clock.now()
        settled = self.settle.wait(
            before, started, quiet_s=_UNSETTLED_QUIET_S, first_change_s=seconds, limit_s=seconds, by_events=True
        )
        return ActionResult(ok=True, settled_after_s=settled, still=not settled and not self.settle.is_working())

    def _act(
        self,
        action: Input,
        seen: Observation | None,
        settle: bool,
        by_look: bool,
        until: Callable[[], bool] | None,
    ) -> ActionResult:
        self._wants_settled, self._by_look = settle, by_look
        delivery: Delivery | None = None
        selected, note = "", ""
        before, started = self.settle.look(until_idle=True), self.clock.now()
        restless = self._find_restless(seen, before) if settle else ()
        pointer = self.screen.pointer()
        changes = 0 if isinstance(action, Type) else self.clipboard_changes()
        match action:
            case Hotkey() | HoldAndPress() | KeyDown() | KeyUp():
                if _is_return(action):
                    self._await_default_button(seen)
                    before, started = self.settle.look(), self.clock.now()
                self._press_keys(action, seen if by_look else None)
            case Type():
                focused: Element | None = None
                if not action.targets():
                    focused = self.aim.check_keyboard(seen, by_focus=True) if by_look else self._focused(seen)
                element = focused or (acted_on(action, seen) if seen is not None else None)
                action, onwards = _split_at_tabs(_with_return(action, element), element)
                delivery = self._type(action, seen, restless, focused)
                for part in onwards:
                    self.device.press(chord(["Tab"]))
                    if part:
                        delivery = self.typist.type(Place(None, self._app_with_keyboard(), chosen=False), part, False)
                if action.enter:
                    self._await_default_button(seen)
                    before, started = self.settle.look(), self.clock.now()
                    self.device.press(chord(["Return"]))
            case SelectText():
                selected, read_back = self._selector.select(action, seen)
                note = "" if read_back else "the selection could not be read back"
            case _:
                self._use_mouse(action, seen, restless)
        targets = self._feedback_areas(action, seen) if settle and seen is not None else []
        quiet, first = _patience(action, settle)
        settled = self.settle.wait(
            before,
            started,
            quiet_s=quiet,
            first_change_s=first,
            by_events=not settle,
            until_idle=settle,
            targets=targets,
            until=until,
        )
        copied = not isinstance(action, Type) and self.clipboard_changes() != changes
        return ActionResult(
            ok=True,
            settled_after_s=settled,
            delivery=delivery,
            copied=copied,
            restless=restless,
            pointer=pointer,
            selected=selected,
            note=note,
        )

    def _zoom(self, action: Zoom, seen: Observation | None) -> ActionResult:
        first, *last = action.targets()
        screen = self.screen.rect
        box = self.aim.current(action.element_id, seen).rect if action.element_id is not None else screen
        area: Rect | None = box
        if last:
            corners = [each.inside(box) if isinstance(each, Fractions) else each for each in (first, *last)]
            assert isinstance(corners[0], Point) and isinstance(corners[1], Point)  # a region has two corners
            end = 1 if isinstance(first, Fractions) else 0  # fractions name pixels, which belong to the region
            width, height = corners[1].x - corners[0].x + end, corners[1].y - corners[0].y + end
            area = Rect(corners[0].x, corners[0].y, width, height).intersection(screen)
        if area is None or not area.area:
            raise Refused(f"The region is not on the screen of {screen.width} x {screen.height} pixels.", "off_screen")
        return ActionResult(ok=True, picture=close_up(to_rgb(self.settle.look()), area), area=area)

    def _read(self, action: Read, seen: Observation | None) -> ActionResult:
        if action.element_id is not None:
            element = self.aim.current(action.element_id, seen)
            text = self.aim.spans.whole(element)
            what = f"Element {element.id}"
        else:
            text, what = self.aim.spans.main_text(self.screen.active_window()), "The window in front"
        if not text:
            raise Refused(f"{what} has no text to read; name an element that has.", "no_text")
        found = pages(text)
        if action.page > len(found):
            raise Refused(f"{what} has {len(found)} pages of text, not {action.page}.", "no_text")
        return ActionResult(ok=True, text=found[action.page - 1], page=(action.page, len(found)))

    def _feedback_areas(self, action: Input, seen: Observation) -> list[Rect]:
        """Return the areas that only give feedback on a pressed button, whose effect is elsewhere."""
        if isinstance(action, Click):
            button = element_meant(action.target, seen)
        else:
            button = _default_button(seen, self.screen.active_window()) if _is_return(action) else None
        if button is None or button.role not in _EFFECT_ELSEWHERE or "editable" in button.states:
            return []
        focused = seen.focused
        return [button.rect, *(_focus_marks(focused.rect) if focused is not None else ())]

    def _press_keys(self, action: Hotkey | HoldAndPress | KeyDown | KeyUp, seen: Observation | None) -> None:
        match action:
            case Hotkey():
                keys = self._chord(action.keys)
                by_focus = not _COMMAND_KEYS & {name.casefold() for name in action.keys}
                self.aim.check_keyboard(seen, by_focus)
                self.device.press(keys)
            case HoldAndPress():
                self._chord([*action.hold_keys, *action.press_keys])
                self.aim.check_keyboard(seen, by_focus=True)
                self.device.press_each(chord(action.hold_keys), [chord([key]) for key in action.press_keys])
            case KeyDown():
                keys = self._chord(action.keys)
                self.aim.check_keyboard(seen, by_focus=False)
                self.device.hold_keys(keys)
                self._held |= {name: chord([name]) for name in action.keys}
            case KeyUp():
                self.device.release_keys(chord(action.keys))

    def _use_mouse(self, action: Pointing, seen: Observation | None, restless: Sequence[Rect]) -> None:
        match action:
            case Click():
                self._click(action, seen, restless)
            case Scroll():
                self._scroll(action, self.aim.wheel_point(action.target, seen, restless), seen)
            case DragAndDrop():
                hold = self._chord(action.hold_keys)
                ends = reversed(action.targets())  # looking at one end must not move what the other was found by
                self.device.drag([self.aim.locate(target, seen, restless) for target in ends][::-1], hold)
            case Move() | MouseDown() | MouseUp():
                if isinstance(action, MouseUp) and action.button_type not in self.device.held.buttons:
                    raise Refused(f"The {action.button_type} button is not down.", "not_allowed")
                if not action.targets() and self._pointer_moved(seen):
                    raise Refused("The pointer was moved since the screen was looked at; look where it is.", "stale")
                for target in action.targets():
                    self.device.move(self.aim.locate(target, seen, restless))
                if isinstance(action, MouseDown):
                    self.device.press_button(action.button_type)
                elif isinstance(action, MouseUp):
                    self.device.release_button(action.button_type)

    def _click(self, action: Click, seen: Observation | None, restless: Sequence[Rect]) -> None:
        hold = self._chord(action.hold_keys)
        point = self.aim.locate(action.target, seen, restless)
        if not self._opens_submenu(action, point, seen):
            self.device.click(point, action.num_clicks, action.button_type, hold)

    def _opens_submenu(self, action: Click, point: Point, seen: Observation | None) -> bool:
        """Open another menu by its entry in an open one, and return whether that is done.

        The first time, the entry is only pointed at: GTK 3 takes some menus that it has not shown yet for open ones,
        and closes them where their entry is clicked. Later on, a click opens them without the delay of pointing.
        """
        element = element_meant(action.target, seen) if seen is not None else None
        windows = {window.id: window for window in self.screen.windows()}
        around = windows.get(element.window_id or 0) if element is not None and element.role == "menu" else None
        is_plain = (action.num_clicks, action.button_type) == (1, "left") and not action.hold_keys
        if around is None or not around.popup or not is_plain:
            return False

        def is_open() -> bool:
            new = (window for window in self.screen.windows() if window.popup and window.id not in windows)
            return any(not self.screen.is_tooltip(window.id) for window in new)

        assert element is not None
        submenu = around.app, element.path, element.name
        clicked = submenu in self._submenus
        if clicked:
            self.device.click(point)
            if self.clock.until(is_open, _CLICKED_LIMIT_S, _POLL_S):
                return True
            self._submenus.remove(submenu)
        self.device.move(point)
        opened = self.clock.until(is_open, _POINTED_LIMIT_S, _POLL_S)
        if opened:
            self._submenus.add(submenu)
        return opened or clicked  # a second click would go to what is below a menu that the first one has closed

    def _pointer_moved(self, seen: Observation | None) -> bool:
        """Return whether somebody moved the pointer since the observation, on which this action is based directly."""
        return self._by_look and seen is not None and seen.pointer not in (None, self.screen.pointer())

    def _scroll(self, action: Scroll, point: Point, seen: Observation | None) -> None:
        if action.clicks is not None:
            self.device.scroll(point, action.clicks, action.horizontal, self._chord(action.hold_keys))
        elif action.element_id is not None and action.to is not None:
            element = self.aim.element(action.element_id, seen)
            self._values.scroll(element, action.to, action.horizontal, point)

    def _find_restless(self, seen: Observation | None, now: NDArray[np.uint32]) -> tuple[Rect, ...]:
        """Return the areas that change all the time: since the observation, and also before the previous action."""
        latest = () if seen is None else changed_pixels(seen.screenshot, to_rgb(now)) or ()
        previous, self._latest_changes = self._latest_changes, latest
        both = (one.intersection(other) for one in latest for other in previous)
        return tuple(area for area in both if area is not None)

    def _type(
        self, action: Type, seen: Observation | None, restless: Sequence[Rect], focused: Element | None
    ) -> Delivery | None:
        if self.device.held.keys:
            raise Refused("Keys are held down, which would change what is typed; release them first.", "not_allowed")
        target = action.target
        chosen = self.aim.element(target.element_id, seen) if isinstance(target, Whole) else None
        overwrite = action.overwrite
        if chosen is not None and chosen.role in SET_BY_VALUE:
            if action.enter:
                raise Refused(f"Element {chosen.id}, a {chosen.role}, takes no Return: leave out enter.", "not_typed")
            return self._set_value(chosen, action.text, seen)
        if chosen is not None:
            self._focus(chosen, seen, keep_caret=not overwrite)
        elif isinstance(target, Span) and overwrite:
            words = SelectText(element_id=target.element_id, text=target.text, occurrence=target.occurrence)
            self._selector.select(words, seen)
            overwrite = False  # typing replaces the selection
        elif target is not None:
            before, started = self.settle.look(), self.clock.now()
            self.device.click(self._caret_point(target, seen, restless))
            self.settle.wait(before, started, quiet_s=0.06, first_change_s=0.1, limit_s=1.0)
        pointed = acted_on(action, seen) if target is not None and seen is not None else None
        element = chosen or pointed or focused
        place = Place(element, self._app_with_keyboard(), chosen=target is not None)

        again = partial(self._click_again, chosen, seen, not action.overwrite) if chosen is not None else None
        delivery = self._enter(place, action, overwrite, again, seen)
        if chosen is not None and chosen.role == "combo box" and "editable" not in chosen.states and not action.enter:
            self._choose_marked_entry(action.text.strip().casefold(), seen)
        return delivery

    def _choose_marked_entry(self, text: str, seen: Observation | None) -> None:
        """Press Return if typing has marked an entry in a list that the click opened, which does not choose it yet."""
        known = {window.id for window in seen.windows} if seen is not None else set()
        now = self.aim.look()
        if not text or not any(window.popup and window.id not in known for window in now.windows):
            return

        def is_marked() -> bool:
            entry = self.aim.look().focused
            return entry is not None and entry.window_id not in known and entry.name.casefold().startswith(text)

        if self.clock.until(is_marked, _MARKED_LIMIT_S, _POLL_S):
            self.device.press(chord(["Return"]))

    def _focused(self, seen: Observation | None) -> Element | None:
        """Return the currently focused element, after actions without an observation in between."""
        focused = seen.focused if seen is not None else None
        if focused is not None and self.locator.has_focus(focused.id):
            return focused
        return self.aim.look().focused

    def _await_default_button(self, seen: Observation | None) -> None:
        """Wait until a disabled default button is enabled, which dialogs do a moment after text was typed.

        Return has no effect before that.
        """
        front = self.screen.active_window()
        if seen is not None and _is_disabled(_default_button(seen, front)):
            self.clock.until(
                lambda: not _is_disabled(_default_button(self.aim.look(), front)), _ENABLED_LIMIT_S, _POLL_S
            )

    def _click_again(self, element: Element, seen: Observation | None, keep_caret: bool) -> None:
        try:
            self._click_into(element, seen, keep_caret)
        except Refused as refused:  # the text went elsewhere
            raise NothingArrived(str(refused)) from refused

    def _set_value(self, element: Element, text: str, seen: Observation | None) -> Delivery:
        self.aim.point(element.id, seen)
        in_front = self.screen.active_window() == element.window_id or self.screen.activate(element.window_id)
        return self._values.set(element, text, keyboard=in_front)

    def _enter(
        self,
        place: Place,
        action: Type,
        overwrite: bool,
        click_again: Callable[[], None] | None,
        seen: Observation | None,
    ) -> Delivery | None:
        """Type at a place that has the focus, and return how the text arrived."""
        field = place.element if place.chosen and overwrite and not action.enter else None
        if field is not None and field.role == "spin button":
            return self._values.commit_number(
                field, action.text, lambda: self.typist.type(place, action.text, overwrite)
            )
        delivery = self.typist.type(place, action.text, overwrite, click_again)
        in_one_field = seen is not None and not {"\t", "\n"} & set(action.text)
        if in_one_field and delivery is not None and delivery.unread in ("no_field", "no_text"):
            delivery = self._read_back_at_focus(action.text, delivery, seen)
        return delivery

    def _caret_point(self, target: Target, seen: Observation | None, restless: Sequence[Rect]) -> Point:
        """Return the pixel to click to put the caret at a target; for words, behind them."""
        if not isinstance(target, Span):
            return self.aim.locate(target, seen, restless)
        element = self.aim.current(target.element_id, seen)
        return self.aim.checked(element, ends(self.aim.boxes(element, target.text, target.occurrence))[1])

    def _read_back_at_focus(self, text: str, delivery: Delivery, seen: Observation | None) -> Delivery:
        """Read text back from the currently focused field, such as one that opened at the first key.

        If a field that opened contains only a part of the text, since it was not ready yet, the text is typed again.
        """
        now = self.aim.look()
        if now.focus_id is None and now.active_window is not None and now.active_window.modal:
            now = self.aim.look_closely()  # there is no event for a field that opened at the first key
        field = now.focused
        place = Place(field, self._app_with_keyboard(), chosen=True)
        if not now.windows:
            return delivery.model_copy(update={"unread": "no_window"})
        if field is None or place.unread:
            return delivery
        was = seen.by_id.get(field.id) if seen is not None else None
        expected = Expected((was.text if was is not None else None) or "", text, overwrite=was is None)
        try:
            return self.typist.read(place, expected, delivery.by) or delivery
        except PartlyArrived:
            if was is not None:
                raise
            return self.typist.type(place, text, overwrite=True) or delivery

    def _focus(self, element: Element, seen: Observation | None, keep_caret: bool) -> None:
        known = seen is not None and seen.focus_id == element.id
        active = self.screen.active_window() == element.window_id
        if known and active and self.locator.has_focus(element.id):
            self.aim.point(element.id, seen)
            return
        self._click_into(element, seen, keep_caret)
        if is_sheet_cell(element):
            self._check_selected(element)

    def _check_selected(self, cell: Element) -> None:
        """Check that a click on a cell has selected this cell.

        Raises:
            Refused: It selected another one, as where cells are merged.
        """
        if self.clock.until(lambda: self.locator.has_focus(cell.id), _SELECTED_LIMIT_S, _POLL_S):
            return
        cells = [one for one in self.aim.look().elements if is_sheet_cell(one) and one.window_id == cell.window_id]
        selected = [one for one in cells if "selected" in one.states]
        other = next((one for one in selected if one.id != cell.id and self.locator.has_focus(one.id)), None)
        if other is not None:
            raise Refused(
                f"A click on cell {cell.name} selects {other.name} instead, as where cells are merged; nothing was "
                f"typed. Type into {other.name} if that is meant.",
                "not_typed",
            )
        if any(one.id == cell.id and "focused" not in one.states for one in selected):
            raise Refused(
                f"A click on cell {cell.name} selects a merged cell that begins out of view; nothing was typed. Scroll "
                "to where it begins, and type into it there if that is meant.",
                "not_typed",
            )

    def _click_into(self, element: Element, seen: Observation | None, keep_caret: bool) -> None:
        """Click a field; with `keep_caret`, move the caret behind the text of a single-line field."""
        before, started, keyboard = self.settle.look(), self.clock.now(), self.screen.active_window()
        point = self.aim.point(element.id, seen)
        self.device.click(point)
        # An application may open a dialog a moment after its field gets the focus; only cells are reliable.
        at_once = not self._wants_settled and is_sheet_cell(element)
        has_keyboard = partial(self.locator.has_focus, element.id) if at_once else None
        self.settle.wait(
            before,
            started,
            quiet_s=0.06,
            first_change_s=0.1,
            limit_s=1.0,
            by_events=not self._wants_settled,
            until=has_keyboard,
        )
        self._check_in_front(element, keyboard)
        if keep_caret and _is_one_line(element):
            self.device.press(chord(["End"]))

    def _check_in_front(self, element: Element, keyboard: int | None) -> None:
        """Check that a click into another window has moved the keyboard there."""
        if keyboard in (None, element.window_id):
            return
        window = next((one for one in self.screen.windows() if one.id == element.window_id), None)
        if window is None or window.popup:
            return
        if not self.clock.until(lambda: self.screen.active_window() != keyboard, _SELECTED_LIMIT_S, _POLL_S):
            other = next((one.title or one.app for one in self.screen.windows() if one.id == keyboard), "")
            raise Refused(f"A click leaves the keyboard in the window {other!r}; answer it first.", "not_in_front")

    def _switch(self, action: SwitchApplications, settle: bool) -> ActionResult:
        before, started = self.settle.look(until_idle=settle), self.clock.now()
        order = {window.id: place for place, window in enumerate(self.screen.windows())}
        # Minimized windows, which are not in the stacking order, come last.
        windows = sorted(self.screen.managed_windows(), key=lambda window: order.get(window.id, len(order)))
        catalog = self.catalog()
        window = find_window(action.app_code, windows, catalog)
        if window is None:
            application = catalog.find(action.app_code)
            self.launch(application.argv, settle)
            settled = self.settle.wait(before, started, quiet_s=_LAUNCH_QUIET_S, until_idle=True) if settle else 0.0
            return ActionResult(ok=True, settled_after_s=settled, started=application.name)
        if not self.screen.activate(window.id):
            raise Refused(f"The window {window.title!r} did not come to the front.", "not_in_front")
        settled = self.settle.wait(before, started, until_idle=True) if settle else 0.0
        return ActionResult(ok=True, settled_after_s=settled, switched_to=window.title or window.app)

    def _chord(self, names: Sequence[str]) -> list[int]:
        symbols = chord(names)
        if self.is_stop_key([*self.device.held.keys, *symbols]):
            raise Refused(
                f"{'+'.join(names)} is the key by which the person stops the run; it is not pressed.", "not_allowed"
            )
        return symbols

    def _app_with_keyboard(self) -> str:
        active = self.screen.active_window()
        return next((window.app for window in self.screen.managed_windows() if window.id == active), "")


def _focus_marks(place: Rect) -> list[Rect]:
    """Return the areas where an element shows its focus; of a large one, such as a document, only the border."""
    if place.height <= _LARGE_PX:
        return [place]
    top, left = Rect(place.x, place.y, place.width, 0), Rect(place.x, place.y, 0, place.height)
    return [top, left, top.moved(0, place.height), left.moved(place.width, 0)]


def _is_one_line(element: Element) -> bool:
    return element.role in _LINES and "editable" in element.states and "multi_line" not in element.states


def _with_return(action: Type, element: Element | None) -> Type:
    """Convert a trailing line break to Return, if the element is a single-line field."""
    line, ended, more = action.text.partition("\n")
    if not ended or more or action.enter or element is None or not _is_one_line(element):
        return action
    return action.model_copy(update={"text": line, "enter": True})


def _split_at_tabs(action: Type, element: Element | None) -> tuple[Type, list[str]]:
    """Split a text at tabs that move to the next field: return the action for the first part, and the other parts."""
    text, *onwards = action.text.split("\t")
    leads_on = element is not None and (_is_one_line(element) or element.role == "spin button")
    return (action.model_copy(update={"text": text}), onwards) if onwards and leads_on else (action, [])


def _patience(action: Input, settle: bool) -> tuple[float, float]:
    """Return the quiet time after which an action is over, and the longest wait for its first effect, s."""
    if not settle:
        return _UNSETTLED_QUIET_S, _CLICKED_FIRST_S if isinstance(action, Click) else _UNSETTLED_FIRST_S
    if isinstance(action, Scroll):
        return _SCROLL_QUIET_S, _SCROLL_FIRST_S
    opens_menu = isinstance(action, Click) and action.button_type == "right"
    return QUIET_S, EFFECT_S if opens_menu else FIRST_CHANGE_S


def _is_return(action: Input) -> bool:
    if isinstance(action, Type):
        return action.enter
    return isinstance(action, Hotkey) and chord(action.keys) == chord(["Return"])


def _default_button(seen: Observation, window: int | None) -> Element | None:
    """Return the button of a window that Return presses; None if there is none."""
    return next((one for one in seen.elements if one.window_id == window and "default" in one.states), None)


def _is_disabled(element: Element | None) -> bool:
    return element is not None and "disabled" in element.states
