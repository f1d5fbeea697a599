"""Read a text from the screen and keep it, to be typed later."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

from aci.acting.actions import SaveToBuffer
from aci.observation.observation import Element
from agent_s.offline.commands.base import Command
from agent_s.offline.commands.in_turn import InTurn
from agent_s.offline.commands.open import Open
from agent_s.offline.commands.type import TypeText
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import rank
from agent_s.offline.finding.names import name_score, normalize
from agent_s.offline.finding.roles import EDITABLE, LABELS, ROLES
from agent_s.offline.finding.screen import Screen, content_of, name_of, value_beside
from agent_s.offline.finding.targets import Target, named, parse_target
from agent_s.offline.ui import UI, shorten
from agent_s.offline.words import TABLE, one_of
from intents.text import Phrase

_CODE_NOUN = re.compile(rf"\b{one_of(TABLE['codes'])}\b", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z0-9][\w./#-]*[A-Za-z0-9]|\d+")


@dataclass(frozen=True, slots=True)
class Copy(Command):
    """Keep a text under a name; `literal` is the text itself where the instruction gives it."""

    lasting = False
    name: str
    target: Target
    literal: str = ""

    def run(self, ui: UI) -> Execution:
        """Find the text, waiting and scrolling for it, and keep it."""
        found = (self.literal, "the instruction gives the text") if self.literal else None
        if found is None:
            purpose = f"wait for {self.name!r} to appear"
            found = yield from ui.wait_until(lambda: self._read(ui.screen), (0.5, 1.0), purpose)
        if found is None:
            find = partial(rank, self.target, prefer=LABELS)
            yield from ui.scroll_for(self.target, lambda screen: find(screen) if self._read(screen) else [])
            found = self._read(ui.screen)
        if found is None:
            give_up(f"no {self.name!r} to copy is on the screen: {ui.not_found(self.target)}")
        text, evidence = found
        yield from ui.do(SaveToBuffer(text=text), f"keep {shorten(text)!r} as {self.name!r}", evidence)
        return f"{shorten(text)!r} is kept: {evidence}"

    def _read(self, screen: Screen) -> tuple[str, str] | None:
        """Return the described text and its place; None if there is none."""
        target, phrase = self.target, self.name
        readable = EDITABLE | LABELS
        if target.kinds and not target.name and target.within is None:
            texts = [one.element for one in rank(target, screen, prefer=readable) if content_of(one.element).strip()]
            return (content_of(texts[0]).strip("\r\n"), f"{name_of(texts[0])} reads it") if texts else None
        texts = [one for one in screen.elements if content_of(one) and one.role not in ROLES["menuitem"]]
        for element in sorted(texts, key=lambda one: (screen.penalty(one), one.role in EDITABLE)):
            if found := _behind(phrase, element, screen):
                return found, f"{name_of(element)} shows it"
        named_so = rank(named(phrase), screen, prefer=readable) or rank(target, screen, prefer=readable)
        for one in named_so[:3]:
            text = content_of(one.element).strip()
            if text and (one.element.role in EDITABLE or normalize(text) != normalize(phrase)):
                return text, f"{name_of(one.element)} reads it"
            if value := value_beside(one.element, screen):
                return value, f"it stands beside {name_of(one.element)}"
        return None


def _behind(phrase: str, element: Element, screen: Screen) -> str:
    """Return the value behind a phrase in a text: "Your confirmation code is AB-12." gives "AB-12"."""
    text = content_of(element)
    labels = (element.name, element.label or screen.labels.get(element.id, ""))
    if element.role in EDITABLE and any(name_score(phrase, label)[0] >= 90 for label in labels):
        return text.strip()
    match = re.search(
        rf"\b{re.escape(phrase)}\b(?P<link>\s*(?:is|was|are|[:=–—→-])*\s*:?\s*)(?P<rest>[^\n]*)", text, re.I
    )
    if match is None:
        return ""
    rest = match["rest"].strip()
    if not _CODE_NOUN.search(phrase):
        return rest.rstrip(".") if re.search(r"[:=]|\bis\b", match["link"], re.IGNORECASE) else ""
    if not rest:
        return value_beside(element, screen)
    words = (found[0].rstrip(".") for found in _CODE.finditer(rest))
    looks_like_code = (w for w in words if any(map(str.isdigit, w)) or (w.isupper() and len(w) > 2))
    return next(looks_like_code, "")


def read(what: Phrase, source: Phrase | None = None, where: Phrase | None = None) -> Command | None:
    """Read the text, its place, and the place to copy it to."""
    target, place = parse_target(what), parse_target(source) if source is not None else None
    if place is not None and place.kinds and what.casefold() in TABLE["whole_texts"]:
        target = place
    copied = Copy(str(what), target, what.literal or "")
    if where is None:
        return copied
    goal = parse_target(where)
    if goal.kinds or goal.quoted:
        return InTurn((copied, TypeText(None, goal)))
    return InTurn((copied, Open(str(where), goal, is_app=True), TypeText(None)))
