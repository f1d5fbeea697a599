"""The answer to a question that saving or closing may ask: replace the file, discard the changes."""

from __future__ import annotations

from dataclasses import dataclass

from agent_s.offline.commands.base import Command
from agent_s.offline.course import Course
from agent_s.offline.desk import Desk, changed
from agent_s.offline.finding.screen import name_of
from agent_s.offline.finding.targets import Target, named

_BUTTONS = {
    "replace": ("Replace", "Overwrite", "Yes"),
    "discard": ("Don't Save", "Don’t Save", "Discard", "Close without Saving", "Discard Changes", "No"),
}


@dataclass(frozen=True, slots=True)
class Allow(Command):
    """Allow what a question asks about; nothing is done where none is asked."""

    lasting = False
    what: str

    def run(self, desk: Desk) -> Course:
        """Click the button of that meaning in a dialog."""
        start = desk.screen
        found = [one for window in desk.screen.dialogs for one in desk.buttons(_BUTTONS[self.what], window)]
        if not found:
            return f"no question asked whether to {self.what}"
        element = yield from desk.click(found)
        return f"{name_of(element)} was clicked; {changed(start, desk.screen)}"

    def about(self) -> tuple[Target, ...]:
        """Return the buttons, so that the question is left to this command."""
        return tuple(named(name, "button") for name in _BUTTONS[self.what])


def read(what: str) -> Command:
    """Return what the row allows."""
    return Allow(what)
