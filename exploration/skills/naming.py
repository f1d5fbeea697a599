"""Names unit functions without a model: an intent, aliases, and one sentence for people and models.

A function has several names: after its control, the control's tooltip, the setting that it changed and what the
setting's schema says, the window that it opened, the menu that it is in, and the sign that it writes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agent_s.records import Change, ChangeKind, GroundedStep
from agent_s.replay.grounded_steps import typed_text
from exploration.search.controls import FIELD_ROLES, MENU_ROLES, NUMBER_ROLES
from exploration.search.records import Attempt
from exploration.search.schemas import summary_of
from intents.conflicts import analyze, conflict
from intents.intent import Choose, Do, Intent, Open, SetValue, Switch, Type
from intents.labels import label
from intents.lexicon import fillers, first_verb
from intents.matching import says_little
from intents.reader import read
from intents.tables import table

_CHOICE_ROLES = ("radio menu item", "radio button", "list item")
_BUTTON_ROLES = ("push button", "button", "toggle button")
_GROUP = re.compile(r"(?:panel|grouping):(?!Gtk|Hdy|Adw)(.+)")
_NUMBER, _WORD = re.compile(r"\d+"), re.compile(r"[^\W_]+")
_ALTERNATIVE, _CONJUNCTION = re.compile(r"\s+/\s+"), re.compile(r"\s+(?:/|&|and)\s+")
_KEYS = re.compile(r"\s+(?:(?:alt|ctrl|control|meta|shift|super)\s*\+\s*)+\S+$", re.IGNORECASE)  # behind a tooltip
_MOST_ALIASES, _LONGEST = 8, 120
_MOST_SHOWN = 8


@dataclass(frozen=True)
class Naming:
    """The names of a unit function."""

    intent: Intent  # what it does
    aliases: tuple[str, ...]  # other names
    description: str  # one sentence: what it does and where it is found
    where: str  # how it is reached, such as "View > Line Numbers"
    preconditions: tuple[str, ...] = ()  # what must hold before

    @property
    def name(self) -> str:
        """The intent as a short sentence, such as "turn on line numbers"."""
        return self.intent.sentence[:_LONGEST]

    def fields(self) -> dict[str, Any]:
        """Return the fields of a `UnitSkill` that it gives."""
        return {"name": self.name, **vars(self)}


def name_unit(attempt: Attempt, app: str, suggested: Sequence[str] = ()) -> Naming:
    """Name what an attempt did, or would have done.

    Args:
        attempt: What was found.
        app: The application.
        suggested: Names by a model. They become aliases, except those that ask for something else than the intent.
    """
    found = _Function(attempt, app)
    intents = [found.without_application(intent) for intent in found.intents()]
    intent, name = intents[0], intents[0].sentence
    direction = "" if found.is_choice else found.direction
    tooltip = found.tooltip
    if direction == "off" or (direction and label("toggling").match(tooltip)):
        tooltip = ""  # it says what the control is for, and not what was done with it
    others = [*intents[1:], *found.usual_names()]
    names = [*(each for each in suggested if _agrees(each, name)), *(each.sentence for each in others), tooltip]
    parts = _ALTERNATIVE if _begins_with_verb(found.words) else _CONJUNCTION
    names += [name.replace(found.words, either) for either in parts.split(found.words)]
    aliases = {alias.casefold(): alias for each in names if (alias := " ".join(each.split())[:_LONGEST])}
    aliases.pop(name.casefold(), None)
    preconditions = [f"{app} is in front"]
    if attempt.precondition:
        preconditions.append(attempt.precondition)
    if direction:
        preconditions.append(f"{found.item} is {'off' if direction == 'on' else 'on'}")
    where = where_found(attempt)
    description = describe(tooltip or name, where, app, found.shown())
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


class _Function:
    """What an attempt did, and its names in several wordings."""

    def __init__(self, attempt: Attempt, app: str) -> None:
        self._app = app
        self._names = _names_of_application(attempt.path, app)
        self._effect = attempt.effect
        self._offers = attempt.offers
        self._control = attempt.control
        self._path = attempt.path
        self._trail = _trail(attempt.path)
        self._target = next(iter(attempt.path[-1].targets.values()), None) if attempt.path else None
        self.item = plain(attempt.control.name) or attempt.control.role
        self.words = _lower(self.item)
        self._menu = _lower(next(iter(self._trail), ""))

    def _changes(self, kind: ChangeKind) -> list[Change]:
        return [change for change in self._effect if change.kind == kind]

    def intents(self) -> Iterator[Intent]:
        """Yield what was done in several wordings, the most fitting first."""
        typed = typed_text(self._path[-1].action) if self._path else ""
        if typed and self._control.role in FIELD_ROLES:
            yield from self._of_field(typed)
        elif opened := self._changes("opened"):
            yield from self._of_window(opened[0].what)
        elif self._control.role == "page tab":
            in_dialog = len(self._path) > 1  # where a tab "Image" is not what "open an image" asks for
            if not in_dialog:
                yield Open(object=self.words)
            yield Open(object=f"{self.words} tab")
            yield Choose(verb="switch to", value=f"{self.words} tab" if in_dialog else self.words)
        elif self.is_choice:
            yield from self._of_choice()
        elif self.direction:
            yield from self._of_switch()
        elif sign := self._entered():
            yield from self._of_sign(sign)
        else:
            yield from self._of_action()

    def usual_names(self) -> Iterator[Intent]:
        """Yield what people call functions that most applications have, whatever their labels say."""
        if self._of_dialog:
            return
        words = _without_names(self.item, self._names) or self.item
        # Some show settings in the window that is there, and remain pressed meanwhile.
        shows = self._changes("opened") or (self._offers and self.direction != "off")
        if shows and label("opens_settings").fullmatch(words):
            yield from (Open(object=name) for name in table("labels")["names_of_settings"])
        elif self.direction == "on" and self._offers and not _begins_with_verb(self.words):
            yield Open(object=self.words)
        if self._changes("opened") and label("opens_file").fullmatch(self.item) and not self._in_dialog:
            yield from (read(name) for name in table("labels")["names_of_opening"])
        if self._changes("opened") and label("takes_file").fullmatch(words):
            yield Do(verb=self.words, object="file")
        if self._changes("opened") and label("sets_shortcuts").fullmatch(words):
            yield from (Open(object=name) for name in table("labels")["names_of_shortcuts"])
        if label("saves_as").fullmatch(words):
            yield from (read(name) for name in table("labels")["names_of_saving_as"])
        name = self.words.removeprefix("about ")
        if name != self.words and not _without_names(name, self._names):
            yield Open(object="about")

    def without_application(self, intent: Intent) -> Intent:
        """Leave out the application's own name, which says nothing inside of it."""
        words = self._without_long_names(intent.object)
        return intent.model_copy(update={"object": words}) if words else intent

    def _without_long_names(self, words: str) -> str:
        """Leave out names of several words, and the whole one: a "new calendar" of gnome-calendar is no "new"."""
        for name in (name for name in self._names if " " in name):
            words = re.sub(rf"\b{re.escape(name)}\b", "", words, flags=re.IGNORECASE)
        return " ".join(word for word in words.split() if word.casefold() != self._app.casefold())

    # What the effect says

    @property
    def is_choice(self) -> bool:
        """Whether one of several was chosen, rather than one thing switched."""
        if self._changes("opened"):
            return False
        settings = self._changes("setting")
        chosen = bool(settings) and not any(change.after in ("true", "false") for change in settings)
        return chosen or self._control.role in _CHOICE_ROLES

    @property
    def direction(self) -> str:
        """Whether it was switched "on" or "off"; empty if it was neither."""
        own = f"{self._control.role} {self._control.name}"  # another button may have lost its mark to it
        for change in sorted(self._effect, key=lambda each: (each.kind != "setting", each.what != own)):
            if change.kind == "setting" and change.after in ("true", "false"):
                return "on" if change.after == "true" else "off"
            if change.kind == "state" and change.what.startswith((self._control.role, "check", "toggle", "switch")):
                if change.after in ("checked", "pressed"):
                    return "on"
                if change.after in ("not checked", "not pressed"):
                    return "off"
        was = self._path[-1].state_before if self._path else None
        if self._control.role != "check menu item" or was is None or not self._effect or self._changes("opened"):
            return ""
        return "off" if "checked" in was.states else "on"  # what it changed has hidden its new state

    @property
    def _in_dialog(self) -> bool:
        windows = [target.window for step in self._path for target in step.targets.values() if target.window]
        return windows[:1] != windows[-1:]

    @property
    def _of_dialog(self) -> str:
        """What a control in a dialog is called if its own name says little: "sound file" for "Open file"."""
        first, _, rest = self.words.partition(" ")
        words = rest if rest and label("opens_file").fullmatch(first) else self.words
        return f"{_lower(self._trail[-2])} {words}" if self._in_dialog and _hardly_says(words) else ""

    @property
    def tooltip(self) -> str:
        """The first sentence of the control's tooltip, if it says more than its name."""
        text = re.sub(r"\s*\[[^\]]*\]$", "", self._target.description).partition(" | ")[0] if self._target else ""
        text = _KEYS.sub("", text)
        text = text.partition(". ")[0].strip().rstrip(".")
        return text if " " in text and len(text) <= 100 and text.casefold() != self.item.casefold() else ""

    def shown(self) -> list[str]:
        """Return names of the controls in a window that was opened."""
        if not self._changes("opened"):
            return []
        names = [plain(offer.control.name) for offer in self._offers if not offer.unsafe]
        return [name for name in dict.fromkeys(names) if 2 < len(name) <= 40][:_MOST_SHOWN]

    def _setting_names(self) -> list[str]:
        """Return what the settings that changed are about, by their schemas and their keys."""
        settings = self._changes("setting")
        found = []
        for change in settings if len(settings) <= 2 else ():
            key = re.sub(r"[-_]+", " ", change.what.rpartition("/")[2])
            found += [label("state_of_setting").sub("", each) for each in (_lower(summary_of(change.what)), key)]
        return [name for name in dict.fromkeys(found) if name]

    def _entered(self) -> str:
        """Return the sign that a button wrote; empty if it did something else."""
        texts = self._changes("text")
        if len(texts) != 1 or self._control.role not in _BUTTON_ROLES:
            return ""
        before, after = texts[0].before, texts[0].after
        written = after[len(before) :].strip() if after.startswith(before) else ""
        return written if 0 < len(written) <= 4 else ""

    def _parent(self) -> str:
        """Return the submenu or list that the target was chosen from; empty for a menu of a menu bar."""
        if len(self._path) < 2 or len(self._trail) < 2:
            return ""
        passed = [target.role for step in self._path[-3:] for target in step.targets.values()]
        inside = len(passed) == 3 and all(role in MENU_ROLES for role in passed)  # Qt does not say it in paths
        inside = inside or (
            self._target is not None and sum(part.startswith("menu:") for part in self._target.path) > 1
        )
        before = next(iter(self._path[-2].targets.values()), None)
        chosen = before is not None and before.role == "combo box" and self._trail[-2] != "combo box"
        return self._trail[-2] if inside or chosen else ""

    def _category(self) -> str:
        """Return what an entry was chosen from: the submenu or list, the named group around it, else the setting."""
        if parent := self._parent():
            return parent
        groups = [_GROUP.match(part) for part in reversed(self._target.path if self._target else ())]
        named = next((plain(group[1]) for group in groups if group), "")
        return named or next(iter(self._setting_names()), "")

    # Its wordings

    def _of_field(self, typed: str) -> Iterator[Intent]:
        field = _asked_for(self.words)
        if not self._control.name and len(self._trail) > 1:
            field = f"{_lower(self._trail[-2])} {field}"
        if self._control.role not in NUMBER_ROLES:
            yield Type(value=typed, object=f"{field} field")
            return
        for setting in (field, *self._setting_names()):
            yield SetValue(object=setting, value=typed)

    def _of_sign(self, sign: str) -> Iterator[Intent]:
        names = [self.words, sign, _lower(self.tooltip), table("labels")["names_of_signs"].get(sign, "")]
        for each in (sign, self.words):
            name = unicodedata.name(each, "").lower() if len(each) == 1 else ""
            names.append(name.rpartition(" ")[2] if each.isalpha() else name)
        for name in dict.fromkeys(filter(None, names)):
            yield Do(verb="enter", object=name)

    def _of_window(self, title: str) -> Iterator[Intent]:
        words = self.words
        shown = _lower(plain(re.sub(r"\s+(?:(?:of|-|—|–)\s.*|\(.*|\d+)$", "", title))) or words
        shown = self._without_long_names(shown) or shown
        opened_from = {target.window for step in self._path for target in step.targets.values()}
        if title in opened_from or _WORD.findall(shown.casefold()) == _WORD.findall(self._app.casefold()):
            shown = words
        if named := self._of_dialog:
            yield Open(object=named)
            return
        # The title of what "Open..." opens says more than "Open" alone.
        first = shown if _is_verb(words) else words
        choosing, _, chosen = shown.partition(" ")
        chooses = _is_verb(words) and label("choosing").fullmatch(choosing) and chosen and choosing != words
        if chooses and not (self._in_dialog and _hardly_says(chosen)):
            yield Do(verb=words, object=chosen)  # "Import...", which opens "Select contact file"
        if _is_verb(first):
            yield Open(object=f"{first} dialog")
            yield from self._of_place()
            return
        verb, _, rest = first.partition(" ")
        acts = rest and _begins_with_verb(first) and not verb.endswith("ing")  # "Coloring Rules" are no action
        yield _done(first) if acts else Open(object=first)
        for other in dict.fromkeys((words, shown)):
            if not _is_verb(other) and (other != first or _begins_with_verb(first)):
                yield Open(object=other)
        yield from self._of_menu(first)
        yield from self._of_place()

    def _of_menu(self, name: str) -> Iterator[Intent]:
        """Yield what an entry is together with a menu that is named after a verb: "Generate > Tone"."""
        passed = [target for step in self._path[:-1] for target in step.targets.values() if target.name.strip()]
        menus = [_lower(plain(target.name)) for target in passed if target.role in MENU_ROLES]
        for menu in menus if self._control.role in MENU_ROLES else ():
            inserts = label("inserting").fullmatch(menu)
            names_it = inserts or menu == "new" or (_is_named_after_verb(menu) and not first_verb(self.words))
            if names_it and menu.split()[0] not in name.split():
                yield Do(verb=menu, object=self.words)

    def _of_place(self) -> Iterator[Intent]:
        """Yield what a verb alone, such as "Start", is done to: what the tab, row or menu that it is in is called."""
        place = _lower(self._trail[-2]) if len(self._trail) > 1 else ""
        before = next((target.role for target in self._path[-2].targets.values()), "") if place else ""
        inside = before in ("page tab", "list item") or {before, self._control.role} <= MENU_ROLES
        if inside and not label("names_of_menus").match(place) and _is_verb(self.words) and not _is_verb(place):
            yield Do(verb=self.words, object=place)

    def _of_choice(self) -> Iterator[Intent]:
        words, category = self.words, _asked_for(_lower(self._category()))
        if self._control.role in _BUTTON_ROLES and " " in words and _begins_with_verb(words):
            yield _done(words)  # "Enlarge Text" says it, whichever setting keeps it
        mode = label("way_of_working").fullmatch(words) or not category
        yield Choose(verb="switch to", value=words) if mode else Choose(object=category, value=words)
        after = next((change.after.strip("'\"") for change in self._changes("setting")), "")
        value = "" if after in ("true", "false") or len(after) > 40 else re.sub(r"[-_]+", " ", after)
        for setting in self._setting_names():
            if setting != category:
                yield Choose(object=setting, value=words)
            if value and value not in words:
                yield Choose(object=setting, value=value)
        if self.tooltip:
            yield Choose(verb="switch to", value=_lower(self.tooltip))

    def _of_switch(self) -> Iterator[Intent]:
        keys = [change.what.rpartition("/")[2] for change in self._changes("setting")]
        by_key = any(label("visibility").match(key) for key in keys)
        visible = by_key or bool(self._changes("appeared") or self._changes("vanished"))
        said = read(self.words, find_application=False)
        if by_key and isinstance(said, Switch) and said.state == "off":  # the setting says what became of it
            verb = "show" if self.direction == "on" else "hide"
            yield Switch(verb=verb, object=said.object, state="on" if self.direction == "on" else "off")
        else:
            yield _switch(label("toggling").sub("", self.words), self.direction, visible)
        for setting in self._setting_names():
            yield _switch(setting, self.direction)
        if self.tooltip:
            yield _switch(_lower(label("toggling").sub("", self.tooltip)), self.direction)

    def _of_action(self) -> Iterator[Intent]:
        words, parent = self.words, _lower(self._parent())
        if named := self._of_dialog:
            yield Do(object=named)
            return
        resized = any(change.what == "window" for change in self._changes("state"))
        if resized or label("way_of_working").fullmatch(words):
            yield Choose(verb="switch to", value=words)
        elif _begins_with_verb(words):
            yield _done(words)
        elif parent and (_begins_with_verb(parent) or len(words.split()) < 3):
            yield _done(f"{parent} {words}")
        elif self._changes("appeared") and all(change.kind in ("appeared", "vanished") for change in self._effect):
            yield Switch(verb="show", object=words, state="on")
        elif label("inserting").fullmatch(self._menu):
            yield Do(verb=self._menu, object=words)
        elif label("showing").fullmatch(self._menu) and not self._effect:  # what a menu "View" has, as far as is known
            yield Switch(verb="show", object=words, state="on")
        else:
            yield Do(object=words) if " " in words else Choose(verb="use", value=words)
        yield Do(object=words)
        yield from self._of_menu(words)
        yield from self._of_place()
        if any(change.after == "not editable" for change in self._changes("state")):
            yield Choose(verb="switch to", value="read-only")


def _agrees(suggested: str, name: str) -> bool:
    """Return whether a suggested name neither asks for the opposite of a name nor has another number."""
    off = [isinstance(each, Switch) and each.state == "off" for each in (read(suggested), read(name))]
    numbers = set(_NUMBER.findall(suggested)) <= set(_NUMBER.findall(name))
    return off[0] == off[1] and numbers and conflict(suggested, name) is None


def _names_of_application(path: Sequence[GroundedStep], app: str) -> list[str]:
    """Return the names that its main window gives an application, such as "Qt Linguist", and its own ("linguist")."""
    titles = [target.window for step in path[:1] for target in step.targets.values()]
    parts = [part.strip() for title in titles for part in re.split(r"\s[-–—|]\s", title)]
    own = _WORD.findall(app.casefold())
    said = {part: _WORD.findall(part.casefold()) for part in parts}
    longer = {part for part, found in said.items() if own and own in (found[: len(own)], found[-len(own) :])}
    # The program labplot2 calls itself "LabPlot".
    last = {re.split(r"\s[-–—|]\s", title)[-1].strip() for title in titles}
    return [*sorted(filter(None, longer | last), key=len, reverse=True), app]


def _without_names(words: str, names: Sequence[str]) -> str:
    """Return words without an application's names, the last of which windows may write as one ("qtcreator")."""
    for name in names:
        parts = _WORD.findall(name.casefold())
        pattern = r"\W*".join(map(re.escape, "".join(parts) if name == names[-1] else parts))
        words = re.sub(rf"\b{pattern}\b", "", words, flags=re.IGNORECASE) if parts else words
    return " ".join(word for word in words.split() if word.casefold() not in _WORD.findall(names[-1].casefold()))


def _asked_for(words: str) -> str:
    """Return what a control is for whose label asks people to act, such as "font size" for "set font size"."""
    return label("asking").sub("", words) or words


def _done(words: str) -> Intent:
    """Return the action that a label names, such as "delete line" or "hide slide"."""
    said = read(words, find_application=False)
    if isinstance(said, Switch | Open) and said.object:
        return said
    verb, _, rest = words.partition(" ")
    return Do(verb=verb, object=rest) if _begins_with_verb(words) else Do(object=words)


def _begins_with_verb(words: str) -> bool:
    acts = label("acting").fullmatch(words.split(" ")[0]) is not None
    return acts or bool(first_verb(words) or read(words).verb or analyze(words).sure_heads)


def _hardly_says(words: str) -> bool:
    """Return whether words tell nothing apart, such as "Options" and "a file"."""
    return all(word in fillers() or says_little(word) for word in words.split())


def _is_verb(words: str) -> bool:
    return " " not in words and _begins_with_verb(words)


def _is_named_after_verb(menu: str) -> bool:
    """Return whether a menu is named after a verb alone, such as "Generate" and "Create New", unlike "Edit"."""
    verb, *others = menu.split()
    says_more = not all(word in fillers() or label("acting").fullmatch(word) for word in others)
    return _is_verb(verb) and not (says_more or verb.endswith("ing") or label("names_of_menus").match(menu))


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


def _trail(path: tuple[GroundedStep, ...]) -> list[str]:
    """Return the names of what a path acts on, in order."""
    targets = [next(iter(step.targets.values()), None) for step in path]
    return [
        plain((each.name if each.role != "combo box" else "") or each.label or each.description) or each.role
        for each in targets
        if each is not None
    ]


def _lower(words: str) -> str:
    """Return words in lower case, except abbreviations."""
    return " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in words.split())
