"""Answer the dialog in front with its button of that meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from aci.acting.actions import Hotkey
from agent_s.offline.commands.base import Command
from agent_s.offline.commands.close import SHUT
from agent_s.offline.course import Course, give_up
from agent_s.offline.desk import Desk, changed
from agent_s.offline.finding.matching import Candidate, best
from agent_s.offline.finding.roles import ROLES
from agent_s.offline.finding.screen import name_of
from agent_s.offline.finding.targets import Target, named

Answered = Literal["accept", "cancel", "yes", "no", "close"]
_BUTTONS: dict[Answered, tuple[str, ...]] = {
    "accept": ("OK", "Accept", "Yes", "Confirm", "Continue", "Apply", "Got it", "Close", "Done", "Agree", "Allow"),
    "cancel": ("Cancel", "No", "Dismiss", "Close", "Not now", "Decline", "Reject"),
    "close": SHUT,
    "yes": ("Yes", "OK", "Accept", "Continue"),
    "no": ("No", "Cancel", "Don't", "Decline"),
}


@dataclass(frozen=True, slots=True)
class Answer(Command):
    """Answer the dialog in front."""

    answer: Answered

    def run(self, desk: Desk) -> Course:
        """Click the dialog's button of that meaning; one without such a button is answered by the keyboard."""
        start, is_dialog = desk.screen, lambda: desk.screen.dialogs or self._buttons(desk)
        yield from desk.wait_until(is_dialog, (0.5, 0.8), "wait for the dialog")
        if found := self._buttons(desk):
            element = yield from desk.click(found)
            return f"{name_of(element)} was clicked; {changed(start, desk.screen)}"
        if not desk.screen.dialogs and not desk.screen.popups:
            give_up(f"there is no dialog to answer, and no button to {self.answer}")
        key = "Return" if self.answer in ("accept", "yes") else "Escape"
        yield from desk.do(Hotkey(keys=(key,)), f"press {key} to {self.answer} the dialog")
        return changed(start, desk.screen)

    def about(self) -> tuple[Target, ...]:
        """Return the plainest button of that meaning."""
        return (named(_BUTTONS[self.answer][0], "button"),)

    def _buttons(self, desk: Desk) -> list[Candidate]:
        """Return the button in a dialog, which may be part of a page; else the one in front that can only mean this."""
        dialogs = {window.id for window in desk.screen.dialogs}
        for name in _BUTTONS[self.answer]:
            found = best(desk.rank(named(name, "button"), ROLES["button"] | {"link"}), 90.0)
            inner = [one for one in found if any(re.match("dialog|alert", part) for part in one.element.path)]
            if inside := [one for one in found if one.element.window_id in dialogs] or inner:
                return inside
        return [] if dialogs else desk.buttons(_BUTTONS[self.answer][:4])


def read(answer: Answered) -> Command:
    """Return the answer of the row."""
    return Answer(answer)
