"""Lists that show a part of their rows, and drop-down lists that a page draws itself."""

from __future__ import annotations

import re
from collections import Counter

from aci.acting.actions import Click, Hotkey, Scroll
from aci.observation.observation import Element
from agent_s.offline.course import Move
from agent_s.offline.matching import Candidate, rank
from agent_s.offline.policies.common import Steps
from agent_s.offline.screen import Screen
from agent_s.offline.targets import TargetQuery

FITS = 84
"""From this score on a row is the one that is meant."""
_LISTS = ("list", "list box")
_ROWS = frozenset({"list item"})
_TURNS, _STEPS = 20, 12
"""Most turns of the wheel, and most steps of the focus, in one direction."""
_SHORT = 6
"""A list with so few rows in sight is turned by one notch at a time."""
_DRAWN_ROLES = frozenset({"section", "static", "label", "paragraph", "push button", "link"})
_DRAWN = re.compile(
    r"^(?:choose|select|pick)\b.{0,40}|^[-–—]{2,}.{0,40}|.{0,60}\s*[▾▼▿⌄⏷🔽˅]$", re.IGNORECASE | re.DOTALL
)


def scroll_list_for(value: TargetQuery, screen: Screen, add: bool) -> Steps[Screen]:
    """Bring a row of a list into sight, and leave what is chosen in the list as it is.

    Nothing is done where the row is in sight, or no list with rows is.

    Args:
        value: The row.
        screen: As it is.
        add: Whether rows before it are chosen already.
    """
    for notches in (-1, 1):
        screen = yield from _turn_along(notches, value, screen)
    if not _is_sought(value, screen) or not _chooses(_rows(screen)[0]):
        return screen
    if not add:  # so that keys go to the list; the click on the row that is sought undoes it
        sight = yield Move(Click(element_id=_rows(screen)[0].id), "give the keyboard to the list")
        screen = sight.screen
    for key in ("Down", "Up") if add else ("Down",):
        screen = yield from _step_along(key, value, screen)
    return screen


def _turn_along(notches: int, value: TargetQuery, screen: Screen) -> Steps[Screen]:
    """Turn the wheel over a list; a notch may be more than the list shows, so that rows are passed over."""
    for _ in range(_TURNS):
        if not _is_sought(value, screen):
            return screen
        rows = _rows(screen)
        many = 1 if len(rows) <= _SHORT else 3
        action = Scroll(element_id=rows[len(rows) // 2].id, clicks=notches * many)
        sight = yield Move(action, f"turn the list to look for {value.describe()!r}")
        if not sight.ok or _shape(sight.screen) == _shape(screen):
            return sight.screen
        screen = sight.screen
    return screen


def _step_along(key: str, value: TargetQuery, screen: Screen) -> Steps[Screen]:
    """Move the focus of a list row by row, with the key held that leaves what is chosen."""
    for _ in range(_STEPS):
        if not _is_sought(value, screen):
            return screen
        sight = yield Move(Hotkey(keys=("ctrl", key)), f"go through the list to look for {value.describe()!r}")
        if not sight.ok or _shape(sight.screen) == _shape(screen):
            return sight.screen
        screen = sight.screen
    return screen


def _is_sought(value: TargetQuery, screen: Screen) -> bool:
    """Tell whether a row is out of sight and there is a list that it may be in."""
    rows = _rows(screen)
    return bool(value.name) and len(rows) > 1 and not any(one.element in rows for one in _fitting(value, screen))


def _shape(screen: Screen) -> list[tuple[str, bool]]:
    return [(row.name, "focused" in row.states) for row in _rows(screen)]


def drawn_lists(source: TargetQuery, screen: Screen) -> list[Candidate]:
    """Return what looks like a drop-down list though the page does not say so, the one that is meant first.

    That is a text that asks to choose, or that ends in a triangle.
    """
    drawn = [
        element
        for element in screen.front
        if element.role in _DRAWN_ROLES and element.point is not None and _DRAWN.fullmatch(element.name.strip())
    ]
    if not source.name:
        return [Candidate(element, FITS, "it looks like a drop-down list") for element in drawn]
    anchors = [
        one.element for one in rank(TargetQuery(phrase=source.name, name=source.name), screen) if one.score >= FITS
    ]
    near = [element for element in drawn if any(_belongs(element, anchor) for anchor in anchors)]
    return [Candidate(element, FITS, f"it looks like the drop-down list {source.name!r}") for element in near[:1]]


def _fitting(value: TargetQuery, screen: Screen) -> list[Candidate]:
    return [one for one in rank(value, screen, _ROWS) if one.score >= FITS]


def _rows(screen: Screen) -> list[Element]:
    """Return the rows in sight of the list that shows the most of them."""
    rows = [
        element
        for element in screen.front
        if element.role in _ROWS and element.point is not None and element.path and _is_list(element.path[-1])
    ]
    if not rows:
        return []
    most, _ = Counter(row.path for row in rows).most_common(1)[0]
    return [row for row in rows if row.path == most]


def _is_list(container: str) -> bool:
    return container.partition(":")[0] in _LISTS


def _chooses(row: Element) -> bool:
    """Tell whether a click on a row only chooses it, as in a field of a form; elsewhere it may open something."""
    return row.path[-1].partition(":")[0] == "list box" and "selectable" in row.states


def _belongs(element: Element, label: Element) -> bool:
    """Tell whether an element holds a label, stands close below it, or beside it."""
    if element.id == label.id:
        return True
    below = 0 <= element.rect.y - label.rect.bottom <= 3 * label.rect.height
    beside = label.rect.y <= element.rect.center.y <= label.rect.bottom and element.rect.x >= label.rect.x
    return (below and abs(element.rect.x - label.rect.x) <= 3 * label.rect.height) or beside
