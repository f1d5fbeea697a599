"""The dialogs in which applications ask for a file."""

from __future__ import annotations

import re

from aci.observation.observation import Element, Window
from agent_s.offline.matching import Candidate, rank
from agent_s.offline.roles import EDITABLE, ROLES
from agent_s.offline.screen import Screen
from agent_s.offline.targets import named

NAME_LABELS = ("Name", "File name", "Filename", "Location", "Name:", "File Name")


CONFIRM_SAVE = ("Save", "OK", "Export", "Save As")


CONFIRM_OPEN = ("Open", "OK", "Select", "Choose", "Load")


LOOKS = (0.3, 0.5, 0.8, 1.2, 2.0)


def file_dialog(screen: Screen, before: Screen | None) -> Window | None:
    """Find a window with a field for a file name and a button that confirms it."""
    for window in screen.windows:
        if window.popup or (
            before is not None and window.id in before.window_by_id and window.id != getattr(screen.active, "id", None)
        ):
            continue
        named_file = re.search(r"\b(?:save|export|open|select|choose|upload)\b", window.title, re.IGNORECASE)
        if (
            (window in screen.dialogs or named_file)
            and name_field(screen, window) is not None
            and (buttons_in(CONFIRM_SAVE + CONFIRM_OPEN, screen, window))
        ):
            return window
    return None


def name_field(screen: Screen, window: Window) -> Element | None:
    """Find the field for the file name: by its label, else the one that has the keyboard."""
    fields = [
        element
        for element in screen.elements
        if element.window_id == window.id and element.role in EDITABLE and "editable" in element.states
    ]
    for label in NAME_LABELS:
        found = [one for one in rank(named(label), screen, EDITABLE) if one.element in fields and one.score >= 84]
        if found:
            return found[0].element
    return next((element for element in fields if "focused" in element.states), None)


def buttons_in(names: tuple[str, ...], screen: Screen, window: Window) -> list[Candidate]:
    """Find the first of some buttons that a window has."""
    for name in names:
        found = [
            one
            for one in rank(named(name, "button"), screen, ROLES["button"])
            if one.element.window_id == window.id and one.score >= 80 and one.element.point
        ]
        if found:
            return found
    return []


def full_path(name: str, folder: str) -> str:
    """Join a name and a folder as a file dialog takes them."""
    if not folder or name.startswith(("/", "~")):
        return name
    return f"{folder.rstrip('/')}/{name}"
