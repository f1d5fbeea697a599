"""A scripted user: performs primitives on elements that are found by role and name."""

from __future__ import annotations

import time

from aci import Click, Element, Type, VirtualDesktop

LIMIT_S = 45.0


class ScriptedUser:
    def __init__(self, desktop: VirtualDesktop) -> None:
        self.desktop = desktop

    def find(self, role: str, name: str) -> Element:
        """Wait for an element."""
        deadline = time.monotonic() + LIMIT_S
        while True:
            observation = self.desktop.observe()
            for element in observation.elements:
                if element.role == role and name in (element.name, element.label, element.description):
                    return element
            assert time.monotonic() < deadline, f"no {role} {name!r} in\n{observation.to_text()}"

    def window(self, title: str) -> None:
        """Wait for a window."""
        deadline = time.monotonic() + LIMIT_S
        while not any(title in window.title for window in self.desktop.observe().windows):
            assert time.monotonic() < deadline, f"no window {title!r} in\n{self.desktop.observe().to_text()}"

    def click(self, role: str, name: str) -> None:
        self._perform(Click(element_id=self.find(role, name).id))

    def fill(self, role: str, name: str, text: str) -> None:
        self._perform(Type(text=text, element_id=self.find(role, name).id, overwrite=True))

    def _perform(self, action: Click | Type) -> None:
        result = self.desktop.perform(action)
        assert result.ok, f"{action}: {result.error}"
