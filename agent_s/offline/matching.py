"""From the description of an element to the elements that may be meant, best first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from aci.observation.geometry import Rect
from aci.observation.observation import Element
from agent_s.offline.names import name_score, normalize
from agent_s.offline.quoting import guard
from agent_s.offline.roles import ACTIONABLE, EDITABLE, LABELS, ROLES, Kind, roles_of
from agent_s.offline.screen import Screen, is_box, role_of, same_column, same_line, shown_name
from agent_s.offline.targets import Relation, TargetQuery, parse_target

EXACT = 94.0
"""Score from which a name counts as the one that was said."""
_UNNAMED_AROUND_PAGE = 9.0
"""What it costs that something without a name lies around a page, which may only not be there yet."""
LEAST = 60.0
"""Score below which nothing is meant."""
_MAIN_MENU = re.compile(
    r"(?:(?:main|hamburger|primary|application|app|burger|three[- ]?dots?|kebab|overflow|browser)\s+menu(?:\s+(?:button|icon))?|hamburger(?:\s+(?:button|icon))?|menu\s+button|menu)",
    re.IGNORECASE,
)
_CROSSES = frozenset({"x", "X", "×", "✕", "✖"})
_MAIN_MENU_NAMES = (
    "Main Menu",
    "Primary menu",
    "Open Menu",
    "Application menu",
    "Menu",
    "Customize and control Chromium",
    "Hamburger",
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An element that may be meant.

    Attributes:
        element: The element.
        score: From 0 to 100.
        reason: What agrees, in words.
    """

    element: Element
    score: float
    reason: str


def rank(
    query: TargetQuery, screen: Screen, only: frozenset[str] | None = None, prefer: frozenset[str] = ACTIONABLE
) -> list[Candidate]:
    """Return the elements that a description may mean, best first.

    Args:
        query: The description.
        screen: Where to look.
        only: Roles that can be meant; None for any.
        prefer: Roles that are likelier than others of the same name.
    """
    best: list[Candidate] = []
    for reading in _readings(query):
        found = _rank_reading(reading, screen, only, prefer)
        if found and (not best or found[0].score > best[0].score):
            best = found
        if best and best[0].score >= EXACT:
            break
    return best


def nearest_names(query: TargetQuery, screen: Screen, count: int = 3) -> list[str]:
    """Return the names on the screen that are most like the one that was not found."""
    from rapidfuzz import fuzz, process

    wanted = query.name or query.phrase
    names = list(
        dict.fromkeys(
            shown_name(element) for element in screen.front if shown_name(element) and len(shown_name(element)) < 80
        )
    )
    return (
        [name for name, _, _ in process.extract(wanted, names, scorer=fuzz.WRatio, limit=count)]
        if wanted
        else names[:count]
    )


def _readings(query: TargetQuery) -> Iterable[TargetQuery]:
    """Yield a description in the ways in which it can be read, the most literal first."""
    plain = TargetQuery(phrase=query.phrase, name=query.phrase)
    complex_phrase = query.phrase and query.phrase != query.name and not query.quoted
    if complex_phrase and not query.every:
        yield plain
    yield query
    if query.quoted and " " in query.name:
        inner = parse_target(guard(query.name))
        if inner.kinds and inner.name:
            yield replace(inner, ordinal=query.ordinal, within=query.within, phrase="")
    if not query.name and query.within and query.within.name and set(query.within.kinds) & {"dialog", "window"}:
        yield replace(query, name=query.within.name, quoted=query.within.quoted, within=replace(query.within, name=""))
    if query.name in _CROSSES:
        yield replace(query, name="Close", phrase="", quoted=True)
    if _MAIN_MENU.fullmatch(query.phrase):
        yield from (TargetQuery(phrase=name, name=name) for name in _MAIN_MENU_NAMES)
    if query.relation == "beside" and query.anchor and query.anchor.name:
        yield replace(query, name=query.name or query.anchor.name, relation=None, anchor=None)
    if (
        not (query.quoted or query.kinds or query.within or query.relation or "," in query.name)
        and 1 < len(query.name.split()) <= 5
    ):
        first, _, last = query.name.rpartition(" ")
        yield TargetQuery(
            name=first,
            relation="beside",
            anchor=TargetQuery(name=last, quoted=True),
            quoted=True,
            kinds=("radio", "checkbox"),
        )
    if query.within and query.within.name and query.within.kinds == () and not query.quoted:
        yield replace(query, within=None, name=f"{query.name} {query.within.phrase}".strip())


def _rank_reading(
    query: TargetQuery, screen: Screen, only: frozenset[str] | None, prefer: frozenset[str]
) -> list[Candidate]:
    pool = [element for element in screen.elements if only is None or role_of(element) in only]
    if query.within is not None:
        inside = elements_within(query.within, screen)
        if inside is None:
            return []
        pool = [element for element in pool if element.id in inside]
    if query.state:
        pool = [element for element in pool if has_state(element, query.state)]
    found = [candidate for element in pool if (candidate := _candidate(query, element, screen, prefer)) is not None]
    if query.relation is not None and query.anchor is not None:
        found = _related(found, query.relation, query.anchor, screen)
    return _ordered(query, found, screen)


def _candidate(query: TargetQuery, element: Element, screen: Screen, prefer: frozenset[str]) -> Candidate | None:
    score, reason = _name_part(query, element, screen)
    kind, kind_reason = _kind_part(query, element, prefer)
    if score <= 0 or kind is None:
        return None
    score += kind - screen.penalty(element)
    if not query.name and screen.is_around_page(element):
        score -= _UNNAMED_AROUND_PAGE
    if "disabled" in element.states:
        score -= 8
    if element.point is None:
        score -= 12
    return (
        Candidate(element, score, ", ".join(part for part in (reason, kind_reason) if part)) if score >= LEAST else None
    )


def _name_part(query: TargetQuery, element: Element, screen: Screen) -> tuple[float, str]:
    if not query.name:
        return (90.0, "") if not query.is_vague else (0.0, "")
    best, how = 0.0, ""
    for name, penalty, source in _names(element, screen):
        score, agreement = name_score(query.name, name)
        if score - penalty > best:
            best, how = score - penalty, f"{agreement} of {source}" if source else agreement
    if best <= 0 and _is_named_by_role(query, element):
        return 74.0, "kind that the name says"
    return best, how


def _names(element: Element, screen: Screen) -> Iterable[tuple[str, float, str]]:
    """Yield the names of an element, what each costs, and where it comes from."""
    yield element.name, 0.0, ""
    if element.label:
        yield element.label, 0.5, "its label"
    near = screen.labels.get(element.id, "")
    if near:
        yield near, 3.0 if not (element.name or element.label) else 8.0, "the text beside it"
    if element.text and element.role not in EDITABLE and element.text != element.name:
        yield element.text[:300], 2.0, "its text"
    if element.description:
        yield element.description[:200], 4.0, "its description"
        if len(element.description) < 60 and " " not in element.description:
            yield re.sub(r"[-_]", " ", element.description), 12.0, "its class"


_PAGING = re.compile(r"[\d\s<>«»‹›…|.]*|(?:next|prev(?:ious)?|first|last|more)(?:\s+page)?", re.IGNORECASE)
"""Names of what turns the pages of a list, which is no entry of it."""
_ROLE_WORDS: dict[str, frozenset[str]] = {
    "password": frozenset({"password text"}), "search": frozenset({"search box"}), "menu": frozenset({"push button menu"}),
    "date": frozenset({"date editor", "calendar"}), "dropdown": frozenset({"combo box"}), "slider": frozenset({"slider"}),
}  # fmt: skip


def _is_named_by_role(query: TargetQuery, element: Element) -> bool:
    """Tell whether the name is no more than the kind of the element: the "password" field, the "date"."""
    word = normalize(query.name)
    return element.role in _ROLE_WORDS.get(word, frozenset()) or (word == "password" and "password" in element.states)


def _kind_part(query: TargetQuery, element: Element, prefer: frozenset[str]) -> tuple[float | None, str]:
    """Weigh the role: as said, one that people take for it, or one that cannot be meant."""
    role = role_of(element)
    if not query.kinds:
        return (0.0, "") if role in prefer else (-5.0 if role in ACTIONABLE else -7.0, "")
    if query.kinds[0] == "result" and _PAGING.fullmatch(element.name.strip()):
        return None, ""
    roles = roles_of(query.kinds)
    if not roles:
        return (0.0, "") if role in prefer else (-6.0, "")
    if role in ROLES[query.kinds[0]]:
        return _exactness(query.kinds[0], element), role
    if role in roles:
        # A part of running text is less likely meant than a text with an element of its own.
        return -4.0 if query.kinds[0] == "paragraph" else -3.5 if role == "static" else -2.0, role
    if not query.name:
        return None, ""
    if _is_kin(query.kinds[0], role):
        return -9.5 if role == "static" else -8.0, f"a {role} taken for it"
    return (
        (-14.0, "")
        if role in prefer and query.kinds[0] not in ("field", "checkbox", "radio", "combo", "slider", "spin")
        else (None, "")
    )


def _exactness(kind: Kind, element: Element) -> float:
    """A field that cannot be typed into is not the field that is meant."""
    if (
        kind in ("field", "area")
        and element.role in ("combo box", "text", "entry")
        and "editable" not in element.states
    ):
        return -6.0
    if kind == "field" and (element.role in ("combo box", "spin button") or "multi_line" in element.states):
        return -1.5
    if kind == "area" and element.role in ("entry", "text") and "multi_line" not in element.states:
        return -4.0
    if kind == "item" and element.role == "page tab":
        return -4.0
    if kind == "menu" and element.role in ("push button", "toggle button"):
        return -6.0
    return 0.0


_KIN: dict[Kind, frozenset[str]] = {
    "button": frozenset({"link", "menu item", "toggle button", "list item", "image", "icon", "static", "label", "radio button", "page tab", "switch", "arrow", "menu", "combo box", "check box", "table cell", "text line", "section"}),
    "link": frozenset({"push button", "static", "section", "label", "list item", "heading", "image", "text line", "menu item", "page tab"}),
    "tab": frozenset({"push button", "toggle button", "radio button", "link", "list item", "tree item", "static", "label", "menu item", "table cell"}),
    "checkbox": frozenset({"toggle button", "switch", "radio button", "check menu item", "menu item", "push button", "list item", "table cell"}),
    "switch": frozenset({"check box", "push button", "check menu item"}),
    "radio": frozenset({"check box", "toggle button", "list item", "push button", "radio menu item", "menu item"}),
    "menu": frozenset({"link", "list item", "combo box", "page tab"}),
    "menuitem": frozenset({"push button", "list item", "link", "label", "static", "check box", "radio button"}),
    "combo": frozenset({"push button", "toggle button", "list", "entry", "text", "list item", "menu"}),
    "item": frozenset({"label", "static", "push button", "link", "check box", "radio button", "image", "paragraph", "section", "toggle button", "text line"}),
    "tree": frozenset({"label", "static", "push button", "toggle button"}),
    "image": frozenset({"push button", "link", "toggle button", "list item", "table cell", "label"}),
    "text": frozenset({"list item", "link", "table cell", "text", "section", "push button"}),
    "heading": frozenset({"label", "static", "paragraph"}),
    "section": frozenset({"list item", "tree item", "link", "static", "table cell", "label"}),
    "row": frozenset({"label", "static", "link"}),
    "date": ROLES["field"],
    "spin": frozenset({"entry", "text", "slider"}),
    "slider": frozenset({"spin button", "scroll bar"}),
    "cell": frozenset({"list item", "label", "static"}),
    "column": frozenset({"push button", "label", "static", "table cell"}),
}  # fmt: skip


def _is_kin(kind: Kind, role: str) -> bool:
    return role in _KIN.get(kind, frozenset())


_ON = frozenset({"checked", "pressed", "selected"})
_STATES: dict[str, Callable[[Element], bool]] = {
    "checked": lambda element: bool(element.states & _ON),
    "unchecked": lambda element: is_box(element) and not element.states & {"checked", "pressed"},
    "selected": lambda element: bool(element.states & {"selected", "checked", "focused", "active"}),
    "unselected": lambda element: not element.states & {"selected", "checked"},
    "disabled": lambda element: "disabled" in element.states,
    "enabled": lambda element: "disabled" not in element.states,
    "focused": lambda element: "focused" in element.states,
    "empty": lambda element: element.role in EDITABLE and not (element.text or "").strip(),
    "expanded": lambda element: "expanded" in element.states,
    "collapsed": lambda element: "expandable" in element.states and "expanded" not in element.states,
    "editable": lambda element: "editable" in element.states,
}
_STATE_WORDS = {
    "ticked": "checked", "on": "checked", "turned on": "checked", "active": "checked", "pressed": "checked",
    "unticked": "unchecked", "off": "unchecked", "turned off": "unchecked", "highlighted": "selected", "current": "selected",
    "open": "selected", "deselected": "unselected", "greyed out": "disabled", "grayed out": "disabled", "blank": "empty",
}  # fmt: skip


def has_state(element: Element, state: str) -> bool:
    """Tell whether an element is "checked", "empty", "disabled" and so on, in the words of people."""
    holds = _STATES.get(_STATE_WORDS.get(state, state))
    return holds(element) if holds is not None else state in element.states


def elements_within(place: TargetQuery, screen: Screen) -> frozenset[int] | None:
    """Return the ids of the elements in a window, dialog or part of a window; None where there is no such place."""
    kinds = set(place.kinds)
    if (windows := _windows_meant(place, screen)) is not None:
        return frozenset(element.id for element in screen.elements if element.window_id in windows)
    by_path = frozenset(
        element.id for element in screen.elements if any(_path_fits(part, place) for part in element.path)
    )
    if by_path:
        return by_path
    if place.name or place.anchor or place.ordinal or place.places:
        found = rank(replace(place, phrase=place.name or place.phrase), screen)
        if found:
            return _around(found[0].element, kinds, screen)
    if not place.name and kinds & {
        "form",
        "page",
        "list",
        "table",
        "section",
        "toolbar",
        "area",
        "combo",
        "window",
        "menu",
    }:
        return frozenset(element.id for element in screen.front)
    return None


def _windows_meant(place: TargetQuery, screen: Screen) -> frozenset[int] | None:
    kinds = set(place.kinds)
    if place.name:
        scored = sorted(
            (
                (max(name_score(place.name, window.title)[0], name_score(place.name, window.app)[0]), window.id)
                for window in screen.windows
            ),
            reverse=True,
        )
        least = 66.0 if kinds & {"dialog", "window"} or not kinds else 96.0
        return frozenset({scored[0][1]}) if scored and scored[0][0] >= least else None
    if "dialog" in kinds and screen.dialogs:
        front = [window for window in screen.dialogs if window.active] or list(screen.dialogs)
        return frozenset({front[0].id})
    if "menu" in kinds and screen.popups:
        return frozenset(window.id for window in screen.popups)
    return None


def _path_fits(part: str, place: TargetQuery) -> bool:
    role, _, name = part.partition(":")
    if place.kinds and role not in roles_of(place.kinds):
        return False
    if not place.name:
        return bool(place.kinds) and role in ROLES[place.kinds[0]]
    return name_score(place.name, name)[0] >= 84 and (bool(place.kinds) or role not in ("frame", "application"))


def _around(element: Element, kinds: set[Kind], screen: Screen) -> frozenset[int]:
    """Return what belongs to an element that stands for a place: its descendants, its row, or what follows a heading."""
    own = f"{element.role}:{element.name}"
    below = [other.id for other in screen.elements if own in other.path and other.path.index(own) == len(element.path)]
    if below:
        return frozenset(below)
    if "row" in kinds or element.role in ("table row", "table cell", "row header"):
        return frozenset(
            other.id
            for other in screen.elements
            if other.window_id == element.window_id and same_line(other.rect, element.rect)
        )
    if "column" in kinds or element.role in ("column header", "table column header"):
        return frozenset(
            other.id
            for other in screen.elements
            if other.rect.y > element.rect.y and same_column(other.rect, element.rect)
        )
    inside = [other.id for other in screen.elements if other.id != element.id and _contains(element.rect, other.rect)]
    if inside:
        return frozenset(inside)
    return frozenset(
        other.id for other in screen.elements if other.window_id == element.window_id and other.rect.y >= element.rect.y
    )


def _contains(outer: Rect, inner: Rect) -> bool:
    return outer.x <= inner.x and outer.y <= inner.y and outer.right >= inner.right and outer.bottom >= inner.bottom


def _related(found: list[Candidate], relation: Relation, anchor: TargetQuery, screen: Screen) -> list[Candidate]:
    """Keep what lies as said to the anchor, the nearest first."""
    anchors = rank(anchor, screen, prefer=frozenset(LABELS) | ACTIONABLE)
    if not anchors:
        return []
    at = anchors[0].element
    near = [
        (distance, candidate)
        for candidate in found
        if candidate.element.id != at.id
        and (distance := distance_in(relation, at.rect, candidate.element.rect)) is not None
        and candidate.element.window_id == at.window_id
    ]
    near.sort(key=lambda pair: pair[0])
    return [
        replace(
            candidate,
            score=max(LEAST, candidate.score - 0.4 * place),
            reason=f"{candidate.reason}, {relation} {at.name!r}",
        )
        for place, (_, candidate) in enumerate(near)
    ]


def distance_in(relation: Relation, anchor: Rect, rect: Rect) -> float | None:
    """Return how far a rectangle is from an anchor in the direction that a relation says; None where it lies elsewhere."""
    dx, dy = rect.center.x - anchor.center.x, rect.center.y - anchor.center.y
    match relation:
        case "below":
            return dy + _sideways(anchor, rect) if rect.y >= anchor.center.y and dy > 0 else None
        case "above":
            return -dy + _sideways(anchor, rect) if rect.bottom <= anchor.center.y + 1 else None
        case "left of":
            return float(-dx) if dx < 0 and same_line(anchor, rect) else None
        case "right of":
            return float(dx) if dx > 0 and same_line(anchor, rect) else None
        case "row":
            return float(abs(dx)) if same_line(anchor, rect) else None
        case "beside":
            if same_line(anchor, rect):
                return abs(dx) * 0.5
            return 300.0 + abs(dy) * 2 + _sideways(anchor, rect) if same_column(anchor, rect) or abs(dy) < 80 else None
        case _:
            return 0.0 if _contains(anchor, rect) else None


def _sideways(anchor: Rect, rect: Rect) -> float:
    """Being off to the side counts, being of another width does not."""
    if same_column(anchor, rect):
        return 0.0
    return 2.0 * min(abs(rect.x - anchor.right), abs(anchor.x - rect.right), abs(rect.x - anchor.x))


def _ordered(query: TargetQuery, found: list[Candidate], screen: Screen) -> list[Candidate]:
    """Sort by score; where an ordinal or a place was said, by that among those that fit equally well."""
    if query.relation is None:
        found.sort(key=lambda candidate: -candidate.score)
        found = _innermost_first(found)
    if not found:
        return found
    if query.places:
        found = _by_place(query, [candidate for candidate in found if candidate.score >= found[0].score - 8], screen)
    if query.ordinal is not None:
        return _nth(query.ordinal, found, ordered=query.relation is not None or bool(query.places))
    return found


_HOLDERS = ROLES["row"] | frozenset({"page tab", "section", "grouping", "panel", "icon"})
"""Roles that often hold a button or link of their own name; a field of several parts is meant as a whole."""


def _innermost_first(found: list[Candidate]) -> list[Candidate]:
    """Put a button before the tab or row of the same name that it lies in."""
    if len(found) < 2 or found[0].element.role not in _HOLDERS:
        return found
    best = found[0]
    own = f"{best.element.role}:{best.element.name}"
    inner = [
        other
        for other in found[1:6]
        if other.score >= best.score - 2
        and other.element.window_id == best.element.window_id
        and other.element.rect != best.element.rect
        and (_contains(best.element.rect, other.element.rect) or (best.element.name and own in other.element.path))
        and other.element.role not in LABELS
    ]
    return [inner[0], *(one for one in found if one is not inner[0])] if inner else found


def _by_place(query: TargetQuery, found: list[Candidate], screen: Screen) -> list[Candidate]:
    area = Rect(0, 0, max(e.rect.right for e in screen.elements), max(e.rect.bottom for e in screen.elements))

    def distance(candidate: Candidate) -> float:
        center = candidate.element.rect.center
        sides = {"top": center.y, "bottom": area.bottom - center.y, "left": center.x, "right": area.right - center.x,
                 "center": abs(center.x - area.center.x) + abs(center.y - area.center.y)}  # fmt: skip
        return float(sum(sides[place] for place in query.places))

    return sorted(found, key=distance)


def _nth(ordinal: int, found: list[Candidate], ordered: bool) -> list[Candidate]:
    """Return the n-th of those that fit as well as the best, in reading order; empty where there are fewer."""
    best = found[0].score
    peers = [candidate for candidate in found if candidate.score >= best - 3] if not ordered else found
    if not ordered:
        peers.sort(key=lambda candidate: _reading_order(candidate.element))
    position = ordinal - 1 if ordinal > 0 else len(peers) + ordinal
    return peers[position : position + 1] if 0 <= position < len(peers) else []


def _reading_order(element: Element) -> tuple[int, int]:
    return (element.rect.center.y // 8, element.rect.x)
