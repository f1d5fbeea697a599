"""Names and one-sentence descriptions of unit functions, in the words that people use for tasks, without a model.

A function has several names: after its control, the control's tooltip, the setting that it changed and what the
setting's schema says, the window that it opened, the menu it lies in, and the sign that it writes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aci.observation.identity import ElementDescription
from agent_s.records import GroundedStep
from agent_s.replay.grounded_steps import typed_text
from agent_s.replay.skill_names import describe
from exploration.search.records import Attempt, Change
from exploration.search.schemas import summary_of
from intents.conflicts import conflict
from intents.intent import Switch
from intents.reader import read

_VERBS = re.compile(
    r"(?:show|hide|display|enable|disable|use|allow|highlight|insert|add|remove|delete|open|close|save|find|go|select|"
    r"convert|move|paste|copy|cut|undo|redo|duplicate|increase|decrease|set|make|change|check|create|new|edit|replace|"
    r"sort|clear|reload|print|export|import|zoom|toggle|switch|turn|run|record|merge|split|group|ungroup|freeze|"
    r"protect|fill|define|manage|remember|always|cycle|expand|convert|strip|transpose|swap|detach|format|apply|wrap)\b",
    re.IGNORECASE,
)
_MENU_VERBS = re.compile(r"insert|add|create|export|import", re.IGNORECASE)
"""Menus that say what is done to what is chosen in them."""
_SWITCHES = re.compile(
    r"(?:toggle|(?:change|set|toggle) the visibility of|show or hide|show/hide|hide or show|enable or disable|"
    r"turn on or off|switch on or off)\s+(?:the\s+)?",
    re.IGNORECASE,
)
_POSITIVE = re.compile(r"(show|display|enable|use|allow|highlight|activate|view|draw)\s+", re.IGNORECASE)
_NEGATIVE = re.compile(r"(hide|disable|no|don't|do not|never|suppress|without)\s+", re.IGNORECASE)
_BAR = re.compile(r"(?:bar|pane|panel|sidebar|toolbar|ruler|window)s?$")
_CATEGORY = re.compile(r"\b(?:mode|view|layout)$")
_CHOICE_ROLES = ("radio menu item", "radio button", "list item")
_FIELD_ROLES = ("entry", "text", "spin button", "search bar")
_GROUP = re.compile(r"(?:panel|grouping):(?!Gtk|Hdy|Adw)(.+)")
_NUMBER = re.compile(r"\d+")
_LONGEST = 160
_MOST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Naming:
    """What a unit function is called.

    Attributes:
        name: Such as "turn on line numbers".
        description: One sentence with what it does, its other names and where it is found.
        preconditions: What must hold before.
    """

    name: str
    description: str
    preconditions: tuple[str, ...] = ()


def name_unit(attempt: Attempt, app: str, suggested: Sequence[str] = ()) -> Naming:
    """Name what an attempt did, or would have done.

    Args:
        attempt: What was found.
        app: The application.
        suggested: Names that a model gave it, the best first; one that asks for something else than the rules' name
            is left out.
    """
    item = plain(attempt.control.name) or attempt.control.role
    names = [name for name in (_bare(name, app) for name in _names(attempt, item)) if name]
    by_rules = names[0] if names else _lower(item)
    names = list(dict.fromkeys([*(each for each in suggested if _agrees(each, by_rules)), by_rules, *names]))
    name = names[0]
    where = where_found(attempt)
    direction = "" if _is_choice(attempt) else _direction(attempt.effect, attempt.control.role)
    told = _tooltip(attempt.path, item)
    if direction == "off" or (direction and _SWITCHES.match(told)):
        told = ""  # it tells what the control is for, and not what was done with it
    others = [other for other in dict.fromkeys(names[1:]) if other.casefold() not in (name.casefold(), told.casefold())]
    preconditions = [f"{app} is in front"]
    if attempt.precondition:
        preconditions.append(attempt.precondition)
    if direction:
        preconditions.append(f"{item} is {'off' if direction == 'on' else 'on'}")
    description = describe(told or name, others, _shown(attempt), where, app)
    return Naming(name=name[:_LONGEST], description=description, preconditions=tuple(preconditions))


def where_found(attempt: Attempt) -> str:
    """Return how a function is reached, such as "View > Line Numbers"."""
    return " > ".join(_trail(attempt.path)) or plain(attempt.control.name) or attempt.control.role


def _agrees(suggested: str, name: str) -> bool:
    """Tell whether a name that a model gave neither asks for the opposite of a true one nor names another number."""
    same_way = _is_off(suggested) == _is_off(name)
    numbers = set(_NUMBER.findall(suggested)) <= set(_NUMBER.findall(name))
    return same_way and numbers and conflict(suggested, name) is None


def _is_off(name: str) -> bool:
    intent = read(name)
    return isinstance(intent, Switch) and intent.state == "off"


def plain(name: str) -> str:
    """Return the name of a control without dots, mnemonics and shortcuts."""
    return re.sub(r"\s*(?:\.\.\.|…)\s*$", "", re.sub(r"\s*[(\[][^)\]]*[+][^)\]]*[)\]]$", "", name)).strip(" :") or name


def _names(attempt: Attempt, item: str) -> Iterator[str]:
    """Yield the names of what an attempt did, the most fitting first."""
    words = _lower(item)
    typed = typed_text(attempt.path[-1].action) if attempt.path else ""
    direction = _direction(attempt.effect, attempt.control.role)
    opened = next((change.what for change in attempt.effect if change.kind == "opened"), None)
    if typed and attempt.control.role in _FIELD_ROLES:
        yield from _of_field(attempt, words, typed)
    elif opened is not None:
        yield from _of_window(attempt, words, opened)
    elif _is_choice(attempt):
        yield from _of_choice(attempt, words)
    elif direction:
        yield from _of_switch(attempt, words, direction)
    elif sign := _entered(attempt):
        yield from _of_sign(words, sign, _tooltip(attempt.path, item))
    else:
        yield from _of_action(attempt, words)


# Fields and signs


def _of_field(attempt: Attempt, words: str, typed: str) -> Iterator[str]:
    trail = _trail(attempt.path)
    called = words if attempt.control.name else f"{_lower(trail[-2])} {words}" if len(trail) > 1 else words
    if attempt.control.role == "spin button":
        yield f"set {called} to {typed}"
        for setting in _setting_names(attempt.effect):
            yield f"set {setting} to {typed}"
    else:
        yield f"type '{typed}' into the {called} field"


def _entered(attempt: Attempt) -> str:
    """Return the sign that a button wrote; empty where it did something else."""
    texts = [change for change in attempt.effect if change.kind == "text"]
    if len(texts) != 1 or attempt.control.role not in ("push button", "button", "toggle button"):
        return ""
    before, after = texts[0].before, texts[0].after
    written = after[len(before) :].strip() if after.startswith(before) else ""
    return written if 0 < len(written) <= 4 else ""


def _of_sign(words: str, sign: str, tooltip: str) -> Iterator[str]:
    yield f"enter {words}"
    if sign != words:
        yield f"enter {sign}"
    if tooltip:
        yield f"enter {_lower(tooltip)}"
    if sign in (".", ","):
        yield "enter decimal point"
    for each in dict.fromkeys((sign, words)):
        if len(each) == 1 and not each.isalpha() and (name := unicodedata.name(each, "")):
            yield f"enter {name.lower()}"
        elif len(each) == 1 and (name := unicodedata.name(each, "")):
            yield f"enter {name.lower().split()[-1]}"


# Windows


def _of_window(attempt: Attempt, words: str, title: str) -> Iterator[str]:
    shown = _lower(re.sub(r"\s+(?:(?:of|-|—|–)\s.*|\(.*|\d+)$", "", title)) or words
    # "Open..." alone says less than the title of what it opens.
    first = shown if _VERBS.fullmatch(words) else words
    if _VERBS.fullmatch(first):
        yield f"open the {first} dialog"
        return
    yield first if _VERBS.match(first) and len(first.split()) > 1 else f"open {first}"
    for other in dict.fromkeys((words, shown)):
        if other != first and not _VERBS.fullmatch(other):
            yield f"open {other}"
    menu = _lower(next(iter(_trail(attempt.path)), ""))
    if _MENU_VERBS.fullmatch(menu) and menu not in first.split():
        yield f"{menu} {words}"


def _shown(attempt: Attempt) -> list[str]:
    """Return names of what stands in a window that was opened."""
    if not any(change.kind == "opened" for change in attempt.effect):
        return []
    names = [plain(offer.control.name) for offer in attempt.offers if not offer.unsafe]
    return [name for name in dict.fromkeys(names) if 2 < len(name) <= 40][:_MOST_SHOWN]


# Choices


def _of_choice(attempt: Attempt, words: str) -> Iterator[str]:
    category = _lower(_category(attempt))
    yield f"switch to {words}" if _CATEGORY.search(words) or not category else f"set {category} to {words}"
    value = next((_value(change.after) for change in attempt.effect if change.kind == "setting"), "")
    for setting in _setting_names(attempt.effect):
        if setting != category:
            yield f"set {setting} to {words}"
        if value and value not in words:
            yield f"set {setting} to {value}"
    if told := _tooltip(attempt.path, words):
        yield f"switch to {_lower(told)}"


def _category(attempt: Attempt) -> str:
    """Return of what something was chosen: the submenu or list, the named group it stands in, else the setting."""
    if parent := _parent(attempt.path):
        return parent
    target = _last(attempt.path)
    groups = [_GROUP.match(part) for part in reversed(target.path if target else ())]
    named = next((plain(group[1]) for group in groups if group), "")
    return named or next(iter(_setting_names(attempt.effect)), "")


def _is_choice(attempt: Attempt) -> bool:
    """Tell whether one of several was chosen, rather than one thing switched."""
    if any(change.kind == "opened" for change in attempt.effect):
        return False
    if attempt.control.role in _CHOICE_ROLES:
        return True
    settings = [change for change in attempt.effect if change.kind == "setting"]
    return bool(settings) and not any(change.after in ("true", "false") for change in settings)


# Switches


def _of_switch(attempt: Attempt, words: str, direction: str) -> Iterator[str]:
    yield _switch(words, direction, bool(_presence(attempt.effect)))
    for setting in _setting_names(attempt.effect):
        yield _switch(setting, direction, False)
    if told := _tooltip(attempt.path, words):
        said = _SWITCHES.sub("", told)
        yield _switch(_lower(said), direction, False)


def _switch(words: str, direction: str, presence: bool) -> str:
    """Say that something is switched on or off; labels such as "Hide grid" say the opposite of what they are about."""
    if negative := _NEGATIVE.match(words):
        rest = words[negative.end() :]
        return f"turn {'off' if direction == 'on' else 'on'} {rest}"
    if verb := _POSITIVE.match(words):
        rest = words[verb.end() :]
        off = f"hide {rest}" if verb[1] in ("show", "display", "view") else f"turn off {rest}"
        if verb[1] in ("highlight", "draw"):
            off = f"turn off {words}"  # what is done to a thing, and not the thing
        return words if direction == "on" else off
    if presence and _BAR.search(words):
        return f"{'show' if direction == 'on' else 'hide'} the {words}"
    return f"turn {direction} {words}"


def _presence(effect: tuple[Change, ...]) -> bool:
    keys = [change.what.rpartition("/")[2] for change in effect if change.kind == "setting"]
    return any("visib" in key or key.startswith("show") for key in keys) or any(
        change.kind in ("appeared", "vanished") for change in effect
    )


def _direction(effect: tuple[Change, ...], role: str) -> str:
    """Tell whether an effect switches something on or off; empty where it does neither."""
    for change in effect:
        if change.kind == "setting" and change.after in ("true", "false"):
            return "on" if change.after == "true" else "off"
        if change.kind == "state" and change.what.startswith((role, "check", "toggle", "switch")):
            if change.after in ("checked", "pressed"):
                return "on"
            if change.after in ("not checked", "not pressed"):
                return "off"
    return ""


def _setting_names(effect: tuple[Change, ...]) -> list[str]:
    """Return what the settings that changed are about, by their schema and by their keys."""
    settings = [change for change in effect if change.kind == "setting"]
    if len(settings) > 2:
        return []
    found = []
    for change in settings:
        key = re.sub(r"[-_]+", " ", change.what.rpartition("/")[2])
        key = re.sub(r"\s+(?:visible|enabled|shown|active)$", "", key)
        found += [_lower(summary_of(change.what)), key]
    return [name for name in dict.fromkeys(found) if name]


def _value(after: str) -> str:
    value = after.strip("'\"")
    return "" if value in ("true", "false") or len(value) > 40 else re.sub(r"[-_]+", " ", value)


# Other actions


def _of_action(attempt: Attempt, words: str) -> Iterator[str]:
    parent = _lower(_parent(attempt.path))
    window = any(change.kind == "state" and change.what == "window" for change in attempt.effect)
    if window or _CATEGORY.search(words):
        yield f"switch to {words}"
    elif parent and not _VERBS.match(words):
        yield f"{parent} {words}" if _VERBS.match(parent) or len(words.split()) < 3 else words
    elif attempt.effect and all(change.kind == "appeared" for change in attempt.effect) and not _VERBS.match(words):
        yield f"show {words}"
    elif _VERBS.match(words):
        yield words
    elif _MENU_VERBS.fullmatch(menu := _lower(next(iter(_trail(attempt.path)), ""))):
        yield f"{menu} {words}"
    else:
        yield words if " " in words else f"use {words}"
    yield words
    if any(change.kind == "state" and change.after == "not editable" for change in attempt.effect):
        yield "switch to read-only"


# Paths


def _trail(path: tuple[GroundedStep, ...]) -> list[str]:
    """Return the names of what a path acts on, in order."""
    targets = [next(iter(step.targets.values()), None) for step in path]
    return [
        plain((each.name if each.role != "combo box" else "") or each.label or each.description) or each.role
        for each in targets
        if each is not None
    ]


def _parent(path: tuple[GroundedStep, ...]) -> str:
    """Return the name of the submenu or list that the last step's target was chosen from; empty for a menu of a bar."""
    if len(path) < 2:
        return ""
    trail = _trail(path)
    last = _last(path)
    inside = last is not None and sum(part.startswith("menu:") for part in last.path) > 1
    before = next(iter(path[-2].targets.values()), None)
    chosen = before is not None and before.role == "combo box" and trail[-2] != "combo box"
    return trail[-2] if len(trail) > 1 and (inside or chosen) else ""


def _last(path: tuple[GroundedStep, ...]) -> ElementDescription | None:
    return next(iter(path[-1].targets.values()), None) if path else None


def _tooltip(path: tuple[GroundedStep, ...], item: str) -> str:
    target = _last(path)
    said = re.sub(r"\s*\[[^\]]*\]$", "", target.description).partition(" | ")[0] if target is not None else ""
    said = said.partition(". ")[0].strip().rstrip(".")
    return said if " " in said and len(said) <= 100 and said.casefold() != item.casefold() else ""


def _bare(name: str, app: str) -> str:
    """Return a name without the application's own, which says nothing inside of it."""
    words = [word for word in name.split() if word.casefold() != app.casefold()]
    return " ".join(words) if len(words) > 1 else name


def _lower(words: str) -> str:
    """Return a title's words in small letters; abbreviations keep theirs."""
    return " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in words.split())
