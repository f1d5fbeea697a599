"""Open a file in the application in front."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from aci.acting.actions import Type
from aci.observation.observation import Window
from agent_s.offline.commands.base import Command
from agent_s.offline.commands.file_dialog import LOOKS, file_dialog, folder_path, full_path, name_field
from agent_s.offline.commands.in_turn import InTurn
from agent_s.offline.commands.open import Open
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import EXACT, best
from agent_s.offline.finding.roles import ROLES
from agent_s.offline.finding.screen import Screen, in_page, name_of
from agent_s.offline.finding.targets import named, parse_target
from agent_s.offline.ui import UI, changed
from agent_s.offline.words import BUTTONS
from intents.text import Phrase


@dataclass(frozen=True, slots=True)
class OpenFile(Command):
    """Open a file by its name or path."""

    lasting = False
    path: str

    def run(self, ui: UI) -> Execution:
        """Open it by a double click where it is in sight, else in the application's dialog."""
        start = ui.screen
        items = best(ui.rank(named(PurePosixPath(self.path).name), ROLES["item"] | {"link"}), EXACT)
        if items and items[0].element in start.front and "/" not in self.path:
            element = yield from ui.click(items, clicks=1 if in_page(items[0].element) else 2)
            return f"{name_of(element)} was opened; {changed(start, ui.screen)}"
        dialog = file_dialog(ui)
        if dialog is None:
            yield from ui.press("ctrl", "o", purpose="press ctrl+o to open a file")
            dialog = yield from ui.wait_until(lambda: _dialog(start, ui), LOOKS[:3], "wait for the dialog")
        if dialog is None:
            give_up(f"no dialog to open {self.path!r} came")
        field = name_field(ui.screen, dialog)
        if field is None:  # some show the field for the path only then
            yield from ui.press("ctrl", "l", purpose="show the field for the path")
            field = name_field(ui.screen, dialog)
        action = Type(text=self.path, element_id=field.id if field else None, overwrite=field is not None)
        yield from ui.do(action, f"type the path {self.path!r}")
        yield from ui.press("Return", purpose="press Return to open it")

        def is_gone() -> bool:
            return dialog.id not in ui.screen.window_by_id

        yield from ui.wait_until(is_gone, (0.5,), "wait for the dialog to close")
        buttons = [] if is_gone() else ui.buttons(BUTTONS["open"], dialog, 80.0)
        if buttons and "disabled" not in buttons[0].element.states:
            yield from ui.click(buttons)
        yield from ui.wait_until(is_gone, (1.0,), "wait for the dialog to close")
        if not is_gone():
            give_up(f"the dialog {dialog.title!r} did not take the path {self.path!r}")
        return f"the dialog is gone and the title is {ui.screen.title!r}"


def _dialog(before: Screen, ui: UI) -> Window | None:
    """Return a dialog for files, or any new window with a button that opens."""
    known = before.window_by_id
    new = [one for one in ui.screen.windows if one.active and not one.popup and one.id not in known]
    return file_dialog(ui) or next((one for one in new if ui.buttons(BUTTONS["open"], one, 80.0)), None)


def read(file: Phrase, folder: Phrase | None = None, app: Phrase | None = None) -> Command | None:
    """Read the file, its folder and the application."""
    where = folder_path(folder) if folder is not None else ""
    if where is None:
        return None
    opened = OpenFile(full_path(str(file), where))
    return opened if app is None else InTurn((Open(str(app), parse_target(app), is_app=True), opened))
