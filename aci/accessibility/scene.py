"""The last step to elements: what other windows leave of them, ids, and the focus."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

from aci.accessibility.elements import Draft
from aci.accessibility.view import parse_address
from aci.geometry import Rect
from aci.grounding import Placement, ground
from aci.observation import Element, State, Window
from aci.tracking import IdTracker, Sighting

_RANGE = re.compile(r"([A-Z]{1,3}[0-9]+)(?::([A-Z]{1,3}[0-9]+))?")

Named = tuple[Draft, str]
"""A draft and the name of its application."""


def place_elements(
    drafts: Sequence[Named], windows: Sequence[Window], screen: Rect, tracker: IdTracker
) -> tuple[tuple[Element, ...], dict[int, Draft], int | None]:
    """Turn drafts into elements.

    Args:
        drafts: In reading order within each window.
        windows: Topmost first.
        screen: The whole screen, px.
        tracker: Knows the ids of earlier observations.

    Returns:
        The elements, topmost window first; their drafts by id; and the id of the one that has the keyboard.
    """
    order = {window.id: index for index, window in enumerate(windows)}
    seen = _visible(drafts, windows, screen)
    seen.sort(key=lambda item: order.get(item[0].window.id, len(order)))
    ids = tracker.assign([_sighting(draft, placement) for draft, _, placement in seen])
    elements = tuple(
        _element(identity, draft, app, placement) for identity, (draft, app, placement) in zip(ids, seen, strict=True)
    )
    by_id = {identity: draft for identity, (draft, _, _) in zip(ids, seen, strict=True)}
    return elements, by_id, _focus(elements, windows)


def _visible(drafts: Sequence[Named], windows: Sequence[Window], screen: Rect) -> list[tuple[Draft, str, Placement]]:
    above: dict[int, list[Rect]] = {}
    rects: list[Rect] = []
    for window in windows:
        above[window.id] = list(rects)
        rects.append(window.frame or window.rect)
    seen = []
    used: set[Hashable] = set()
    for draft, app in drafts:
        placement = ground(
            draft.area, (screen, draft.window.rect, draft.clip), above.get(draft.window.id, ()), draft.avoid
        )
        if placement is not None and draft.target is not None and placement.rect.contains(draft.target.center):
            placement = Placement(placement.rect, draft.target.center)
        key = _key(draft)
        if placement is not None and key not in used:
            used.add(key)
            seen.append((draft, app, placement))
    return seen


def _key(draft: Draft) -> Hashable:
    node = draft.node
    return (node.parent, node.cell) if node.cell is not None else (node.ref, node.role)


def _sighting(draft: Draft, placement: Placement) -> Sighting:
    return Sighting(_key(draft), (draft.window.id, draft.role, draft.name, draft.path), placement.rect)


def _element(identity: int, draft: Draft, app: str, placement: Placement) -> Element:
    return Element(
        id=identity,
        role=draft.role,
        name=draft.name,
        rect=placement.rect,
        point=placement.point,
        window_id=draft.window.id,
        app=app,
        text=draft.text,
        value=draft.node.value,
        states=draft.states,
        description=draft.description,
        label=draft.label,
        path=draft.path,
    )


def _focus(elements: Sequence[Element], windows: Sequence[Window]) -> int | None:
    """Return the focused element of the active window; the innermost where several say that they are."""
    active = {window.id for window in windows if window.active}
    focused = [element for element in elements if "focused" in element.states]
    preferred = [element for element in focused if element.window_id in active] or focused
    if not preferred:
        return None
    return max(preferred, key=lambda element: (len(element.path), -element.rect.area)).id


def mark_active_cells(drafts: Sequence[Draft]) -> None:
    """Give the cells that the name box of a spreadsheet names the states `selected` and, for a single one, `focused`.

    Asking each cell for its states would cost more than all the rest of a sheet.
    """
    cells = [draft for draft in drafts if draft.node.cell is not None]
    if not cells:
        return
    named = next((span for draft in drafts if (span := _named_range(draft)) is not None), None)
    if named is None:
        return
    (top, left), (bottom, right) = named
    for draft in drafts:
        if draft.node.text_at:  # the input line, which says that it has the keyboard while the sheet has it
            draft.states = draft.states - {"focused"}
    marks: set[State] = {"selected", "focused"} if (top, left) == (bottom, right) else {"selected"}
    for draft in cells:
        row, column = draft.node.cell or (-1, -1)
        if top <= row <= bottom and left <= column <= right:
            draft.states = draft.states | marks


def _named_range(draft: Draft) -> tuple[tuple[int, int], tuple[int, int]] | None:
    if draft.node.cell is not None or draft.text is None or draft.role not in ("text", "combo box", "entry"):
        return None
    match = _RANGE.fullmatch(draft.text)
    if match is None:
        return None
    first = parse_address(match[1])
    last = parse_address(match[2]) if match[2] else first
    if first is None or last is None:
        return None
    return (min(first[0], last[0]), min(first[1], last[1])), (max(first[0], last[0]), max(first[1], last[1]))
