"""Text form, for a model, of the changes between two observations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from aci.observation.candidate_text import HEAD, candidate_lines
from aci.observation.quoting import LONGEST_NAME, quote
from aci.observation.repeats import listed_elements
from aci.observation.sheet_text import address_ranges, is_sheet_cell, sheet_lines
from aci.observation.snapshot import Element, Snapshot, Window
from aci.observation.text import (
    by_window,
    caret_of,
    element_lines,
    extra_lines,
    focus_line,
    has_position,
    hint_of,
    quoted_name,
    states_of,
    text_of,
    truncated,
    value_of,
    window_kind,
    window_line,
    window_name,
)
from aci.observation.visibility import uncovered

NOTHING_CHANGED = "Nothing changed."
JITTER_PX = 3  # smaller moves are not reported, since the position of recognized text varies
MIN_GROUP = 3  # minimum number of elements with the same change or move that share a line
MAX_SINGLE = 12  # maximum number of elements that are named individually
LONG_TEXT = 200  # number of characters from which only the changed part of a text is repeated
CONTEXT = 40  # number of characters shown before the changed part

_OPPOSITES = ({"checked", "unchecked", "mixed"}, {"expanded", "collapsed"})

Known = Mapping[int, Element]


def render_changes(previous: Snapshot, current: Snapshot, earlier: Sequence[Snapshot] = ()) -> str:
    """Return what differs between two observations.

    Args:
        previous: The earlier observation.
        current: The later observation.
        earlier: Observations before these that the reader also knows, oldest first. Elements that reappear, such as
            those behind a closed dialog, are compared with them.
    """
    old = {element.id: element for element in listed_elements(previous)}
    now = listed_elements(current, {element.id: element for element in previous.elements if element.id not in old})
    seen = {element.id: element for snapshot in earlier for element in listed_elements(snapshot)}
    ids = _IdNames([*old, *seen, *(each.id for each in (*now, *previous.candidates, *current.candidates))])
    back = [element for element in now if element.id not in old and element.id in seen]
    same = [element for element in back if not _is_changed(seen[element.id], element)]
    new = [element for element in now if element.id not in old and element.id not in seen]
    lines = _window_changes(previous, current)
    lines += _section("Changed:", _changed_lines(old, [element for element in now if element.id in old], ids))
    lines += _section("Shown again, but changed:", _changed_lines(seen, back, ids))
    lines += [f"Shown again, as before: {ids.which(same)}"] if same else []
    lines += _move_lines({**{element.id: seen[element.id] for element in back}, **old}, now, current.windows, ids)
    for title, elements in by_window(new, current.windows):
        lines += [f"New in window {title}:", *element_lines(elements)]
    covered, gone = _find_absent(previous, current, old)
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
    return [head, *truncated(lines)] if lines else []


def _changed_lines(known: Known, elements: Sequence[Element], ids: _IdNames) -> list[str]:
    """Return a line for each changed element; elements with the same change of states alone share a line."""
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
        if are_cells or len(alike) > MAX_SINGLE:
            lines.append(f"  {states}: {ids.which(alike)}")
        elif len(alike) < MIN_GROUP:
            lines += [f"{_subject(element)}: {states}" for element in alike]
        else:
            lines.append(f"  {states}: " + " | ".join(f"{each.id} {each.role} {quoted_name(each)}" for each in alike))
    return lines + sheet_lines(cells)


def _subject(element: Element) -> str:
    return f"  {element.id} {element.role} {quoted_name(element)}"


def _is_changed(old: Element, new: Element) -> bool:
    return bool(_content_changes(old, new) or _state_changes(old, new))


def _content_changes(old: Element, new: Element) -> list[str]:
    parts = []
    if old.name != new.name and not (new.source == "ocr" and _differ_by_caret(old.name, new.name)):
        parts.append(f"name was {quote(old.name, LONGEST_NAME)}")
    if old.label != new.label:
        parts.append(f"label {quote(new.label, LONGEST_NAME)}")
    if hint_of(old) != hint_of(new):
        parts.append(f"about {quote(hint_of(new), LONGEST_NAME)}")
    was, text = text_of(old), text_of(new)
    if was != text and text is not None:
        parts.append(_text_change(was or "", text))
    if caret_of(old) != caret_of(new) and (caret_of(new) or old.selection):
        parts.append(caret_of(new) or "nothing selected")
    if old.value != new.value and (value := value_of(new)):
        parts.append(f"value {value}")
    return parts


def _text_change(old: str, new: str) -> str:
    """Return a short text whole, and of a long one the replaced part."""
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
    """Return the gained and lost states; the focus is reported separately."""
    before, now = (set(states_of(each)) - {"focused"} for each in (old, new))
    gained = [state for state in states_of(new) if state in now - before]
    turned = {state for pair in _OPPOSITES if pair & set(gained) for state in pair}
    lost = [state for state in states_of(old) if state in before - now - turned]
    parts = [f"now {' '.join(gained)}"] if gained else []
    return ", ".join(parts + ([f"no longer {' '.join(lost)}"] if lost else []))


def _differ_by_caret(one: str, other: str) -> bool:
    """Return whether two recognized texts differ only by a character for which OCR took a caret."""
    short, long = sorted((one, other), key=len)
    return any(long[at] in "|I" and long[:at] + long[at + 1 :] == short for at in range(len(long)))


def _move_lines(old: Known, now: Sequence[Element], windows: Sequence[Window], ids: _IdNames) -> list[str]:
    """Return lines about elements that moved, were covered or uncovered; elements that moved together share a line."""
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
            near = (each for each in moved if abs(each[0] - by[0]) + abs(each[1] - by[1]) <= JITTER_PX)
            moved.setdefault(next(near, by), []).append(element)
    lines = [
        f"Moved by {x},{y}: ids {ids.ranges(element.id for element in together)}"
        for (x, y), together in moved.items()
        if len(together) >= MIN_GROUP
    ]
    alone = [element for together in moved.values() if len(together) < MIN_GROUP for element in together]
    if len(alone) > MAX_SINGLE:
        lines.append(f"Moved: ids {ids.ranges(element.id for element in alone)}")
    elif alone:
        at = ((element.id, element.point) for element in alone if element.point is not None)
        lines.append("Moved: " + ", ".join(f"{identity} to @{point.x},{point.y}" for identity, point in at))
    lines += [f"Covered: {ids.which(covered)}"] if covered else []
    return lines + ([f"No longer covered: {ids.which(free)}"] if free else [])


def _still_there(before: Element, now: Element, windows: Sequence[Window]) -> bool:
    """Return whether the reported point still hits an element, at least under the windows above it."""
    assert before.point is not None and now.point is not None
    if abs(before.point.x - now.point.x) + abs(before.point.y - now.point.y) <= JITTER_PX:
        return True
    if now.rect.contains(before.point):
        return True
    frames = {window.id: window.frame or window.rect for window in windows}
    above = list(frames)[: list(frames).index(now.window_id)] if now.window_id in frames else []
    return any(frames[window].contains(before.point) for window in above)


def _find_absent(previous: Snapshot, current: Snapshot, old: Known) -> tuple[dict[str, list[Element]], list[Element]]:
    """Return the elements that are now covered, by covering window, and those that are gone from remaining windows."""
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


def _gone_lines(elements: Sequence[Element], ids: _IdNames) -> list[str]:
    if len(elements) > MAX_SINGLE:
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
        # It is implied that the previously active window no longer is.
        if before is not None and (before.title != window.title or (window.active and not before.active)):
            lines.append(f"Window now: {window_line(window)}")
    return lines


class _IdNames:
    """Names groups of elements by ranges of ids or cell addresses.

    Args:
        known: The ids that the reader knows; ranges may skip other ids.
    """

    def __init__(self, known: Iterable[int]) -> None:
        self._place = {number: place for place, number in enumerate(sorted(set(known)))}

    def which(self, elements: Sequence[Element]) -> str:
        """Return the ids of elements; cells of a single sheet are named by their addresses."""
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
