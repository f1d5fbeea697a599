"""What people call the things on a screen, and the accessibility roles that are meant."""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal[
    "button", "checkbox", "radio", "field", "link", "tab", "menu", "menuitem", "combo", "item", "slider", "spin",
    "date", "cell", "heading", "image", "switch", "text", "tree", "list", "dialog", "window", "row", "column", "toolbar",
    "section", "form", "page", "progress", "password", "area", "toggle", "terminal", "table", "result", "paragraph",
]  # fmt: skip
"""A kind of element as people tell them apart."""

ROLES: dict[Kind, frozenset[str]] = {
    "button": frozenset({"push button", "toggle button", "push button menu", "button", "menu button", "split button"}),
    "toggle": frozenset({"toggle button", "switch"}),
    "checkbox": frozenset({"check box", "check menu item"}),
    "switch": frozenset({"switch", "toggle button", "check box"}),
    "radio": frozenset({"radio button", "radio menu item"}),
    "field": frozenset(
        {"entry", "text", "password text", "editbar", "autocomplete", "spin button", "combo box", "search box", "date editor"}
    ),
    "area": frozenset({"text", "entry", "document text", "terminal", "document frame", "paragraph"}),
    "password": frozenset({"password text"}),
    "link": frozenset({"link"}),
    "tab": frozenset({"page tab"}),
    "menu": frozenset({"menu", "menu item", "push button menu", "toggle button", "push button"}),
    "menuitem": frozenset({"menu item", "check menu item", "radio menu item", "menu", "tearoff menu item"}),
    "combo": frozenset({"combo box", "list box", "push button menu"}),
    "item": frozenset({"list item", "menu item", "tree item", "table cell", "icon", "desktop icon", "option", "page tab"}),
    "tree": frozenset({"tree item", "table cell", "list item"}),
    "slider": frozenset({"slider", "dial", "rating"}),
    "spin": frozenset({"spin button"}),
    "date": frozenset({"date editor", "calendar"}),
    "cell": frozenset({"table cell"}),
    "heading": frozenset({"heading"}),
    "image": frozenset({"image", "icon", "graphic"}),
    "text": frozenset({"label", "static", "paragraph", "heading", "caption", "text line", "status bar", "info bar", "alert", "tool tip", "section"}),
    "row": frozenset({"table row", "list item", "tree item", "table cell"}),
    "column": frozenset({"column header", "table column header"}),
    "list": frozenset({"list", "list box", "tree", "tree table", "table", "combo box"}),
    "table": frozenset({"table", "tree table"}),
    "dialog": frozenset({"dialog", "alert", "file chooser", "color chooser", "font chooser"}),
    "window": frozenset({"frame", "window"}),
    "toolbar": frozenset({"tool bar", "toolbar"}),
    "section": frozenset({"panel", "section", "grouping", "landmark", "page tab", "toggle button", "article", "push button", "heading"}),
    "form": frozenset({"form", "panel"}),
    "page": frozenset({"document web", "document frame", "page tab"}),
    "progress": frozenset({"progress bar", "level bar"}),
    "terminal": frozenset({"terminal"}),
    "result": frozenset({"link"}),
    "paragraph": frozenset({"paragraph"}),
}  # fmt: skip
"""Accessibility roles by kind."""

EDITABLE = ROLES["field"] | frozenset({"terminal", "document text"})
CHECKABLE = frozenset({"check box", "radio button", "check menu item", "radio menu item", "toggle button", "switch"})
"""Roles that can be on or off; so can cells that say they are `checkable`."""
ACTIONABLE = (
    ROLES["button"] | CHECKABLE | ROLES["field"] | ROLES["menuitem"] | ROLES["item"] | ROLES["slider"]
    | frozenset({"link", "column header", "row header", "list box", "terminal", "arrow"})
)  # fmt: skip
"""Roles that do something when they are used."""
LABELS = frozenset(
    {"label", "static", "text line", "heading", "caption", "paragraph", "description term", "row header", "section"}
)
"""Roles that name what stands beside them."""

NOUNS: dict[str, tuple[Kind, ...]] = {
    "button": ("button",), "push button": ("button",), "pushbutton": ("button",), "btn": ("button",),
    "key": ("button",), "icon": ("image", "button", "item"), "toolbar button": ("button",), "tool button": ("button",),
    "toggle button": ("toggle",), "toggle": ("toggle", "switch", "checkbox"), "switch": ("switch",),
    "checkbox": ("checkbox", "switch"), "check box": ("checkbox", "switch"), "check-box": ("checkbox", "switch"),
    "tick box": ("checkbox", "switch"), "tickbox": ("checkbox", "switch"), "checkmark": ("checkbox", "switch"),
    "radio button": ("radio",), "radiobutton": ("radio",), "radio": ("radio",), "radio option": ("radio",), "radio-button": ("radio",),
    "field": ("field", "area"), "text field": ("field", "area"), "textfield": ("field", "area"), "text box": ("field", "area"),
    "textbox": ("field", "area"), "input": ("field", "area"), "input field": ("field", "area"), "input box": ("field", "area"),
    "text input": ("field", "area"), "input text": ("field", "area"), "entry": ("field", "area"), "entry field": ("field", "area"),
    "text entry": ("field", "area"), "edit box": ("field", "area"), "edit field": ("field", "area"), "bar": ("field",),
    "textarea": ("area", "field"), "text area": ("area", "field"),
    "text-field": ("field", "area"), "text-box": ("field", "area"), "text view": ("area",), "editor": ("area", "field"), "line": ("field",),
    "link": ("link", "text"), "hyperlink": ("link", "text"), "url": ("link", "text"),
    "tab": ("tab",), "page tab": ("tab",), "tab page": ("tab",), "tab button": ("tab",),
    "menu": ("menu",), "menu item": ("menuitem",), "menu entry": ("menuitem",), "menu option": ("menuitem",),
    "command": ("menuitem", "button"), "submenu": ("menuitem",), "sub-menu": ("menuitem",),
    "drop-down": ("combo",), "dropdown": ("combo",), "drop down": ("combo",), "combo box": ("combo", "field"), "combobox": ("combo", "field"),
    "dropdown menu": ("combo", "menu"), "drop-down menu": ("combo", "menu"), "drop-down list": ("combo",), "dropdown list": ("combo",),
    "drop down list": ("combo",), "drop down menu": ("combo", "menu"), "dropdown box": ("combo",), "select box": ("combo",), "picker": ("combo", "date"),
    "list box": ("combo", "list"), "listbox": ("combo", "list"), "choice box": ("combo",), "selector": ("combo", "spin"), "selection box": ("combo",),
    "select": ("combo",), "list": ("combo", "list"), "selection list": ("combo", "list"), "scroll list": ("combo", "list"),
    "item": ("item", "menuitem"), "list item": ("item",), "entry in the list": ("item",), "option": ("radio", "checkbox", "item", "menuitem", "button"),
    "choice": ("radio", "item"), "result": ("result",), "search result": ("result",), "folder": ("item", "image"), "file": ("item", "image"),
    "directory": ("item", "image"), "node": ("tree",), "tree item": ("tree",), "tree node": ("tree",), "branch": ("tree",), "category": ("tree", "item", "tab"),
    "slider": ("slider",), "scale": ("slider",), "dial": ("slider",), "range": ("slider",),
    "spinner": ("spin",), "spin button": ("spin",), "spin box": ("spin",), "spinbox": ("spin",), "stepper": ("spin",), "spinbutton": ("spin",),
    "number field": ("spin", "field"), "number box": ("spin", "field"), "number input": ("spin", "field"),
    "date field": ("date", "field"), "date picker": ("date", "field"), "datepicker": ("date", "field"), "date input": ("date", "field"),
    "time field": ("date", "field"), "time picker": ("date", "field"), "calendar": ("date",),
    "cell": ("cell",), "heading": ("heading", "text"), "header": ("heading", "column", "text"), "title": ("heading", "text"),
    "column header": ("column",), "column": ("column",), "row": ("row",), "picture": ("image",), "image": ("image",), "photo": ("image",),
    "label": ("text",), "text": ("text",), "paragraph": ("paragraph", "text"), "sentence": ("text",), "word": ("text",), "message": ("text",),
    "section": ("section",), "panel": ("section",), "group": ("section",), "expander": ("section", "button"), "accordion": ("section",), "pane": ("section",),
    "dialog": ("dialog",), "dialogue": ("dialog",), "dialog box": ("dialog",), "dialogue box": ("dialog",), "popup": ("dialog", "menu"),
    "pop-up": ("dialog", "menu"), "prompt": ("dialog",), "message box": ("dialog",), "alert": ("dialog",), "dialog window": ("dialog",), "modal": ("dialog",),
    "window": ("window",), "toolbar": ("toolbar",), "tool bar": ("toolbar",), "sidebar": ("section", "list"), "side bar": ("section", "list"), "side pane": ("section", "list"),
    "form": ("form",), "page": ("page",), "web page": ("page",), "webpage": ("page",), "site": ("page",), "website": ("page",), "progress bar": ("progress",), "terminal": ("terminal",),
    "table": ("table", "list"), "tree": ("table", "list"), "document": ("area",), "text document": ("area",), "editing area": ("area",), "canvas": ("area",),
    "menu bar": ("menu",), "menubar": ("menu",), "status bar": ("text",), "shortcut": ("item", "link"), "bookmark": ("item", "button", "link"),
    "element": (), "widget": (), "control": (), "thing": (), "object": (), "one": (), "box": ("checkbox", "field", "combo"), "setting": (), "preference": (), "value": ("field", "spin"),
}  # fmt: skip
"""Kinds by noun, the likeliest first; a noun without kinds may be anything."""

CONTAINERS: frozenset[Kind] = frozenset(
    {"dialog", "window", "toolbar", "section", "form", "page", "list", "table", "menu", "row", "column", "combo", "tree", "area"}
)  # fmt: skip
"""Kinds in which other elements lie."""

_BY_LENGTH = sorted(NOUNS, key=lambda noun: -len(noun))
_ENDING = re.compile(rf"(?:^|(?<=[\s\ue001]))({'|'.join(map(re.escape, _BY_LENGTH))})(e?s)?$", re.IGNORECASE)
_BEGINNING = re.compile(rf"^({'|'.join(map(re.escape, _BY_LENGTH))})(e?s)?(?=$|[\s:\ue000#])", re.IGNORECASE)


def take_noun_at_end(text: str) -> tuple[str, str, bool]:
    """Split "Save As button" into "Save As" and "button".

    Returns:
        What is before the noun, the noun ("" where there is none), and whether it is a plural.
    """
    match = _ENDING.search(text)
    return (text[: match.start()].rstrip(), match[1].casefold(), bool(match[2])) if match else (text, "", False)


def take_noun_at_start(text: str) -> tuple[str, str, bool]:
    """Split "button Save As" into "Save As" and "button"; see `take_noun_at_end`."""
    match = _BEGINNING.match(text)
    return (text[match.end() :].lstrip(" :"), match[1].casefold(), bool(match[2])) if match else (text, "", False)


def roles_of(kinds: tuple[Kind, ...]) -> frozenset[str]:
    """Return the accessibility roles of some kinds; empty where anything may be meant."""
    return frozenset().union(*(ROLES[kind] for kind in kinds))


def show_kinds(kinds: tuple[Kind, ...]) -> str:
    """Name what is looked for, for messages."""
    names = {
        "item": "item",
        "menuitem": "menu item",
        "combo": "drop-down list",
        "checkbox": "check box",
        "radio": "radio button",
    }
    return names.get(kinds[0], kinds[0]) if kinds else "element"
