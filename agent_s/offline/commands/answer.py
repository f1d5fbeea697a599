"""Answer the dialog in front with its button of that meaning."""

from __future__ import annotations

from dataclasses import dataclass

from agent_s.offline.commands.base import Command
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import Candidate, best
from agent_s.offline.finding.roles import ROLES
from agent_s.offline.finding.screen import in_dialog, name_of
from agent_s.offline.finding.targets import Target, named
from agent_s.offline.ui import UI, changed
from agent_s.offline.words import BUTTONS


@dataclass(frozen=True, slots=True)
class Answer(Command):
    """Answer the dialog in front."""

    answer: str  # the meaning of the button, a key of `words.BUTTONS`

    def run(self, ui: UI) -> Execution:
        """Click the dialog's button of that meaning; one without such a button is answered by the keyboard."""
        start, is_dialog = ui.screen, lambda: ui.screen.dialogs or self._buttons(ui)
        yield from ui.wait_until(is_dialog, (0.5, 0.8), "wait for the dialog")
        if found := self._buttons(ui):
            element = yield from ui.click(found)
            return f"{name_of(element)} was clicked; {changed(start, ui.screen)}"
        if not ui.screen.dialogs and not ui.screen.popups:
            give_up(f"there is no dialog to answer, and no button to {self.answer}")
        key = "Return" if self.answer in ("accept", "yes") else "Escape"
        yield from ui.press(key, purpose=f"press {key} to {self.answer} the dialog")
        return changed(start, ui.screen)

    def about(self) -> tuple[Target, ...]:
        """Return the plainest button of that meaning."""
        return (named(BUTTONS[self.answer][0], "button"),)

    def _buttons(self, ui: UI) -> list[Candidate]:
        """Return the button in a dialog, which may be part of a page; else the one in front that can only mean this."""
        dialogs = {window.id for window in ui.screen.dialogs}
        for name in BUTTONS[self.answer]:
            found = best(ui.rank(named(name, "button"), ROLES["button"] | {"link"}), 90.0)
            inner = [one for one in found if in_dialog(one.element)]
            if inside := [one for one in found if one.element.window_id in dialogs] or inner:
                return inside
        return [] if dialogs else ui.buttons(BUTTONS[self.answer][:4])


@dataclass(frozen=True, slots=True)
class Allow(Command):
    """Allow what a question asks about, such as to replace a file; nothing is done where none is asked."""

    lasting = False
    answer: str

    def run(self, ui: UI) -> Execution:
        """Click the button of that meaning in a dialog."""
        start = ui.screen
        found = [one for window in start.dialogs for one in ui.buttons(BUTTONS[self.answer], window)]
        if not found:
            return f"no question asked whether to {self.answer}"
        element = yield from ui.click(found)
        return f"{name_of(element)} was clicked; {changed(start, ui.screen)}"

    def about(self) -> tuple[Target, ...]:
        """Return the buttons, so that an earlier command leaves the question open."""
        return tuple(named(name, "button") for name in BUTTONS[self.answer])


def read(answer: str, if_asked: str = "") -> Command:
    """Return the answer of the row."""
    return Allow(answer) if if_asked else Answer(answer)
