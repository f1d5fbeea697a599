"""Elements from drafts: their visible part below other windows, ids, and the focus."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from aci.accessibility.elements.draft import Draft
from aci.accessibility.elements.page_fields import number_of
from aci.accessibility.roles import FIELDS, ROWS
from aci.accessibility.tree.libreoffice import is_input_line
from aci.observation.cell_addresses import parse_address
from aci.observation.geometry import Rect
from aci.observation.sightings import Sighting
from aci.observation.snapshot import Element, State, Window
from aci.observation.tracking import IdTracker
from aci.observation.visibility import Placement, ground

_RANGE = re.compile(r"([A-Z]{1,3}[0-9]+)(?::([A-Z]{1,3}[0-9]+))?")

Named = tuple[Draft, str]  # a draft and the name of its application


class _Placed(NamedTuple):
    """The placement of a draft and what it depends on besides the windows above."""

    draft: Draft
    window: Rect
    screen: Rect
    placement: Placement | None


class _Shown(NamedTuple):
    """What was made of a placed draft at the latest look, and of what."""

    draft: Draft  # kept, so that no other one gets its identity
    placement: Placement
    facts: Hashable
    sighting: Sighting
    element: Element | None  # None until it has an id


class Places:
    """Remembers the placements and elements of the latest look: most drafts are the same at the next one."""

    def __init__(self) -> None:
        self._known: dict[int, _Placed] = {}
        self._shown: dict[int, _Shown] = {}
        self._above: dict[int, Sequence[Rect]] = {}  # the windows above each window

    def place(self, drafts: Iterable[Draft], windows: Sequence[Window], screen: Rect) -> list[Placement | None]:
        """Return the visible part of each draft, under the windows above its own."""
        above: dict[int, Sequence[Rect]] = {}
        rects: list[Rect] = []
        for window in windows:
            above[window.id] = tuple(rect for rect in rects if rect.intersection(window.rect) is not None)
            rects.append(window.frame or window.rect)
        known_above = self._above
        moved = {each: _moved(known_above.get(each, ()), above.get(each, ())) for each in {*known_above, *above}}
        placed = [
            self._placed(draft, above.get(draft.window.id, ()), moved.get(draft.window.id, ()), screen)
            for draft in drafts
        ]
        self._known = {id(item.draft): item for item in placed}  # which keeps the drafts, and so their identities
        self._above = above
        return [item.placement for item in placed]

    def sightings(self, seen: Sequence[tuple[Draft, str, Placement]]) -> list[Sighting]:
        """Return the sighting of each of the drafts that were placed last."""
        before, self._shown = self._shown, {}
        found = []
        for draft, app, placement in seen:
            known, facts = before.get(id(draft)), _facts(draft, app)
            if known is None or known.placement is not placement or known.facts != facts:
                known = _Shown(draft, placement, facts, _sighting(draft, placement), None)
            self._shown[id(draft)] = known
            found.append(known.sighting)
        return found

    def element(self, identity: int, draft: Draft, app: str) -> Element:
        """Return the element of a draft that has a sighting."""
        known = self._shown[id(draft)]
        if known.element is not None and known.element.id == identity:
            return known.element
        element = _element(identity, draft, app, known.placement)
        self._shown[id(draft)] = known._replace(element=element)
        return element

    def _placed(self, draft: Draft, above: Sequence[Rect], moved: Iterable[Rect], screen: Rect) -> _Placed:
        """Place a draft, unless it was placed before and no window `moved` over it or away from it."""
        known, window = self._known.get(id(draft)), draft.window.rect
        same = known is not None and known.window == window and known.screen == screen
        if known is not None and same and not any(rect.intersection(draft.area) for rect in moved):
            return known
        placement = ground(draft.area, (screen, window, draft.clip), above, draft.avoid)
        if placement is not None and draft.target is not None and placement.rect.contains(draft.target.center):
            placement = replace(placement, point=draft.target.center)
        return _Placed(draft, window, screen, placement)


def _moved(before: Sequence[Rect], now: Sequence[Rect]) -> set[Rect]:
    """Return the windows that are only above in one of two looks, or all if the order of the others has changed."""
    differing = {*before} ^ {*now}
    reordered = [rect for rect in before if rect not in differing] != [rect for rect in now if rect not in differing]
    return {*before, *now} if reordered else differing


def place_elements(
    drafts: Sequence[Named],
    windows: Sequence[Window],
    screen: Rect,
    tracker: IdTracker,
    places: Places | None = None,
    changed: Sequence[Rect] | None = None,
) -> tuple[tuple[Element, ...], dict[int, Draft], int | None]:
    """Turn drafts into elements, their drafts by id, and the id of the element with the keyboard focus.

    `drafts` are in reading order within each window, `windows` topmost first; so are the elements. `changed` are the
    areas whose pixels changed since the last call, None for all.
    """
    order = {window.id: index for index, window in enumerate(windows)}
    places = places or Places()
    seen = _visible(drafts, places.place((draft for draft, _ in drafts), windows, screen))
    seen.sort(key=lambda item: order.get(item[0].window.id, len(order)))
    ids = tracker.assign(places.sightings(seen), _still(seen, windows, changed) if changed is not None else ())
    elements = tuple(places.element(identity, draft, app) for identity, (draft, app, _) in zip(ids, seen, strict=True))
    by_id = {identity: draft for identity, (draft, _, _) in zip(ids, seen, strict=True)}
    focus_id = _focus(elements, windows)
    return tuple(_with_one_focus(element, focus_id) for element in elements), by_id, focus_id


def _still(
    seen: Sequence[tuple[Draft, str, Placement]], windows: Sequence[Window], changed: Sequence[Rect]
) -> set[Hashable]:
    """Return the outermost objects of windows in which no pixel changed."""
    ids = {window.id for window in windows if not any(window.rect.intersection(area) for area in changed)}
    return {draft.holders[0] for draft, _, _ in seen if draft.window.id in ids and draft.holders}


def _visible(drafts: Sequence[Named], placements: Sequence[Placement | None]) -> list[tuple[Draft, str, Placement]]:
    seen = []
    used: set[Hashable] = set()
    for (draft, app), placement in zip(drafts, placements, strict=True):
        if placement is None or (key := _key(draft)) in used:
            continue
        used.add(key)
        seen.append((draft, app, placement))
    return seen


def _key(draft: Draft) -> Hashable:
    node = draft.node
    # the path names the sheet, whose object may show another one later
    return (node.parent, node.cell, draft.path) if node.cell is not None else (node.ref, node.role)


def _facts(draft: Draft, app: str) -> Hashable:
    """Return what sightings and elements are made of and may change while a draft is kept."""
    node = draft.node
    return (
        *(draft.name, draft.text, draft.label, draft.description, draft.states, draft.window.id, app),
        *(node.ref, node.value, node.caret, node.selection, node.shortcut),
    )


def _sighting(draft: Draft, placement: Placement) -> Sighting:
    node = draft.node
    holders: tuple[Hashable, ...] = draft.holders
    items: tuple[Hashable, ...] = draft.items
    if draft.role == "table cell" and not items:  # a row that is not an object of its own
        row = (node.parent, placement.rect.y)
        holders, items = (*holders, row), (row,)
    named = draft.name or draft.label
    return Sighting(
        key=_key(draft),
        likeness=(draft.window.id, draft.role, named or draft.description, draft.path),
        rect=placement.rect,
        says=f"{draft.name} {draft.text}" if draft.text and draft.role not in FIELDS | ROWS else named,
        holders=holders,
        items=items,
        lasting=node.cell is not None,
        silent=draft.role in FIELDS or (not named and bool(draft.description)),
    )


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
        value=number_of(draft.node),
        caret=draft.node.caret,
        selection=draft.node.selection,
        states=draft.states,
        description=draft.description,
        label=draft.label,
        shortcut=draft.node.shortcut,
        path=draft.path,
        extent=placement.extent if placement.extent != placement.rect else None,
    )


def _focus(elements: Sequence[Element], windows: Sequence[Window]) -> int | None:
    """Return the focused element of the active window and its popups.

    If several claim the focus, it is the one with the caret, then the innermost: Writer sometimes does not take it from
    the paragraph that had it.
    """
    active = {window.id for window in windows if window.active}
    with_keyboard = active | {window.id for window in windows if window.popup or not active}
    focused = [element for element in elements if "focused" in element.states and element.window_id in with_keyboard]
    if not focused:
        return None
    return max(focused, key=lambda one: (one.caret is not None, len(one.path), -one.rect.area)).id


def _with_one_focus(element: Element, focus_id: int | None) -> Element:
    """Return an element that claims the focus only if it has it."""
    if element.id == focus_id:
        return element
    if "focused" not in element.states and element.caret is None:
        return element
    return replace(element, states=element.states - {"focused"}, caret=None, selection=None)


def mark_active_cells(drafts: Sequence[Draft]) -> None:
    """Mark the cells named in the name box of a spreadsheet as selected, and as focused if it is a single one.

    Asking each cell for its states would take longer than everything else.
    """
    cells = [draft for draft in drafts if draft.node.cell is not None]
    if not cells:
        return
    named = next((span for draft in drafts if (span := _named_range(draft)) is not None), None)
    if named is None:
        return
    (top, left), (bottom, right) = named
    for draft in drafts:
        if is_input_line(draft.node):  # which says that it has the keyboard while the sheet has it
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
