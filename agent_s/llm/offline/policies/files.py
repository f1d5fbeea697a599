"""Policies for files and pages: save, open, go to an address, search."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from aci.actions import Hotkey, SwitchApplications, Type, Wait
from aci.observation import Element, Window
from agent_s.llm.offline.course import Achieved, Course, Move, give_up
from agent_s.llm.offline.intents import FollowPath, GoToAddress, OpenFile, SaveFile, SearchFor
from agent_s.llm.offline.matching import Candidate, name_score, rank
from agent_s.llm.offline.policies.choosing import follow_path
from agent_s.llm.offline.policies.common import (
    Steps,
    await_element,
    changed,
    click_best,
    do,
    finder,
    must,
    name_of,
    not_found,
    now,
    shorten,
)
from agent_s.llm.offline.roles import EDITABLE, ROLES
from agent_s.llm.offline.screen import Screen, content_of
from agent_s.llm.offline.targets import TargetQuery, named

_NAME_LABELS = ("Name", "File name", "Filename", "Location", "Name:", "File Name")
_CONFIRM_SAVE = ("Save", "OK", "Export", "Save As")
_CONFIRM_OPEN = ("Open", "OK", "Select", "Choose", "Load")
_REPLACE = ("Replace", "Overwrite", "Yes")
_LOOKS = (0.3, 0.5, 0.8, 1.2, 2.0)
_OFFICE = {
    ".xlsx": "Excel",
    ".xls": "Excel",
    ".docx": "Word",
    ".doc": "Word",
    ".pptx": "PowerPoint",
    ".ppt": "PowerPoint",
    ".csv": "Text CSV",
    ".rtf": "Rich Text",
    ".html": "HTML",
    ".txt": "Text",
    ".dif": "",
    ".fodt": "",
}


# Saving


def save_file(intent: SaveFile, screen: Screen) -> Course:
    """Save by Ctrl+S; where a dialog asks, name the file, keep the format that was asked, and watch until it is gone."""
    screen = yield from _leave_menu(screen)
    start = screen
    dialog = _file_dialog(screen, None)
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
    for pause in _LOOKS[: 3 if longer else 1]:
        dialog = _file_dialog(screen, before)
        if dialog is not None:
            return screen, dialog
        if screen.windows != before.windows and _question(screen):
            return screen, None
        if not longer and not _is_new_window(before, screen):
            break
        sight = yield Move(Wait(time=pause), "wait for the dialog")
        screen = sight.screen
    return screen, _file_dialog(screen, before)


def _is_new_window(before: Screen, screen: Screen) -> bool:
    return bool(set(screen.window_by_id) - set(before.window_by_id))


def _file_dialog(screen: Screen, before: Screen | None) -> Window | None:
    """Find a window with a field for a file name and a button that confirms it."""
    for window in screen.windows:
        if window.popup or (
            before is not None and window.id in before.window_by_id and window.id != getattr(screen.active, "id", None)
        ):
            continue
        named_file = re.search(r"\b(?:save|export|open|select|choose|upload)\b", window.title, re.IGNORECASE)
        if (
            (window in screen.dialogs or named_file)
            and _name_field(screen, window) is not None
            and (_buttons(_CONFIRM_SAVE + _CONFIRM_OPEN, screen, window))
        ):
            return window
    return None


def _name_field(screen: Screen, window: Window) -> Element | None:
    """Find the field for the file name: by its label, else the one that has the keyboard."""
    fields = [
        element
        for element in screen.elements
        if element.window_id == window.id and element.role in EDITABLE and "editable" in element.states
    ]
    for label in _NAME_LABELS:
        found = [one for one in rank(named(label), screen, EDITABLE) if one.element in fields and one.score >= 84]
        if found:
            return found[0].element
    return next((element for element in fields if "focused" in element.states), None)


def _buttons(names: tuple[str, ...], screen: Screen, window: Window) -> list[Candidate]:
    for name in names:
        found = [
            one
            for one in rank(named(name, "button"), screen, ROLES["button"])
            if one.element.window_id == window.id and one.score >= 80 and one.element.point
        ]
        if found:
            return found
    return []


def full_path(name: str, folder: str) -> str:
    """Join a name and a folder as a file dialog takes them."""
    if not folder or name.startswith(("/", "~")):
        return name
    return f"{folder.rstrip('/')}/{name}"


def _save_in_dialog(intent: SaveFile, screen: Screen) -> Course:
    dialog = _file_dialog(screen, None)
    field = _name_field(screen, dialog) if dialog is not None else None
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
    buttons = _buttons(_CONFIRM_SAVE, screen, dialog)
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
    for pause in (*_LOOKS, 0.0):
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
        if window.id != dialog.id and texts and _buttons(("OK", "Close", "Dismiss"), screen, window):
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
    dialog = _file_dialog(screen, None)
    if dialog is None:
        sight = yield from must(Hotkey(keys=("ctrl", "o")), "press ctrl+o to open a file")
        screen = sight.screen
    for pause in (*_LOOKS[:3], 0.0):
        dialog = _open_dialog(screen, before)
        if dialog is not None or not pause:
            break
        sight = yield Move(Wait(time=pause), "wait for the dialog")
        screen = sight.screen
    if dialog is None:
        give_up(f"no dialog to open {intent.path!r} came")
    return (yield from _open_in_dialog(intent, dialog, screen))


def _open_dialog(screen: Screen, before: Screen) -> Window | None:
    dialog = _file_dialog(screen, before)
    if dialog is not None:
        return dialog
    return next(
        (
            w
            for w in screen.windows
            if not w.popup and w.active and w.id not in before.window_by_id and _buttons(_CONFIRM_OPEN, screen, w)
        ),
        None,
    )


def _open_in_dialog(intent: OpenFile, dialog: Window, screen: Screen) -> Course:
    """Type the path into the dialog; GTK shows the field for it when "/" or "~" is typed."""
    field = _name_field(screen, dialog)
    path = intent.path
    if field is None:
        sight = yield from must(Hotkey(keys=("ctrl", "l")), "show the field for the path")
        screen = sight.screen
        field = _name_field(screen, dialog)
    action = Type(text=path, element_id=field.id if field is not None else None, overwrite=field is not None)
    sight = yield from must(action, f"type the path {path!r}")
    screen = sight.screen
    sight = yield from must(Hotkey(keys=("Return",)), "press Return to open it")
    screen = sight.screen
    for pause in (0.5, 1.0):
        if dialog.id not in screen.window_by_id:
            break
        buttons = _buttons(_CONFIRM_OPEN, screen, dialog)
        if buttons and "disabled" not in buttons[0].element.states and pause == 1.0:
            screen, _ = yield from click_best(screen, buttons)
        else:
            sight = yield Move(Wait(time=pause), "wait for the dialog to close")
            screen = sight.screen
    if dialog.id in screen.window_by_id:
        give_up(f"the dialog {dialog.title!r} did not take the path {path!r}")
    shown = screen.active.title if screen.active else ""
    return Achieved(f"the dialog is gone and the title is {shown!r}")


def go_to_address(intent: GoToAddress, screen: Screen) -> Course:
    """Type an address into the browser's bar."""
    bar = _address_bar(screen)
    if bar is None:
        screen = yield from _to_browser(screen)
        bar = _address_bar(screen)
    before = screen.active.title if screen.active else ""
    if bar is None:
        sight = yield from must(Hotkey(keys=("ctrl", "l")), "go to the address bar")
        sight = yield from must(Type(text=intent.url, enter=True), f"type the address {intent.url!r}")
    else:
        sight = yield from must(
            Type(text=intent.url, element_id=bar.id, overwrite=True, enter=True), f"type the address {intent.url!r}"
        )
    screen = sight.screen
    for pause in (0.5, 1.0):
        if screen.active is not None and screen.active.title != before:
            break
        sight = yield Move(Wait(time=pause), "wait for the page")
        screen = sight.screen
    return Achieved(f"the address was entered; the title is {screen.active.title!r}" if screen.active else "")


def _address_bar(screen: Screen) -> Element | None:
    for name in ("Address and search bar", "Search or enter address", "Address bar", "Location"):
        found = [
            one
            for one in rank(named(name), screen, EDITABLE)
            if one.score >= 90 and one.element in screen.front and one.element.point
        ]
        if found:
            return found[0].element
    return None


def _to_browser(screen: Screen) -> Steps[Screen]:
    sight = yield Move(SwitchApplications(app_code="web browser"), "bring the browser to the front")
    if not sight.ok:
        give_up(f"there is no browser to open the page in: {sight.error}")
    screen, _ = yield from await_element(
        sight.screen,
        lambda view: [Candidate(bar, 100.0, "")] if (bar := _address_bar(view)) else [],
        named("address bar"),
    )
    return screen


def search_for(intent: SearchFor, screen: Screen) -> Course:
    """Search in the field that is named or shown, else with Ctrl+F."""
    field = yield from _search_field(intent, screen)
    if field is not None:
        sight = yield from must(
            Type(text=intent.text, element_id=field.id, overwrite=True, enter=True),
            f"search for {shorten(intent.text)!r} in {name_of(field)}",
        )
        return Achieved(f"{name_of(field)} was searched for {intent.text!r}; {changed(screen, sight.screen)}")
    sight = yield from must(Hotkey(keys=("ctrl", "f")), "open the search")
    after = sight.screen
    focus = after.focus
    into = focus.id if focus is not None and focus.role in EDITABLE and "multi_line" not in focus.states else None
    sight = yield from must(
        Type(text=intent.text, element_id=into, overwrite=into is not None, enter=True),
        f"search for {shorten(intent.text)!r}",
    )
    found = now(sight.screen, focus) if focus is not None else None
    return Achieved(f"{intent.text!r} was searched for; {changed(after, sight.screen)}" if found or sight.ok else "")


def _names_window(query: TargetQuery, screen: Screen) -> bool:
    return any(
        name_score(query.phrase, window.title)[0] >= 66 or name_score(query.phrase, window.app)[0] >= 66
        for window in screen.windows
    )


def _search_field(intent: SearchFor, screen: Screen) -> Steps[Element | None]:
    if intent.target is not None:
        screen, found = yield from await_element(screen, finder(intent.target, EDITABLE, EDITABLE), intent.target)
        if found:
            return found[0].element
        containers = {"page", "window", "area", "dialog", "list", "table", "form", "section"}
        if not set(intent.target.kinds) & containers and not _names_window(intent.target, screen):
            give_up(not_found(intent.target, screen))
    for name in ("Search", "Find", "Query", "Search term"):
        found = [
            one
            for one in rank(named(name), screen, EDITABLE)
            if one.score >= 76
            and one.element in screen.front
            and not re.search("address", one.element.name, re.IGNORECASE)
        ]
        if found:
            return found[0].element
    return _address_bar(screen)
