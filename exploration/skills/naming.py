"""Names unit functions without a model: an intent, aliases, and one sentence for people and models.

A function has several names: after its control, the control's tooltip, the setting that it changed and what the
setting's schema says, the window that it opened, the menu that it is in, and the sign that it writes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aci.observation.identity import ElementDescription
from agent_s.records import Change, GroundedStep
from agent_s.replay.grounded_steps import typed_text
from exploration.search.records import Attempt
from exploration.search.schemas import summary_of
from intents.conflicts import analyze, conflict
from intents.intent import Choose, Do, Intent, Open, SetValue, Switch, Type
from intents.labels import label
from intents.lexicon import first_verb
from intents.reader import read
from intents.tables import table

_CHOICE_ROLES = ("radio menu item", "radio button", "list item")
_FIELD_ROLES = ("entry", "text", "spin button", "search bar")
_BUTTON_ROLES = ("push button", "button", "toggle button")
_GROUP = re.compile(r"(?:panel|grouping):(?!Gtk|Hdy|Adw)(.+)")
_NUMBER = re.compile(r"\d+")
_MOST_ALIASES, _LONGEST = 8, 120
_MOST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Naming:
    """The names of a unit function.

    Attributes:
        intent: What it does.
        aliases: Other names.
        description: One sentence: what it does and where it is found.
        where: How it is reached, such as "View > Line Numbers".
        preconditions: What must hold before.
    """

    intent: Intent
    aliases: tuple[str, ...]
    description: str
    where: str
    preconditions: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The intent as a short sentence, such as "turn on line numbers"."""
        return self.intent.sentence[:_LONGEST]


def name_unit(attempt: Attempt, app: str, suggested: Sequence[str] = ()) -> Naming:
    """Name what an attempt did, or would have done.

    Args:
        attempt: What was found.
        app: The application.
        suggested: Names by a model. They become aliases, except those that ask for something else than the intent.
    """
    item = plain(attempt.control.name) or attempt.control.role
    intents = [_without_app(intent, app) for intent in _intents(attempt, item)]
    intent = intents[0]
    name = intent.sentence
    direction = "" if _is_choice(attempt) else _direction(attempt.effect, attempt.control.role)
    tooltip = _tooltip(attempt.path, item)
    if direction == "off" or (direction and label("toggling").match(tooltip)):
        tooltip = ""  # it says what the control is for, and not what was done with it
    names = [*(each for each in suggested if _agrees(each, name)), *(each.sentence for each in intents[1:]), tooltip]
    aliases = {alias.casefold(): alias for each in names if (alias := " ".join(each.split())[:_LONGEST])}
    aliases.pop(name.casefold(), None)
    preconditions = [f"{app} is in front"]
    if attempt.precondition:
        preconditions.append(attempt.precondition)
    if direction:
        preconditions.append(f"{item} is {'off' if direction == 'on' else 'on'}")
    where = where_found(attempt)
    description = describe(tooltip or name, where, app, _shown(attempt))
    return Naming(intent, tuple(aliases.values())[:_MOST_ALIASES], description, where, tuple(preconditions))


def describe(what: str, where: str, app: str, shown: Sequence[str] = ()) -> str:
    """Return one sentence that says what a skill does, what it brings to the screen, and where it is found."""
    what = what.rstrip(".")
    shows = f", which shows {', '.join(shown)}" if shown else ""
    return f"{what[:1].upper()}{what[1:]}{shows}, by {where} in {app}."


def where_found(attempt: Attempt) -> str:
    """Return how a function is reached, such as "View > Line Numbers"."""
    return " > ".join(_trail(attempt.path)) or plain(attempt.control.name) or attempt.control.role


def plain(name: str) -> str:
    """Return the name of a control without dots, mnemonics and shortcuts."""
    return re.sub(r"\s*(?:\.\.\.|…)\s*$", "", re.sub(r"\s*[(\[][^)\]]*[+][^)\]]*[)\]]$", "", name)).strip(" :") or name


def _agrees(suggested: str, name: str) -> bool:
    """Return whether a suggested name neither asks for the opposite of a name nor has another number."""
    off = [isinstance(each, Switch) and each.state == "off" for each in (read(suggested), read(name))]
    numbers = set(_NUMBER.findall(suggested)) <= set(_NUMBER.findall(name))
    return off[0] == off[1] and numbers and conflict(suggested, name) is None


def _without_app(intent: Intent, app: str) -> Intent:
    """Leave out the application's own name, which says nothing inside of it."""
    words = [word for word in intent.object.split() if word.casefold() != app.casefold()]
    return intent.model_copy(update={"object": " ".join(words)}) if words else intent


def _intents(attempt: Attempt, item: str) -> Iterator[Intent]:
    """Yield what an attempt did in several wordings, the most fitting first."""
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


def _done(words: str) -> Intent:
    """Return the action that a label names, such as "delete line"."""
    verb, _, rest = words.partition(" ")
    return Do(verb=verb, object=rest) if _begins_with_verb(words) else Do(object=words)


def _begins_with_verb(words: str) -> bool:
    return bool(
        label("acting").fullmatch(words.split(" ")[0])
        or first_verb(words)
        or read(words).verb
        or analyze(words).sure_heads
    )


# Fields and signs


def _of_field(attempt: Attempt, words: str, typed: str) -> Iterator[Intent]:
    trail = _trail(attempt.path)
    field = words if attempt.control.name else f"{_lower(trail[-2])} {words}" if len(trail) > 1 else words
    if attempt.control.role != "spin button":
        yield Type(value=typed, object=f"{field} field")
        return
    for setting in (field, *_setting_names(attempt.effect)):
        yield SetValue(object=setting, value=typed)


def _entered(attempt: Attempt) -> str:
    """Return the sign that a button wrote; empty if it did something else."""
    texts = [change for change in attempt.effect if change.kind == "text"]
    if len(texts) != 1 or attempt.control.role not in _BUTTON_ROLES:
        return ""
    before, after = texts[0].before, texts[0].after
    written = after[len(before) :].strip() if after.startswith(before) else ""
    return written if 0 < len(written) <= 4 else ""


def _of_sign(words: str, sign: str, tooltip: str) -> Iterator[Intent]:
    names = [words, sign, _lower(tooltip), table("labels")["names_of_signs"].get(sign, "")]
    for each in (sign, words):
        name = unicodedata.name(each, "").lower() if len(each) == 1 else ""
        names.append(name.rpartition(" ")[2] if each.isalpha() else name)
    for name in dict.fromkeys(filter(None, names)):
        yield Do(verb="enter", object=name)


# Windows


def _of_window(attempt: Attempt, words: str, title: str) -> Iterator[Intent]:
    shown = _lower(re.sub(r"\s+(?:(?:of|-|—|–)\s.*|\(.*|\d+)$", "", title)) or words
    # The title of what "Open..." opens says more than "Open" alone.
    first = shown if _is_verb(words) else words
    if _is_verb(first):
        yield Open(object=f"{first} dialog")
        return
    yield _done(first) if _begins_with_verb(first) and " " in first else Open(object=first)
    for other in dict.fromkeys((words, shown)):
        if not _is_verb(other) and (other != first or _begins_with_verb(first)):
            yield Open(object=other)
    menu = _lower(next(iter(_trail(attempt.path)), ""))
    if label("inserting").fullmatch(menu) and menu not in first.split():
        yield Do(verb=menu, object=words)


def _is_verb(words: str) -> bool:
    return " " not in words and _begins_with_verb(words)


def _shown(attempt: Attempt) -> list[str]:
    """Return names of the controls in a window that was opened."""
    if not any(change.kind == "opened" for change in attempt.effect):
        return []
    names = [plain(offer.control.name) for offer in attempt.offers if not offer.unsafe]
    return [name for name in dict.fromkeys(names) if 2 < len(name) <= 40][:_MOST_SHOWN]


# Choices


def _of_choice(attempt: Attempt, words: str) -> Iterator[Intent]:
    category = _lower(_category(attempt))
    switched = Choose(verb="switch to", value=words)
    yield switched if label("way_of_working").fullmatch(words) or not category else Choose(object=category, value=words)
    after = next((change.after.strip("'\"") for change in attempt.effect if change.kind == "setting"), "")
    value = "" if after in ("true", "false") or len(after) > 40 else re.sub(r"[-_]+", " ", after)
    for setting in _setting_names(attempt.effect):
        if setting != category:
            yield Choose(object=setting, value=words)
        if value and value not in words:
            yield Choose(object=setting, value=value)
    if tooltip := _tooltip(attempt.path, words):
        yield Choose(verb="switch to", value=_lower(tooltip))


def _category(attempt: Attempt) -> str:
    """Return what an entry was chosen from: the submenu or list, the named group around it, else the setting."""
    if parent := _parent(attempt.path):
        return parent
    target = _last(attempt.path)
    groups = [_GROUP.match(part) for part in reversed(target.path if target else ())]
    named = next((plain(group[1]) for group in groups if group), "")
    return named or next(iter(_setting_names(attempt.effect)), "")


def _is_choice(attempt: Attempt) -> bool:
    """Return whether one of several was chosen, rather than one thing switched."""
    if any(change.kind == "opened" for change in attempt.effect):
        return False
    if attempt.control.role in _CHOICE_ROLES:
        return True
    settings = [change for change in attempt.effect if change.kind == "setting"]
    return bool(settings) and not any(change.after in ("true", "false") for change in settings)


# Switches


def _of_switch(attempt: Attempt, words: str, direction: str) -> Iterator[Intent]:
    keys = [change.what.rpartition("/")[2] for change in attempt.effect if change.kind == "setting"]
    visible = any(label("visibility").match(key) for key in keys)
    visible = visible or any(change.kind in ("appeared", "vanished") for change in attempt.effect)
    yield _switch(words, direction, visible)
    for setting in _setting_names(attempt.effect):
        yield _switch(setting, direction)
    if tooltip := _tooltip(attempt.path, words):
        yield _switch(_lower(label("toggling").sub("", tooltip)), direction)


def _switch(words: str, direction: str, visible: bool = False) -> Intent:
    """Return the switching of a label, which may itself say on ("Show grid") or off ("Hide grid")."""
    on = direction == "on"
    said = read(words, find_application=False)
    if isinstance(said, Switch) and said.state == "off":
        return Switch(object=said.object, state="off" if on else "on")
    if isinstance(said, Switch) and said.state == "on" and said.object:
        hide = "hide" if label("showing").fullmatch(said.verb) else ""
        return said if on else Switch(verb=hide, object=said.object, state="off")
    if isinstance(said, Choose) and said.verb == "use":  # "Use spaces" is switched like any other label
        return said if on else Switch(object=said.value, state="off")
    if visible and label("part_of_window").fullmatch(words):
        return Switch(verb="show" if on else "hide", object=words, state="on" if on else "off")
    return Switch(object=words, state="on" if on else "off")


def _direction(effect: tuple[Change, ...], role: str) -> str:
    """Return whether an effect switches something on or off; empty if it does neither."""
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
    """Return what the settings that changed are about, by their schemas and their keys."""
    settings = [change for change in effect if change.kind == "setting"]
    if len(settings) > 2:
        return []
    found = []
    for change in settings:
        key = re.sub(r"[-_]+", " ", change.what.rpartition("/")[2])
        key = label("state_of_setting").sub("", key)
        found += [_lower(summary_of(change.what)), key]
    return [name for name in dict.fromkeys(found) if name]


# Other actions


def _of_action(attempt: Attempt, words: str) -> Iterator[Intent]:
    parent = _lower(_parent(attempt.path))
    menu = _lower(next(iter(_trail(attempt.path)), ""))
    resized = any(change.kind == "state" and change.what == "window" for change in attempt.effect)
    if resized or label("way_of_working").fullmatch(words):
        yield Choose(verb="switch to", value=words)
    elif _begins_with_verb(words):
        yield _done(words)
    elif parent and (_begins_with_verb(parent) or len(words.split()) < 3):
        yield _done(f"{parent} {words}")
    elif attempt.effect and all(change.kind == "appeared" for change in attempt.effect):
        yield Switch(verb="show", object=words, state="on")
    elif label("inserting").fullmatch(menu):
        yield Do(verb=menu, object=words)
    else:
        yield Do(object=words) if " " in words else Choose(verb="use", value=words)
    yield Do(object=words)
    if any(change.kind == "state" and change.after == "not editable" for change in attempt.effect):
        yield Choose(verb="switch to", value="read-only")


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
    """Return the submenu or list that the last target was chosen from; empty for a menu of a menu bar."""
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
    text = re.sub(r"\s*\[[^\]]*\]$", "", target.description).partition(" | ")[0] if target is not None else ""
    text = text.partition(". ")[0].strip().rstrip(".")
    return text if " " in text and len(text) <= 100 and text.casefold() != item.casefold() else ""


def _lower(words: str) -> str:
    """Return words in lower case, except abbreviations."""
    return " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in words.split())
