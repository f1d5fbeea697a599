"""Selection of words in an element, verified by reading the selection back."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from aci.accessibility.texts import FoundText
from aci.acting.actions import SelectText
from aci.acting.spans import ends, middle
from aci.acting.targeting import Aim, Locator, Refused
from aci.acting.targets import elements_at
from aci.input.input_device import InputDevice
from aci.input.keys import chord
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation
from aci.waiting import Clock

_READ_BACK_LIMIT_S = 0.8
_POLL_S = 0.03
_MAX_STEPS = 1000
_JOINED = frozenset("\u200d\ufe0e\ufe0f")
"""Characters at which the caret does not stop: joiners and variation selectors."""


@dataclass(frozen=True, slots=True)
class Selector:
    """Selects words: in a field through the Text interface, elsewhere by dragging, as a person does.

    Dragging also gives a page the keyboard, so that the words can be copied, but on a link it would drag the link.
    """

    aim: Aim
    device: InputDevice
    locator: Locator
    clock: Clock

    def select(self, action: SelectText, seen: Observation | None) -> tuple[str, bool]:
        """Select words; return them as they occur in the text, and whether the selection was read back.

        Raises:
            Refused: The words are missing, or could not be selected.
        """
        element = self.aim.current(action.element_id, seen)
        found = self.aim.find(element, action.text, action.occurrence, action.until)
        if found is None:  # only pixels show them
            self._drag(self._boxes(element, action))
            return action.text, False
        editable = "editable" in element.states
        ways = [self._by_interface, self._by_caret, self._by_drag] if editable else [self._by_drag, self._by_interface]
        for way in ways:
            if way(element, action, found, seen) and self.clock.until(
                lambda: self.aim.spans.texts.is_selected(found), _READ_BACK_LIMIT_S, _POLL_S
            ):
                return found.text, True
        raise Refused(
            f"The words were not selected; the text of element {element.id} may not be selectable.", "not_selected"
        )

    def _by_interface(self, element: Element, action: SelectText, found: FoundText, seen: Observation | None) -> bool:
        self._focus(element, action)
        return self.aim.spans.texts.select(found)

    def _by_caret(self, element: Element, action: SelectText, found: FoundText, seen: Observation | None) -> bool:
        """Put the caret before the words, and move it behind them while Shift is held."""
        self._focus(element, action)
        if not self.locator.has_focus(element.id) or not self.aim.spans.texts.set_caret(found):
            return False
        steps = sum(not (unicodedata.combining(one) or one in _JOINED) for one in found.text)
        if steps > _MAX_STEPS:
            return False
        self.device.press_each(chord(["shift"]), [chord(["Right"])] * steps)
        return True

    def _focus(self, element: Element, action: SelectText) -> None:
        """Click into a field that does not have the keyboard."""
        if "editable" not in element.states or self.locator.has_focus(element.id):
            return
        try:
            point = middle(self._boxes(element, action))
        except Refused:  # out of sight
            point = element.rect.center if element.point is None else element.point
        self.device.click(self.aim.checked(element, point))
        self.clock.until(lambda: self.locator.has_focus(element.id), _READ_BACK_LIMIT_S, _POLL_S)

    def _by_drag(self, element: Element, action: SelectText, found: FoundText, seen: Observation | None) -> bool:
        try:
            boxes = self._boxes(element, action)
        except Refused:
            return False
        start, end = ends(boxes)
        if seen is not None and any(one.role == "link" for one in elements_at(start, seen)):
            return False
        self.aim.checked(element, start)
        self.aim.checked(element, end)
        self._drag(boxes)
        return True

    def _drag(self, boxes: list[Rect]) -> None:
        self.device.drag(ends(boxes))

    def _boxes(self, element: Element, action: SelectText) -> list[Rect]:
        return self.aim.boxes(element, action.text, action.occurrence, action.until)
