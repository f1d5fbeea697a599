"""Conditions on the screen: something is shown, gone, in a state, or contains a text."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from aci.observation.observation import Element
from agent_s.offline.finding.matching import has_state, rank, window_score
from agent_s.offline.finding.names import normalize
from agent_s.offline.finding.roles import ACTIONABLE, EDITABLE, LABELS
from agent_s.offline.finding.screen import Screen, content_of, in_dialog, name_of, value_beside
from agent_s.offline.finding.targets import Target, parse_target
from agent_s.offline.ui import UI, shorten
from agent_s.offline.words import TABLE, meanings, one_of
from intents.templates import Template
from intents.text import Phrase

_PREFER = ACTIONABLE | LABELS
_WHOLE = ("page", "window", "dialog", "area", "form", "list", "table")
_DISPLAYS = frozenset(TABLE["displays"])
_TITLE = re.compile(rf"{one_of(TABLE['titles'])}(?: of .*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that holds on the screen or does not."""

    kind: str  # "shown", "gone", "state" or "contains"
    target: Target  # the element or window that it is about
    text: str = ""  # the state that it must have, or what it must contain
    negated: bool = False  # whether the opposite is meant
    words: str = ""  # the condition as it was said

    def at(self, place: Target) -> Condition:
        """Return the condition about a place."""
        return replace(self, target=self.target.at(place))

    def holds(self, screen: Screen) -> str:
        """Return the evidence that it holds; "" if it does not."""
        match self.kind:
            case "shown":
                return self._is_shown(screen)
            case "gone":
                return "" if self._is_shown(screen) else f"{self.target.describe()!r} is not on the screen"
            case "state":
                found = rank(self.target, screen)
                if not found or has_state(found[0].element, self.text) == self.negated:
                    return ""
                return f"{name_of(found[0].element)} is {'not ' if self.negated else ''}{self.text}"
        wanted = self.text.casefold().strip()
        for where, text in self._texts(screen):
            if (wanted in text.casefold()) != self.negated:
                return f"{where} reads {shorten(text)!r}"
        return ""

    def why_not(self, ui: UI) -> str:
        """Return a description of what the screen shows instead."""
        if self.kind == "gone":
            return f"{self.target.describe()!r} is still there"
        if _TITLE.fullmatch(self.target.phrase):
            return f"the title is {ui.screen.title!r}"
        if not self.target.name and self.target.is_a(*_WHOLE):
            return f"the {self.target.describe()} does not show it"
        found = rank(self.target, ui.screen, prefer=_PREFER)
        if self.kind == "shown" or not found:
            return ui.not_found(self.target)
        element = found[0].element
        states = ", ".join(sorted(element.states)) or "in no special state"
        return f"{name_of(element)} reads {shorten(content_of(element))!r} and is {states}"

    def _is_shown(self, screen: Screen) -> str:
        target = self.target
        if target.name and (target.is_a("dialog", "window") or not target.kinds):
            for window in screen.windows:
                if window_score(target.name, screen, window.id) >= 70:
                    return f"the window {window.title or window.app!r} is open"
        if not target.name and target.is_a("dialog"):
            return "a dialog is open" if screen.dialogs or any(map(in_dialog, screen.front)) else ""
        if not target.name and target.is_a("page", "window"):
            return "a window is in front" if screen.front else ""
        if not target.name and target.is_a("menu"):
            return "a menu is open" if screen.popups else ""
        found = rank(target, screen, prefer=_PREFER)
        if found and (found[0].score >= 70 or not target.name):
            return f"{name_of(found[0].element)} is on the screen"
        wanted = normalize(target.name or target.phrase)
        for element in screen.elements if wanted and not target.ordinal else ():
            if wanted in normalize(content_of(element)):
                return f"{name_of(element)} reads {shorten(content_of(element))!r}"
        return ""

    def _texts(self, screen: Screen) -> list[tuple[str, str]]:
        """Return the texts that it is about: of a title, of a whole window, or of an element."""
        target = self.target
        if _TITLE.fullmatch(target.phrase):
            return [("the title", screen.title)]

        def text_of(elements: list[Element]) -> list[tuple[str, str]]:
            return [(name_of(element), content_of(element) or element.name) for element in elements]

        if not target.name and target.is_a(*_WHOLE):
            texts = text_of(list(screen.front))
            return [*texts, ("the window", " ".join(text for _, text in texts)), ("the title", screen.title)]
        if target.phrase.casefold() in _DISPLAYS:
            return text_of([element for element in screen.front if element.role in EDITABLE | LABELS])
        found: list[tuple[str, str]] = []
        for element in [one.element for one in rank(target, screen, prefer=_PREFER)[:3]]:
            value = f"{element.value:g}" if element.value is not None else ""
            beside = value_beside(element, screen) if element.role in LABELS else ""
            texts_ = (content_of(element), beside, element.name, value)
            found += [(name_of(element), text) for text in texts_ if text]
        return found


_STATES = meanings("states")
_GROUPS = {group: TABLE[group] for group in ("be", "contain")}
_CONDITIONS = tuple((row, Template(text, _GROUPS)) for row in TABLE["conditions"] for text in row["say"])
_LEAD = re.compile(rf"{one_of(TABLE['before_texts'])}\s+", re.IGNORECASE)


def parse_condition(words: Phrase) -> Condition | None:
    """Read "the dialog appears", "'Name' contains 'Ada'" or "the box is checked"; None where it is neither."""
    marked = re.sub(r"^(?:that|whether|if|until)\s+", "", words.marked.strip(" ,."), flags=re.IGNORECASE)
    for row, template in _CONDITIONS:
        if match := template.pattern.fullmatch(marked):
            slots = {slot.field: words.part(match[slot.group]) for slot in template.slots}
            text = slots.get("text", words.part(""))
            text = words.part(_LEAD.sub("", text.marked, count=1))
            if row["kind"] != "state" or text.casefold() in _STATES:
                said = str(words.part(marked))
                return Condition(row["kind"], parse_target(slots["what"]), str(text), "set" in row, said)
    return None


def shown(words: Phrase) -> Condition:
    """Return the condition that something is on the screen."""
    return Condition("shown", parse_target(words), words=str(words))
