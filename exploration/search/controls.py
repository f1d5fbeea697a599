"""The controls of a screen: how each is acted on, and which are left alone because they are unsafe."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from aci.acting.actions import Action, Click, Type
from aci.acting.values import SET_BY_VALUE
from aci.observation.identity import ElementDescription, describe
from aci.observation.observation import Element, Observation
from aci.safety import risk_words
from aci.safety.risks import find_dangers
from agent_s.records import GroundedStep
from agent_s.replay.grounded_steps import state_of
from exploration.search.records import Control, Offer
from intents.labels import label

MENU_ROLES = frozenset({"menu", "menu item", "check menu item", "radio menu item", "tearoff menu item"})
BUTTON_ROLES = frozenset({"push button", "toggle button", "button", "push button menu", "menu button", "split button"})
CHOICE_ROLES = frozenset({"check box", "radio button", "switch", "combo box", "page tab", "list item"})
NUMBER_ROLES = SET_BY_VALUE | {"spin button"}
FIELD_ROLES = NUMBER_ROLES | {"entry", "text", "search bar"}  # of texts, only editable ones of a single line count

CONTEXT_MENU = "context menu"
"""Role of a control that stands for the menu that a right-click on the contents of a window opens."""

_CONTENT_ROLES = frozenset(
    {
        "text",
        "document text",
        "paragraph",
        "shape",
        "terminal",
        "table cell",
        "icon",
        "list item",
        "tree item",
        "canvas",
        "drawing area",
        "image",
    }
)
"""Of each of them, only the first in a main window is right-clicked, and of texts, one of several lines."""

SETTING_ROLES = frozenset({"check box", "switch", "combo box", "radio button", "spin button", "slider", "page tab"})
"""Typical controls of a settings dialog."""

_CHOOSERS = ("file chooser:", "color chooser:", "font chooser:")
_FILE_CHOOSER_OF_GTK4 = ":GtkFileChooserWidget"
_CHOOSERS_OF_GTK4 = (":GtkColorChooserWidget", ":GtkFontChooserWidget")
_CHOOSER_OF_QT = frozenset({"list:Sidebar"}), frozenset({"tree:Files", "list:Files"})  # parts, of each set one

SAMPLE_TEXT, SAMPLE_VALUE = "sample", "40%"

_SWITCHED = frozenset({"check box", "switch", "check menu item"})
_ROWS = ("table row:", "list item:", "tree item:")
_ROW_DEPTH = 3  # a label lies in containers of its row
_MENU_BUTTON = ":GtkMenuButton"  # of GTK 4, around the button that is pressed
_OF_TOOLKIT = re.compile(r":(?:Gtk|Adw)[A-Z]\w*$")
_MESSAGE = "status bar:"  # beginning of a status bar's part of a path
_ENDS_SOON = frozenset({"terminal", "password", "secret", "outside"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A control, and its element in one observation."""

    control: Control
    element: Element


def candidates(observation: Observation, home: str = "") -> tuple[Candidate, ...]:
    """Return the controls that can be acted on, in reading order; duplicates are numbered.

    Args:
        observation: The screen.
        home: The path of the home, which differs between desktops and is left out of all names.
    """
    seen: Counter[str] = Counter()
    found = []
    seen_by_tree = [each for each in observation.elements if each.source == "accessibility"]
    usable = [each for each in seen_by_tree if _can_be_used(each)]
    of_rows = {each.id for each in _labels_of_rows(seen_by_tree, usable)}
    usable = [each for each in seen_by_tree if each.id in of_rows or _can_be_used(each)]
    rows = {(each.window_id, each.path[-1]) for each in usable if each.path and each.role != "list item"}
    for element in usable:
        with_switch = element.role == "list item" and (element.window_id, f"list item:{element.name}") in rows
        if element.point is None or with_switch:
            continue
        name = called(element, home)
        role = "list item" if element.id in of_rows else element.role
        key = f"{role}:{name}"
        seen[key] += 1
        if seen[key] > 1:
            key = f"{key}#{seen[key]}"
        control = Control(role=role, name=name, key=key, place=_place(element, home))
        found.append(Candidate(control, element))
    return (*found, *_context_menus(observation, home))


def _labels_of_rows(elements: Sequence[Element], usable: Sequence[Element]) -> Iterator[Element]:
    """Yield the labels that stand for their rows: the first of each row that has no name and no control of its own."""
    taken = list(usable)
    for element in elements:
        around = element.path[-_ROW_DEPTH:]
        row = next((number for number, part in enumerate(around, start=1) if part.startswith(_ROWS)), 0)
        if element.role == "label" and element.name and element.point is not None and row:
            rows = element.path[: len(element.path) - len(around) + row - 1]
            if not any(each.path[: len(rows)] == rows and _is_beside(each, element) for each in taken):
                taken.append(element)
                yield element


def _is_beside(one: Element, other: Element) -> bool:
    """Return whether two elements of a window are in one line, or one within the other."""
    middle = other.rect.y + other.rect.height // 2
    return one.window_id == other.window_id and one.rect.y <= middle < one.rect.y + one.rect.height


def _context_menus(observation: Observation, home: str) -> Iterator[Candidate]:
    """Yield the menus of the contents of main windows, by the first of each sort."""
    main = {window.id for window in observation.windows if not (window.popup or window.modal)}
    seen = set[str]()
    for element in observation.elements:
        is_content = element.role in _CONTENT_ROLES and (element.role != "text" or "multi_line" in element.states)
        in_main = element.window_id in main and element.path[:1] and element.path[0].startswith("frame:")
        if is_content and in_main and element.point is not None and element.role not in seen:
            seen.add(element.role)
            name = f"{CONTEXT_MENU} of the {element.role}"
            yield Candidate(Control(role=CONTEXT_MENU, name=name, key=name, place=_place(element, home)), element)


def _place(element: Element, home: str) -> str:
    """Return the dialog and the named parts around an element, without main windows, whose names are of documents."""
    parts = [part for part in meant_parts(element.path) if not part.startswith(("application:", "root pane:"))]
    return "/".join(portable(part, home) for part in parts if part.partition(":")[2])


def meant_parts(path: Sequence[str]) -> list[str]:
    """Return the ancestors of an element whose names say where it is.

    Main windows are named after documents, and GTK 4 shows containers with the name of their class only at times. The
    name of a status bar is its message, which comes and goes.
    """
    meant = (part for part in path if not (part.startswith("frame:") or _OF_TOOLKIT.search(part)))
    return [_MESSAGE if part.startswith(_MESSAGE) else part for part in meant]


def called(element: Element, home: str = "") -> str:
    """Return the name, label or tooltip of an element."""
    # The name of a combo box is its value, which changes.
    own = "" if element.role == "combo box" else element.name
    for text in (own, element.label, element.description):
        plain = portable(text, home).replace("_", "").strip()
        if plain:
            return re.sub(r"\s*\[[^\]]*\]$", "", plain)[:80]
    return ""


def portable(text: str, home: str) -> str:
    """Return a text with "~" in place of the path of the home, and without the name of a private desktop's folder.

    A tree of folders that an application shows has another name in it on each desktop.
    """
    folder = _private_folder(home)
    text = text.replace(home, "~") if home else text
    return text.replace(folder, "desktop") if folder else text


@lru_cache(maxsize=16)
def _private_folder(home: str) -> str:
    """Return the name of the folder of a private desktop by its home; empty for any other home."""
    _, _, name = home.rpartition("/")[0].rpartition("/")
    return name if name.startswith("desktop-") else ""


def offer(candidate: Candidate, observation: Observation, home: str) -> Offer:
    """Describe a candidate so that it can be tried later, on any desktop."""
    element = candidate.element
    is_menu = candidate.control.role == CONTEXT_MENU
    action = Click(element_id=element.id, button_type="right") if is_menu else action_on(element)
    description = portable_description(describe(element, observation), home)
    switched = element.role in _SWITCHED or bool(element.states & {"checkable", "checked"})
    step = GroundedStep(
        action=action,
        targets={"element_id": description},
        intent=intent(candidate.control, action),
        state_before=state_of(element) if switched else None,
    )
    return Offer(
        control=candidate.control,
        step=step,
        disabled="disabled" in element.states,
        opens_menu=_opens_menu(element, observation),
        unsafe=unsafe(candidate, action, observation),
    )


def portable_description(description: ElementDescription, home: str) -> ElementDescription:
    """Return a description with "~" in place of the path of the home."""
    return description.model_copy(
        update={
            "name": portable(description.name, home),
            "description": portable(description.description, home),
            "window": portable(description.window, home),
            "path": tuple(portable(part, home) for part in description.path),
        }
    )


def action_on(element: Element) -> Action:
    """Return the action to try on an element: give a field or slider a text or another number, else click."""
    if element.role == "spin button":
        return Type(text=_another_number(element), element_id=element.id, overwrite=True, enter=True)
    if element.role in SET_BY_VALUE:
        return Type(text=SAMPLE_VALUE, element_id=element.id, overwrite=True)
    if element.role in FIELD_ROLES:
        return Type(text=SAMPLE_TEXT, element_id=element.id, overwrite=True)
    return Click(element_id=element.id)


def intent(control: Control, action: Action) -> str:
    """Describe a step in words."""
    if control.role == CONTEXT_MENU:
        return f"open the {control.name}"
    what = f"{control.name} {control.role}".strip()
    return f"type {action.text!r} into the {what}" if isinstance(action, Type) else f"click the {what}"


def unsafe(candidate: Candidate, action: Action, observation: Observation) -> str:
    """Return why a control is left alone; empty if it may be tried on a private desktop."""
    name, element = candidate.control.name, candidate.element
    if element.role in ("page tab", "radio button") and element.states & {"selected", "checked"}:
        return "it is already chosen"
    if element.role == "page tab":  # it only shows another page of the window
        return ""
    popups = {window.id for window in observation.windows if window.popup}
    is_framed = element.role in BUTTON_ROLES and element.window_id not in popups
    if is_framed and label("frame").fullmatch(name.casefold().split(" the ")[0]):
        return "it belongs to the window's frame"
    if risk_words.pattern("closing").match(name) or (
        element.role in BUTTON_ROLES and label("only_closes").fullmatch(name)
    ):
        return "it only closes"
    if why := _leads_away(name):
        return why
    for danger in find_dangers(action, observation):
        inside = (
            danger.risk == "irreversible"
            and label("edits").match(name)
            and not risk_words.pattern("file_managers").search(element.app)
        )
        if danger.risk in _ENDS_SOON or (danger.risk == "irreversible" and not inside):
            return danger.reason
    return ""


def _leads_away(name: str) -> str:
    if label("ends_application").match(name):
        return "it ends the application"
    if label("prints").match(name):
        return "it prints"
    return "it leads out of this computer" if label("leads_out").match(name) else ""


def unsafe_by_name(name: str) -> str:
    """Return why a function that is known by its name alone is left alone; empty if it may be tried."""
    if risk_words.pattern("closing").match(name):
        return "it only closes"
    return _leads_away(name) or ("it is irreversible" if risk_words.is_irreversible(name) else "")


def in_toolkit_dialogs(observation: Observation) -> frozenset[int]:
    """Return the ids of the elements in dialogs of the toolkit that choose a file, a color or a font.

    They are the same in every application, so they are opened, but not explored. Those for files of Qt have no role and
    no parts of their own; they are recognized by the names that Qt gives their lists.
    """
    paths = {(each.window_id, each.path) for each in observation.elements}  # most elements share theirs
    parts: dict[int, set[str]] = {}
    for window, path in paths:
        parts.setdefault(window, set()).update(path)
    for_files = {
        window
        for window, each in parts.items()
        if not any(map(each.isdisjoint, _CHOOSER_OF_QT)) or any(part.endswith(_FILE_CHOOSER_OF_GTK4) for part in each)
    }
    within = {
        path
        for _, path in paths
        if any(part.startswith(_CHOOSERS) or part.endswith(_CHOOSERS_OF_GTK4) for part in path)
    }
    return frozenset(each.id for each in observation.elements if each.window_id in for_files or each.path in within)


def _opens_menu(element: Element, observation: Observation) -> bool:
    in_menu_button = any(part.endswith(_MENU_BUTTON) for part in element.path[-1:])  # its menu is further inside
    is_entry = element.role == "menu item" and "has_popup" in element.states
    return in_menu_button or is_entry or (element.role in BUTTON_ROLES and _is_called_menu(element, observation))


def _is_called_menu(button: Element, observation: Observation) -> bool:
    """Return whether a button is called a menu, as no other: LibreOffice calls the arrows of all buttons "Menu"."""
    called_so = any(label("opens_menu").fullmatch(text) for text in (button.name, button.description))
    return called_so and sum((each.role, each.name) == (button.role, button.name) for each in observation.elements) == 1


def _can_be_used(element: Element) -> bool:
    if element.role in FIELD_ROLES:
        editable = "editable" in element.states and "multi_line" not in element.states
        return element.role == "spin button" or (
            element.value is not None if element.role in NUMBER_ROLES else editable
        )
    return element.role in MENU_ROLES or element.role in BUTTON_ROLES or element.role in CHOICE_ROLES


def _another_number(element: Element) -> str:
    value = element.value if element.value is not None else 1.0
    other = value + 1 if value < 10 else value - 1
    return f"{other:g}"
