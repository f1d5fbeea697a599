"""Which elements a search takes for controls."""

from __future__ import annotations

import numpy as np

from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation, Window
from exploration.search.controls import candidates

MAIN = Window(1, "Signs", "signs", Rect(0, 0, 300, 200), active=True)
LIST = ("frame:Signs", "list:")


def element(number: int, role: str, name: str, place: Rect, *path: str) -> Element:
    return Element(number, role, name, place, place.center, MAIN.id, app="signs", path=("frame:Signs", *path))


def controls(*elements: Element) -> list[str]:
    seen = Observation(np.zeros((200, 300, 3), np.uint8), elements, (MAIN,))
    return [each.control.key for each in candidates(seen) if each.control.role != "context menu"]


def test_label_of_a_row_without_a_name_stands_for_the_row() -> None:
    found = controls(
        element(1, "label", "Arrows", Rect(10, 10, 60, 20), "list:", "table row:SidebarRow"),
        element(2, "label", "12", Rect(90, 10, 20, 20), "list:", "table row:SidebarRow"),  # further on in the same row
        element(3, "label", "Flags", Rect(10, 40, 60, 20), "list:", "table row:SidebarRow"),
        element(4, "label", "A title", Rect(10, 80, 60, 20)),
    )
    assert found == ["list item:Arrows", "list item:Flags"]


def test_row_with_a_name_or_a_control_is_used_by_that() -> None:
    found = controls(
        element(1, "list item", "Emojis", Rect(0, 0, 100, 30), "list:"),
        element(2, "label", "Emojis", Rect(10, 5, 60, 20), "list:", "list item:Emojis"),
        element(3, "label", "Sounds", Rect(10, 45, 60, 20), "list:", "list item:"),
        element(4, "switch", "Sounds", Rect(80, 40, 20, 30), "list:", "list item:"),
    )
    assert found == ["list item:Emojis", "switch:Sounds"]
