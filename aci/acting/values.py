"""Setting of sliders, dials and scroll bars to a value, verified by reading it back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from aci.accessibility.values import ValueRange, number_in
from aci.acting.targeting import Locator, Refused
from aci.input.input_device import InputDevice
from aci.input.keys import chord
from aci.input.read_back import Delivery
from aci.input.typist import PartlyArrived
from aci.observation.geometry import Point
from aci.observation.observation import Element
from aci.waiting import Clock

SET_BY_VALUE = frozenset({"slider", "dial"})
"""Roles that hold a number and take no text."""
_READ_BACK_LIMIT_S = 0.8
_POLL_S = 0.03
_STABLE_S = 0.2
_MAX_STEPS = 500
_ROUNDED, _NEAR = 0.5, 0.01  # tolerance of a scroll bar, in lines and as a share of its range
_ROUNDS = 8


class Values(Protocol):
    """The values of elements through accessibility; see `AccessibilityClient`."""

    def value_range(self, element_id: int) -> ValueRange | None:
        """Return the current value of an element and its bounds; None if it has none or is gone."""

    def set_value(self, element_id: int, value: float) -> bool:
        """Ask the application to set the value of an element; return whether it accepted."""

    def grab_focus(self, element_id: int) -> bool:
        """Ask the application to focus an element; return whether it reports success."""

    def scroll_bar(self, element_id: int, horizontal: bool) -> int | None:
        """Return the id of the scroll bar that moves an element; None if it has none."""


@dataclass(frozen=True, slots=True)
class ValueSetter:
    """Sets the value of an element through its Value interface, else by arrow keys."""

    device: InputDevice
    locator: Locator
    values: Values
    clock: Clock

    def set(self, element: Element, text: str, keyboard: bool) -> Delivery:
        """Set a value, given as a number or a percentage of the range, and return how the element reads afterwards.

        Args:
            element: The element.
            text: The value.
            keyboard: Whether its window has the keyboard.

        Raises:
            Refused: The text is not a value in range, or the element cannot be set.
        """
        what = f"Element {element.id}, a {element.role},"
        before = self.values.value_range(element.id)
        if before is None:
            raise Refused(f"{what} does not say its value. Press arrow keys in it, or drag its handle.", "not_typed")
        wanted = before.wanted(text)
        if wanted is None:
            raise Refused(
                f"{what} takes a number from {before.minimum:g} to {before.maximum:g}, or a percentage of that range "
                f"such as 50%, not {text[:60]!r}.",
                "not_typed",
            )
        now = before if before.meets(wanted) else self._by_interface(element.id, before, wanted)
        by: Literal["accessibility", "keys"] = "accessibility"
        if now == before and keyboard and not now.meets(wanted):
            now, by = self._by_keys(element.id, now, wanted), "keys"
        if now.meets(wanted):
            return Delivery(state="exact", by=by)
        if now == before:
            raise Refused(f"{what} stays at {now.current:g}. Drag its handle.", "not_typed")
        return Delivery(state="different", by=by, reads=f"{now.current:g}")

    def scroll(self, element: Element, percent: float, horizontal: bool, point: Point) -> None:
        """Move the scroll bar of an element to a position, else turn the wheel until it is as near as the wheel gets.

        Args:
            element: The element to scroll.
            percent: The position; 0 is the beginning, 100 the end.
            horizontal: Whether to scroll sideways.
            point: Where to turn the wheel, px.

        Raises:
            Refused: The element has no scroll bar with a position, or the scroll bar does not move.
        """
        what = f"Element {element.id}, a {element.role},"
        bar = self.values.scroll_bar(element.id, horizontal)
        before = self.values.value_range(bar) if bar is not None else None
        wanted = before.wanted(f"{percent:f}%") if before is not None else None
        if bar is None or before is None or wanted is None:
            raise Refused(f"{what} has no scroll bar that says its position. Scroll by clicks.", "not_allowed")
        now = before if before.meets(wanted) else self._by_interface(bar, before, wanted)
        if abs(now.current - wanted) > max(_ROUNDED, _NEAR * (now.maximum - now.minimum)):
            # LibreOffice ignores the requested value and goes to the beginning.
            sign = 1 if horizontal else -1  # of clicks toward the end
            now = self._by_steps(bar, now, wanted, lambda steps: self.device.scroll(point, sign * steps, horizontal))
        if now == before and not now.meets(wanted):
            raise Refused(f"The scroll bar of element {element.id} stays where it is. Scroll by clicks.", "not_allowed")

    def commit_number(self, field: Element, text: str, enter: Callable[[], Delivery | None]) -> Delivery | None:
        """Type a number over the content of a number field, make the field accept it, and return how it arrived.

        Some fields accept a number only when Return is pressed or the focus leaves, some accept no digits at all, and
        the text of some is updated late. Therefore the field's value decides, if its text shows that value.

        Args:
            field: The field before.
            text: The text to type.
            enter: Callback that types it.

        Raises:
            PartlyArrived: The field holds only a part of the text.
        """
        try:
            typed, problem = enter(), None
        except PartlyArrived as error:
            typed, problem = None, error
        now = self.values.value_range(field.id)
        wanted = now.wanted(text) if now is not None else None
        shows_its_value = field.value is not None and number_in(field.text or "") == field.value
        if now is not None and wanted is not None and shows_its_value:
            if now.meets(wanted):
                return typed if typed is not None and typed.confirmed else Delivery(state="exact", by="keys")
            if self._by_interface(field.id, now, wanted).meets(wanted):
                return Delivery(state="exact", by="accessibility")
        if problem is not None:
            raise problem
        return typed

    def _by_interface(self, element_id: int, now: ValueRange, wanted: float) -> ValueRange:
        return self._await_change(element_id, now) if self.values.set_value(element_id, wanted) else now

    def _by_keys(self, element_id: int, now: ValueRange, wanted: float) -> ValueRange:
        """Press arrow keys as often as their effect so far suggests, until the value is reached or passed."""
        self.values.grab_focus(element_id)
        if not self.clock.until(lambda: self.locator.has_focus(element_id), _READ_BACK_LIMIT_S, _POLL_S):
            return now

        def press(times: int) -> None:
            self.device.press_each([], [chord(["Right" if times > 0 else "Left"])] * abs(times))

        return self._by_steps(element_id, now, wanted, press)

    def _by_steps(self, element_id: int, now: ValueRange, wanted: float, take: Callable[[int], None]) -> ValueRange:
        """Take steps, negative ones backwards, until the value is reached or passed."""
        steps = 1 if wanted > now.current else -1
        for _ in range(_ROUNDS):
            take(steps)
            after = self._await_change(element_id, now)
            gain = (after.current - now.current) / steps
            now = after
            if not gain or abs(wanted - now.current) < abs(gain) / 2:
                break
            left = (wanted - now.current) / gain
            steps = round(math.copysign(min(max(abs(left), 1), _MAX_STEPS), left))
        return now

    def _await_change(self, element_id: int, before: ValueRange) -> ValueRange:
        """Return the value once it has changed and settled, or after a time limit."""
        self.clock.until(lambda: self.values.value_range(element_id) != before, _READ_BACK_LIMIT_S, _POLL_S)
        last, since = self.values.value_range(element_id), self.clock.now()
        while self.clock.now() - since < _STABLE_S:
            self.clock.pause(_POLL_S)
            if (now := self.values.value_range(element_id)) != last:
                last, since = now, self.clock.now()
        return last or before
