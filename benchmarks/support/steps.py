"""Small things that a person does on the screen with all programs: what they are done to, and how."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aci.acting.actions import Action, Click, Hotkey, Scroll, Type
from aci.observation.observation import Element, Observation

LETTERS = "abcdefghijklmnopqrstuvwxyz"

Choose = Callable[[Observation, random.Random], Sequence[Action]]
"""Chooses actions on what is seen, one after another; none where what they need is not there."""


@dataclass(frozen=True, slots=True)
class Step:
    """One kind of thing to do."""

    name: str  # what it is
    choose: Choose  # chooses the actions
    # keys, such as "alt+Left", that are pressed afterwards, once the effect was looked at, so that the next step finds
    # the screen free
    undo: tuple[str, ...] = ()


def find(observation: Observation, app: str, role: str, name: str = ".*") -> list[Element]:
    """Return the elements of an application that can be hit, by patterns for the whole of role and name."""
    return [
        element
        for element in observation.elements
        if app in element.app.casefold()
        and element.point is not None
        and "disabled" not in element.states
        and re.fullmatch(role, element.role)
        and re.fullmatch(name, element.name, re.DOTALL)
    ]


def _some(app: str, role: str, name: str, act: Callable[[Element, random.Random], Action], *keys: str) -> Choose:
    """Return what acts on one of the elements that fit, and presses keys afterwards."""

    def choose(observation: Observation, chance: random.Random) -> Sequence[Action]:
        found = find(observation, app, role, name)
        return [act(chance.choice(found), chance), *map(pressed, keys)] if found else []

    return choose


def pressed(keys: str) -> Hotkey:
    """Return what presses keys such as "ctrl+Page_Up"."""
    return Hotkey(keys=tuple(keys.split("+")))


def _click(element: Element, _: random.Random) -> Action:
    return Click(element_id=element.id)


def _letter(element: Element, chance: random.Random) -> Action:
    return Type(text=chance.choice(LETTERS), element_id=element.id)


def _line(element: Element, chance: random.Random) -> Action:
    return Type(text=chance.choice(LETTERS), element_id=element.id, enter=True)


def _number(element: Element, chance: random.Random) -> Action:
    return Type(text=str(chance.randrange(10, 99)), element_id=element.id, enter=True)


def _down(element: Element, chance: random.Random) -> Action:
    return Scroll(element_id=element.id, clicks=chance.choice((-3, -2, 2, 3)))


_MENUS = "(File|Edit|View|Help|Insert|Format|Tools|Window|Search|Document)"
_CELL = "[A-H]1?[0-9]"
_TEXT = "soffice", "(paragraph|document text|text)", "Paragraph .*|"

SMALL: Sequence[Step] = (
    Step("a letter in the editor", _some("mousepad", "text", ".*", _letter)),
    Step("a check box of the page", _some("chromium", "check box", "Pick .*", _click)),
    Step("a letter in a field of the page", _some("chromium", "entry", "Field .*", _letter)),
    Step("a digit of the calculator", _some("calculator", "push button", "[0-9]", _click)),
    Step("a cell of the sheet selected", _some("soffice", "table cell", _CELL, _click)),
    Step("a letter in the document", _some(*_TEXT, _letter)),
)
"""One small change each, in what the tree covers."""

MORE: Sequence[Step] = (
    *SMALL,
    Step("a line in the editor", _some("mousepad", "text", ".*", _line)),
    Step("a paragraph in the document", _some(*_TEXT, _line)),
    Step("a number in a cell", _some("soffice", "table cell", _CELL, _number)),
    Step("a row added to the sheet", _some("soffice", "table cell", "A[0-9]", _click, "shift+space", "ctrl+KP_Add")),
    Step("another sheet", _some("soffice", "table cell", _CELL, _click, "ctrl+Page_Down"), undo=("ctrl+Page_Up",)),
    Step("a format button", _some("soffice", "toggle button", "(Bold|Italic|Align.*|Center.*)", _click)),
    Step("a menu of the editor", _some("mousepad", "menu", _MENUS, _click), undo=("Escape",)),
    Step("a menu of the office", _some("soffice", "menu", _MENUS, _click), undo=("Escape", "Escape")),
    Step("the menu of the calculator", _some("calculator", "(push|toggle) button.*", "|Basic", _click),
         undo=("Escape",)),
    Step("the menu of the browser", _some("chromium", "push button", "Chromium", _click), undo=("Escape",)),
    Step("the list of a combo box", _some("chromium", "combo box", "Fruit", _click), undo=("Escape",)),
    Step("the editor scrolled", _some("mousepad", "text", ".*", _down)),
    Step("the document scrolled", _some(*_TEXT, _down)),
    Step("a list of the page scrolled", _some("chromium", "list item", "Place .*", _down)),
    Step("the page scrolled", _some("chromium", "push button", "Open .*", _down)),
    Step("the sheet scrolled", _some("soffice", "table cell", "[A-H][0-9]+", _down)),
    Step("a row added to the page", _some("chromium", "push button", "More", _click)),
    Step("the theme of the page", _some("chromium", "push button", "Theme", _click)),
    Step("a part of the page moved by style", _some("chromium", "push button", "Shift", _click)),
    Step("the page flowing anew", _some("chromium", "push button", "Narrow", _click)),
    Step("rows of the page hidden by a timer", _some("chromium", "push button", "Later", _click)),
    Step("labels of the page changed", _some("chromium", "push button", "Rename", _click)),
    Step("a link of the page", _some("chromium", "link", "Link .*", _click)),
    Step("another page", _some("chromium", "link", "Away", _click), undo=("alt+Left",)),
    Step("another tab", _some("chromium", "push button", "Open .*", _click, "ctrl+Tab"), undo=("ctrl+Tab",)),
    Step("a new tab", _some("chromium", "push button", "New Tab", _click), undo=("ctrl+w",)),
    Step("a dialog of the editor", _some("mousepad", "text", ".*", _click, "ctrl+h"), undo=("Escape",)),
    Step("a dialog of the sheet", _some("soffice", "table cell", _CELL, _click, "ctrl+1"), undo=("Escape",)),
    Step("a dialog of the document", _some(*_TEXT, _click, "ctrl+h"), undo=("Escape",)),
    Step("a bar of the browser", _some("chromium", "push button", "Open .*", _click, "ctrl+f"), undo=("Escape",)),
)  # fmt: skip
"""All kinds of changes, also those that no accessibility event announces."""
