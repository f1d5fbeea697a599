"""Save the document, under another name where one is given."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath

from aci.acting.actions import Hotkey, Type
from aci.observation.observation import Window
from agent_s.offline.commands.base import UNDECIDED, Command, Finding, Seen
from agent_s.offline.commands.file_dialog import LOOKS, file_dialog, folder_path, full_path, name_field
from agent_s.offline.commands.menu import FollowPath
from agent_s.offline.execution import Execution, GaveUp, give_up
from agent_s.offline.finding.matching import Candidate
from agent_s.offline.finding.roles import ROLES
from agent_s.offline.finding.screen import Screen, content_of
from agent_s.offline.ui import UI, Steps
from agent_s.offline.words import BUTTONS, TABLE, one_of
from intents.text import Phrase

_REPLACES = re.compile(one_of(TABLE["asking_to_replace"]), re.IGNORECASE)
_OPEN_DOCUMENT = re.compile(one_of(TABLE["open_document"]))
_OWN_FORMATS = frozenset({"", ".ods", ".odt", ".odp", ".odg"})


@dataclass(frozen=True, slots=True)
class Save(Command):
    """Save a document."""

    name: str = ""  # file name, "" for the one that it has
    folder: str = ""  # folder as a path, "" for where the dialog is
    overwrite: bool = False  # whether an existing file may be replaced; only if the instruction says so
    format: str = ""  # format that the instruction names, "" where it names none

    def run(self, ui: UI) -> Execution:
        """Save by the keyboard; if a dialog opens, enter the name, keep the format, and wait until it closes."""
        if ui.screen.popups:
            yield from ui.try_to(Hotkey(keys=("Escape",)), "close the menu, which would take the keys")
        dialog = file_dialog(ui)
        if dialog is None:
            dialog = yield from self._ask_for_dialog(ui)
        if dialog is not None:
            return (yield from self._in_dialog(dialog, ui))
        if self.name or self.folder:
            give_up(f"no dialog to save the file as {self.name or self.folder!r} opened")
        yield from self._answer(ui)
        if is_modified(ui.screen):
            yield from ui.wait(0.5, "see whether the file is saved")
        if is_modified(ui.screen):
            yield from FollowPath(("File", "Save")).run(ui)
            yield from self._answer(ui)
        if is_modified(ui.screen):
            give_up(f"the title {ui.screen.title!r} still says that there are unsaved changes")
        return f"the file was saved; the title is {ui.screen.title!r}" if ui.screen.active else ""

    def judge(self, seen: Seen) -> Finding:
        """Check the title, and whether the dialog closed without an error."""
        title, base = seen.after.title, PurePosixPath(self.name).name
        if is_modified(seen.after):
            return False, f"the title {title!r} says that there are unsaved changes"
        if base and (base in title or PurePosixPath(base).stem in title):
            return True, f"after saving, the title is {title!r}"
        had_dialog = any(Screen(step.observation).dialogs for step in seen.steps)
        if base and had_dialog and not seen.after.dialogs:
            return True, f"the dialog to save {base!r} closed without an error"
        return UNDECIDED

    def another_way(self) -> str:
        """Return the command for the menu, for a document that keeps its name."""
        return "" if self.name or self.folder else "choose File > Save"

    def _ask_for_dialog(self, ui: UI) -> Steps[Window | None]:
        """Press the keys that save; those for "save as" and the menu where a name is given and no dialog opens."""
        renames = bool(self.name or self.folder)
        for keys in (("ctrl", "shift", "s"), ("ctrl", "s"), ()) if renames else (("ctrl", "s"),):
            before = ui.screen
            if keys:
                yield from ui.press(*keys, purpose=f"press {'+'.join(keys)} to save")
            else:
                try:
                    yield from FollowPath(("File", "Save As")).run(ui)
                except GaveUp:
                    return None
            asked = partial(_has_asked, ui, before)
            yield from ui.wait_until(asked, LOOKS[:3] if renames else (), "wait for the dialog")
            if len(ui.screen.windows) > len(before.windows):  # a dialog that is still being drawn has no field
                yield from ui.wait_until(asked, LOOKS[3:], "wait for the content of the dialog")
            if asked():
                return file_dialog(ui, before)
        return None

    def _in_dialog(self, dialog: Window, ui: UI) -> Execution:
        field = name_field(ui.screen, dialog)
        if field is None:
            give_up("the dialog to save has no field for the name")
        if not self.name and not self.folder:
            asks = f"the dialog {dialog.title!r} asks for it"
            give_up(f"the document has no name yet, and the instruction does not give one; {asks}", final=True)
        name = self.name or PurePosixPath(content_of(field) or "Untitled").name
        path = full_path(name, self.folder)
        if content_of(field) != path:
            action = Type(text=path, element_id=field.id, overwrite=True)
            yield from ui.do(action, f"type the path {path!r} as the name")
        buttons = ui.buttons(BUTTONS["save"], dialog, 80.0)
        if buttons:
            yield from ui.click(buttons)
        else:
            yield from ui.press("Return", purpose="press Return to save")
        yield from self._watch(dialog, ui)
        base, title = PurePosixPath(path), ui.screen.title
        shown = f" and the title shows {title!r}" if base.name in title or base.stem in title else ""
        return f"the dialog to save {base.name!r} is gone{shown}"

    def _watch(self, dialog: Window, ui: UI) -> Steps[None]:
        """Wait until the dialog closes, and answer questions; give up if it reports an error."""
        for pause in (*LOOKS, 0.0):
            yield from self._answer(ui)
            if ui.is_left_to_next() or (dialog.id not in ui.screen.window_by_id and not _asks(ui)):
                return
            if message := _error(dialog, ui):
                give_up(f"saving failed: {message}", final=True)
            if pause:
                yield from ui.wait(pause, "wait for the dialog to close")
        give_up(f"the dialog {dialog.title!r} did not close")

    def _answer(self, ui: UI) -> Steps[None]:
        """Answer what saving asks: replace a file only if the instruction says so, keep the format of the name."""
        for _ in range(3):
            if ui.is_left_to_next():
                return
            if replace := _asks_to_replace(ui):
                if not self.overwrite:
                    exists = f"a file of the name {self.name!r} exists already"
                    give_up(f"{exists}, and the instruction does not say to replace it", final=True)
                yield from ui.click(replace)
            elif formats := _asks_for_format(ui):
                own = [one for one in formats if _OPEN_DOCUMENT.search(one.element.name)]
                suffix = PurePosixPath(self.name).suffix.casefold()
                wants_own = suffix in _OWN_FORMATS and not self.format
                kept = [one for one in formats if one not in own]
                yield from ui.click((own if wants_own else kept) or formats)
            else:
                return


def is_modified(screen: Screen) -> bool:
    """Return whether the title of the window in front says that there are unsaved changes."""
    return screen.title.startswith(("*", "•")) or bool(re.search(r"\((?:modified|unsaved)\)", screen.title))


def _has_asked(ui: UI, before: Screen) -> bool:
    return file_dialog(ui, before) is not None or _asks(ui)


def _asks(ui: UI) -> bool:
    return bool(_asks_to_replace(ui) or _asks_for_format(ui))


def _asks_to_replace(ui: UI) -> list[Candidate]:
    texts = [content_of(element) for element in ui.screen.front if element.role in ROLES["text"]]
    asks = any(_REPLACES.search(text) for text in texts)
    return ui.buttons(BUTTONS["replace"]) if asks else []


def _asks_for_format(ui: UI) -> list[Candidate]:
    """Return the buttons of a question about the format, such as "Keep Current Format!" and "Use ODF Format!"."""
    buttons = [element for element in ui.screen.front if element.role in ROLES["button"]]
    formats = [one for one in buttons if re.search(r"^(?:use|keep)\b.*format", one.name, re.IGNORECASE)]
    return [Candidate(element, 100.0, "a choice of format") for element in formats]


def _error(dialog: Window, ui: UI) -> str:
    for window in ui.screen.dialogs:
        own = [element for element in ui.screen.elements if element.window_id == window.id]
        texts = [content_of(element) for element in own if element.role in ROLES["text"] and content_of(element)]
        if window.id != dialog.id and texts and ui.buttons(BUTTONS["report"], window, 80.0):
            return ". ".join(texts[:3])
    return ""


def read(
    name: Phrase | None = None, folder: Phrase | None = None, overwrite: str = "", format: Phrase | str = ""
) -> Command | None:
    """Read the name and the folder; a folder alone must be called one, or be known."""
    path = folder_path(folder) if folder is not None else ""
    if path is None or (name is not None and not str(name).strip()):
        return None
    return Save(str(name or "").strip(" ,"), path, bool(overwrite), str(format))
