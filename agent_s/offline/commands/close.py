"""Close a window, a dialog, a tab, a menu or an application."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from aci.acting.actions import Hotkey, SwitchApplications
from aci.observation.observation import Window
from agent_s.offline.commands.base import UNDECIDED, Command, Finding, Seen
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import window_score
from agent_s.offline.finding.screen import in_dialog, name_of
from agent_s.offline.finding.targets import named
from agent_s.offline.ui import UI, Steps, changed
from agent_s.offline.words import BUTTONS, TABLE, one_of
from intents.text import Phrase

What = Literal["window", "app", "dialog", "tab", "menu", "any"]
Changes = Literal["ask", "keep", "discard"]
_KINDS: dict[What, re.Pattern[str]] = {
    kind: re.compile(rf"(?P<name>.*?)\s*\b{one_of(nouns)}", re.IGNORECASE) for kind, nouns in TABLE["closed"].items()
}
_CURRENT = re.compile(rf"{one_of(TABLE['current'])}\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Close(Command):
    """Close something: its kind, its name ("" for the one in front), and what to do with unsaved changes."""

    what: What
    name: str = ""
    changes: Changes = "ask"

    def run(self, ui: UI) -> Execution:
        """Close it by the keyboard; unsaved changes are dealt with only as the instruction says."""
        start = ui.screen
        if self.what == "menu":
            yield from ui.press("Escape", purpose="close the menu")
            return changed(start, ui.screen)
        if self.what == "tab" and self.name:
            yield from ui.click((yield from ui.seek(named(self.name, "tab"))))
        if self.what == "tab":
            window = ui.screen.active
            yield from ui.press("ctrl", "w", purpose="close the tab")
            asked = window is not None and (yield from self._settle_question(window, ui))
            return asked or f"the tab was closed; {changed(start, ui.screen)}"
        if self.what in ("dialog", "any") and not self.name and not ui.screen.dialogs:
            for found in (ui.buttons((name,), least=88.0) for name in BUTTONS["close"]):
                if found and in_dialog(found[0].element):  # a dialog in a page
                    element = yield from ui.click(found)
                    return f"{name_of(element)} was clicked; {changed(start, ui.screen)}"
        if self.what == "dialog" and not ui.screen.dialogs and self._window(ui) is None:
            give_up(f"there is no dialog {self.name!r} to close" if self.name else "there is no dialog to close")
        window = yield from self._to_front(ui)
        return (yield from self._close(window, ui))

    def judge(self, seen: Seen) -> Finding:
        """Check which windows are closed."""
        before = seen.steps[0].observation.windows if seen.steps else ()
        gone = [window.title for window in before if window.id not in seen.after.window_by_id]
        return (True, f"the window {gone[0]!r} is closed") if gone else UNDECIDED

    def _window(self, ui: UI) -> Window | None:
        windows = [window for window in ui.screen.windows if not window.popup] if self.name else []
        scored = [(window_score(self.name, ui.screen, window.id), window) for window in windows]
        score, window = max(scored, key=lambda pair: pair[0], default=(0.0, None))
        return window if score >= 66 else None

    def _to_front(self, ui: UI) -> Steps[Window]:
        window = self._window(ui)
        dialogs = ui.screen.dialogs
        if window is None and self.what == "dialog" and dialogs:
            window = next((dialog for dialog in dialogs if dialog.active), dialogs[0])
        name = self.name if window is None else window.title or window.app
        is_front = window is not None and (
            window.active or any(dialog.active and dialog.app == window.app for dialog in dialogs)
        )
        if name and not is_front:
            before, action = ui.screen, SwitchApplications(app_code=name[:200])
            result = yield from ui.try_to(action, f"bring {name!r} to the front, to close it")
            if not result.ok or (window is None and len(ui.screen.windows) > len(before.windows)):
                give_up(f"there is no window {name!r} to close")
            window = window or ui.screen.active
        window = window or ui.screen.active
        if window is None:
            give_up("there is no window to close")
        return window

    def _close(self, window: Window, ui: UI) -> Execution:
        called = window.title or window.app
        first = ("ctrl", "q") if self.what == "app" and not ui.screen.dialogs else ("alt", "F4")
        ways = (first, ("alt", "F4"), *([("Escape",)] if window in ui.screen.dialogs else []))
        for keys in ways:
            yield from ui.do(Hotkey(keys=keys), f"close the window {called!r}")
            for pause in (0.6, 0.0):
                if window.id not in ui.screen.window_by_id:
                    return f"the window {called!r} is closed"
                if evidence := (yield from self._settle_question(window, ui)):
                    return evidence
                if pause:
                    yield from ui.wait(pause, "wait for the window to close")
        give_up(f"the window {called!r} did not close")

    def _settle_question(self, window: Window, ui: UI) -> Steps[str]:
        """Answer a question about unsaved changes as the instruction says, or give up; return "" if there is none."""
        asking = {one.element.window_id for one in ui.buttons((*BUTTONS["unsaved"], *BUTTONS["cancel"][:1]))}
        questions = [
            one for one in ui.screen.dialogs if one.id in asking and one.id != window.id and one.app == window.app
        ]
        if not questions and not ui.buttons(BUTTONS["unsaved"]):
            return ""
        title = questions[0].title if questions else window.title
        if ui.is_left_to_next():
            return f"the window {title!r} asks what to do with the changes"
        if self.changes == "ask":
            asks = "asks whether to save them; the instruction does not say"
            give_up(f"{window.title or window.app!r} has unsaved changes and {asks}")
        found = ui.buttons(BUTTONS[self.changes])
        if not found:
            give_up(f"the question {title!r} has no button to {self.changes} the changes")
        before = ui.screen
        element = yield from ui.click(found)
        yield from ui.wait_until(
            lambda: window.id not in ui.screen.window_by_id, (0.5, 1.0), "wait for the window to close"
        )
        return f"{name_of(element)} was clicked; {changed(before, ui.screen)}"


def read(what: Phrase | None = None, changes: Changes = "ask") -> Command:
    """Read the kind and the name of the object."""
    text = _CURRENT.sub("", str(what or "").strip(), count=1)
    for kind, pattern in _KINDS.items():
        if match := pattern.fullmatch(text):
            return Close(kind, match["name"], changes)
    return Close("any", "" if text.casefold() in TABLE["pronouns"] else text, changes)
