"""Lays out the map of an application: screens from left to right as they are reached, attempts as edges.

The screens form a tree by the attempt that reached each first, laid out like the folders of a file manager: leaves one
below the other, each parent next to its first child, so that lines never cross. Other ways between screens are drawn
across it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from exploration.search.records import Attempt, Boundary, ScreenState, UnitSkill

NODE_W, NODE_H = 150, 122  # a screen with its caption, px
GAP_X, GAP_Y = 168, 22
MARGIN = 16
MOST_SCREENS = 80
MOST_CROSSINGS = 40
_TRUNK, _ROUND = 20, 8
"""Distance from a parent at which the line to a child turns down, and the radius of its corners, px."""
LABEL_W = GAP_X - _TRUNK - _ROUND  # width of the label of a line, px
_LONGEST_CAPTION, _LONGEST_LABEL = 20, 22


@dataclass(frozen=True, slots=True)
class Node:
    """A screen on the map."""

    x: float  # left edge, px
    y: float  # top edge, px
    state: ScreenState
    caption: str  # its title, or its first controls if the title is that of the screen before; shortened
    skills: tuple[str, ...] = ()  # names of the skills that begin on it and lead to no other screen
    boundaries: tuple[str, ...] = ()  # names of the boundaries on it


@dataclass(frozen=True, slots=True)
class Edge:
    """A way from one screen to another."""

    path: str  # an SVG path
    label: str  # the control, shortened; empty for a crossing
    tip: str  # the full description
    x: float  # left edge of the label, px
    y: float  # bottom edge of the label, px
    skill: bool  # whether it is a verified skill
    crossing: bool = False  # whether it is another way than the one on which its screen was found


@dataclass(frozen=True, slots=True)
class AppMap:
    """A map, its size in px, and the number of screens that are left out for lack of room."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    width: float
    height: float
    left_out: int = 0


def draw_map(
    states: Mapping[str, ScreenState],
    attempts: Sequence[Attempt],
    skills: Iterable[UnitSkill],
    boundaries: Iterable[Boundary] = (),
) -> AppMap:
    """Lay out the screens of an application.

    Args:
        states: Screens by fingerprint, in the order in which they were found.
        attempts: Attempts in order.
        skills: Verified skills.
        boundaries: Boundaries.
    """
    moves = [attempt for attempt in attempts if attempt.start != attempt.end and attempt.end in states]
    shown = _reached(states, moves)
    places = _places(shown)
    verified = {skill.key: skill for skill in skills}
    at_home = _at_home(attempts, states, verified)
    failed = {boundary.key: boundary.name for boundary in boundaries}
    nodes = [
        Node(
            *places[one],
            state=states[one],
            caption=_caption(states[one], None if move is None else states[move.start]),
            skills=tuple(at_home.get(one, ())),
            boundaries=tuple(failed[each.key] for each in attempts if each.start == one and each.key in failed),
        )
        for one, move in shown.items()
    ]
    edges = [_edge(move, places, verified) for move in shown.values() if move is not None]
    edges = [*_crossings(moves, shown, places, verified), *sorted(edges, key=lambda edge: edge.skill)]
    width = max((node.x for node in nodes), default=0) + NODE_W + MARGIN
    height = max((node.y for node in nodes), default=0) + NODE_H + MARGIN
    return AppMap(tuple(nodes), tuple(edges), width, height, len(states) - len(shown))


def _reached(states: Mapping[str, ScreenState], moves: Sequence[Attempt]) -> dict[str, Attempt | None]:
    """Return the shown screens, each with the attempt that reached it first; None for a root."""
    first: dict[str, Attempt] = {}
    for move in moves:
        first.setdefault(move.end, move)
    shown: dict[str, Attempt | None] = {}
    for one in list(states)[:MOST_SCREENS]:
        found_by = first.get(one)
        # A screen that was reached from one that is not shown yet is the root of another tree.
        shown[one] = found_by if found_by is not None and found_by.start in shown else None
    return shown


def _places(shown: Mapping[str, Attempt | None]) -> dict[str, tuple[float, float]]:
    children: dict[str, list[str]] = {one: [] for one in shown}
    for one, move in shown.items():
        if move is not None:
            children[move.start].append(one)
    places: dict[str, tuple[float, float]] = {}
    bottom = float(MARGIN)
    for root in (one for one, move in shown.items() if move is None):
        bottom = _place(root, 0, bottom, children, places)
    return {one: places[one] for one in shown}


def _place(
    one: str, depth: int, top: float, children: Mapping[str, list[str]], places: dict[str, tuple[float, float]]
) -> float:
    """Place a tree and return the top of the next one; trees are no deeper than a search."""
    places[one] = (MARGIN + depth * (NODE_W + GAP_X), top)
    below = top
    for child in children[one]:
        below = _place(child, depth + 1, below, children, places)
    return below if children[one] else top + NODE_H + GAP_Y


def _caption(state: ScreenState, before: ScreenState | None) -> str:
    title = "" if before is not None and before.title == state.title else state.title
    return _shorten(title or " · ".join(state.words[:4]) or state.title or "no title", _LONGEST_CAPTION)


def _edge(
    move: Attempt,
    places: Mapping[str, tuple[float, float]],
    verified: Mapping[str, UnitSkill],
    crossing: bool = False,
) -> Edge:
    """Draw a way: the one on which a screen was found right, down and right again, another one as a curve."""
    skill = verified.get(move.key)
    more = f": {skill.name}. {skill.description}" if skill else f". {move.why}" if move.why else ""
    tip = f"{move.control.role} {move.control.name!r}{more}"
    # From the middle of the right side of the first screen to the middle of the left side of the second
    (x1, y1), (x2, y2) = places[move.start], places[move.end]
    x1, y1, y2 = x1 + NODE_W, y1 + NODE_H / 2, y2 + NODE_H / 2
    if crossing:
        if x2 < x1:
            x1, x2 = x1 - NODE_W, x2 + NODE_W
        bend = (x2 - x1) / 2 or GAP_X / 2
        path = f"M {x1:.0f} {y1:.0f} C {x1 + bend:.0f} {y1:.0f}, {x2 - bend:.0f} {y2:.0f}, {x2:.0f} {y2:.0f}"
        return Edge(path, "", tip, x1, y1, skill is not None, crossing=True)
    trunk, path = x1 + _TRUNK, f"M {x1:.0f} {y1:.0f} H {x2:.0f}"
    if y2 > y1:
        path = (
            f"M {x1:.0f} {y1:.0f} H {trunk - _ROUND:.0f} q {_ROUND} 0 {_ROUND} {_ROUND} "
            f"V {y2 - _ROUND:.0f} q 0 {_ROUND} {_ROUND} {_ROUND} H {x2:.0f}"
        )
    name = _shorten(move.control.name or move.control.role, _LONGEST_LABEL)
    return Edge(path, name, tip, trunk + _ROUND, y2 - 5, skill is not None)


def _crossings(
    moves: Iterable[Attempt],
    shown: Mapping[str, Attempt | None],
    places: Mapping[str, tuple[float, float]],
    verified: Mapping[str, UnitSkill],
) -> list[Edge]:
    """Return the other ways between screens, one for each pair."""
    pairs: dict[tuple[str, str], Attempt] = {}
    for move in moves:
        known = shown.get(move.end)
        if move.start in places and move.end in places and (known is None or known.key != move.key):
            pairs.setdefault((move.start, move.end), move)
    return [_edge(move, places, verified, crossing=True) for move in list(pairs.values())[:MOST_CROSSINGS]]


def _at_home(
    attempts: Iterable[Attempt], states: Mapping[str, ScreenState], verified: Mapping[str, UnitSkill]
) -> dict[str, list[str]]:
    """Return the skills that lead to no other screen, by their first screen."""
    found: dict[str, list[str]] = {}
    for attempt in attempts:
        skill = verified.get(attempt.key)
        if skill is not None and (attempt.end == attempt.start or attempt.end not in states):
            found.setdefault(attempt.start, []).append(skill.name)
    return found


def _shorten(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
