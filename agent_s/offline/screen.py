"""An observation as the matching and the policies see it: windows by rank, names by geometry, what lies in what."""

from __future__ import annotations

import re
from functools import cached_property

from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation, Window
from agent_s.offline.roles import CHECKABLE, EDITABLE, LABELS, ROLES

_LABELLED_ROLES = (
    ROLES["field"] | ROLES["slider"] | ROLES["combo"] | frozenset({"check box", "radio button", "switch", "terminal"})
)
_BOXES = frozenset({"check box", "radio button", "switch"})
_ROWS = frozenset({"list item", "table row", "grouping", "tree item"})
_GAP_BESIDE, _GAP_ABOVE = 240, 40
_AROUND_PAGE = 5
_ADDRESS_BAR = "Address and search bar"
_DIALOG_PATH = re.compile(r"^(?:dialog|alert|file chooser|color chooser|font chooser|popover|popup menu)(?::|$)")


class Screen:
    """What is on the screen, with what can be worked out from it.

    Args:
        observation: What the desktop saw.
        instruction: What the person asked for; a text that only repeats it, as test pages show, is never meant.
    """

    def __init__(self, observation: Observation, instruction: str = "") -> None:
        self.observation = observation
        said = " ".join(instruction.split())
        self.elements = tuple(
            element
            for element in observation.elements
            if not said or element.role not in LABELS or " ".join(shown_name(element).split()) != said
        )
        self.windows = observation.windows
        self.buffer = observation.buffer

    @cached_property
    def window_by_id(self) -> dict[int, Window]:
        """Windows by id."""
        return {window.id: window for window in self.windows}

    @property
    def active(self) -> Window | None:
        """The window that has the keyboard, or the topmost real one."""
        return self.observation.active_window or next((window for window in self.windows if not window.popup), None)

    @cached_property
    def popups(self) -> tuple[Window, ...]:
        """Menus and the like that hold something, topmost first."""
        held = {element.window_id for element in self.elements}
        return tuple(window for window in self.windows if window.popup and window.id in held)

    @cached_property
    def focus(self) -> Element | None:
        """The element that has the keyboard."""
        focus_id = self.observation.focus_id
        if focus_id is not None and focus_id in self.observation.by_id:
            return self.observation.by_id[focus_id]
        return next(
            (element for element in self.elements if "focused" in element.states and self.is_active(element)), None
        )

    def is_active(self, element: Element) -> bool:
        """Tell whether an element lies in the active window."""
        return self.active is not None and element.window_id == self.active.id

    @cached_property
    def _penalties(self) -> dict[int, int]:
        """How unlikely an element of each window is meant, in points of a score."""
        active = self.active
        penalties: dict[int, int] = {}
        for window in self.windows:
            if (
                active is None
                or window.id == active.id
                or (window.popup and (window.app == active.app or not window.app))
            ):
                penalties[window.id] = 0
            elif window.app == active.app:
                penalties[window.id] = 4
            else:
                penalties[window.id] = 9
        return penalties

    def penalty(self, element: Element) -> int:
        """Return how much less likely an element is meant for lying where it lies."""
        penalty = self._penalties.get(element.window_id, 9)
        if self._has_inner_dialog and not any(_DIALOG_PATH.match(part) for part in element.path):
            penalty += 3
        if penalty == 0 and self.is_around_page(element):
            penalty += _AROUND_PAGE
        return penalty

    @cached_property
    def _has_page(self) -> bool:
        """Whether a browser is in front: what is in its page is likelier meant than what is around it."""
        return any(in_page(element) or element.name == _ADDRESS_BAR for element in self.front)

    def is_around_page(self, element: Element) -> bool:
        """Tell whether an element belongs to the browser in front, and not to its page."""
        return self._has_page and not in_page(element) and self._penalties.get(element.window_id, 9) == 0

    @cached_property
    def _has_inner_dialog(self) -> bool:
        return any(_DIALOG_PATH.match(part) for element in self.front for part in element.path) and any(
            not any(_DIALOG_PATH.match(part) for part in element.path) for element in self.front
        )

    @cached_property
    def front(self) -> tuple[Element, ...]:
        """Elements of the active window and of open menus."""
        allowed = {window_id for window_id, penalty in self._penalties.items() if penalty == 0}
        return tuple(element for element in self.elements if element.window_id in allowed)

    @cached_property
    def dialogs(self) -> tuple[Window, ...]:
        """Windows that are dialogs by what they say, or small beside another window of the application."""
        return tuple(
            window for window in self.windows if not window.popup and (window.modal or self._is_secondary(window))
        )

    def _is_secondary(self, window: Window) -> bool:
        siblings = [
            other for other in self.windows if other.id != window.id and not other.popup and other.app == window.app
        ]
        paths = [element.path[0] for element in self.elements if element.window_id == window.id and element.path]
        if any(_DIALOG_PATH.match(path) for path in paths[:1]):
            return True
        return bool(siblings) and all(window.rect.area < other.rect.area for other in siblings)

    @cached_property
    def labels(self) -> dict[int, str]:
        """Name that stands beside or above each field, box or slider, by element id."""
        texts = [element for element in self.elements if element.role in LABELS and shown_name(element)]
        headers = [element for element in self.elements if element.role in ROLES["column"]]
        found: dict[int, str] = {}
        for element in self.elements:
            if element.role == "table cell" and is_box(element):
                found[element.id] = _header_above(element, headers)
            elif element.role in _LABELLED_ROLES:
                found[element.id] = _row_name(element) or self._label_near(element, texts)
        return {key: label for key, label in found.items() if label}

    def _label_near(self, element: Element, texts: list[Element]) -> str:
        best: tuple[float, str] | None = None
        for text in texts:
            if text.window_id != element.window_id:
                continue
            distance = _label_distance(element, text.rect)
            if distance is not None and (best is None or distance < best[0]) and not self._between(text, element):
                best = (distance, shown_name(text))
        return best[1] if best else ""

    def _between(self, text: Element, element: Element) -> bool:
        """Tell whether another field stands between a text and an element in the same line."""
        if not same_line(text.rect, element.rect):
            return False
        left, right = sorted((text.rect, element.rect))
        return any(
            other.id not in (text.id, element.id)
            and other.window_id == element.window_id
            and other.role in _LABELLED_ROLES
            and same_line(other.rect, element.rect)
            and left.right <= other.rect.center.x <= right.x
            for other in self.elements
        )

    def editors(self) -> list[Element]:
        """Return the fields of the active window that take text, the largest first."""
        fields = [
            element
            for element in self.front
            if (element.role in EDITABLE or "editable" in element.states)
            and "editable" in element.states | ({"editable"} if element.role == "terminal" else set())
            and not element.states & {"disabled", "read_only"}
            and element.point is not None
        ]
        return sorted(fields, key=lambda element: (-_size_of_content(element), element.rect.y, element.rect.x))

    def has_sheet(self) -> bool:
        """Tell whether cells named by address are on the screen."""
        return any(is_cell_of_sheet(element) for element in self.elements)


def in_page(element: Element) -> bool:
    """Tell whether an element lies in a web page."""
    return any(part.startswith("document web") for part in element.path)


def shown_name(element: Element) -> str:
    """Return what an element is called on the screen."""
    return element.name or (element.text or "" if element.role in LABELS else "")


def is_cell_of_sheet(element: Element) -> bool:
    """Tell whether an element is a cell with an address, such as "B2"."""
    return element.role == "table cell" and re.fullmatch(r"[A-Z]{1,3}[1-9]\d{0,6}", element.name) is not None


def content_of(element: Element) -> str:
    """Return the text that an element holds; a named text without content of its own counts by its name."""
    if element.text is not None:
        return element.text
    return "" if element.role in EDITABLE else element.name


def same_line(one: Rect, other: Rect) -> bool:
    """Tell whether two rectangles stand side by side."""
    overlap = min(one.bottom, other.bottom) - max(one.y, other.y)
    return overlap * 2 >= min(one.height, other.height) > 0


def same_column(one: Rect, other: Rect) -> bool:
    """Tell whether two rectangles stand one above the other."""
    overlap = min(one.right, other.right) - max(one.x, other.x)
    return overlap * 4 >= min(one.width, other.width) > 0


def is_box(element: Element) -> bool:
    """Tell whether an element can be on or off; cells of a table may be."""
    return element.role in CHECKABLE or "checkable" in element.states


def role_of(element: Element) -> str:
    """Return the role that matters to a person: a cell with a box in it is a check box."""
    return "check box" if element.role == "table cell" and "checkable" in element.states else element.role


def _header_above(element: Element, headers: list[Element]) -> str:
    """Return the header of the column that a cell is in."""
    above = [
        other
        for other in headers
        if other.window_id == element.window_id
        and same_column(other.rect, element.rect)
        and other.rect.y < element.rect.y
    ]
    return max(above, key=lambda other: other.rect.y).name if above else ""


def _row_name(element: Element) -> str:
    """Return the name of the row that a control without a name stands in, as lists of settings have them."""
    if element.name or element.label or not element.path:
        return ""
    role, _, name = element.path[-1].partition(":")
    return name if role in _ROWS else ""


def _label_distance(element: Element, text: Rect) -> float | None:
    """Return how far a text is from an element that it may label; None where it cannot."""
    rect = element.rect
    if same_line(rect, text):
        if element.role in _BOXES and 0 <= text.x - rect.right + 4 <= 60:
            return float(text.x - rect.right)
        if element.role not in _BOXES and -4 <= rect.x - text.right <= _GAP_BESIDE:
            return float(rect.x - text.right)
        return None
    gap = rect.y - text.bottom
    if element.role not in _BOXES and -2 <= gap <= _GAP_ABOVE and same_column(rect, text):
        return 60.0 + gap
    return None


def _size_of_content(element: Element) -> int:
    """Weigh an editor: documents and multi-line fields go before single lines."""
    return element.rect.area * (3 if "multi_line" in element.states or element.role == "document text" else 1)
