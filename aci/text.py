"""An observation as text for a model: what is there, and what changed.

Everything that comes from the screen stands between double quotes with its control characters escaped, so that no
application can imitate a line of this format.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import groupby, pairwise

from aci.geometry import Point
from aci.observation import Element, Observation, State, Window

LONGEST_NAME = 200
LONGEST_TEXT = 600
TREMBLE_PX = 3
"""Moves up to this are not told: recognized text is never found twice at quite the same place."""
MOST_LINES = 500
"""Lines of one window that are shown; the rest is counted."""

_TOLD_STATES: tuple[State, ...] = (
    "focused", "disabled", "selected", "expanded", "pressed", "editable", "read_only", "required", "invalid",
    "password", "busy", "has_popup", "default", "visited", "modal", "mixed",
)  # fmt: skip
_ADDRESS = re.compile(r"[A-Z]{1,3}[0-9]{1,7}")


def quote(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return a text between double quotes, on one line, cut in its middle if it is long.

    Quotes, backslashes and all characters that move the cursor, break the line or turn the direction of writing are
    escaped.
    """
    if len(text) > longest:
        head, tail = longest * 2 // 3, longest // 3
        return f"{_escaped(text[:head])} ... {_escaped(text[-tail:])} ({len(text)} characters)"
    return _escaped(text)


def render_observation(observation: Observation) -> str:
    """Return windows, elements and what else is known, one thing a line."""
    lines = ["Windows, topmost first:"]
    lines += [f"  {_window_line(window)}" for window in observation.windows] or ["  none"]
    for window, elements in _by_window(observation):
        title = quote(window.title or window.app, LONGEST_NAME) if window is not None else "unknown"
        lines += ["", f"Elements of window {title}:"]
        lines += _limited(_element_lines(elements))
    lines += _extras(observation)
    return "\n".join(lines)


def render_changes(previous: Observation, current: Observation) -> str:
    """Return what differs between two observations; the whole of the current one where most of it is new."""
    old, new = previous.by_id, current.by_id
    appeared = [element for element in current.elements if element.id not in old]
    if len(appeared) > 20 and len(appeared) * 2 > len(current.elements):
        return render_observation(current)
    lines = _window_changes(previous, current)
    changed = [
        f"  {element.id} {element.role} {quote(element.name, LONGEST_NAME)}: {difference}"
        for element in current.elements
        if element.id in old and (difference := _difference(old[element.id], element))
    ]
    if changed:
        lines += ["Changed:", *_limited(changed)]
    if appeared:
        lines += ["New:", *_limited(_element_lines(appeared))]
    gone = [element for element in previous.elements if element.id not in new]
    if gone:
        lines += ["Gone:", *_limited(_gone_lines(gone))]
    if previous.focus_id != current.focus_id:
        lines.append(f"Focus: {_focus(current)}")
    body = lines or ["Nothing changed."]
    return "\n".join(body + _extras(current, focus=False))


def _escaped(text: str) -> str:
    return '"' + "".join(_escape(character) for character in text) + '"'


def _escape(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character == "\n":
        return "\\n"
    if character == "\t":
        return "\\t"
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn") and character != "\u200d":
        return f"\\u{{{ord(character):x}}}"
    return character


def _window_line(window: Window) -> str:
    kind = "popup" if window.popup else "dialog" if window.modal else "window"
    rect = window.rect
    marks = " active" if window.active else ""
    return (
        f"{kind} {quote(window.title, LONGEST_NAME)} app {quote(window.app, LONGEST_NAME)}{marks} "
        f"{rect.width}x{rect.height} at {rect.x},{rect.y}"
    )


def _by_window(observation: Observation) -> Iterable[tuple[Window | None, list[Element]]]:
    windows = {window.id: window for window in observation.windows}
    groups: dict[int, list[Element]] = {}
    for element in observation.elements:
        groups.setdefault(element.window_id, []).append(element)
    ordered = [identity for identity in windows if identity in groups]
    ordered += [identity for identity in groups if identity not in windows]
    return [(windows.get(identity), groups[identity]) for identity in ordered]


def _extras(observation: Observation, focus: bool = True) -> list[str]:
    lines = []
    if focus and observation.focus_id is not None:
        lines += ["", f"Focus: {_focus(observation)}"]
    if observation.buffer:
        lines += ["", "Text buffer, oldest first:", *(f"  {quote(text)}" for text in observation.buffer)]
    if observation.notes:
        lines += ["", "Notes:", *(f"  {quote(note)}" for note in observation.notes)]
    return lines


def _focus(observation: Observation) -> str:
    element = observation.by_id.get(observation.focus_id) if observation.focus_id is not None else None
    return "nothing" if element is None else f"{element.id} {element.role} {quote(element.name, LONGEST_NAME)}"


def _limited(lines: Sequence[str]) -> list[str]:
    if len(lines) <= MOST_LINES:
        return list(lines)
    return [*lines[:MOST_LINES], f"  and {len(lines) - MOST_LINES} more"]


def _is_sheet_cell(element: Element) -> bool:
    return element.role == "table cell" and element.text is not None and bool(_ADDRESS.fullmatch(element.name))


def _kind(element: Element) -> str:
    if _is_sheet_cell(element):
        return "sheet"
    return "cell" if element.role == "table cell" else ""


def _element_lines(elements: Sequence[Element]) -> list[str]:
    lines: list[str] = []
    for kind, run in groupby(elements, key=_kind):
        members = list(run)
        if kind == "sheet":
            lines += _sheet_lines(members)
        elif kind == "cell":
            lines += _rows(members, lambda row: "  row: " + " | ".join(_cell(element) for element in row))
        else:
            lines += [_line(element) for element in members]
    return lines


def _line(element: Element) -> str:
    parts = [f"  {element.id} {element.role} {quote(element.name, LONGEST_NAME)}"]
    if element.label and element.label != element.name:
        parts.append(f"label {quote(element.label, LONGEST_NAME)}")
    if element.text is not None and element.text != element.name:
        parts.append(f"text {quote(element.text)}")
    if element.value is not None:
        parts.append(f"value {element.value:g}")
    if element.description:
        parts.append(f"about {quote(element.description, LONGEST_NAME)}")
    if told := _states(element):
        parts.append(told)
    if element.point is not None:
        parts.append(f"@{element.point.x},{element.point.y}")
    else:
        parts.append("covered")
    return " ".join(parts)


def _states(element: Element) -> str:
    told: list[str] = [state for state in _TOLD_STATES if state in element.states]
    if element.role == "toggle button":
        # Toolkits say either or both of a button that stays down.
        down = bool(element.states & {"pressed", "checked"})
        told = ["pressed" if down else "not pressed", *(state for state in told if state != "pressed")]
    elif "checkable" in element.states or "checked" in element.states:
        told.insert(0, "checked" if "checked" in element.states else "unchecked")
    if "expandable" in element.states and "expanded" not in element.states:
        told.append("collapsed")
    return f"[{' '.join(told)}]" if told else ""


def _rows(cells: Sequence[Element], line: Callable[[list[Element]], str]) -> list[str]:
    """Write table cells that stand side by side on one line."""
    rows: list[list[Element]] = []
    for cell in cells:
        same = rows and rows[-1][-1].path == cell.path and rows[-1][-1].rect.y == cell.rect.y
        if same and cell.rect.x > rows[-1][-1].rect.x:
            rows[-1].append(cell)
        else:
            rows.append([cell])
    return [line(row) for row in rows]


def _cell(element: Element) -> str:
    told = " ".join(state for state in ("focused", "selected") if state in element.states)
    text = f" text {quote(element.text)}" if element.text and element.text != element.name else ""
    return f"{element.id} {quote(element.name, LONGEST_NAME)}{text}{f' [{told}]' if told else ''}"


def _sheet_lines(cells: Sequence[Element]) -> list[str]:
    """Write a sheet: cells with content one by one, empty ones as ranges of addresses and ids."""
    lines = []
    blank_rows: list[list[Element]] = []
    for row in _split_rows(cells):
        if all(_is_blank(cell) for cell in row) and _consecutive(row):
            if blank_rows and not _continues(blank_rows[-1], row):
                lines.append(_blank_rows(blank_rows))
                blank_rows = []
            blank_rows.append(row)
            continue
        if blank_rows:
            lines.append(_blank_rows(blank_rows))
            blank_rows = []
        lines.append("  cells: " + " | ".join(_sheet_row(row)))
    if blank_rows:
        lines.append(_blank_rows(blank_rows))
    return lines


def _continues(above: Sequence[Element], row: Sequence[Element]) -> bool:
    """Tell whether a row of blank cells goes on where the one above ended, column by column."""
    return row[0].id == above[-1].id + 1 and len(above) == len(row) and _column(above[0]) == _column(row[0])


def _split_rows(cells: Sequence[Element]) -> list[list[Element]]:
    return [list(row) for _, row in groupby(cells, key=lambda cell: cell.name.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))]


def _is_blank(cell: Element) -> bool:
    return not cell.text and not cell.states & {"focused", "selected"}


def _consecutive(cells: Sequence[Element]) -> bool:
    """Tell whether both ids and columns of cells in one row count up without a gap."""
    return all(
        later.id == earlier.id + 1 and _column(later) == _column(earlier) + 1 for earlier, later in pairwise(cells)
    )


def _column(cell: Element) -> int:
    letters = cell.name.rstrip("0123456789")
    return reduce(lambda number, letter: number * 26 + ord(letter) - 64, letters, 0)


def _blank_rows(rows: Sequence[Sequence[Element]]) -> str:
    first, last = rows[0][0], rows[-1][-1]
    each = f", row by row, {len(rows[0])} a row" if len(rows) > 1 else ""
    return f"  empty cells {first.name} to {last.name}: ids {first.id} to {last.id}{each}"


def _sheet_row(row: Sequence[Element]) -> Iterable[str]:
    for blank, run in groupby(row, key=_is_blank):
        members = list(run)
        if blank and len(members) > 1 and _consecutive(members):
            first, last = members[0], members[-1]
            yield f"empty {first.name} to {last.name}: ids {first.id} to {last.id}"
        else:
            for cell in members:
                told = " ".join(state for state in ("focused", "selected") if state in cell.states)
                yield f"{cell.id} {cell.name} {quote(cell.text or '')}{f' [{told}]' if told else ''}"


def _window_changes(previous: Observation, current: Observation) -> list[str]:
    old = {window.id: window for window in previous.windows}
    new = {window.id: window for window in current.windows}
    lines = [f"Window opened: {_window_line(window)}" for identity, window in new.items() if identity not in old]
    lines += [f"Window closed: {_window_line(window)}" for identity, window in old.items() if identity not in new]
    for identity, window in new.items():
        before = old.get(identity)
        if before is not None and (before.title, before.active) != (window.title, window.active):
            lines.append(f"Window now: {_window_line(window)}")
    return lines


def _difference(old: Element, new: Element) -> str:
    parts = []
    if old.name != new.name:
        parts.append(f"name was {quote(old.name, LONGEST_NAME)}")
    if old.text != new.text and new.text is not None:
        parts.append(f"text {quote(new.text)}")
    if old.value != new.value and new.value is not None:
        parts.append(f"value {new.value:g}")
    if _states(old) != _states(new):
        parts.append(f"{_states(new) or '[]'}, was {_states(old) or '[]'}")
    if old.point != new.point and not _stands_still(old.point, new.point):
        parts.append("covered" if new.point is None else f"moved to @{new.point.x},{new.point.y}")
    return ", ".join(parts)


def _stands_still(old: Point | None, new: Point | None) -> bool:
    return old is not None and new is not None and abs(old.x - new.x) + abs(old.y - new.y) <= TREMBLE_PX


def _gone_lines(elements: Sequence[Element]) -> list[str]:
    lines = []
    for role, run in groupby(elements, key=lambda element: element.role):
        members = list(run)
        if len(members) > 12:
            lines.append(f"  {len(members)} of role {role}: ids {members[0].id} to {members[-1].id}")
        else:
            lines += [f"  {element.id} {role} {quote(element.name, LONGEST_NAME)}" for element in members]
    return lines
