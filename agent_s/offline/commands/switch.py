"""Switch boxes, switches and the like on or off."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent_s.offline.commands.base import UNDECIDED, Command, Finding, Seen
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import Candidate, best, rank
from agent_s.offline.finding.roles import ACTIONABLE, CHECKABLE, EDITABLE
from agent_s.offline.finding.screen import Screen, is_box, is_on, name_of
from agent_s.offline.finding.targets import Target, parse_target, split_list
from agent_s.offline.ui import UI, Steps
from intents.lexicon import on_or_off
from intents.text import Phrase

_BOX = ("checkbox", "switch", "toggle", "radio")


@dataclass(frozen=True, slots=True)
class Switch(Command):
    """Give boxes, switches and the like a state; None flips it."""

    targets: tuple[Target, ...]
    state: bool | None = True

    def run(self, ui: UI) -> Execution:
        """Switch each; one that has its state already is left alone."""
        evidence: list[str] = []
        for target in self.targets:
            found = yield from ui.find(target, lambda screen, one=target: _boxes(one, screen))  # type: ignore[misc]
            if not found:
                give_up(ui.not_found(target if target.kinds else replace(target, kinds=("checkbox",))))
            for one in best(found, found[0].score - 3) if target.every else found[:1]:
                evidence.append((yield from self._switch(one, ui)))
        return "; ".join(evidence)

    def _switch(self, candidate: Candidate, ui: UI) -> Steps[str]:
        element = candidate.element
        wanted = not is_on(element) if self.state is None else self.state
        state = "on" if wanted else "off"
        if is_box(element) and is_on(element) == wanted:
            return f"{name_of(element)} is {state} already"
        yield from ui.click([candidate])
        after = ui.now(element)
        if after is not None and is_box(after) and is_on(after) != wanted:
            yield from ui.press("space", purpose=f"switch {name_of(element)} {state}, since the click did not")
            after = ui.now(element)
            if after is not None and is_on(after) != wanted:
                give_up(f"{name_of(element)} stayed {'on' if is_on(after) else 'off'}")
        return f"{name_of(element)} {f'is {state}' if after is not None and is_box(after) else 'was clicked'}"

    def judge(self, seen: Seen) -> Finding:
        """Check the states of the boxes."""
        found = [one[0].element for target in self.targets if (one := rank(target, seen.after, CHECKABLE))]
        if self.state is None or len(found) != len(self.targets):
            return UNDECIDED
        for element in found:
            if is_on(element) != self.state:
                return False, f"{element.name!r} is {'off' if self.state else 'on'}"
        return True, f"{', '.join(repr(element.name) for element in found)}: {'on' if self.state else 'off'}"


def _boxes(target: Target, screen: Screen) -> list[Candidate]:
    """Find a box, the box in the row of a text, or another element of exactly that name, such as a menu entry."""
    if found := rank(target, screen, CHECKABLE):
        return found
    text = replace(target, kinds=())
    if texts := best(rank(text, screen), 80.0):
        row = Target(kinds=("checkbox", "switch", "radio"), relation="beside", anchor=text)
        height = texts[0].element.rect.center.y
        found = [one for one in rank(row, screen, CHECKABLE) if abs(one.element.rect.center.y - height) < 20]
    return found or best(rank(target, screen, ACTIONABLE - EDITABLE), 88.0)


def read(what: Phrase, state: str = "on") -> Command | None:
    """Read the boxes of "the A and B boxes", and the state they are to have."""
    if state != "toggle" and on_or_off(state) is None:
        return None
    targets = [parse_target(part) for part in split_list(what)]
    if len(targets) > 1:
        kinds = next((target.kinds for target in reversed(targets) if target.is_a(*_BOX)), ("checkbox", "switch"))
        targets = [replace(target, kinds=target.kinds or kinds) for target in targets]
    return Switch(tuple(targets), None if state == "toggle" else on_or_off(state))
