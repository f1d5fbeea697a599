"""Matching of descriptions to elements on the screen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from aci.observation.geometry import Rect
from aci.observation.observation import Element
from agent_s.offline.finding.names import name_score, normalize
from agent_s.offline.finding.roles import ACTIONABLE, ALIKE, EDITABLE, LABELS, ROLES, Kind, roles_of
from agent_s.offline.finding.screen import Screen, is_box, is_on, role_of, same_column, same_line, shown_name
from agent_s.offline.finding.targets import Relation, Target, parse_target
from agent_s.offline.words import BUTTONS, TABLE, meanings, one_of
from intents.text import guard

EXACT = 92.0  # score from which a name counts as an exact match
GOOD = 84.0  # score from which an element is used although others may still appear
MIN_SCORE = 60.0  # score below which an element does not match
_CROSSES = frozenset({"x", "X", "×", "✕", "✖"})
_MAIN_MENU = re.compile(one_of(TABLE["main_menus"]), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate element, with a score from 0 to 100 and the reason for the match in words."""

    element: Element
    score: float
    reason: str


def rank(
    target: Target, screen: Screen, only: frozenset[str] | None = None, prefer: frozenset[str] = ACTIONABLE
) -> list[Candidate]:
    """Return the elements that match a description, best first.

    Args:
        target: The description.
        screen: The screen.
        only: Roles to consider; None for any.
        prefer: Roles that take precedence among equal names.
    """
    best: list[Candidate] = []
    for reading in _readings(target):
        found = _rank_reading(reading, screen, only, prefer)
        if found and (not best or found[0].score > best[0].score):
            best = found
        if best and best[0].score >= EXACT + 2:
            break
    return best


def best(found: list[Candidate], least: float = GOOD) -> list[Candidate]:
    """Return the candidates with at least a minimum score."""
    return [one for one in found if one.score >= least]


def nearest_names(target: Target, screen: Screen) -> list[str]:
    """Return the three names on the screen that are most similar to a missing one."""
    from rapidfuzz import fuzz, process

    wanted = target.name or target.phrase
    names = list(dict.fromkeys(name for element in screen.front if 0 < len(name := shown_name(element)) < 80))
    if not wanted:
        return names[:3]
    return [name for name, _, _ in process.extract(wanted, names, scorer=fuzz.WRatio, limit=3)]


def _readings(target: Target) -> Iterable[Target]:
    """Yield the possible interpretations of a description, the most literal first."""
    if target.phrase and target.phrase != target.name and not (target.quoted or target.every):
        yield Target(phrase=target.phrase, name=target.phrase)
    yield target
    if target.quoted and " " in target.name:
        inner = parse_target(guard(target.name))
        if inner.kinds and inner.name:
            yield replace(inner, ordinal=target.ordinal, within=target.within, phrase="")
    place = target.within
    if place and place.name and not target.name and place.is_a("dialog", "window"):
        # "the button in the dialog labelled 'Cancel'"
        yield replace(target, name=place.name, quoted=place.quoted, within=replace(place, name=""))
    if target.name in _CROSSES:
        yield replace(target, name="Close", phrase="", quoted=True)
    if _MAIN_MENU.fullmatch(target.phrase):
        yield from (Target(phrase=name, name=name) for name in BUTTONS["main menu"])
    if target.relation == "beside" and target.anchor and target.anchor.name:
        yield replace(target, name=target.name or target.anchor.name, relation=None, anchor=None)
    if place and place.name and not place.kinds and not target.quoted:
        yield replace(target, within=None, name=f"{target.name} {place.phrase}".strip())


def _rank_reading(
    target: Target, screen: Screen, only: frozenset[str] | None, prefer: frozenset[str]
) -> list[Candidate]:
    pool = [element for element in screen.elements if only is None or role_of(element) in only]
    if target.within is not None:
        inside = elements_within(target.within, screen)
        if inside is None:
            return []
        pool = [element for element in pool if element.id in inside]
    if target.state:
        pool = [element for element in pool if has_state(element, target.state)]
    found = [candidate for element in pool if (candidate := _candidate(target, element, screen, prefer)) is not None]
    if target.relation is not None and target.anchor is not None:
        found = _related(found, target.relation, target.anchor, screen)
    return _ordered(target, found, screen)


def _candidate(target: Target, element: Element, screen: Screen, prefer: frozenset[str]) -> Candidate | None:
    score, reason = _name_part(target, element, screen)
    kind = _kind_part(target, element, prefer)
    if score <= 0 or kind is None:
        return None
    score += kind - screen.penalty(element)
    if not target.name and screen.is_around_page(element):
        score -= 9  # the page may still be loading
    score -= 8 if "disabled" in element.states else 0
    score -= 12 if element.point is None else 0
    return Candidate(element, score, reason or role_of(element)) if score >= MIN_SCORE else None


def _name_part(target: Target, element: Element, screen: Screen) -> tuple[float, str]:
    if not target.name:
        return (0.0, "") if target.is_vague else (90.0, "")
    highest, how = 0.0, ""
    for name, penalty, source in _names(element, screen):
        score, agreement = name_score(target.name, name)
        if score - penalty > highest:
            highest, how = score - penalty, f"{agreement} of {source}" if source else agreement
    word = normalize(target.name)
    if highest <= 0 and (element.role in TABLE["names_of_kinds"].get(word, ()) or word == "password" in element.states):
        return 74.0, "its kind"
    return highest, how


def _names(element: Element, screen: Screen) -> Iterable[tuple[str, float, str]]:
    """Yield the names of an element with a penalty and the source of each."""
    yield element.name, 0.0, ""
    if element.label:
        yield element.label, 0.5, "its label"
    if near := screen.labels.get(element.id, ""):
        yield near, 8.0 if element.name or element.label else 3.0, "the text beside it"
    if element.text and element.role not in EDITABLE and element.text != element.name:
        yield element.text[:300], 2.0, "its text"
    if element.description:
        yield element.description[:200], 4.0, "its description"
        if len(element.description) < 60 and " " not in element.description:
            yield re.sub(r"[-_]", " ", element.description), 12.0, "its description"


def _kind_part(target: Target, element: Element, prefer: frozenset[str]) -> float | None:
    """Return the score for the role: exact, easily confused, or None if it does not match."""
    role, kind = role_of(element), target.kind
    roles = roles_of(target.kinds)
    if not roles:
        return 0.0 if role in prefer else -5.0 if role in ACTIONABLE else -7.0
    if role in ROLES[kind]:
        return _exactness(kind, element)
    if role in roles:
        # A part of running text is less likely meant than a text with an element of its own.
        return -4.0 if kind == "paragraph" else -3.5 if role == "static" else -2.0
    if not target.name:
        return None
    if role in ALIKE[kind]:
        return -9.5 if role == "static" else -8.0
    return -14.0 if role in prefer and kind not in ("field", "checkbox", "radio", "combo", "slider", "spin") else None


def _exactness(kind: Kind, element: Element) -> float:
    many_lines = "multi_line" in element.states
    if kind in ("field", "area") and element.role in ("combo box", "text", "entry"):
        if "editable" not in element.states:
            return -6.0
        if kind == "area" and element.role != "combo box" and not many_lines:
            return -4.0
    if kind == "field" and (element.role in ("combo box", "spin button") or many_lines):
        return -1.5
    if kind == "item" and element.role == "page tab":
        return -4.0
    return -6.0 if kind == "menu" and element.role in ("push button", "toggle button") else 0.0


_STATES: dict[str, Callable[[Element], bool]] = {
    "checked": is_on,
    "unchecked": lambda element: is_box(element) and not element.states & {"checked", "pressed"},
    "selected": lambda element: bool(element.states & {"selected", "checked", "focused", "active"}),
    "unselected": lambda element: not element.states & {"selected", "checked"},
    "enabled": lambda element: "disabled" not in element.states,
    "empty": lambda element: element.role in EDITABLE and not (element.text or "").strip(),
    "collapsed": lambda element: "expandable" in element.states and "expanded" not in element.states,
}
_STATE_BY_WORD = meanings("states")


def has_state(element: Element, state: str) -> bool:
    """Return whether an element has a state such as "checked", "empty" or "disabled", in everyday words."""
    name = _STATE_BY_WORD.get(state, state)
    return _STATES[name](element) if name in _STATES else name in element.states


def elements_within(place: Target, screen: Screen) -> frozenset[int] | None:
    """Return the ids of the elements in a window, dialog or part of a window; None if there is no such place."""
    windows = _windows_meant(place, screen)
    if windows is not None:
        return frozenset(element.id for element in screen.elements if element.window_id in windows)
    by_path = frozenset(one.id for one in screen.elements if any(_names_part(place, part) for part in one.path))
    if by_path:
        return by_path
    if place.name or place.anchor or place.ordinal or place.sides:
        found = rank(replace(place, phrase=place.name or place.phrase), screen)
        if found:
            return _around(found[0].element, place, screen)
    anywhere = ("form", "page", "list", "table", "section", "toolbar", "area", "combo", "window", "menu")
    return frozenset(one.id for one in screen.front) if not place.name and place.is_a(*anywhere) else None


def window_score(name: str, screen: Screen, window_id: int) -> float:
    """Return how well a name fits the title or the application of a window, from 0 to 100."""
    window = screen.window_by_id[window_id]
    return max(name_score(name, window.title)[0], name_score(name, window.app)[0])


def _windows_meant(place: Target, screen: Screen) -> frozenset[int] | None:
    if place.name:
        scored = sorted(((window_score(place.name, screen, one.id), one.id) for one in screen.windows), reverse=True)
        least = 66.0 if place.is_a("dialog", "window") or not place.kinds else 96.0
        return frozenset({scored[0][1]}) if scored and scored[0][0] >= least else None
    if place.is_a("dialog") and screen.dialogs:
        return frozenset({next((window for window in screen.dialogs if window.active), screen.dialogs[0]).id})
    if place.is_a("menu") and screen.popups:
        return frozenset(window.id for window in screen.popups)
    return None


def _names_part(place: Target, part: str) -> bool:
    role, _, name = part.partition(":")
    if not place.name:
        return bool(place.kinds) and role in ROLES[place.kind]
    if place.kinds and role not in roles_of(place.kinds):
        return False
    return name_score(place.name, name)[0] >= GOOD and (bool(place.kinds) or role not in ("frame", "application"))


def _around(element: Element, place: Target, screen: Screen) -> frozenset[int]:
    """Return the elements at a place named by another element: inside it, in its row, or after a heading."""
    own = f"{element.role}:{element.name}"
    others = [one for one in screen.elements if one.window_id == element.window_id]
    below = [one for one in others if own in one.path and one.path.index(own) == len(element.path)]
    if not below and (place.is_a("row") or element.role in ("table row", "table cell", "row header")):
        below = [one for one in others if same_line(one.rect, element.rect)]
    if not below and (place.is_a("column") or element.role in ROLES["column"]):
        below = [one for one in others if one.rect.y > element.rect.y and same_column(one.rect, element.rect)]
    below = below or [one for one in others if one.id != element.id and contains(element.rect, one.rect)]
    return frozenset(one.id for one in below or [one for one in others if one.rect.y >= element.rect.y])


def contains(outer: Rect, inner: Rect) -> bool:
    """Return whether a rectangle lies inside another."""
    return outer.x <= inner.x and outer.y <= inner.y and outer.right >= inner.right and outer.bottom >= inner.bottom


def _related(found: list[Candidate], relation: Relation, anchor: Target, screen: Screen) -> list[Candidate]:
    """Keep the candidates in the given direction from the anchor, the nearest first."""
    anchors = rank(anchor, screen, prefer=LABELS | ACTIONABLE)
    if not anchors:
        return []
    at = anchors[0].element
    near = [
        (distance, one)
        for one in found
        if one.element.id != at.id
        and one.element.window_id == at.window_id
        and (distance := _distance(relation, at.rect, one.element.rect)) is not None
    ]
    near.sort(key=lambda pair: pair[0])
    return [
        Candidate(one.element, max(MIN_SCORE, one.score - 0.4 * place), f"{one.reason}, {relation} {at.name!r}")
        for place, (_, one) in enumerate(near)
    ]


def _distance(relation: Relation, anchor: Rect, rect: Rect) -> float | None:
    """Return the distance from an anchor in the direction of a relation; None where a rectangle lies elsewhere."""
    dx, dy = rect.center.x - anchor.center.x, rect.center.y - anchor.center.y
    line, column = same_line(anchor, rect), same_column(anchor, rect)
    aside = 0.0 if column else 2.0 * min(abs(rect.x - anchor.right), abs(anchor.x - rect.right), abs(rect.x - anchor.x))
    match relation:
        case "below":
            return dy + aside if rect.y >= anchor.center.y and dy > 0 else None
        case "above":
            return -dy + aside if rect.bottom <= anchor.center.y + 1 else None
        case "left of":
            return float(-dx) if dx < 0 and line else None
        case "right of":
            return float(dx) if dx > 0 and line else None
        case "row":
            return float(abs(dx)) if line else None
        case "beside":
            near = 300.0 + abs(dy) * 2 + aside if column or abs(dy) < 80 else None
            return abs(dx) * 0.5 if line else near
        case _:
            return 0.0 if contains(anchor, rect) else None


def _ordered(target: Target, found: list[Candidate], screen: Screen) -> list[Candidate]:
    """Sort by score, and equal candidates by the given number or side."""
    if target.relation is None:
        found.sort(key=lambda candidate: -candidate.score)
        found = _innermost_first(found)
    if not found:
        return found
    if target.sides:
        width = max(element.rect.right for element in screen.elements)
        height = max(element.rect.bottom for element in screen.elements)

        def distance(candidate: Candidate) -> float:
            at = candidate.element.rect.center
            sides = {"top": at.y, "bottom": height - at.y, "left": at.x, "right": width - at.x}
            center = abs(at.x - width / 2) + abs(at.y - height / 2)
            return sum(sides.get(side, center) for side in target.sides)

        found = sorted(best(found, found[0].score - 8), key=distance)
    if target.ordinal is None:
        return found
    if target.relation is None and not target.sides:
        found = best(found, found[0].score - 3)
        found.sort(key=lambda one: (one.element.rect.center.y // 8, one.element.rect.x))
    position = target.ordinal - 1 if target.ordinal > 0 else len(found) + target.ordinal
    return found[position : position + 1] if 0 <= position < len(found) else []


_HOLDERS = ROLES["row"] | {"page tab", "section", "grouping", "panel", "icon"}
"""Roles that often hold a button or link of their own name."""


def _innermost_first(found: list[Candidate]) -> list[Candidate]:
    if len(found) < 2 or found[0].element.role not in _HOLDERS:
        return found
    outer = found[0].element
    own = f"{outer.role}:{outer.name}"
    for other in best(found[1:6], found[0].score - 2):
        inner = other.element
        inside = contains(outer.rect, inner.rect) or (outer.name and own in inner.path)
        if inside and inner.window_id == outer.window_id and inner.rect != outer.rect and inner.role not in LABELS:
            return [other, *(one for one in found if one is not other)]
    return found
