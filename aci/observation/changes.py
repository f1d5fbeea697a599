"""The changes between two observations as text for a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from aci.observation.candidate_text import HEAD, candidate_lines
from aci.observation.quoting import LONGEST_NAME, quote
from aci.observation.repeats import listed
from aci.observation.sheet_text import address_ranges, is_sheet_cell, sheet_lines
from aci.observation.snapshot import Element, Snapshot, Window
from aci.observation.text import (
    by_window,
    called,
    caret_of,
    element_lines,
    extra_lines,
    focus_line,
    has_position,
    hint_of,
    limited,
    states_of,
    value_of,
    window_kind,
    window_line,
    window_name,
)
from aci.observation.visibility import uncovered

NOTHING_CHANGED = "Nothing changed."
TREMBLE_PX = 3  # smaller moves are not reported: recognized text is never found at quite the same place
LEAST_TOGETHER = 3  # elements that changed or moved the same way from which on they share a line
MOST_ALONE = 12  # elements that moved, changed the same way or went, and are named one by one
LONG_TEXT = 200  # characters of a text from which on only the changed part is repeated
CONTEXT = 40  # characters before the changed part

_OPPOSITES = ({"checked", "unchecked", "mixed"}, {"expanded", "collapsed"})

Known = Mapping[int, Element]


def render_changes(previous: Snapshot, current: Snapshot, earlier: Sequence[Snapshot] = ()) -> str:
    """Return what differs between two observations.

    Args:
        previous: The observation before.
        current: The observation now.
        earlier: Those before both that the reader also knows, oldest first; of what comes back, such as the window
            behind a closed dialog, only the differences from what they showed are repeated.
    """
    old = {element.id: element for element in listed(previous)}
    now = listed(current, {element.id: element for element in previous.elements if element.id not in old})
    seen = {element.id: element for snapshot in earlier for element in listed(snapshot)}
    ids = _Ids([*old, *seen, *(each.id for each in (*now, *previous.candidates, *current.candidates))])
    back = [element for element in now if element.id not in old and element.id in seen]
    same = [element for element in back if not _differs(seen[element.id], element)]
    new = [element for element in now if element.id not in old and element.id not in seen]
    lines = _window_changes(previous, current)
    lines += _section("Changed:", _changed_lines(old, [element for element in now if element.id in old], ids))
    lines += _section("Shown again, but changed:", _changed_lines(seen, back, ids))
    lines += [f"Shown again, as before: {ids.which(same)}"] if same else []
    lines += _moves({**{element.id: seen[element.id] for element in back}, **old}, now, current.windows, ids)
    for title, elements in by_window(new, current.windows):
        lines += [f"New in window {title}:", *element_lines(elements)]
    covered, gone = _absent(previous, current, old)
    lines += [f"Covered by {title}: {ids.which(elements)}" for title, elements in covered.items()]
    lines += _section("Gone:", _gone_lines(gone, ids))
    unnamed = [candidate for candidate in current.candidates if candidate.id not in previous.by_id]
    before = {candidate.id: candidate for snapshot in earlier for candidate in snapshot.candidates}
    again = [candidate for candidate in unnamed if candidate == before.get(candidate.id)]
    lines += _section(f"New {HEAD}", candidate_lines([each for each in unnamed if each not in again]))
    lines += [f"Shown in the picture again, as before: ids {ids.ranges(each.id for each in again)}"] if again else []
    if lost := [candidate.id for candidate in previous.candidates if candidate.id not in current.by_id]:
        lines.append(f"Gone from the picture: ids {ids.ranges(lost)}")
    if previous.focus_id != current.focus_id:
        lines.append(focus_line(current))
    return "\n".join((lines or [NOTHING_CHANGED]) + extra_lines(current, previous))


def _section(head: str, lines: Sequence[str]) -> list[str]:
    return [head, *limited(lines)] if lines else []


def _changed_lines(known: Known, elements: Sequence[Element], ids: _Ids) -> list[str]:
    """Return a line for each element that differs; those of which only the same states changed share one."""
    lines = []
    cells: list[Element] = []
    marked: dict[tuple[str, bool], list[Element]] = {}
    for element in elements:
        before = known[element.id]
        content, states = _content_changes(before, element), _state_changes(before, element)
        if content and is_sheet_cell(element):
            cells.append(element)
        elif content:
            lines.append(f"{_subject(element)}: {', '.join([*content, *([states] if states else [])])}")
        elif states:
            marked.setdefault((states, is_sheet_cell(element)), []).append(element)
    for (states, are_cells), alike in marked.items():
        if are_cells or len(alike) > MOST_ALONE:
            lines.append(f"  {states}: {ids.which(alike)}")
        elif len(alike) < LEAST_TOGETHER:
            lines += [f"{_subject(element)}: {states}" for element in alike]
        else:
            lines.append(f"  {states}: " + " | ".join(f"{each.id} {each.role} {called(each)}" for each in alike))
    return lines + sheet_lines(cells)


def _subject(element: Element) -> str:
    return f"  {element.id} {element.role} {called(element)}"


def _differs(old: Element, new: Element) -> bool:
    return bool(_content_changes(old, new) or _state_changes(old, new))


def _content_changes(old: Element, new: Element) -> list[str]:
    parts = []
    if old.name != new.name and not (new.source == "ocr" and _only_a_caret(old.name, new.name)):
        parts.append(f"name was {quote(old.name, LONGEST_NAME)}")
    if old.label != new.label:
        parts.append(f"label {quote(new.label, LONGEST_NAME)}")
    if hint_of(old) != hint_of(new):
        parts.append(f"about {quote(hint_of(new), LONGEST_NAME)}")
    if old.text != new.text and new.text is not None:
        parts.append(_text_change(old.text or "", new.text))
    if caret_of(old) != caret_of(new) and (caret_of(new) or old.selection):
        parts.append(caret_of(new) or "nothing selected")
    if old.value != new.value and (value := value_of(new)):
        parts.append(f"value {value}")
    return parts


def _text_change(old: str, new: str) -> str:
    """Return the text, or of a long one what was replaced in it."""
    if len(new) < LONG_TEXT:
        return f"text {quote(new)}"
    longest = min(len(old), len(new))
    start = next((at for at in range(longest) if old[at] != new[at]), longest)
    rest = longest - start
    end = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    removed, added = old[start : len(old) - end], new[start : len(new) - end]
    if 2 * (len(removed) + len(added)) > len(new):
        return f"text {quote(new)}"
    before = quote(new[max(0, start - CONTEXT) : start])
    place = f"at character {start}, after {before}"
    return f"text has {quote(added)} instead of {quote(removed)} {place}, {len(new)} characters in all"


def _state_changes(old: Element, new: Element) -> str:
    """Return which states were gained and lost; who has the focus is said once, for all elements."""
    before, now = (set(states_of(each)) - {"focused"} for each in (old, new))
    gained = [state for state in states_of(new) if state in now - before]
    turned = {state for pair in _OPPOSITES if pair & set(gained) for state in pair}
    lost = [state for state in states_of(old) if state in before - now - turned]
    parts = [f"now {' '.join(gained)}"] if gained else []
    return ", ".join(parts + ([f"no longer {' '.join(lost)}"] if lost else []))


def _only_a_caret(one: str, other: str) -> bool:
    """Return whether two recognized texts differ in what a blinking caret is taken for."""
    short, long = sorted((one, other), key=len)
    return any(long[at] in "|I" and long[:at] + long[at + 1 :] == short for at in range(len(long)))


def _moves(old: Known, now: Sequence[Element], windows: Sequence[Window], ids: _Ids) -> list[str]:
    """Return what moved, was covered or can be used again; what moved together is one line."""
    moved: dict[tuple[int, int], list[Element]] = {}
    covered, free = [], []
    for element in now:
        before = old.get(element.id)
        if before is None or before.point == element.point:
            continue
        if element.point is None:
            covered.append(element)
        elif before.point is None:
            free.append(element)
        elif has_position(element) and not _still_there(before, element, windows):
            by = element.point.x - before.point.x, element.point.y - before.point.y
            near = (each for each in moved if abs(each[0] - by[0]) + abs(each[1] - by[1]) <= TREMBLE_PX)
            moved.setdefault(next(near, by), []).append(element)
    lines = [
        f"Moved by {x},{y}: ids {ids.ranges(element.id for element in together)}"
        for (x, y), together in moved.items()
        if len(together) >= LEAST_TOGETHER
    ]
    alone = [element for together in moved.values() if len(together) < LEAST_TOGETHER for element in together]
    if len(alone) > MOST_ALONE:
        lines.append(f"Moved: ids {ids.ranges(element.id for element in alone)}")
    elif alone:
        at = ((element.id, element.point) for element in alone if element.point is not None)
        lines.append("Moved: " + ", ".join(f"{identity} to @{point.x},{point.y}" for identity, point in at))
    lines += [f"Covered: {ids.which(covered)}"] if covered else []
    return lines + ([f"No longer covered: {ids.which(free)}"] if free else [])


def _still_there(before: Element, now: Element, windows: Sequence[Window]) -> bool:
    """Return whether the place that was said still hits an element, or would but for a window above it."""
    assert before.point is not None and now.point is not None
    if abs(before.point.x - now.point.x) + abs(before.point.y - now.point.y) <= TREMBLE_PX:
        return True
    if now.rect.contains(before.point):
        return True
    frames = {window.id: window.frame or window.rect for window in windows}
    above = list(frames)[: list(frames).index(now.window_id)] if now.window_id in frames else []
    return any(frames[window].contains(before.point) for window in above)


def _absent(previous: Snapshot, current: Snapshot, old: Known) -> tuple[dict[str, list[Element]], list[Element]]:
    """Return the elements that other windows cover now, by these, and those that are gone from windows still there."""
    above: dict[int, list[Window]] = {
        window.id: list(current.windows[:place]) for place, window in enumerate(current.windows)
    }
    closed = {window.id for window in previous.windows} - above.keys()
    covered: dict[str, list[Element]] = {}
    gone = []
    for element in old.values():
        if element.id in current.by_id or element.window_id in closed:
            continue
        over = [
            window
            for window in above.get(element.window_id, ())
            if (window.frame or window.rect).intersection(element.rect)
        ]
        if over and not uncovered(element.rect, [window.frame or window.rect for window in over]):
            covered.setdefault(f"{window_kind(over[-1])} {window_name(over[-1])}", []).append(element)
        else:
            gone.append(element)
    return covered, gone


def _gone_lines(elements: Sequence[Element], ids: _Ids) -> list[str]:
    if len(elements) > MOST_ALONE:
        roles = {element.role for element in elements}
        kind = roles.pop() if len(roles) == 1 else "elements"
        return [f"  {len(elements)} {kind}: ids {ids.ranges(element.id for element in elements)}"]
    return [_subject(element) for element in elements]


def _window_changes(previous: Snapshot, current: Snapshot) -> list[str]:
    old = {window.id: window for window in previous.windows}
    new = {window.id: window for window in current.windows}
    lines = [f"Window opened: {window_line(window)}" for identity, window in new.items() if identity not in old]
    lines += [f"Window closed: {window_line(window)}" for identity, window in old.items() if identity not in new]
    for identity, window in new.items():
        before = old.get(identity)
        # That another window is no longer the active one goes without saying.
        if before is not None and (before.title != window.title or (window.active and not before.active)):
            lines.append(f"Window now: {window_line(window)}")
    return lines


class _Ids:
    """Names many elements at once.

    Args:
        known: The ids that the reader knows; a range may pass over others.
    """

    def __init__(self, known: Iterable[int]) -> None:
        self._place = {number: place for place, number in enumerate(sorted(set(known)))}

    def which(self, elements: Sequence[Element]) -> str:
        """Return the ids of elements; cells of one sheet are given by their addresses."""
        cells = [element for element in elements if is_sheet_cell(element)]
        if len({cell.window_id for cell in cells}) != 1 or len({cell.name for cell in cells}) != len(cells):
            cells = []
        rest = [element.id for element in elements if not (cells and is_sheet_cell(element))]
        parts = [f"cells {address_ranges(cells)}"] if cells else []
        return "; ".join(parts + ([f"ids {self.ranges(rest)}"] if rest else []))

    def ranges(self, ids: Iterable[int]) -> str:
        """Return ids as ranges, such as `3 to 8, 11`."""
        runs: list[tuple[int, int]] = []
        for number in sorted(ids):
            if runs and self._place.get(number, -1) == self._place.get(runs[-1][1], -1) + 1:
                runs[-1] = runs[-1][0], number
            else:
                runs.append((number, number))
        return ", ".join(str(first) if first == last else f"{first} to {last}" for first, last in runs)
