"""An observation with derived properties: ranks of windows, labels by geometry, containment."""

from __future__ import annotations

import re
from functools import cached_property

from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation, Window
from agent_s.offline.finding.roles import BOXES, CHECKABLE, EDITABLE, LABELS, ROLES
from agent_s.offline.words import FIELDS

_LABELLED = ROLES["field"] | ROLES["slider"] | ROLES["combo"] | BOXES | {"terminal"}
_ROWS = frozenset({"list item", "table row", "grouping", "tree item"})
_GAP_BESIDE, _GAP_ABOVE, _GAP_BELOW = 240, 40, 60  # px
_DIALOG_PATH = re.compile(r"^(?:dialog|alert|file chooser|color chooser|font chooser|popover|popup menu)(?::|$)")


class Screen:
    """An observation with the properties derived from it."""

    def __init__(self, observation: Observation) -> None:
        self.observation = observation
        self.elements = observation.elements
        self.windows = observation.windows
        self.buffer = observation.buffer

    @cached_property
    def window_by_id(self) -> dict[int, Window]:
        """Windows by id."""
        return {window.id: window for window in self.windows}

    @property
    def active(self) -> Window | None:
        """The window that has the keyboard, or the topmost that is not a menu."""
        return self.observation.active_window or next((window for window in self.windows if not window.popup), None)

    @property
    def title(self) -> str:
        """The title of the active window; "" if there is none."""
        return self.active.title if self.active is not None else ""

    @cached_property
    def popups(self) -> tuple[Window, ...]:
        """Open menus and other popups that are not empty, topmost first."""
        held = {element.window_id for element in self.elements}
        return tuple(window for window in self.windows if window.popup and window.id in held)

    @cached_property
    def focus(self) -> Element | None:
        """The element that has the keyboard."""
        marked = (one for one in self.elements if "focused" in one.states and self.is_active(one))
        return self.observation.focused or next(marked, None)

    def is_active(self, element: Element) -> bool:
        """Return whether an element lies in the active window."""
        return self.active is not None and element.window_id == self.active.id

    @cached_property
    def _penalties(self) -> dict[int, int]:
        """Penalty of the elements in each window; there is none for windows in front."""
        active = self.active
        penalties: dict[int, int] = {}
        for window in self.windows:
            same_app = active is None or window.app == active.app
            in_front = active is None or window.id == active.id or (window.popup and (same_app or not window.app))
            penalties[window.id] = 0 if in_front else 4 if same_app else 9
        return penalties

    def penalty(self, element: Element) -> int:
        """Return the penalty of an element for its location."""
        penalty = self._penalties.get(element.window_id, 9)
        if self._has_inner_dialog and not in_dialog(element):
            penalty += 3
        if penalty == 0 and self.is_around_page(element):
            penalty += 5
        return penalty

    @cached_property
    def _has_page(self) -> bool:
        return any(in_page(element) or element.name == FIELDS["address"][0] for element in self.front)

    def is_around_page(self, element: Element) -> bool:
        """Return whether an element belongs to the browser itself rather than to its page."""
        return self._has_page and not in_page(element) and self._penalties.get(element.window_id, 9) == 0

    @cached_property
    def _has_inner_dialog(self) -> bool:
        return len({in_dialog(element) for element in self.front}) == 2

    @cached_property
    def front(self) -> tuple[Element, ...]:
        """Elements of the active window and of open menus."""
        return tuple(element for element in self.elements if self._penalties.get(element.window_id) == 0)

    @cached_property
    def dialogs(self) -> tuple[Window, ...]:
        """Windows that are modal, have the role of a dialog, or are smaller than all others of their application."""
        return tuple(one for one in self.windows if not one.popup and (one.modal or self._is_secondary(one)))

    def _is_secondary(self, window: Window) -> bool:
        siblings = [one for one in self.windows if one.id != window.id and not one.popup and one.app == window.app]
        path = next((one.path[0] for one in self.elements if one.window_id == window.id and one.path), "")
        is_smallest = bool(siblings) and all(window.rect.area < other.rect.area for other in siblings)
        return is_smallest or _DIALOG_PATH.match(path) is not None

    @cached_property
    def labels(self) -> dict[int, str]:
        """Text next to or above each field, box and slider, by element id."""
        texts = [element for element in self.elements if element.role in LABELS and shown_name(element)]
        headers = [element for element in self.elements if element.role in ROLES["column"]]
        found: dict[int, str] = {}
        for element in self.elements:
            if element.role == "table cell" and is_box(element):
                found[element.id] = _header_above(element, headers)
            elif element.role in _LABELLED:
                found[element.id] = _row_name(element) or self._label_near(element, texts)
        return {key: label for key, label in found.items() if label}

    def _label_near(self, element: Element, texts: list[Element]) -> str:
        near = [
            (distance, text)
            for text in texts
            if text.window_id == element.window_id and (distance := _label_distance(element, text.rect)) is not None
        ]
        near.sort(key=lambda pair: pair[0])
        return next((shown_name(text) for _, text in near if not self._between(text, element)), "")

    def _between(self, text: Element, element: Element) -> bool:
        """Return whether another labeled element lies between a text and an element on the same line."""
        left, right = sorted((text.rect, element.rect))
        others = (other for other in self.elements if other.role in _LABELLED and other.window_id == element.window_id)
        return same_line(text.rect, element.rect) and any(
            same_line(other.rect, element.rect) and left.right <= other.rect.center.x <= right.x for other in others
        )

    def editors(self) -> list[Element]:
        """Return the text fields in front, the largest first; documents precede single lines."""
        fields = [
            element
            for element in self.front
            if ("editable" in element.states or element.role == "terminal")
            and not element.states & {"disabled", "read_only"}
            and element.point is not None
        ]
        large = {"multi_line", "document text"}
        return sorted(fields, key=lambda one: -one.rect.area * (3 if large & (one.states | {one.role}) else 1))

    def has_sheet(self) -> bool:
        """Return whether cells with an address are on the screen."""
        return any(is_cell_of_sheet(element) for element in self.elements)


def in_page(element: Element) -> bool:
    """Return whether an element lies in a web page."""
    return any(part.startswith("document web") for part in element.path)


def in_dialog(element: Element) -> bool:
    """Return whether an element lies in a dialog, which may be part of a page."""
    return any(_DIALOG_PATH.match(part) for part in element.path)


def shown_name(element: Element) -> str:
    """Return the name of an element, or the text of a label without one."""
    return element.name or (element.text or "" if element.role in LABELS else "")


def is_cell_of_sheet(element: Element) -> bool:
    """Return whether an element is a cell with an address, such as "B2"."""
    return element.role == "table cell" and re.fullmatch(r"[A-Z]{1,3}[1-9]\d{0,6}", element.name) is not None


def content_of(element: Element) -> str:
    """Return the content of an element, or the name of a text without content."""
    if element.text is not None:
        return element.text
    return "" if element.role in EDITABLE else element.name


def same_line(one: Rect, other: Rect) -> bool:
    """Return whether two rectangles stand side by side."""
    overlap = min(one.bottom, other.bottom) - max(one.y, other.y)
    return overlap * 2 >= min(one.height, other.height) > 0


def same_column(one: Rect, other: Rect) -> bool:
    """Return whether two rectangles stand one above the other."""
    overlap = min(one.right, other.right) - max(one.x, other.x)
    return overlap * 4 >= min(one.width, other.width) > 0


def is_box(element: Element) -> bool:
    """Return whether an element can be on or off, which includes some table cells."""
    return element.role in CHECKABLE or "checkable" in element.states


def is_on(element: Element) -> bool:
    """Return whether a box, switch or option is on."""
    return bool(element.states & {"checked", "pressed", "selected"})


def role_of(element: Element) -> str:
    """Return the role of an element; a cell with a box in it is a check box."""
    return "check box" if element.role == "table cell" and "checkable" in element.states else element.role


def name_of(element: Element) -> str:
    """Return the name of an element in reports."""
    called = element.name or element.label or element.description or (element.text or "")[:40]
    return f"the {element.role} {called!r}" if called else f"the {element.role} without a name"


def value_beside(element: Element, screen: Screen) -> str:
    """Return the text to the right of a label, or else the one below it."""
    others = [
        other
        for other in screen.elements
        if other.id != element.id
        and other.window_id == element.window_id
        and content_of(other).strip()
        and other.role not in ROLES["menuitem"] | ROLES["button"]
    ]
    at = element.rect
    right = [one for one in others if same_line(at, one.rect) and one.rect.x >= at.center.x]
    below = [one for one in others if same_column(at, one.rect) and 0 <= one.rect.y - at.bottom <= _GAP_BELOW]
    nearest = min(right, key=lambda one: one.rect.x, default=None) or min(
        below, key=lambda one: one.rect.y, default=None
    )
    return content_of(nearest).strip() if nearest is not None else ""


def _header_above(element: Element, headers: list[Element]) -> str:
    above = [
        other
        for other in headers
        if other.window_id == element.window_id
        and same_column(other.rect, element.rect)
        and other.rect.y < element.rect.y
    ]
    return max(above, key=lambda other: other.rect.y).name if above else ""


def _row_name(element: Element) -> str:
    """Return the name of the settings row that contains a control without a name."""
    if element.name or element.label or not element.path:
        return ""
    role, _, name = element.path[-1].partition(":")
    return name if role in _ROWS else ""


def _label_distance(element: Element, text: Rect) -> float | None:
    """Return the distance of a text that may label an element; None if it cannot."""
    rect = element.rect
    if same_line(rect, text):
        if element.role in BOXES:
            return float(text.x - rect.right) if -4 <= text.x - rect.right <= 56 else None
        return float(rect.x - text.right) if -4 <= rect.x - text.right <= _GAP_BESIDE else None
    gap = rect.y - text.bottom
    above = element.role not in BOXES and -2 <= gap <= _GAP_ABOVE and same_column(rect, text)
    return 60.0 + gap if above else None
