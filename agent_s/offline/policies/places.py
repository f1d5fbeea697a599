"""Where an intent is meant: in a window, in a part of one, in a field."""

from __future__ import annotations

from dataclasses import replace

from aci.acting.actions import SwitchApplications
from agent_s.offline.course import Move, give_up
from agent_s.offline.intents import (
    ClickOn,
    FillIn,
    Intent,
    InTurn,
    LookWhether,
    ScrollView,
    SelectOptions,
    SetChecked,
    SetValue,
    TypeText,
    Unfold,
)
from agent_s.offline.matching import elements_within, rank
from agent_s.offline.names import name_score
from agent_s.offline.policies.common import Steps, await_element, click_best, finder, not_found, seek, within
from agent_s.offline.roles import EDITABLE, ROLES
from agent_s.offline.screen import Screen
from agent_s.offline.targets import TargetQuery

_FRONT_WORDS = frozenset(
    {"new", "current", "same", "open", "opened", "resulting", "blank", "empty", "active", "next", "following"}
)
_WINDOWS = {"window", "dialog", "page"}


def settle_place(place: TargetQuery, intent: Intent, screen: Screen) -> Steps[tuple[Screen, Intent]]:
    """Find out what place is meant: bring a window to the front, or narrow the intent down to a part of one."""
    if _is_front(place, screen):
        return screen, intent if not set(place.kinds) & {"dialog"} else placed(intent, place)
    if place.kinds[:1] == ("tab",):
        return (yield from _on_tab(place, intent, screen))
    if (field := _as_field(place, intent, screen)) is not None:
        return screen, field
    if elements_within(place, screen) is not None and not _other_window(place, screen):
        return screen, placed(intent, place)
    if place.kinds and not set(place.kinds) & (_WINDOWS | {"terminal", "area"}):
        screen, found = yield from await_element(screen, finder(place), place)
        if not found and elements_within(place, screen) is None:
            give_up(not_found(place, screen))
        return screen, _as_field(place, intent, screen) or placed(intent, place)
    name = place.name or place.phrase
    sight = yield Move(SwitchApplications(app_code=name[:200]), f"bring {name!r} to the front")
    if sight.ok:
        return sight.screen, intent
    if len(name.split()) <= 6 and set(place.kinds) & {"form", "section", "page"}:
        return sight.screen, intent
    give_up(f"{not_found(place, sight.screen)}, and no application either: {sight.error}")


def _on_tab(place: TargetQuery, intent: Intent, screen: Screen) -> Steps[tuple[Screen, Intent]]:
    """Go to a tab first, unless it is the one that shows."""
    screen, found = yield from seek(screen, finder(place), place)
    if "selected" not in found[0].element.states:
        screen, _ = yield from click_best(screen, found)
    return screen, intent


def _is_front(place: TargetQuery, screen: Screen) -> bool:
    """Tell whether the place is the window in front, by its title or application."""
    window = screen.active
    if window is None:
        return False
    if not place.name or place.name.casefold() in _FRONT_WORDS:
        return bool(set(place.kinds) & {"window", "page", "dialog", "area", "form", "tab"})
    return (
        max(
            name_score(place.name, window.title)[0],
            name_score(place.name, window.app)[0],
            name_score(place.phrase, window.title)[0],
        )
        >= 66
    )


def _other_window(place: TargetQuery, screen: Screen) -> bool:
    """Tell whether the place is a window that is not in front."""
    return bool(place.name) and any(
        not window.active
        and not window.popup
        and max(name_score(place.name, window.title)[0], name_score(place.name, window.app)[0]) >= 66
        for window in screen.windows
    )


def _as_field(place: TargetQuery, intent: Intent, screen: Screen) -> Intent | None:
    """Read the place as the field or list that the intent is about: "in Name type Ada", "in Country choose France"."""
    match intent:
        case TypeText(target=None) if rank(place, screen, EDITABLE):
            return replace(intent, target=place)
        case SelectOptions(source=None) if rank(place, screen, ROLES["combo"] | ROLES["list"]):
            return replace(intent, source=place)
        case _:
            return None


def placed(intent: Intent, place: TargetQuery) -> Intent:
    """Narrow what an intent is about down to a place."""
    match intent:
        case ClickOn(targets=targets) | SetChecked(targets=targets):
            return replace(intent, targets=tuple(within(query, place) for query in targets))
        case SelectOptions(values=values, source=None):
            return replace(intent, values=tuple(within(query, place) for query in values))
        case (
            SetValue(target=TargetQuery() as target) | Unfold(target=target) | TypeText(target=TargetQuery() as target)
        ):
            return replace(intent, target=within(target, place))
        case ScrollView(within=None):
            return replace(intent, within=place)
        case FillIn(fields=fields):
            return replace(intent, fields=tuple((within(query, place), value) for query, value in fields))
        case LookWhether(condition=condition):
            return LookWhether(replace(condition, target=within(condition.target, place)))
        case InTurn(intents=intents):
            return InTurn(tuple(placed(inner, place) for inner in intents))
        case _:
            return intent
