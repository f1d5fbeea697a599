"""The dialogs in which applications ask for a file."""

from __future__ import annotations

import re

from aci.observation.observation import Element, Window
from agent_s.offline.finding.matching import GOOD, best, rank
from agent_s.offline.finding.roles import EDITABLE
from agent_s.offline.finding.screen import Screen
from agent_s.offline.finding.targets import named
from agent_s.offline.ui import UI
from agent_s.offline.words import BUTTONS, FIELDS, TABLE, meanings, one_of
from intents.text import Phrase

LOOKS = (0.3, 0.5, 0.8, 1.2, 2.0)  # pauses between looks at a dialog that opens or closes, s
_TITLE = re.compile(rf"\b{one_of(TABLE['file_dialogs'])}\b", re.IGNORECASE)
_FOLDERS = meanings("folders")
_NOUN = one_of(TABLE["nouns_of_folders"])


def file_dialog(ui: UI, before: Screen | None = None) -> Window | None:
    """Return a window with a field for a file name and a button that confirms it; one that was not there `before`."""
    screen, names = ui.screen, (*BUTTONS["save"], *BUTTONS["open"])
    for window in screen.windows:
        is_old = before is not None and window.id in before.window_by_id and window != screen.active
        asks = not window.popup and (window in screen.dialogs or _TITLE.search(window.title))
        if asks and not is_old and name_field(screen, window) and ui.buttons(names, window, 80.0):
            return window
    return None


def name_field(screen: Screen, window: Window) -> Element | None:
    """Return the field for the file name: by its label, else the one that has the keyboard."""
    fields = [
        element
        for element in screen.elements
        if element.window_id == window.id and element.role in EDITABLE and "editable" in element.states
    ]
    for label in FIELDS["file"] if fields else ():
        found = [one.element for one in best(rank(named(label), screen, EDITABLE), GOOD) if one.element in fields]
        if found:
            return found[0]
    return next((element for element in fields if "focused" in element.states), None)


def full_path(name: str, folder: str) -> str:
    """Join a name and a folder as a file dialog takes them."""
    return name if not folder or name.startswith(("/", "~")) else f"{folder.rstrip('/')}/{name}"


def folder_path(words: Phrase) -> str | None:
    """Return "the Documents folder" or "~/x" as a path; None where the words name no folder."""
    text = re.sub(r"^(?:(?:the|my|your)\s+)?(?:folder\s+)?", "", words.strip(" ,").rstrip("/"), flags=re.IGNORECASE)
    bare = re.sub(rf"\s+{_NOUN}$", "", text, flags=re.IGNORECASE)
    if nested := re.fullmatch(r"(.+?)\s+(?:folder\s+)?(?:in|inside|of)\s+(.+)", bare, re.IGNORECASE):
        outer = folder_path(words.part(nested[2]))
        return f"{outer}/{nested[1]}" if outer else None
    if not bare and words.startswith("/"):
        return "/"
    if bare.startswith(("/", "~", ".")):
        return bare
    lowered = bare.casefold()
    if lowered in TABLE["home_folders"]:
        return "~"
    if lowered in TABLE["temporary_folders"]:
        return "/tmp"
    said = bare != words.strip() or words.quotes
    return f"~/{_FOLDERS.get(lowered, bare)}" if lowered in _FOLDERS or said else None
