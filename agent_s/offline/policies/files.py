"""Policies for files and pages: save, open, go to an address, search."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from aci.acting.actions import Hotkey, Type, Wait
from aci.observation.observation import Element, Window
from agent_s.offline.course import Achieved, Course, Move, give_up
from agent_s.offline.intents import FollowPath, OpenFile, SaveFile
from agent_s.offline.matching import Candidate, rank
from agent_s.offline.policies.common import (
    Steps,
    changed,
    click_best,
    do,
    must,
    name_of,
)
from agent_s.offline.policies.file_dialogs import (
    CONFIRM_OPEN,
    CONFIRM_SAVE,
    LOOKS,
    buttons_in,
    file_dialog,
    full_path,
    name_field,
)
from agent_s.offline.policies.paths import follow_path
from agent_s.offline.roles import ROLES
from agent_s.offline.screen import Screen, content_of
from agent_s.offline.targets import TargetQuery, named

_REPLACE = ("Replace", "Overwrite", "Yes")


# Saving


def save_file(intent: SaveFile, screen: Screen) -> Course:
    """Save by Ctrl+S; where a dialog asks, name the file, keep the format that was asked, and watch until it is gone."""
    screen = yield from _leave_menu(screen)
    start = screen
    dialog = file_dialog(screen, None)
    if dialog is None:
        screen, dialog = yield from _ask_for_dialog(intent, screen)
    if dialog is not None:
        return (yield from _save_in_dialog(intent, screen))
    if intent.save_as:
        give_up(f"no dialog to save the file as {intent.name or intent.folder!r} opened")
    screen = yield from _watch_plain_save(intent, start, screen)
    return Achieved(f"the file was saved; the title is {screen.active.title!r}" if screen.active else "")


def _watch_plain_save(intent: SaveFile, start: Screen, screen: Screen) -> Steps[Screen]:
    """See what saving under the same name asks, and that the title says no more that there are changes."""
    if screen.dialogs != start.dialogs:
        sight = yield Move(Wait(time=0.4), "see whether saving asks something")
        screen = sight.screen
    screen = yield from _answer_questions(intent, screen)
    if is_modified(screen):
        sight = yield Move(Wait(time=0.5), "see whether the file is saved")
        screen = sight.screen
    if is_modified(screen):
        screen = yield from _by_menu(screen, "Save")
        screen = yield from _answer_questions(intent, screen)
    if is_modified(screen):
        give_up(f"the title {screen.active.title if screen.active else ''!r} still says that there are unsaved changes")
    return screen


def is_modified(screen: Screen) -> bool:
    """Tell whether the title of the window in front says that there are unsaved changes."""
    title = screen.active.title if screen.active is not None else ""
    return title.startswith(("*", "•")) or bool(re.search(r"\((?:modified|unsaved)\)", title))


def _leave_menu(screen: Screen) -> Steps[Screen]:
    """Close an open menu, which would swallow the keys."""
    if not screen.popups:
        return screen
    sight = yield from do(Hotkey(keys=("Escape",)), "close the menu, which would take the keys")
    return sight.screen


def _ask_for_dialog(intent: SaveFile, screen: Screen) -> Steps[tuple[Screen, Window | None]]:
    """Press the keys that save, and those for "save as" or the menu where no dialog opens though one is needed."""
    ways: tuple[tuple[str, ...], ...] = (("ctrl", "shift", "s"), ("ctrl", "s")) if intent.save_as else (("ctrl", "s"),)
    for keys in ways:
        before = screen
        sight = yield from must(Hotkey(keys=keys), f"press {'+'.join(keys)} to save")
        screen, dialog = yield from _await_dialog(before, sight.screen, longer=intent.save_as)
        if dialog is not None:
            return screen, dialog
        if not intent.save_as or _question(screen):
            return screen, None
    before = screen
    screen = yield from _by_menu(screen, "Save As")
    return (yield from _await_dialog(before, screen, longer=True))


def _by_menu(screen: Screen, entry: str) -> Steps[Screen]:
    course = follow_path(FollowPath(("File", entry)), screen)
    try:
        move = next(course)
        while True:
            sight = yield move
            screen = sight.screen
            move = course.send(sight)
    except StopIteration:
        return screen


def _await_dialog(before: Screen, screen: Screen, longer: bool) -> Steps[tuple[Screen, Window | None]]:
    for pause in LOOKS[: 3 if longer else 1]:
        dialog = file_dialog(screen, before)
        if dialog is not None:
            return screen, dialog
        if screen.windows != before.windows and _question(screen):
            return screen, None
        if not longer and not _is_new_window(before, screen):
            break
        sight = yield Move(Wait(time=pause), "wait for the dialog")
        screen = sight.screen
    return screen, file_dialog(screen, before)


def _is_new_window(before: Screen, screen: Screen) -> bool:
    return bool(set(screen.window_by_id) - set(before.window_by_id))


def _save_in_dialog(intent: SaveFile, screen: Screen) -> Course:
    dialog = file_dialog(screen, None)
    field = name_field(screen, dialog) if dialog is not None else None
    if dialog is None or field is None:
        give_up("the dialog to save has no field for the name")
    name = intent.name or PurePosixPath(content_of(field) or "Untitled").name
    if not intent.name and not intent.folder:
        give_up(
            f"the document has no name yet, and the instruction does not give one; the dialog {dialog.title!r} asks for it"
        )
    path = full_path(name, intent.folder)
    if content_of(field) != path:
        sight = yield from must(
            Type(text=path, element_id=field.id, overwrite=True), f"type the path {path!r} as the name"
        )
        screen = sight.screen
    buttons = buttons_in(CONFIRM_SAVE, screen, dialog)
    if buttons:
        screen, _ = yield from click_best(screen, buttons)
    else:
        sight = yield from must(Hotkey(keys=("Return",)), "press Return to save")
        screen = sight.screen
    screen = yield from _until_gone(dialog, intent, screen)
    shown = screen.active.title if screen.active else ""
    base = PurePosixPath(path).name
    if base in shown or PurePosixPath(base).stem in shown:
        return Achieved(f"the dialog is gone and the title shows {shown!r}")
    return Achieved(f"the dialog to save {base!r} is gone")


def _until_gone(dialog: Window, intent: SaveFile, screen: Screen) -> Steps[Screen]:
    """Watch a dialog until it has closed, and answer what saving asks; end the policy where it reports an error."""
    for pause in (*LOOKS, 0.0):
        screen = yield from _answer_questions(intent, screen)
        if is_left(intent.leave, screen) or (dialog.id not in screen.window_by_id and not _question(screen)):
            return screen
        if message := _error(dialog, screen):
            give_up(f"saving failed: {message}")
        if pause:
            sight = yield Move(Wait(time=pause), "wait for the dialog to close")
            screen = sight.screen
    give_up(f"the dialog {dialog.title!r} did not close")


def _error(dialog: Window, screen: Screen) -> str:
    """Return what a message says that came over the dialog, or in it."""
    for window in screen.dialogs:
        texts = [
            content_of(e)
            for e in screen.elements
            if e.window_id == window.id and e.role in ROLES["text"] and content_of(e)
        ]
        if window.id != dialog.id and texts and buttons_in(("OK", "Close", "Dismiss"), screen, window):
            return ". ".join(texts[:3])
    return ""


def _question(screen: Screen) -> bool:
    """Tell whether the application asks about replacing a file or about its format."""
    return bool(_asks_to_replace(screen) or _asks_for_format(screen))


def _asks_to_replace(screen: Screen) -> list[Candidate]:
    if not any(
        re.search(r"already exists|replace|overwrit", content_of(e), re.IGNORECASE)
        for e in screen.front
        if e.role in ROLES["text"]
    ):
        return []
    return _front_button(_REPLACE, screen)


def _asks_for_format(screen: Screen) -> list[Candidate]:
    return [
        one
        for one in rank(TargetQuery(phrase="Keep", name="Keep", kinds=("button",)), screen, ROLES["button"])
        if re.search(r"format", one.element.name, re.IGNORECASE)
    ] or [
        Candidate(e, 90.0, "a choice of format")
        for e in screen.front
        if e.role in ROLES["button"] and re.search(r"^(?:use|keep) .*format", e.name, re.IGNORECASE)
    ]


def _front_button(names: tuple[str, ...], screen: Screen) -> list[Candidate]:
    for name in names:
        found = [
            one
            for one in rank(named(name, "button"), screen, ROLES["button"])
            if one.score >= 90 and one.element in screen.front
        ]
        if found:
            return found
    return []


def _answer_questions(intent: SaveFile, screen: Screen) -> Steps[Screen]:
    """Answer what saving may ask: replace a file only if that was asked, keep the format that the name says."""
    for _ in range(3):
        if is_left(intent.leave, screen):
            return screen
        if replace := _asks_to_replace(screen):
            if not intent.overwrite:
                give_up(
                    f"a file of the name {intent.name!r} exists already, and the instruction does not say to replace it"
                )
            screen, _ = yield from click_best(screen, replace)
        elif formats := _asks_for_format(screen):
            screen, _ = yield from click_best(
                screen, [_format_choice(intent, [one.element for one in formats], screen)]
            )
        else:
            return screen
    return screen


def is_left(queries: tuple[TargetQuery, ...], screen: Screen) -> bool:
    """Tell whether a dialog asks what the next clause of the instruction answers."""
    dialogs = {window.id for window in screen.dialogs}
    return any(
        one.element.window_id in dialogs and one.score >= 84
        for query in queries
        for one in rank(query, screen, ROLES["button"])[:1]
    )


def _format_choice(intent: SaveFile, offered: list[Element], screen: Screen) -> Candidate:
    """Choose the format of the name's extension; a name without a known one takes the application's own."""
    suffix = PurePosixPath(intent.name).suffix.casefold()
    buttons = [
        e for e in screen.front if e.role in ROLES["button"] and re.search(r"format", e.name, re.IGNORECASE)
    ] or offered
    own = [e for e in buttons if re.search(r"ODF|OpenDocument", e.name)]
    kept = [e for e in buttons if e not in own]
    wants_own = suffix in ("", ".ods", ".odt", ".odp", ".odg") and not intent.format
    chosen = (own if wants_own else kept) or buttons
    return Candidate(chosen[0], 100.0, "keeps the format that was asked for")


# Opening and pages


def open_file(intent: OpenFile, screen: Screen) -> Course:
    """Open a file: where it is in sight as an item, by a double click, else by the application's dialog."""
    name = PurePosixPath(intent.path).name
    items = [
        one
        for one in rank(named(name), screen, ROLES["item"] | {"icon", "link"})
        if one.score >= 92 and one.element in screen.front
    ]
    if items and "/" not in intent.path:
        start = screen
        web = any(part.startswith("document web") for part in items[0].element.path)
        screen, element = yield from click_best(screen, items, clicks=1 if web else 2)
        return Achieved(f"{name_of(element)} was opened; {changed(start, screen)}")
    before = screen
    dialog = file_dialog(screen, None)
    if dialog is None:
        sight = yield from must(Hotkey(keys=("ctrl", "o")), "press ctrl+o to open a file")
        screen = sight.screen
    for pause in (*LOOKS[:3], 0.0):
        dialog = _open_dialog(screen, before)
        if dialog is not None or not pause:
            break
        sight = yield Move(Wait(time=pause), "wait for the dialog")
        screen = sight.screen
    if dialog is None:
        give_up(f"no dialog to open {intent.path!r} came")
    return (yield from _open_in_dialog(intent, dialog, screen))


def _open_dialog(screen: Screen, before: Screen) -> Window | None:
    dialog = file_dialog(screen, before)
    if dialog is not None:
        return dialog
    return next(
        (
            w
            for w in screen.windows
            if not w.popup and w.active and w.id not in before.window_by_id and buttons_in(CONFIRM_OPEN, screen, w)
        ),
        None,
    )


def _open_in_dialog(intent: OpenFile, dialog: Window, screen: Screen) -> Course:
    """Type the path into the dialog; GTK shows the field for it when "/" or "~" is typed."""
    field = name_field(screen, dialog)
    path = intent.path
    if field is None:
        sight = yield from must(Hotkey(keys=("ctrl", "l")), "show the field for the path")
        screen = sight.screen
        field = name_field(screen, dialog)
    action = Type(text=path, element_id=field.id if field is not None else None, overwrite=field is not None)
    sight = yield from must(action, f"type the path {path!r}")
    screen = sight.screen
    sight = yield from must(Hotkey(keys=("Return",)), "press Return to open it")
    screen = sight.screen
    for pause in (0.5, 1.0):
        if dialog.id not in screen.window_by_id:
            break
        buttons = buttons_in(CONFIRM_OPEN, screen, dialog)
        if buttons and "disabled" not in buttons[0].element.states and pause == 1.0:
            screen, _ = yield from click_best(screen, buttons)
        else:
            sight = yield Move(Wait(time=pause), "wait for the dialog to close")
            screen = sight.screen
    if dialog.id in screen.window_by_id:
        give_up(f"the dialog {dialog.title!r} did not take the path {path!r}")
    shown = screen.active.title if screen.active else ""
    return Achieved(f"the dialog is gone and the title is {shown!r}")
