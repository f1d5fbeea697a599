"""An observation, or the changes between two, as text for a model.

Everything that comes from the screen is quoted, with control characters escaped, so that no application can imitate a
line of this format.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, reduce
from itertools import groupby, pairwise
from string import ascii_uppercase

from aci.observation.snapshot import Element, Snapshot, State, Window
from aci.observation.visibility import uncovered

NOTHING_CHANGED = "Nothing changed."
LONGEST_NAME = 200
LONGEST_TEXT = 600
TREMBLE_PX = 3  # smaller moves are not reported: recognized text is never found at quite the same place
LEAST_LABELS = 4  # adjacent texts from which on they share a line
LEAST_TOGETHER = 3  # elements that moved the same way from which on they share a line
MOST_ALONE = 12  # elements that moved or went singly and are named one by one
MOST_LINES = 500  # lines shown per window; the rest is counted

_SHOWN_STATES: tuple[State, ...] = (
    "focused", "disabled", "selected", "expanded", "pressed", "editable", "read_only", "required", "invalid",
    "password", "busy", "has_popup", "default", "visited", "modal", "mixed",
)  # fmt: skip
# Implied by the role; where it does not hold, another state says why
_USUAL: Mapping[str, State] = {
    "entry": "editable", "text": "editable", "spin button": "editable", "password text": "password",
}  # fmt: skip
_NESTED = frozenset({"tree item", "list item"})
_CELLS = frozenset({"table cell", "column header", "row header", "table column header", "table row header"})
_ADDRESS = re.compile(r"[A-Z]{1,3}[0-9]{1,7}")


def quote(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return a text in double quotes on one line, cut in the middle if it is long.

    Quotes, backslashes and all characters that move the cursor, break the line or change the direction of writing are
    escaped.
    """
    if len(text) > longest:
        head, tail = longest * 2 // 3, longest // 3
        return f"{_escaped(text[:head])} ... {_escaped(text[-tail:])} ({len(text)} characters)"
    return _escaped(text)


def render_observation(observation: Snapshot) -> str:
    """Return windows, elements and other facts, one per line."""
    lines = ["Windows, topmost first:"]
    lines += [f"  {_window_line(window)}" for window in observation.windows] or ["  none"]
    for window, elements in _by_window(observation):
        title = quote(window.title or window.app, LONGEST_NAME) if window is not None else "unknown"
        lines += ["", f"Elements of window {title}:"]
        lines += _limited(_element_lines(elements))
    lines += _extras(observation)
    return "\n".join(lines)


def render_changes(previous: Snapshot, current: Snapshot, earlier: Sequence[Snapshot] = ()) -> str:
    """Return what differs between two observations.

    Args:
        previous: The observation before.
        current: The observation now.
        earlier: Those before both that the reader also knows, oldest first; what comes back as they showed it, such as
            the window behind a closed dialog, is not repeated.
    """
    old = previous.by_id
    known = {element.id: element for seen in earlier for element in seen.elements}
    appeared = [element for element in current.elements if element.id not in old]
    back = [element for element in appeared if element.id in known and not _difference(known[element.id], element)]
    returned = {element.id for element in back}
    lines = _window_changes(previous, current)
    lines += _section("Changed:", _changed_lines(old, current.elements))
    lines += _moves(old, current)
    for window, elements in _by_window(current):
        title = quote(window.title or window.app, LONGEST_NAME) if window is not None else "unknown"
        fresh = [element for element in elements if element.id not in old and element.id not in returned]
        lines += _section(f"New in window {title}:", _element_lines(fresh))
    if back:
        lines.append(f"Shown again, as before: ids {_ranges(returned)}")
    covered, gone = _absent(previous, current)
    for title, ids in covered.items():
        lines.append(f"Covered by {title}: ids {_ranges(ids)}")
    if gone:
        lines += ["Gone:", *_gone_lines(gone)]
    if previous.focus_id != current.focus_id:
        lines.append(f"Focus: {_focus(current)}")
    body = lines or [NOTHING_CHANGED]
    return "\n".join(body + _extras(current, focus=False, before=previous))


def _section(head: str, lines: Sequence[str]) -> list[str]:
    return [head, *_limited(lines)] if lines else []


def _changed_lines(old: Mapping[int, Element], elements: Sequence[Element]) -> list[str]:
    differing = [
        (element, difference)
        for element in elements
        if element.id in old and (difference := _difference(old[element.id], element))
    ]
    cells = [element for element, _ in differing if _is_sheet_cell(element)]
    lines = [
        f"  {element.id} {element.role} {_called(element)}: {difference}"
        for element, difference in differing
        if not _is_sheet_cell(element)
    ]
    return lines + _sheet_lines(cells)


def _moves(old: Mapping[int, Element], current: Snapshot) -> list[str]:
    """Return what moved, was covered or can be used again; what moved together is one line."""
    moved: dict[tuple[int, int], list[Element]] = {}
    covered, free = [], []
    for element in current.elements:
        before = old.get(element.id)
        if before is None or before.point == element.point:
            continue
        if element.point is None:
            covered.append(element.id)
        elif before.point is None:
            free.append(element.id)
        else:
            by = element.point.x - before.point.x, element.point.y - before.point.y
            if abs(by[0]) + abs(by[1]) > TREMBLE_PX:
                moved.setdefault(by, []).append(element)
    lines = [
        f"Moved by {x},{y}: ids {_ranges(element.id for element in together)}"
        for (x, y), together in moved.items()
        if len(together) >= LEAST_TOGETHER
    ]
    alone = [element for together in moved.values() if len(together) < LEAST_TOGETHER for element in together]
    if len(alone) > MOST_ALONE:
        lines.append(f"Moved: ids {_ranges(element.id for element in alone)}")
    elif alone:
        at = ((element.id, element.point) for element in alone if element.point is not None)
        lines.append("Moved: " + ", ".join(f"{identity} to @{point.x},{point.y}" for identity, point in at))
    lines += [f"Covered: ids {_ranges(covered)}"] if covered else []
    return lines + ([f"No longer covered: ids {_ranges(free)}"] if free else [])


def _absent(previous: Snapshot, current: Snapshot) -> tuple[dict[str, list[int]], list[Element]]:
    """Return the elements that other windows cover now, by these, and those that are gone from windows still there."""
    above: dict[int, list[Window]] = {
        window.id: list(current.windows[:place]) for place, window in enumerate(current.windows)
    }
    closed = {window.id for window in previous.windows} - above.keys()
    covered: dict[str, list[int]] = {}
    gone = []
    for element in previous.elements:
        if element.id in current.by_id or element.window_id in closed:
            continue
        over = [
            window
            for window in above.get(element.window_id, ())
            if (window.frame or window.rect).intersection(element.rect)
        ]
        if over and not uncovered(element.rect, [window.frame or window.rect for window in over]):
            kind, title = _kind_of(over[-1]), quote(over[-1].title or over[-1].app, LONGEST_NAME)
            covered.setdefault(f"{kind} {title}", []).append(element.id)
        else:
            gone.append(element)
    return covered, gone


def _escaped(text: str) -> str:
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'  # nearly all are, and there are hundreds on a screen
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
    kind = _kind_of(window)
    rect = window.rect
    marks = " active" if window.active else ""
    return (
        f"{kind} {quote(window.title, LONGEST_NAME)} app {quote(window.app, LONGEST_NAME)}{marks} "
        f"{rect.width}x{rect.height} at {rect.x},{rect.y}"
    )


def _kind_of(window: Window) -> str:
    return "popup" if window.popup else "dialog" if window.modal else "window"


def _by_window(observation: Snapshot) -> Iterable[tuple[Window | None, list[Element]]]:
    windows = {window.id: window for window in observation.windows}
    groups: dict[int, list[Element]] = {}
    for element in observation.elements:
        groups.setdefault(element.window_id, []).append(element)
    ordered = [identity for identity in windows if identity in groups]
    ordered += [identity for identity in groups if identity not in windows]
    return [(windows.get(identity), groups[identity]) for identity in ordered]


def _extras(observation: Snapshot, focus: bool = True, before: Snapshot | None = None) -> list[str]:
    lines = []
    if focus and observation.focus_id is not None:
        lines += ["", f"Focus: {_focus(observation)}"]
    if observation.buffer and (before is None or before.buffer != observation.buffer):
        lines += ["", "Text buffer, oldest first:", *(f"  {quote(text)}" for text in observation.buffer)]
    notes = [note for note in observation.notes if before is None or note not in before.notes]
    if notes:
        lines += ["", "Notes:", *(f"  {quote(note)}" for note in notes)]
    return lines


def _focus(observation: Snapshot) -> str:
    element = observation.by_id.get(observation.focus_id) if observation.focus_id is not None else None
    return "nothing" if element is None else f"{element.id} {element.role} {_called(element)}"


def _limited(lines: Sequence[str]) -> list[str]:
    if len(lines) <= MOST_LINES:
        return list(lines)
    return [*lines[:MOST_LINES], f"  and {len(lines) - MOST_LINES} more lines, further down; scroll down to see them"]


def _is_sheet_cell(element: Element) -> bool:
    return element.role == "table cell" and element.text is not None and bool(_ADDRESS.fullmatch(element.name))


def _kind(element: Element) -> str:
    if _is_sheet_cell(element):
        return "sheet"
    if element.role in _CELLS or _row_of(element) is not None:
        return "row"
    return "label" if element.role == "label" else ""


def _row_of(element: Element) -> int | None:
    """Return the number of ancestors down to the table row that an element lies in, if it does."""
    rows = [index for index, part in enumerate(element.path) if part.startswith("table row:")]
    return rows[-1] if rows else None


def _element_lines(elements: Sequence[Element]) -> list[str]:
    lines: list[str] = []
    for kind, run in groupby(elements, key=_kind):
        members = list(run)
        if kind == "sheet":
            lines += _sheet_lines(members)
        elif kind == "row":
            lines += _row_lines(members)
        elif kind == "label":
            lines += [line for row in _side_by_side(members) for line in _label_lines(row)]
        else:
            lines += [_line(element) for element in members]
    return lines


def _label_lines(row: Sequence[Element]) -> list[str]:
    short = len(row) >= LEAST_LABELS and all(_said_by_name(element) for element in row)
    if not short:
        return [_line(element) for element in row]
    return ["  labels: " + " | ".join(f"{element.id} {quote(element.name, LONGEST_NAME)}" for element in row)]


def _said_by_name(element: Element) -> bool:
    plain = not (_states(element) or element.description or element.label) and element.value is None
    return plain and element.point is not None and element.text in (None, element.name)


def _line(element: Element) -> str:
    parts = [f"  {element.id} {element.role}", *_facts(element)]
    if (level := _level_of(element)) > 1:
        parts.append(f"level {level}")
    if states := _states(element):
        parts.append(states)
    parts.append(f"@{element.point.x},{element.point.y}" if element.point is not None else "covered")
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
    if element.text and element.text not in (element.name, _number(element)):
        parts.append(f"text {quote(element.text)}")
    if element.value is not None:
        parts.append(f"value {_number(element)}")
    if caret := _caret(element):
        parts.append(caret)
    if element.description:
        parts.append(f"about {quote(element.description, LONGEST_NAME)}")
    return parts or ['""']


def _caret(element: Element) -> str:
    """Return the selected text, or else where the caret is; "" for a field without a text."""
    text = element.text or ""
    if element.selection is not None:
        return f"selected {quote(text[slice(*element.selection)])}"
    if element.caret is None or not text:
        return ""
    if "\n" not in text:
        return f"caret at {element.caret} of {len(text)}"
    before = text[: element.caret].split("\n")
    return f"caret at line {len(before)}, column {len(before[-1])}"


def _called(element: Element) -> str:
    return quote(element.name or element.label or element.description, LONGEST_NAME)


def _number(element: Element) -> str | None:
    return None if element.value is None else f"{element.value:g}"


def _states(element: Element) -> str:
    states: list[str] = [
        state for state in _SHOWN_STATES if state in element.states and state != _USUAL.get(element.role)
    ]
    if element.role == "toggle button":
        # Toolkits say either or both of a button that stays down.
        if "checked" in element.states and "pressed" not in states:
            states.insert(0, "pressed")
    elif element.states & {"checkable", "checked"} and "mixed" not in element.states:
        states.insert(0, "checked" if "checked" in element.states else "unchecked")
    if "expandable" in element.states and "expanded" not in element.states:
        states.append("collapsed")
    if {"selected", "expandable"} & element.states and "pressed" in states:
        states.remove("pressed")  # says the same once more
    return f"[{' '.join(states)}]" if states else ""


def _side_by_side(elements: Sequence[Element]) -> list[list[Element]]:
    rows: list[list[Element]] = []
    for element in elements:
        last = rows[-1][-1] if rows else None
        same = last is not None and last.path == element.path and last.rect.y == element.rect.y
        if same and last is not None and element.rect.x > last.rect.x:
            rows[-1].append(element)
        else:
            rows.append([element])
    return rows


def _row_lines(elements: Sequence[Element]) -> list[str]:
    rows: list[list[Element]] = []
    for element in elements:
        if rows and _same_row(rows[-1][-1], element):
            rows[-1].append(element)
        else:
            rows.append([element])
    return ["  row: " + " | ".join(_cell(element) for element in row) for row in rows]


def _same_row(last: Element, element: Element) -> bool:
    ours, theirs = _row_of(element), _row_of(last)
    if ours is not None and theirs is not None:
        return element.path[: ours + 1] == last.path[: theirs + 1] and _level(last, element)
    return last.path == element.path and last.rect.y == element.rect.y and element.rect.x > last.rect.x


def _level(last: Element, element: Element) -> bool:
    return element.rect.y < last.rect.bottom and last.rect.y < element.rect.bottom


def _cell(element: Element) -> str:
    role = "" if element.role in _CELLS else f"{element.role} "
    parts = [f"{element.id} {role}{' '.join(_facts(element))}"]
    if states := _states(element):
        parts.append(states)
    if element.point is None:
        parts.append("covered")
    return " ".join(parts)


def _sheet_lines(cells: Sequence[Element]) -> list[str]:
    """Format a sheet: cells with content one by one, empty ones as ranges of addresses and ids."""
    lines = []
    blank_rows: list[list[Element]] = []
    for row in (list(run) for _, run in groupby(cells, key=lambda cell: cell.name.lstrip(ascii_uppercase))):
        if all(_is_blank(cell) and _marks(cell) == _marks(row[0]) for cell in row) and _consecutive(row):
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
    follows = row[0].id == above[-1].id + 1 and len(above) == len(row) and _marks(above[0]) == _marks(row[0])
    return follows and _column(above[0]) == _column(row[0]) and _row_number(row[0]) == _row_number(above[0]) + 1


def _is_blank(cell: Element) -> bool:
    return not cell.text


def _marks(cell: Element) -> str:
    states = " ".join(state for state in ("focused", "selected") if state in cell.states)
    return f" [{states}]" if states else ""


def _row_number(cell: Element) -> int:
    return int(cell.name.lstrip(ascii_uppercase))


def _consecutive(cells: Sequence[Element]) -> bool:
    return all(
        later.id == earlier.id + 1 and _column(later) == _column(earlier) + 1 for earlier, later in pairwise(cells)
    )


def _column(cell: Element) -> int:
    return _number_of(cell.name.rstrip("0123456789"))


@cache
def _number_of(letters: str) -> int:
    return reduce(lambda number, letter: number * 26 + ord(letter) - 64, letters, 0)


def _blank_rows(rows: Sequence[Sequence[Element]]) -> str:
    first, last = rows[0][0], rows[-1][-1]
    each = f", row by row, {len(rows[0])} a row" if len(rows) > 1 else ""
    return f"  empty cells {first.name} to {last.name}{_marks(first)}: ids {first.id} to {last.id}{each}"


def _sheet_row(row: Sequence[Element]) -> Iterable[str]:
    for (blank, marks), run in groupby(row, key=lambda cell: (_is_blank(cell), _marks(cell))):
        members = list(run)
        if blank and len(members) > 1 and _consecutive(members):
            first, last = members[0], members[-1]
            yield f"empty {first.name} to {last.name}{marks}: ids {first.id} to {last.id}"
        else:
            for cell in members:
                yield f"{cell.id} {cell.name} {quote(cell.text or '')}{marks}"


def _window_changes(previous: Snapshot, current: Snapshot) -> list[str]:
    old = {window.id: window for window in previous.windows}
    new = {window.id: window for window in current.windows}
    lines = [f"Window opened: {_window_line(window)}" for identity, window in new.items() if identity not in old]
    lines += [f"Window closed: {_window_line(window)}" for identity, window in old.items() if identity not in new]
    for identity, window in new.items():
        before = old.get(identity)
        # That another window is no longer the active one goes without saying.
        if before is not None and (before.title != window.title or (window.active and not before.active)):
            lines.append(f"Window now: {_window_line(window)}")
    return lines


def _difference(old: Element, new: Element) -> str:
    parts = []
    if old.name != new.name and not (new.source == "ocr" and _only_a_caret(old.name, new.name)):
        parts.append(f"name was {quote(old.name, LONGEST_NAME)}")
    if old.label != new.label:
        parts.append(f"label {quote(new.label, LONGEST_NAME)}")
    if old.description != new.description:
        parts.append(f"about {quote(new.description, LONGEST_NAME)}")
    if old.text != new.text and new.text is not None:
        parts.append(f"text {quote(new.text)}")
    if _caret(old) != _caret(new):
        parts.append(_caret(new) or "no caret")
    if old.value != new.value and new.value is not None:
        parts.append(f"value {new.value:g}")
    if _states(old) != _states(new):
        parts.append(f"{_states(new) or '[]'}, was {_states(old) or '[]'}")
    return ", ".join(parts)


def _only_a_caret(one: str, other: str) -> bool:
    """Return whether two recognized texts differ in what a blinking caret is taken for."""
    short, long = sorted((one, other), key=len)
    return any(long[at] in "|I" and long[:at] + long[at + 1 :] == short for at in range(len(long)))


def _gone_lines(elements: Sequence[Element]) -> list[str]:
    if len(elements) <= MOST_ALONE:
        return [f"  {element.id} {element.role} {_called(element)}" for element in elements]
    roles = Counter(element.role for element in elements)
    counted = ", ".join(f"{count} {role}" for role, count in roles.most_common())
    return [f"  {counted}: ids {_ranges(element.id for element in elements)}"]


def _ranges(ids: Iterable[int]) -> str:
    runs: list[tuple[int, int]] = []
    for number in sorted(ids):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return ", ".join(str(first) if first == last else f"{first} to {last}" for first, last in runs)
