"""Comparison of what a page or window reports that it shows with what is seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element
from aci.observation.text import value_of

NEAR_PX = 6
_BUTTONS = frozenset({"push button", "toggle button", "link", "page tab", "menu item", "list item", "combo box"})
_FIELDS = frozenset({"entry", "text", "password text", "spin button", "combo box", "section", "paragraph"})
_BOXES = frozenset({"check box", "switch", "toggle button"})
_ROLES: Mapping[str, frozenset[str]] = {
    "a": frozenset({"link"}),
    "link": frozenset({"link", "push button"}),
    "select": frozenset({"combo box"}),
    "radio": frozenset({"radio button"}),
    "date": frozenset({"date editor"}),
    "spin": frozenset({"spin button"}),
    "cell": frozenset({"check box", "table cell", "tree item", "list item"}),
    "tab": frozenset({"page tab", "radio button", "push button"}),
    "menu": frozenset({"menu", "menu item"}),
    "entry": frozenset(
        {"check box", "radio button", "menu item", "check menu item", "radio menu item", "list item", "table cell"}
    ),
    "toggle": _BUTTONS,
    **dict.fromkeys(("checkbox", "switch"), _BOXES),
    **dict.fromkeys(("range", "slider"), frozenset({"slider"})),
    **dict.fromkeys(("text", "email", "tel", "url", "search", "password", "number", "textarea"), _FIELDS),
    **dict.fromkeys(("button", "submit", "reset", "file", "color", "summary", "image"), _BUTTONS),
}
_ENTRIES = frozenset({"menu", "menu item", "check menu item", "radio menu item"})
_READ = _ENTRIES | {
    "static", "label", "heading", "paragraph", "section", "link", "push button", "check box", "list item"
}  # fmt: skip


@dataclass
class Comparison:
    """What came of comparing some pages or windows."""

    parts: int = 0  # texts and controls that are shown
    unseen: list[str] = field(default_factory=list)  # those that are not seen as they are
    elements: int = 0  # elements of texts and buttons
    phantoms: list[str] = field(default_factory=list)  # those where nothing is shown

    def add(self, name: str, shown: Mapping[str, Any], elements: Sequence[Element], corner: Point) -> None:
        """Compare a report with the elements that are seen.

        Args:
            name: What is shown, for the lists.
            shown: The report: `texts` and `controls`, each with its box in pixels from a corner.
            elements: The elements that may be parts of it.
            corner: The pixel of the screen at that corner.
        """
        texts = [(each, _box(each, corner)) for each in shown["texts"]]
        controls = [(each, _box(each, corner)) for each in shown["controls"]]
        self.parts += sum(text["counts"] for text, _ in texts) + len(controls)
        self.unseen += [
            f"{name}: text {text['words'][:40]!r}"
            for text, box in texts
            if text["counts"] and not _says(text, box, elements)
        ]
        for control, box in controls:
            if problem := _problem(control, box, elements):
                self.unseen.append(f"{name}: {control['kind']} {control['name'][:30]!r} {problem}")
        places = [box for _, box in (*texts, *controls)]
        written = [each for each in elements if each.role in _READ and each.name]
        self.elements += len(written)
        self.phantoms += [
            f"{name}: nothing is shown at {each.role} {each.name[:40]!r}"
            for each in written
            if not any(map(each.rect.intersection, places))
        ]


def _box(part: Mapping[str, Any], corner: Point) -> Rect:
    return Rect(
        corner.x + round(part["x"]), corner.y + round(part["y"]), max(1, round(part["width"])), round(part["height"])
    )


def _says(text: Mapping[str, Any], box: Rect, elements: Sequence[Element]) -> bool:
    """Return whether an element at the place of a text has these words."""
    words = _plain(text["words"])
    return any(each.rect.grown(NEAR_PX, NEAR_PX).contains(box.center) and words in _words_of(each) for each in elements)


def _problem(control: Mapping[str, Any], box: Rect, elements: Sequence[Element]) -> str:
    """Return what is wrong about how a control is seen; empty if nothing is."""
    kind = control["kind"]
    roles = _ROLES.get(kind)
    around = box.grown(NEAR_PX, NEAR_PX)
    there = [each for each in elements if (roles is None or each.role in roles) and around.contains(each.rect.center)]
    there = [each for each in there if box.area <= 5 * each.rect.area and each.rect.area <= 3 * box.area] or there
    if not there:
        return "is not seen"
    if control["name"] and not any(_plain(control["name"]) in _words_of(each) for each in there):
        return f"is called {there[0].name!r}"
    if control["content"] is not None and all(_content(each) != _plain(control["content"]) for each in there):
        return f"contains {there[0].text!r}, not {control['content']!r}"
    for state in ("checked", "disabled"):
        if control[state] is not None and all((state in each.states) != control[state] for each in there):
            return f"is{'' if control[state] else ' not'} {state}"
    return ""


def _words_of(element: Element) -> str:
    return _plain(" ".join(filter(None, (element.name, element.label, element.text, element.description))))


def _content(element: Element) -> str:
    return _plain(value_of(element) if element.text is None else element.text)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
