"""A scripted hand: does what a person would, with primitives, on elements found by role and name."""

from __future__ import annotations

import time

from aci import Click, Element, HoldAndPress, Hotkey, Type, VirtualDesktop

LIMIT_S = 45.0


class Hand:
    def __init__(self, desktop: VirtualDesktop) -> None:
        self.desktop = desktop

    def find(self, role: str, name: str, nth: int = 0, window: str = "") -> Element:
        """Wait for an element, in a window of that title; `nth` counts in reading order."""
        deadline = time.monotonic() + LIMIT_S
        while True:
            observation = self.desktop.observe()
            found = [e for e in observation.elements if e.role == role and name in (e.name, e.label, e.description)]
            titles = {shown.id: shown.title for shown in observation.windows}
            found = [e for e in found if window in titles.get(e.window_id, "")]
            if len(found) > nth:
                return found[nth]
            assert time.monotonic() < deadline, f"no {role} {name!r} in\n{observation.to_text()}"

    def window(self, title: str) -> None:
        """Wait for a window."""
        deadline = time.monotonic() + LIMIT_S
        while not any(title in window.title for window in self.desktop.observe().windows):
            assert time.monotonic() < deadline, f"no window {title!r} in\n{self.desktop.observe().to_text()}"

    def click(self, role: str, name: str, nth: int = 0, times: int = 1, window: str = "") -> None:
        self._perform(Click(element_id=self.find(role, name, nth, window).id, num_clicks=times))

    def fill(self, role: str, name: str, text: str, *, enter: bool = False) -> None:
        self._perform(Type(text=text, element_id=self.find(role, name).id, overwrite=True, enter=enter))

    def type(self, text: str, *, enter: bool = False) -> None:
        self._perform(Type(text=text, enter=enter))

    def press(self, *keys: str) -> None:
        self._perform(Hotkey(keys=keys))

    def press_each(self, keys: str) -> None:
        """Press keys one after another, as in a field of parts such as a date."""
        self._perform(HoldAndPress(hold_keys=(), press_keys=tuple(keys)))

    def _perform(self, action: Click | Type | Hotkey | HoldAndPress) -> None:
        result = self.desktop.perform(action)
        assert result.ok, f"{action}: {result.error}"
