"""Text form of an observation for a model.

Text from the screen is quoted, with control characters escaped, so that no application can forge a line of this format.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

from aci.observation.candidate_text import HEAD, candidate_lines
from aci.observation.quoting import LONGEST_NAME, quote
from aci.observation.repeats import listed_elements
from aci.observation.sheet_text import is_sheet_cell, sheet_lines
from aci.observation.snapshot import Element, Snapshot, State, Window

MAX_HINT = 80  # characters of the description of a field that has a name
MIN_GROUP = 4  # minimum number of adjacent elements of a role that share a line
SAME_LINE_PX = 2  # maximum vertical offset of elements in one line
MAX_LINES = 500  # maximum number of lines per window; the rest is counted

_SHOWN_STATES: tuple[State, ...] = (
    "focused", "disabled", "selected", "expanded", "pressed", "editable", "read_only", "required", "invalid",
    "password", "busy", "has_popup", "default", "visited", "modal", "mixed",
)  # fmt: skip
# implied by the role; if it does not hold, another state says why
_USUAL: Mapping[str, State] = {
    "entry": "editable", "text": "editable", "spin button": "editable", "password text": "password",
}  # fmt: skip
_FIELDS = frozenset(_USUAL)
_NESTED = frozenset({"tree item", "list item"})
_CELLS = frozenset({"table cell", "column header", "row header", "table column header", "table row header"})
_NUMBER = re.compile(r"[-+\u2212]?[0-9][0-9,\u202f\u00a0]*(?:\.[0-9]+)?")


def render_observation(observation: Snapshot) -> str:
    """Return windows, elements and other facts, one per line."""
    lines = ["Windows, topmost first:"]
    lines += [f"  {window_line(window)}" for window in observation.windows] or ["  none"]
    for title, elements in by_window(listed_elements(observation), observation.windows):
        lines += ["", f"Elements of window {title}:", *element_lines(elements)]
    if observation.candidates:
        lines += ["", HEAD.capitalize(), *candidate_lines(observation.candidates)]
    if observation.focus_id is not None:
        lines += ["", focus_line(observation)]
    return "\n".join(lines + extra_lines(observation))


def window_line(window: Window) -> str:
    """Return kind, title, application and place of a window."""
    rect = window.rect
    marks = " active" if window.active else ""
    return (
        f"{window_kind(window)} {quote(window.title, LONGEST_NAME)} app {quote(window.app, LONGEST_NAME)}{marks} "
        f"{rect.width}x{rect.height} at {rect.x},{rect.y}"
    )


def window_name(window: Window) -> str:
    """Return the title, or else the application, quoted."""
    return quote(window.title or window.app, LONGEST_NAME)


def window_kind(window: Window) -> str:
    """Return what kind of window it is."""
    return "popup" if window.popup else "dialog" if window.modal else "window"


def by_window(elements: Iterable[Element], windows: Sequence[Window]) -> list[tuple[str, list[Element]]]:
    """Return the elements of each window, topmost first, with its quoted title."""
    titles = {window.id: window_name(window) for window in windows}
    groups: dict[int, list[Element]] = {identity: [] for identity in titles}
    for element in elements:
        groups.setdefault(element.window_id, []).append(element)
    return [(titles.get(identity, "unknown"), members) for identity, members in groups.items() if members]


def extra_lines(observation: Snapshot, before: Snapshot | None = None) -> list[str]:
    """Return lines for the text buffer and the notes, without those that an earlier observation had as well."""
    lines = []
    if observation.buffer and (before is None or before.buffer != observation.buffer):
        lines += ["", "Text buffer, oldest first:", *(f"  {quote(text)}" for text in observation.buffer)]
    notes = [note for note in observation.notes if before is None or note not in before.notes]
    if notes:
        lines += ["", "Notes:", *(f"  {quote(note)}" for note in notes)]
    return lines


def focus_line(observation: Snapshot) -> str:
    """Return the line about the focused element."""
    element = observation.focused
    return "Focus: nothing" if element is None else f"Focus: {element.id} {element.role} {quoted_name(element)}"


def truncated(lines: Sequence[str]) -> list[str]:
    """Return at most `MAX_LINES` lines, with a hint if some are left out."""
    if len(lines) <= MAX_LINES:
        return list(lines)
    return [*lines[:MAX_LINES], f"  and {len(lines) - MAX_LINES} more lines, further down; scroll down to see them"]


def has_position(element: Element) -> bool:
    """Return whether the line of an element includes its position; cells are ordered instead."""
    return _kind(element) not in ("sheet", "row")


def _kind(element: Element) -> str:
    if is_sheet_cell(element):
        return "sheet"
    return "row" if element.role in _CELLS or _row_of(element) is not None else ""


def _row_of(element: Element) -> int | None:
    """Return the index of the table row among the ancestors of an element; None if it is not in a table."""
    rows = [index for index, part in enumerate(element.path) if part.startswith("table row:")]
    return rows[-1] if rows else None


def element_lines(elements: Sequence[Element]) -> list[str]:
    """Return the lines for the elements of a window; cells in a row and controls side by side share a line."""
    lines: list[str] = []
    for kind, run in groupby(elements, key=_kind):
        members = list(run)
        if kind == "sheet":
            lines += sheet_lines(members)
        elif kind == "row":
            rows = _split(members, _same_row)
            lines += ["  row: " + " | ".join(_cell(element) for element in row) for row in rows]
        else:
            lines += [line for row in _split(members, _same_line) for line in _line_of(row)]
    return truncated(lines)


def _line_of(row: Sequence[Element]) -> list[str]:
    """Return a common line for many elements of a role side by side, otherwise one line for each."""
    first = row[0]
    if len(row) < MIN_GROUP or first.point is None:
        return [_line(element) for element in row]
    if first.role == "label" and all(_is_only_name(element) for element in row):
        return ["  labels: " + " | ".join(f"{element.id} {quote(element.name, LONGEST_NAME)}" for element in row)]
    places = [element.point.x for element in row if element.point is not None]
    # A small model takes a place behind each name for an id.
    parts = [
        f"{element.id} {_described(element)}{'' if element.name or element.label else f' @{x}'}"
        for element, x in zip(row, places, strict=True)
    ]
    return [f"  each {first.role}, at y {first.point.y}, x {places[0]} to {places[-1]}: " + " | ".join(parts)]


def _is_only_name(element: Element) -> bool:
    plain = not (states_of(element) or element.description or element.label) and element.value is None
    return plain and element.text in (None, element.name)


def _split(elements: Sequence[Element], together: Callable[[Element, Element], bool]) -> list[list[Element]]:
    rows: list[list[Element]] = []
    for element in elements:
        if rows and together(rows[-1][-1], element):
            rows[-1].append(element)
        else:
            rows.append([element])
    return rows


def _same_line(last: Element, element: Element) -> bool:
    if last.point is None or element.point is None or last.role != element.role or last.path != element.path:
        return False
    return element.point.x > last.point.x and abs(element.point.y - last.point.y) <= SAME_LINE_PX


def _line(element: Element) -> str:
    at = f"@{element.point.x},{element.point.y}" if element.point is not None else "covered"
    return f"  {element.id} {element.role} {_described(element)} {at}"


def _described(element: Element) -> str:
    """Return the facts about an element and its states, as text."""
    parts = _facts(element)
    if (level := _level_of(element)) > 1:
        parts.append(f"level {level}")
    if states := states_of(element):
        parts.append(f"[{' '.join(states)}]")
    return " ".join(parts)


def _level_of(element: Element) -> int:
    """Return the nesting level of an item among items of its kind, from 1."""
    if element.role not in _NESTED:
        return 1
    return 1 + sum(part.startswith(f"{element.role}:") for part in element.path)


def _facts(element: Element) -> list[str]:
    """Return name, label, text, value and description, each only if it adds information."""
    parts = [quote(element.name, LONGEST_NAME)] if element.name else []
    if element.label and element.label != element.name:
        parts.append(f"label {quote(element.label, LONGEST_NAME)}")
    if element.shortcut:
        parts.append(f"keys {quote(element.shortcut, LONGEST_NAME)}")
    value = value_of(element)
    text = text_of(element)
    if text and text not in (element.name, value):
        parts.append(f"text {quote(text)}")
    if value:
        parts.append(f"value {value}")
    if caret := caret_of(element):
        parts.append(caret)
    if hint := hint_of(element):
        parts.append(f"about {_said_of(element, hint)}")
    return parts or ['""']


def text_of(element: Element) -> str | None:
    """Return the text, that of a terminal without the empty lines below it."""
    return element.text.rstrip("\n") if element.text and element.role == "terminal" else element.text


def value_of(element: Element) -> str:
    """Return the value as a number; empty if there is none, or if the text contains it, as in "12 px"."""
    if element.value is None:
        return ""
    number = _shortest(element.value)
    said = _NUMBER.match(element.text) if element.text and element.text != number else None
    if said is not None and float(re.sub(r"[,\s]", "", said[0]).replace("\u2212", "-")) == element.value:
        return ""
    return number


def _shortest(value: float) -> str:
    """Return a number in decimals; one of single precision, as Chromium reports them, with the digits that it has."""
    if not value.is_integer() and _single(value) == value:
        return next(text for digits in range(6, 13) if _single(float(text := f"{value:.{digits}g}")) == value)
    return f"{value:.12g}"


def _single(value: float) -> float:
    number: float = struct.unpack("f", struct.pack("f", value))[0]
    return number


def hint_of(element: Element) -> str:
    """Return the description of an unnamed element, or of a field, whose description may say what to enter.

    The description of any other control is its tooltip, which a person does not see either; `read` returns it. It is
    also omitted if it repeats the name or an ancestor's name.
    """
    if not (element.name or element.label):
        return element.description
    if element.role not in _FIELDS:
        return ""
    around = (part.partition(":")[2] for part in element.path)
    return "" if element.description in (element.name, element.label, *around) else element.description


def _said_of(element: Element, hint: str) -> str:
    """Return a quoted description, which is shortened if the element has a name."""
    if not (element.name or element.label):
        return quote(hint, LONGEST_NAME)
    if len(hint) <= MAX_HINT:
        return quote(hint)
    return f"{quote(hint[:MAX_HINT].rpartition(' ')[0] or hint[:MAX_HINT])} ..."


def caret_of(element: Element) -> str:
    """Return the selected text, or else the position of the caret; empty for a field without text."""
    text = element.text or ""
    if element.selection is not None:
        return f"selected {quote(text[slice(*element.selection)])}"
    if element.caret is None or not text:
        return ""
    if "\n" not in text:
        return f"caret at {element.caret} of {len(text)}"
    before = text[: element.caret].split("\n")
    return f"caret at line {len(before)}, column {len(before[-1])}"


def quoted_name(element: Element) -> str:
    """Return the quoted name, label or description of an element."""
    return quote(element.name or element.label or element.description, LONGEST_NAME)


def states_of(element: Element) -> list[str]:
    """Return the states to show."""
    states: list[str] = [
        state for state in _SHOWN_STATES if state in element.states and state != _USUAL.get(element.role)
    ]
    if element.role == "toggle button":
        # Toolkits report one or both states for a button that stays down.
        if "checked" in element.states and "pressed" not in states:
            states.insert(0, "pressed")
    elif element.states & {"checkable", "checked"} and "mixed" not in element.states:
        states.insert(0, "checked" if "checked" in element.states else "unchecked")
    if "expandable" in element.states and "expanded" not in element.states:
        states.append("collapsed")
    if {"selected", "expandable"} & element.states and "pressed" in states:
        states.remove("pressed")  # redundant
    return states


def _same_row(last: Element, element: Element) -> bool:
    ours, theirs = _row_of(element), _row_of(last)
    if ours is not None and theirs is not None:
        return element.path[: ours + 1] == last.path[: theirs + 1] and _level(last, element)
    return last.path == element.path and last.rect.y == element.rect.y and element.rect.x > last.rect.x


def _level(last: Element, element: Element) -> bool:
    return element.rect.y < last.rect.bottom and last.rect.y < element.rect.bottom


def _cell(element: Element) -> str:
    role = "" if element.role in _CELLS else f"{element.role} "
    return f"{element.id} {role}{_described(element)}" + ("" if element.point is not None else " covered")
