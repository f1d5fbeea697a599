"""Policies for applications, windows and dialogs."""

from __future__ import annotations

import re

from aci.acting.actions import Hotkey, SwitchApplications, Type, Wait
from aci.observation.observation import Window
from agent_s.offline.course import Achieved, Course, Move, give_up
from agent_s.offline.intents import AnswerDialog, ClickOn, CloseThing, OpenThing
from agent_s.offline.matching import EXACT, Candidate, nearest_names, rank
from agent_s.offline.names import name_score
from agent_s.offline.policies.common import (
    Steps,
    changed,
    click_best,
    do,
    finder,
    look_around,
    must,
    name_of,
    not_found,
    seek,
)
from agent_s.offline.policies.files import is_left
from agent_s.offline.policies.pointing import click_on
from agent_s.offline.roles import ACTIONABLE, EDITABLE, ROLES
from agent_s.offline.screen import Screen
from agent_s.offline.targets import TargetQuery, named

_STARTUP_WAITS = (0.5, 1.0, 1.5, 2.0)
_OPENED_BY_TWO = ("icon", "desktop icon", "table cell", "list item", "text line")
_DISCARD = (
    "Don't Save",
    "Don’t Save",
    "Discard",
    "Close without Saving",
    "Discard Changes",
    "Discard All",
    "Don't save",
    "No",
    "Leave",
    "Close without saving",
    "Do not Save",
)
_KEEP = ("Save", "Save All", "Yes", "Save As")
_ACCEPT = (
    "OK",
    "Ok",
    "Accept",
    "Yes",
    "Confirm",
    "Continue",
    "Apply",
    "Got it",
    "Close",
    "Done",
    "Agree",
    "Allow",
    "Submit",
    "Open",
    "Save",
)
_CANCEL = ("Cancel", "No", "Dismiss", "Close", "Not now", "Decline", "Reject")
_SHUT = ("Close", "Dismiss", "Cancel", "OK", "No thanks", "Not now", "Got it", "×", "x", "✕")
_ANSWERS = {
    "accept": _ACCEPT,
    "cancel": _CANCEL,
    "close": _SHUT,
    "yes": ("Yes", "OK", "Ok", "Accept", "Continue"),
    "no": ("No", "Cancel", "Don't", "Decline"),
}


def open_thing(intent: OpenThing, screen: Screen) -> Course:
    """Open what is in sight under that name, else the application of that name."""
    if not intent.app_only and (found := _in_sight(intent, screen)):
        return (yield from _open_in_sight(found, intent, screen))
    start = screen
    if set(intent.target.kinds[:1]) & {"item", "tree", "row"}:
        return (yield from _open_item(intent, screen))
    sight = yield Move(
        SwitchApplications(app_code=intent.name[:200]), f"bring {intent.name!r} to the front, or start it"
    )
    if not sight.ok:
        return (yield from _open_otherwise(intent, sight.error, sight.screen))
    screen = yield from _until_ready(start, sight.screen)
    window = screen.active
    if window is None:
        give_up(f"{intent.name!r} was started but no window of it came")
    return Achieved(f"the window {window.title or window.app!r} of {window.app or intent.name} is in front")


def _in_sight(intent: OpenThing, screen: Screen) -> list[Candidate]:
    """Find what is called so, or a button that is called like the whole wish: "Open dialog"."""
    front = {element.window_id for element in screen.front}
    for query in (named(f"Open {intent.target.phrase or intent.name}"), intent.target):
        found = rank(query, screen, ACTIONABLE - EDITABLE)
        strong = [one for one in found if one.score >= EXACT - 2 and one.element.window_id in front]
        if strong:
            return strong
    return []


def _open_in_sight(found: list[Candidate], intent: OpenThing, screen: Screen) -> Course:
    """Click it; an item of a list or a file is opened by a double click."""
    start = screen
    double = found[0].element.role in _OPENED_BY_TWO and not _shows_page(screen, found[0].element.window_id)
    screen, element = yield from click_best(screen, found, clicks=2 if double else 1)
    return Achieved(f"{name_of(element)} was opened; {changed(start, screen)}")


def _shows_page(screen: Screen, window_id: int) -> bool:
    """Tell whether a window shows a web page, in which one click opens."""
    inside = (element for element in screen.elements if element.window_id == window_id)
    return any(
        element.role == "document web" or any(part.startswith("document web") for part in element.path)
        for element in inside
    )


def _open_item(intent: OpenThing, screen: Screen) -> Course:
    """Open a file, folder or entry: in sight by a double click, a folder also by its path."""
    screen, found = yield from look_around(screen, finder(intent.target), intent.target)
    if found:
        return (yield from _open_in_sight(found, intent, screen))
    name = intent.target.name
    if not name or not re.search(r"\b(?:folder|directory)\b", intent.target.phrase, re.IGNORECASE):
        give_up(not_found(intent.target, screen))
    start = screen
    path = name if name.startswith(("/", "~")) else f"~/{name}"
    sight = yield from must(Hotkey(keys=("ctrl", "l")), "go to the field for the path")
    sight = yield from must(Type(text=path, overwrite=True, enter=True), f"type the path {path!r}")
    return Achieved(f"the path {path!r} was entered; {changed(start, sight.screen)}")


def _open_otherwise(intent: OpenThing, error: str, screen: Screen) -> Course:
    found = [one for one in rank(intent.target, screen) if one.score >= 70] if not intent.app_only else []
    if found:
        return (yield from _open_in_sight(found, intent, screen))
    near = nearest_names(intent.target, screen) if not intent.app_only else []
    give_up(error + (f" On the screen the nearest names are {', '.join(map(repr, near))}." if near else ""))


def _until_ready(start: Screen, screen: Screen) -> Steps[Screen]:
    """Wait until a window is in front and shows something, after an application was started."""
    for pause in _STARTUP_WAITS:
        window = screen.active
        if window is not None and (
            window.id in start.window_by_id or any(element.window_id == window.id for element in screen.elements)
        ):
            break
        sight = yield Move(Wait(time=pause), "wait for the window to be ready")
        screen = sight.screen
    return screen


# Closing


def close_thing(intent: CloseThing, screen: Screen) -> Course:
    """Close a menu, tab, dialog, window or application; unsaved changes are dealt with only as the instruction says."""
    start = screen
    if intent.what == "menu":
        sight = yield from must(Hotkey(keys=("Escape",)), "close the menu")
        return Achieved(changed(start, sight.screen))
    if intent.what == "tab":
        return (yield from _close_tab(intent, screen))
    if (
        intent.what in ("dialog", "any")
        and not intent.name
        and (button := _in_page_close(screen))
        and not screen.dialogs
    ):
        screen, element = yield from click_best(screen, button)
        return Achieved(f"{name_of(element)} was clicked; {changed(start, screen)}")
    if intent.what == "dialog" and not _window_named(intent.name, screen) and not screen.dialogs:
        give_up(f"there is no dialog {intent.name!r} to close" if intent.name else "there is no dialog to close")
    window, screen = yield from _to_front(intent, screen)
    return (yield from _close_window(window, intent, screen))


def _in_page_close(screen: Screen) -> list[Candidate]:
    """Find the button that closes a dialog inside of a page."""
    inside = [e for e in screen.front if any(part.split(":")[0] in ("dialog", "alert") for part in e.path)]
    for name in _SHUT:
        found = [one for one in rank(named(name, "button"), screen) if one.score >= 88 and one.element in inside]
        if found:
            return found
    return []


def _close_tab(intent: CloseThing, screen: Screen) -> Course:
    start = screen
    if intent.name and intent.name.casefold() not in ("this", "current", "the current"):
        query = named(intent.name, "tab")
        screen, found = yield from seek(screen, finder(query, ROLES["tab"]), query)
        screen, _ = yield from click_best(screen, found)
    window = screen.active
    sight = yield from must(Hotkey(keys=("ctrl", "w")), "close the tab")
    question = _new_question(window, sight.screen) if window is not None else None
    if question is not None and window is not None:
        return (yield from _answer_unsaved(question, window, intent, sight.screen))
    return Achieved(f"the tab was closed; {changed(start, sight.screen)}")


def _window_named(name: str, screen: Screen) -> Window | None:
    if not name:
        return None
    scored = [
        (max(name_score(name, window.title)[0], name_score(name, window.app)[0]), -number, window)
        for number, window in enumerate(screen.windows)
        if not window.popup
    ]
    best = max(scored, default=None, key=lambda item: item[:2])
    return best[2] if best is not None and best[0] >= 66 else None


def _to_front(intent: CloseThing, screen: Screen) -> Steps[tuple[Window, Screen]]:
    """Bring the window that is to be closed to the front."""
    window = _window_named(intent.name, screen)
    if intent.what == "dialog" and window is None and screen.dialogs:
        window = next((dialog for dialog in screen.dialogs if dialog.active), screen.dialogs[0])
    if intent.name and window is None:
        sight = yield Move(
            SwitchApplications(app_code=intent.name[:200]), f"bring {intent.name!r} to the front, to close it"
        )
        if not sight.ok or len(sight.screen.windows) > len(screen.windows):
            give_up(f"there is no window {intent.name!r} to close")
        screen = sight.screen
        window = screen.active
    window = window or screen.active
    if window is None:
        give_up("there is no window to close")
    if not window.active and not any(dialog.active for dialog in screen.dialogs if dialog.app == window.app):
        sight = yield from must(
            SwitchApplications(app_code=(window.title or window.app)[:200]),
            f"bring {window.title!r} to the front, to close it",
        )
        screen = sight.screen
    return window, screen


def _close_window(window: Window, intent: CloseThing, screen: Screen) -> Course:
    keys = ("ctrl", "q") if intent.what == "app" and not screen.dialogs else ("alt", "F4")
    for attempt in (keys, ("alt", "F4"), ("Escape",)):
        if attempt == ("Escape",) and window not in screen.dialogs:
            break
        sight = yield from must(Hotkey(keys=attempt), f"close the window {window.title or window.app!r}")
        screen = sight.screen
        if window.id not in screen.window_by_id:
            return Achieved(f"the window {window.title or window.app!r} is closed")
        question = _new_question(window, screen)
        if question is not None:
            return (yield from _answer_unsaved(question, window, intent, screen))
        sight = yield from do(Wait(time=0.6), "wait for the window to close")
        screen = sight.screen
        if window.id not in screen.window_by_id:
            return Achieved(f"the window {window.title or window.app!r} is closed")
        question = _new_question(window, screen)
        if question is not None:
            return (yield from _answer_unsaved(question, window, intent, screen))
    give_up(f"the window {window.title or window.app!r} did not close")


def _new_question(window: Window, screen: Screen) -> Window | None:
    """Find the dialog that asks what to do with unsaved changes."""
    asking = {one.element.window_id for one in _button_of((*_DISCARD[:6], "Cancel"), screen)}
    dialogs = [
        dialog
        for dialog in screen.dialogs
        if dialog.id != window.id and dialog.app == window.app and dialog.id in asking
    ]
    if dialogs:
        return dialogs[0]
    return window if _button_of(_DISCARD[:6], screen) else None


def _button_of(names: tuple[str, ...], screen: Screen) -> list[Candidate]:
    for name in names:
        found = [
            one
            for one in rank(named(name, "button"), screen, ROLES["button"] | {"link"})
            if one.score >= 90 and one.element in screen.front
        ]
        if found:
            return found
    return []


def _answer_unsaved(question: Window, window: Window, intent: CloseThing, screen: Screen) -> Course:
    """Discard or save only where that was asked; else leave the question open for the person."""
    if is_left(intent.leave, screen):
        return Achieved(f"the window {question.title!r} asks what to do with the changes")
    names = {"discard": _DISCARD, "save": _KEEP, "ask": ()}[intent.changes]
    if not names:
        give_up(
            f"{window.title or window.app!r} has unsaved changes and asks whether to save them; the instruction does not say"
        )
    found = _button_of(names, screen)
    if not found:
        give_up(f"the question {question.title!r} has no button to {intent.changes} the changes")
    screen, element = yield from click_best(screen, found)
    sight = yield from do(Wait(time=0.5), "wait for the window to close")
    if window.id in sight.screen.window_by_id and intent.changes == "discard":
        sight = yield from do(Wait(time=1.0), "wait for the window to close")
    return Achieved(f"{name_of(element)} was clicked; {changed(screen, sight.screen)}")


# Dialogs


def answer_dialog(intent: AnswerDialog, screen: Screen) -> Course:
    """Click the dialog's button of that meaning; a dialog without one is dismissed by the keyboard."""
    start = screen
    names = _ANSWERS[intent.answer]
    for pause in (0.5, 0.8, 0.0):
        found = _in_dialogs(names, screen)
        if found:
            screen, element = yield from click_best(screen, found)
            return Achieved(f"{name_of(element)} was clicked; {changed(start, screen)}")
        if screen.dialogs or not pause:
            break
        sight = yield Move(Wait(time=pause), "wait for the dialog")
        screen = sight.screen
    if not screen.dialogs and not screen.popups:
        give_up(f"there is no dialog to answer, and no button to {intent.answer}")
    key = "Return" if intent.answer in ("accept", "yes") else "Escape"
    sight = yield from must(Hotkey(keys=(key,)), f"press {key} to {intent.answer} the dialog")
    return Achieved(changed(start, sight.screen))


def _in_dialogs(names: tuple[str, ...], screen: Screen) -> list[Candidate]:
    """Find a button in a dialog, else anywhere in front."""
    dialogs = {window.id for window in screen.dialogs}
    for name in names:
        found = [one for one in rank(named(name, "button"), screen, ROLES["button"] | {"link"}) if one.score >= 90]
        inside = [
            one
            for one in found
            if one.element.window_id in dialogs
            or any(part.split(":")[0] in ("dialog", "alert") for part in one.element.path)
        ]
        if inside:
            return inside
    return [] if dialogs else _button_of(names[:4], screen)


def command(words: str, screen: Screen) -> Course:
    """Click what is called exactly as the words say; words that no element bears are not understood."""
    for pause in (0.5, 0.0):
        for phrase in (words, re.sub(r"^(\w+) (?:the|a|an|your|my) ", r"\1 ", words), words.split()[0]):
            found = [
                one
                for one in rank(TargetQuery(phrase=phrase, name=phrase), screen, ACTIONABLE - EDITABLE)
                if one.score >= EXACT - 2
            ]
            if found and (phrase != words.split()[0] or len(words.split()) == 1):
                return (yield from click_on(ClickOn((named(found[0].element.name or phrase),), said=phrase), screen))
        if pause:
            sight = yield Move(Wait(time=pause), f"wait for something called {words!r}")
            screen = sight.screen
    near = nearest_names(TargetQuery(name=words), screen)
    there = f"; the nearest names are {', '.join(map(repr, near))}" if near else ""
    give_up(f"I do not understand {words!r}, and nothing on the screen is called so{there}")
