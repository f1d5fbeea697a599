"""Open or activate something by name: a visible element, a folder, or an application."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aci.acting.actions import SwitchApplications, Type
from agent_s.offline.commands.base import UNDECIDED, Command, Finding, Seen
from agent_s.offline.commands.click import Click
from agent_s.offline.commands.expand import Expand
from agent_s.offline.commands.file_dialog import folder_path
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import EXACT, Candidate, best, window_score
from agent_s.offline.finding.roles import ACTIONABLE, EDITABLE
from agent_s.offline.finding.screen import in_page, name_of
from agent_s.offline.finding.targets import Target, named, parse_target
from agent_s.offline.ui import UI, changed
from agent_s.offline.words import TABLE, one_of
from intents.applications import mentioned
from intents.tables import words
from intents.text import Phrase

_WAITS = (0.5, 1.0, 1.5, 2.0)  # pauses until the window of an application is ready, s
_BY_TWO_CLICKS = frozenset({"icon", "desktop icon", "table cell", "list item", "text line"})
_NOUN = one_of(TABLE["applications"])
_APP = re.compile(rf"\s+{_NOUN}$|^{_NOUN}\s+", re.IGNORECASE)
_FOLDER = re.compile(rf"\b{one_of(TABLE['nouns_of_folders'])}\b", re.IGNORECASE)
_CLICKED = ("menu", "tab", "link", "button", "combo", "checkbox", "date", "heading", "page", "menuitem")


@dataclass(frozen=True, slots=True)
class Open(Command):
    """Open an application, or an element of that name; `is_app` where only an application can be meant."""

    lasting = False
    name: str
    target: Target
    is_app: bool = False

    def run(self, ui: UI) -> Execution:
        """Open a visible element of that name, else the application."""
        in_sight = [] if self.is_app else self._in_sight(ui)
        if in_sight:
            return (yield from self._click(in_sight, ui))
        start = ui.screen
        if self.target.kind in ("item", "tree", "row"):
            return (yield from self._open_item(ui))
        action = SwitchApplications(app_code=self.name[:200])
        result = yield from ui.try_to(action, f"bring {self.name!r} to the front, or start it")
        if not result.ok:
            if not self.is_app and (found := best(ui.rank(self.target), 70.0)):
                return (yield from self._click(found, ui))
            give_up(result.error if self.is_app else f"{result.error} On the screen, {ui.not_found(self.target)}.")

        def is_ready() -> bool:
            window = ui.screen.active
            if window is None:
                return False
            if window.id in start.window_by_id:
                return not result.started or window_score(result.started, ui.screen, window.id) >= 66
            return any(one.window_id == window.id for one in ui.screen.elements)

        ready = yield from ui.wait_until(is_ready, _WAITS, "wait for the window to be ready")
        window = ui.screen.active
        if window is None or (not ready and window.id in start.window_by_id):
            give_up(f"{self.name!r} was started, but no window of it came")
        return f"the window {window.title or window.app!r} of {window.app or self.name} is in front"

    def judge(self, seen: Seen) -> Finding:
        """Check which window is in front."""
        window = seen.after.active
        if window is None or not self.is_app:
            return UNDECIDED
        return True, f"{self.name}: the window {window.title!r} came to the front"

    def another_way(self) -> str:
        """Return a double click, unless only an application can be meant."""
        return "" if self.is_app else f"double-click {self.name!r}"

    def _in_sight(self, ui: UI) -> list[Candidate]:
        """Return elements with that name, or a button named like the whole command, such as "Open dialog"."""
        for target in (named(f"Open {self.target.phrase or self.name}"), self.target):
            found = [one for one in ui.rank(target, ACTIONABLE - EDITABLE) if one.element in ui.screen.front]
            if found := best(found, EXACT):
                return found
        return []

    def _click(self, found: list[Candidate], ui: UI) -> Execution:
        """Click it; an item of a list is opened by a double click, except in pages."""
        start, element = ui.screen, found[0].element
        clicks = 2 if element.role in _BY_TWO_CLICKS and not in_page(element) else 1
        element = yield from ui.click(found, clicks)
        return f"{name_of(element)} was opened; {changed(start, ui.screen)}"

    def _open_item(self, ui: UI) -> Execution:
        """Open a file, folder or entry; a folder that is not in sight by its path."""
        start, found = ui.screen, (yield from ui.find(self.target))
        if found:
            return (yield from self._click(found, ui))
        if not _FOLDER.search(self.target.phrase):
            give_up(ui.not_found(self.target))
        path = self.name if self.name.startswith(("/", "~")) else f"~/{self.name}"
        yield from ui.press("ctrl", "l", purpose="go to the field for the path")
        yield from ui.do(Type(text=path, overwrite=True, enter=True), f"type the path {path!r}")
        return f"the path {path!r} was entered; {changed(start, ui.screen)}"


def read(what: Phrase, is_app: str = "") -> Command | None:
    """Read the object; parts of a window are clicked, and sections expanded."""
    name = what.part(_APP.sub("", what.marked)).strip()
    only_app = bool(is_app or _APP.search(what.marked) or mentioned(name))
    target = parse_target(what)
    # "A new game" is no application of that kind.
    is_new = name.partition(" ")[0].casefold() in words("things", "fresh")
    if not only_app and (target.kind in _CLICKED or is_new) and target.name:
        return Click((target,))
    if not only_app and target.kind == "section":
        return Expand(target)
    if target.kind in ("dialog", "window", "item") and target.name:
        name = target.name
        target = target if target.kind == "item" else named(name)
        if target.kind == "item" and (path := folder_path(what)) and path.startswith(("/", "~/")):
            name = path
    return Open(name, target, only_app) if name and ">" not in name else None
