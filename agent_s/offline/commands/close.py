"""Close a window, a dialog, a tab, a menu or an application."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from aci.acting.actions import Hotkey, SwitchApplications
from aci.observation.observation import Window
from agent_s.offline.commands.base import UNDECIDED, Command, Finding, Seen
from agent_s.offline.course import Course, give_up
from agent_s.offline.desk import Desk, Steps, changed
from agent_s.offline.finding.matching import window_score
from agent_s.offline.finding.screen import in_dialog, name_of
from agent_s.offline.finding.targets import named
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

    def run(self, desk: Desk) -> Course:
        """Close it by the keyboard; unsaved changes are dealt with only as the instruction says."""
        start = desk.screen
        if self.what == "menu":
            yield from desk.press("Escape", purpose="close the menu")
            return changed(start, desk.screen)
        if self.what == "tab" and self.name:
            yield from desk.click((yield from desk.seek(named(self.name, "tab"))))
        if self.what == "tab":
            window = desk.screen.active
            yield from desk.press("ctrl", "w", purpose="close the tab")
            asked = window is not None and (yield from self._settle_question(window, desk))
            return asked or f"the tab was closed; {changed(start, desk.screen)}"
        if self.what in ("dialog", "any") and not self.name and not desk.screen.dialogs:
            for found in (desk.buttons((name,), least=88.0) for name in BUTTONS["close"]):
                if found and in_dialog(found[0].element):  # a dialog in a page
                    element = yield from desk.click(found)
                    return f"{name_of(element)} was clicked; {changed(start, desk.screen)}"
        if self.what == "dialog" and not desk.screen.dialogs and self._window(desk) is None:
            give_up(f"there is no dialog {self.name!r} to close" if self.name else "there is no dialog to close")
        window = yield from self._to_front(desk)
        return (yield from self._close(window, desk))

    def judge(self, seen: Seen) -> Finding:
        """Look which windows are gone."""
        before = seen.steps[0].observation.windows if seen.steps else ()
        gone = [window.title for window in before if window.id not in seen.after.window_by_id]
        return (True, f"the window {gone[0]!r} is closed") if gone else UNDECIDED

    def _window(self, desk: Desk) -> Window | None:
        windows = [window for window in desk.screen.windows if not window.popup] if self.name else []
        scored = [(window_score(self.name, desk.screen, window.id), window) for window in windows]
        score, window = max(scored, key=lambda pair: pair[0], default=(0.0, None))
        return window if score >= 66 else None

    def _to_front(self, desk: Desk) -> Steps[Window]:
        window = self._window(desk)
        dialogs = desk.screen.dialogs
        if window is None and self.what == "dialog" and dialogs:
            window = next((dialog for dialog in dialogs if dialog.active), dialogs[0])
        name = self.name if window is None else window.title or window.app
        is_front = window is not None and (
            window.active or any(dialog.active and dialog.app == window.app for dialog in dialogs)
        )
        if name and not is_front:
            before, action = desk.screen, SwitchApplications(app_code=name[:200])
            result = yield from desk.try_to(action, f"bring {name!r} to the front, to close it")
            if not result.ok or (window is None and len(desk.screen.windows) > len(before.windows)):
                give_up(f"there is no window {name!r} to close")
            window = window or desk.screen.active
        window = window or desk.screen.active
        if window is None:
            give_up("there is no window to close")
        return window

    def _close(self, window: Window, desk: Desk) -> Course:
        called = window.title or window.app
        first = ("ctrl", "q") if self.what == "app" and not desk.screen.dialogs else ("alt", "F4")
        ways = (first, ("alt", "F4"), *([("Escape",)] if window in desk.screen.dialogs else []))
        for keys in ways:
            yield from desk.do(Hotkey(keys=keys), f"close the window {called!r}")
            for pause in (0.6, 0.0):
                if window.id not in desk.screen.window_by_id:
                    return f"the window {called!r} is closed"
                if evidence := (yield from self._settle_question(window, desk)):
                    return evidence
                if pause:
                    yield from desk.wait(pause, "wait for the window to close")
        give_up(f"the window {called!r} did not close")

    def _settle_question(self, window: Window, desk: Desk) -> Steps[str]:
        """Discard or save changes only as the instruction says, else leave the question open; "" where none is."""
        asking = {one.element.window_id for one in desk.buttons((*BUTTONS["unsaved"], *BUTTONS["cancel"][:1]))}
        questions = [
            one for one in desk.screen.dialogs if one.id in asking and one.id != window.id and one.app == window.app
        ]
        if not questions and not desk.buttons(BUTTONS["unsaved"]):
            return ""
        title = questions[0].title if questions else window.title
        if desk.is_left_to_next():
            return f"the window {title!r} asks what to do with the changes"
        if self.changes == "ask":
            asks = "asks whether to save them; the instruction does not say"
            give_up(f"{window.title or window.app!r} has unsaved changes and {asks}")
        found = desk.buttons(BUTTONS[self.changes])
        if not found:
            give_up(f"the question {title!r} has no button to {self.changes} the changes")
        before = desk.screen
        element = yield from desk.click(found)
        yield from desk.wait_until(
            lambda: window.id not in desk.screen.window_by_id, (0.5, 1.0), "wait for the window to close"
        )
        return f"{name_of(element)} was clicked; {changed(before, desk.screen)}"


def read(what: Phrase | None = None, changes: Changes = "ask") -> Command:
    """Read the kind and the name of what is closed."""
    text = _CURRENT.sub("", str(what or "").strip(), count=1)
    for kind, pattern in _KINDS.items():
        if match := pattern.fullmatch(text):
            return Close(kind, match["name"], changes)
    return Close("any", "" if text.casefold() in TABLE["pronouns"] else text, changes)
