"""Names and one-sentence descriptions of unit functions, in the words that people use for tasks, without a model."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent_s.records import GroundedStep
from exploration.records import Attempt, Change

_VERBS = re.compile(
    r"(?:show|hide|display|enable|disable|use|allow|highlight|insert|add|remove|delete|open|close|save|find|go|select|"
    r"convert|move|paste|copy|cut|undo|redo|duplicate|increase|decrease|set|make|change|check|create|new|edit|replace|"
    r"sort|clear|reload|print|export|import|zoom|toggle|switch|turn|run|record|merge|split|group|ungroup|freeze|"
    r"protect|fill|define|manage|remember|always|cycle|expand|convert|strip|transpose|swap|detach|format|apply)\b",
    re.IGNORECASE,
)
_PRESENCE = re.compile(r"visib|^show|/show", re.IGNORECASE)
_LONGEST = 160


@dataclass(frozen=True, slots=True)
class Naming:
    """What a unit function is called.

    Attributes:
        name: Such as "turn on line numbers".
        description: One sentence with what it does and where.
        preconditions: What must hold before.
    """

    name: str
    description: str
    preconditions: tuple[str, ...] = ()


def name_unit(attempt: Attempt, app: str) -> Naming:
    """Name what an attempt did, or would have done."""
    item = plain(attempt.control.name) or attempt.control.role
    parent = _parent(attempt.path)
    name = _name(attempt, item, parent)
    where = " > ".join(_trail(attempt.path)) or item
    told = _tooltip(attempt.path, item) or name
    description = f"{told[:1].upper()}{told[1:].rstrip('.')}, by {where} in {app}."
    preconditions = [f"{app} is in front"]
    if attempt.precondition:
        preconditions.append(attempt.precondition)
    direction = _direction(attempt.effect, attempt.control.role)
    if direction:
        preconditions.append(f"{item} is {'off' if direction == 'on' else 'on'}")
    return Naming(name=name[:_LONGEST], description=description, preconditions=tuple(preconditions))


def plain(name: str) -> str:
    """Return the name of a control without dots, mnemonics and shortcuts."""
    return re.sub(r"\s*(?:\.\.\.|…)\s*$", "", re.sub(r"\s*[(\[][^)\]]*[+][^)\]]*[)\]]$", "", name)).strip(" :")


def _name(attempt: Attempt, item: str, parent: str) -> str:
    words = _lower(item)
    direction = _direction(attempt.effect, attempt.control.role)
    if direction and not _is_choice(attempt):
        return _switch(words, direction, attempt.effect)
    opened = next((change.what for change in attempt.effect if change.kind == "opened"), "")
    if opened:
        # "Open..." alone says less than the title of what it opens.
        shown = _lower(opened) if _VERBS.fullmatch(words) else words
        return shown if _VERBS.match(shown) and len(shown.split()) > 1 else f"open {shown}"
    if _is_choice(attempt):
        return _choice(words, parent or _setting_words(attempt.effect))
    if attempt.control.role in ("entry", "text", "spin button"):
        return f"set {words}"
    if any(change.kind == "state" and change.what == "window" for change in attempt.effect):
        return f"switch to {words}"
    if parent and not _VERBS.match(words):
        return f"{_lower(parent)} {words}" if _VERBS.match(parent) or len(words.split()) < 3 else words
    if _only(attempt.effect, "appeared") and not _VERBS.match(words):
        return f"show {words}"
    return words if _VERBS.match(words) or " " in words else f"use {words}"


def _switch(words: str, direction: str, effect: tuple[Change, ...]) -> str:
    verb = re.match(r"(show|display|enable|use|allow|highlight)\s+", words)
    if verb:
        rest = words[verb.end() :]
        return words if direction == "on" else {"show": f"hide {rest}"}.get(verb[1], f"turn off {words}")
    shown = any(change.kind in ("appeared", "vanished") or _PRESENCE.search(change.what) for change in effect)
    bar = shown and re.search(r"bar\b|pane|panel|sidebar|tool", words)
    if bar:
        return f"{'show' if direction == 'on' else 'hide'} the {words}"
    return f"turn {direction} {words}"


def _setting_words(effect: tuple[Change, ...]) -> str:
    key = next((change.what.rpartition("/")[2] for change in effect if change.kind == "setting"), "")
    return key.replace("-", " ").replace("_", " ")


def _choice(words: str, parent: str) -> str:
    if re.search(r"\b(?:mode|view|layout)$", words) or not parent:
        return f"switch to {words}"
    return f"set {_lower(parent)} to {words}"


def _is_choice(attempt: Attempt) -> bool:
    """Tell whether one of several was chosen, rather than one thing switched."""
    if attempt.control.role in ("radio menu item", "radio button", "list item"):
        return True
    settings = [change for change in attempt.effect if change.kind == "setting"]
    return bool(settings) and not any(change.after in ("true", "false") for change in settings)


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


def _only(effect: tuple[Change, ...], kind: str) -> bool:
    return bool(effect) and all(change.kind == kind for change in effect)


def _trail(path: tuple[GroundedStep, ...]) -> list[str]:
    """Return the names of what a path acts on, in order."""
    targets = [next(iter(step.targets.values()), None) for step in path]
    return [plain(each.name or each.label or each.description) or each.role for each in targets if each is not None]


def _parent(path: tuple[GroundedStep, ...]) -> str:
    """Return the name of the submenu or list that the last step's target was chosen from; empty for a menu of a bar."""
    if len(path) < 2:
        return ""
    trail = _trail(path)
    last = next(iter(path[-1].targets.values()), None)
    inside = last is not None and sum(part.startswith("menu:") for part in last.path) > 1
    before = next(iter(path[-2].targets.values()), None)
    chosen = before is not None and before.role == "combo box"
    return trail[-2] if len(trail) > 1 and (inside or chosen) else ""


def _tooltip(path: tuple[GroundedStep, ...], item: str) -> str:
    target = next(iter(path[-1].targets.values()), None) if path else None
    said = re.sub(r"\s*\[[^\]]*\]$", "", target.description) if target is not None else ""
    return said if said and " " in said and said.casefold() != item.casefold() else ""


def _lower(words: str) -> str:
    """Return a title's words in small letters; abbreviations keep theirs."""
    return " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in words.split())
