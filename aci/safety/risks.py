"""Risks of actions, derived from the action, its element and window, and the keyboard focus.

What a model says about its own action does not count.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from aci.acting.actions import (
    LOOKS,
    Action,
    Button,
    CallUser,
    Click,
    Done,
    DragAndDrop,
    Fail,
    HoldAndPress,
    Hotkey,
    KeyDown,
    MouseDown,
    MouseUp,
    SaveToBuffer,
    SwitchApplications,
    Type,
    Wait,
)
from aci.acting.targets import Place, Span, Target, Whole, element_meant, elements_at, window_at
from aci.input.keys import UnknownKey, chord, left_key
from aci.observation.geometry import Point
from aci.observation.observation import Element, Observation, Window
from aci.safety.risk_words import SECRET, UNSAVED, is_irreversible, is_irreversible_icon, pattern

# Kinds of risk. terminal: types into a terminal or a dialog that runs commands. irreversible: presses a button or keys
# that delete, send, pay, format or the like, or drags to the trash. unsaved: closes something with unsaved changes.
# password: types into a password field. secret: types a secret where it can be read. launch: starts an application.
# outside: uses a window of an application that the run may not use, or leaves for another one. provider: the model's
# provider wants a person to look at it first.
Risk = Literal["terminal", "irreversible", "unsaved", "password", "secret", "launch", "outside", "provider"]

# do something when they are clicked
PRESSED_ROLES = frozenset(
    {
        *("push button", "button", "toggle button", "menu item", "check menu item", "radio menu item", "link"),
        *("push button menu", "split button", "icon", "image", "list item", "text line", "static"),
    }
)
# usually text rather than buttons, unless they are short
_ONLY_SHORT = frozenset({"list item", "text line", "static", "image"})
_SHORT = 24
_STATEMENTS = frozenset(
    {"label", "static", "paragraph", "shape", "heading", "text", "text line", "alert", "dialog", "section"}
)
_MOST_STATEMENTS = 60  # a dialog with more text is an ordinary window
_DIALOG_ROLES = ("dialog:", "alert:", "file chooser:")
_FORMS = ("form:", "document web:", *_DIALOG_ROLES)
_FIELDS = frozenset({"text", "entry", "password text"})

_TOUCHES_NOTHING = (Wait, Done, Fail, CallUser, SaveToBuffer, *LOOKS)

_Chord = frozenset[int]


@cache
def _chords(*names: str) -> frozenset[_Chord]:
    return frozenset(frozenset(chord([name])) for name in names)


@dataclass(frozen=True, slots=True)
class Danger:
    """One risk of an action and its reason."""

    risk: Risk
    reason: str


def find_dangers(
    action: Action, observation: Observation, allowed_apps: frozenset[str] = frozenset()
) -> Iterator[Danger]:
    """Yield the risks of an action on this screen."""
    if allowed_apps:
        yield from _outside(action, observation, allowed_apps)
    match action:
        case Click() | MouseDown():
            for target in _pointed_at(action, observation):
                yield from _pressing_button(action.button_type, target, observation)
        case Type():
            yield from _typing(action, observation)
        case DragAndDrop() | MouseUp():
            for target in _pointed_at(action, observation)[-1:]:
                yield from _dropping(target, observation)
        case Hotkey() | HoldAndPress() | KeyDown():
            yield from _keys(action, observation)
        case SwitchApplications():
            yield from _switching(action, observation)


def _pointed_at(action: Action, observation: Observation) -> Sequence[Target]:
    """Return what an action of the mouse points at: its targets, or what lies under the pointer."""
    under = (observation.pointer,) if observation.pointer is not None else ()
    return action.targets() or (under if isinstance(action, MouseDown | MouseUp) else ())


def _outside(action: Action, observation: Observation, allowed: frozenset[str]) -> Iterator[Danger]:
    names = {name.casefold() for name in allowed}
    if isinstance(action, SwitchApplications):
        called = [{action.app_code}]
    elif not isinstance(action, _TOUCHES_NOTHING):
        called = [_names(element, window) for element, window in _touched(action, observation)]
    else:
        return
    for each in called:
        if each and not any(name.casefold() in names for name in each):
            yield Danger("outside", f"{min(each)!r} is not among the applications that may be used")
    if isinstance(action, Hotkey | HoldAndPress | KeyDown):
        leaving = _chords("alt+tab", "alt+shift+tab", "alt+F2", "ctrl+alt+t", "alt+escape", "ctrl+escape")
        if any(keys in leaving or _key("super") in keys for keys in _pressed(action, observation)):
            yield Danger("outside", "its keys lead to other applications")


def _names(element: Element | None, window: Window | None) -> set[str]:
    return {name for name in (element.app if element else "", window.app if window else "") if name}


def _touched(action: Action, observation: Observation) -> list[tuple[Element | None, Window | None]]:
    """Return the elements and windows that an action uses; without a target, the active window."""
    targets = _pointed_at(action, observation)
    if not targets:
        return [(None, observation.active_window)]
    touched: list[tuple[Element | None, Window | None]] = []
    for target in targets:
        element = element_meant(target, observation)
        if isinstance(target, Point) and element is None:
            touched.append((element, window_at(target, observation)))
        else:
            touched.append((element, _window(element, observation)))
    return touched


def _window(element: Element | None, observation: Observation) -> Window | None:
    if element is None:
        return observation.active_window
    return next((window for window in observation.windows if window.id == element.window_id), None)


def _meant(target: Target, observation: Observation) -> list[Element]:
    """Return all elements that a target may hit: what lies at its pixel, and what its words may be a part of."""
    named = element_meant(target, observation)
    match target:
        case Point():
            return elements_at(target, observation)
        case Whole() if named is not None and named.point is not None:
            return [named, *(one for one in elements_at(named.point, observation) if one.rect.area < named.rect.area)]
        case Place() if named is not None:
            return [named, *(one for one in elements_at(target.inside(named.rect), observation) if one != named)]
        case Span() if named is not None:
            words = target.text.casefold().strip()
            inside = [one for one in observation.elements if named.rect.intersection(one.rect) == one.rect]
            return [named, *(one for one in inside if one != named and one.name and _overlap(one.name, words))]
    return [] if named is None else [named]


def _overlap(name: str, words: str) -> bool:
    name = name.casefold().strip()
    return name in words or words in name


def _pressing_button(button: Button, target: Target, observation: Observation) -> Iterator[Danger]:
    elements = _meant(target, observation)
    if isinstance(target, Point):
        window = window_at(target, observation)
        if window is not None and not window.rect.contains(target) and _unsaved(window, observation):
            yield Danger("unsaved", f"it may close {_title(window)}, which has unsaved changes")
        if window is not None and not elements and button == "middle" and _is_terminal(None, window):
            yield Danger("terminal", f"it pastes into the terminal {_title(window)}")
    for element in elements:
        window = _window(element, observation)
        terminal = _is_terminal(element, window)
        if terminal and (button == "middle" or pattern("paste").match(element.name.strip("_& "))):
            yield Danger("terminal", f"it pastes into the terminal {_title(window)}")
        if button == "left":
            yield from _pressing(element, window, observation)
        elif button == "middle" and element.role == "page tab" and _unsaved(window, observation):
            yield Danger("unsaved", f"it closes {_title(window)}, which has unsaved changes")


def _pressing(element: Element, window: Window | None, observation: Observation) -> Iterator[Danger]:
    name = element.name.strip()
    if element.role not in PRESSED_ROLES or (element.role in _ONLY_SHORT and len(name) > _SHORT):
        return
    # A bin in a list or on the desktop opens when it is clicked; a button of that name moves things there.
    opens = element.role in ("list item", "icon", "static") and pattern("trash").fullmatch(name) is not None
    named = is_irreversible(name) and not opens
    pictured = not name and is_irreversible_icon(element.label or element.description)
    if named or pictured:
        yield Danger("irreversible", f"it presses the {element.role} {name or element.description!r}")
    elif pattern("agreeing").match(name.lstrip("_&")):
        asked = _asked(element, window, observation)
        if asked:
            yield Danger("irreversible", f"it presses {name!r} where {asked!r} is asked")
    if pattern("closing").match(name.lstrip("_&")) and _unsaved(window, observation):
        yield Danger("unsaved", f"it closes {_title(window)}, which has unsaved changes")


def _asked(element: Element, window: Window | None, observation: Observation) -> str:
    """Return the question of a button's dialog, if it is about something irreversible."""
    inside = next((part for part in reversed(element.path) if part.startswith(_DIALOG_ROLES)), None)
    if inside is None and (window is None or not window.modal):
        return ""
    statements = [window.title] if window is not None and window.modal else []
    for other in observation.elements:
        beside = other.window_id == element.window_id and (inside is None or inside in other.path)
        if beside and other.role in _STATEMENTS:
            statements += [other.name, other.text or ""]
    statements += [inside.partition(":")[2]] if inside is not None else []
    statements = [text for text in statements if text]
    if len(statements) > _MOST_STATEMENTS:
        return ""
    return next((text for text in statements if pattern("question").search(text)), "")


def _typing(action: Type, observation: Observation) -> Iterator[Danger]:
    ((chosen, window),) = _touched(action, observation)
    clicked = action.target is not None
    target = chosen if clicked else observation.focused
    if target is not None and _is_for_password(target):
        yield Danger("password", "it types into a password field")
    elif target is not None and "\t" in action.text and _leads_to_password(target, observation):
        yield Danger("password", "a tab in it may lead to a password field")
    elif SECRET.search(action.text):
        yield Danger("secret", "it types a secret where it can be read")
    if _is_terminal(target, window):
        yield Danger("terminal", f"it types into the terminal {_title(window)}")
    elif target is not None:
        # A chosen element is clicked first; Return and space press what has the keyboard.
        if clicked or action.enter or set(action.text) & set("\n\r "):
            yield from _pressing(target, window, observation)
        if action.enter or set(action.text) & set("\n\r"):
            yield from _pressing_default(target, observation)


def _leads_to_password(field: Element, observation: Observation) -> bool:
    """Return whether a tab in a field may lead to a password field of its window."""
    beside = (one for one in observation.elements if one.window_id == field.window_id)
    return "multi_line" not in field.states and any(map(_is_for_password, beside))


def _pressing_default(focused: Element, observation: Observation) -> Iterator[Danger]:
    """Judge Return in a field, which presses the default button of its dialog or form."""
    if focused.role in PRESSED_ROLES or "multi_line" in focused.states:
        return
    elements, form = observation.elements, (focused.window_id, _form(focused))
    at = next((at for at, one in enumerate(elements) if one.id == focused.id), 0)
    # Forms without names have the same path: the first button behind the field is that of its form.
    for one in (*elements[at:], *elements[:at]):
        if "default" in one.states and (one.window_id, _form(one)) == form:
            yield from _pressing(one, _window(one, observation), observation)
            return


def _form(element: Element) -> tuple[str, ...]:
    """Return the path to the form, dialog or page that an element belongs to; () if it is in none."""
    ends = (number for number, part in enumerate(element.path, start=1) if part.startswith(_FORMS))
    return element.path[: max(ends, default=0)]


def _dropping(target: Target, observation: Observation) -> Iterator[Danger]:
    for element in _meant(target, observation):
        window = _window(element, observation)
        if _is_terminal(element, window):
            yield Danger("terminal", f"it drops something into the terminal {_title(window)}")
        named = next((text for text in (element.name, element.label, element.description) if text), "")
        if pattern("trash").search(named) and len(named) <= 2 * _SHORT:
            yield Danger("irreversible", f"it drops something on {named!r}")


def _keys(action: Hotkey | HoldAndPress | KeyDown, observation: Observation) -> Iterator[Danger]:
    window = observation.active_window
    focused = observation.focused
    pressed = _pressed(action, observation)
    if _is_terminal(focused, window):
        yield Danger("terminal", f"it presses keys in the terminal {_title(window)}")
    if any(
        keys in _chords("alt+F4", "ctrl+w", "ctrl+q", "ctrl+shift+w", "ctrl+shift+q", "ctrl+F4", "super+q")
        for keys in pressed
    ) and _unsaved(window, observation):
        yield Danger("unsaved", f"it closes {_title(window)}, which has unsaved changes")
    if any(_is_irreversible(keys, focused, window) for keys in pressed):
        yield Danger("irreversible", f"its keys delete, send or end something in {_title(window)}")
    for button in _with_mnemonic(pressed, observation):
        yield from _pressing(button, _window(button, observation), observation)
    if focused is None:
        return
    if _is_for_password(focused) and any(_enters_text(keys) for keys in pressed):
        yield Danger("password", "it types into a password field")
    if any(keys in _chords("Return", "space", "KP_Enter") for keys in pressed):
        yield from _pressing(focused, _window(focused, observation), observation)
    if any(keys in _chords("Return", "KP_Enter") for keys in pressed):
        yield from _pressing_default(focused, observation)


def _with_mnemonic(pressed: Sequence[_Chord], observation: Observation) -> Sequence[Element]:
    """Return the buttons of dialogs in the active window that Alt with a letter may press.

    The letter is the one that a name marks ("De_lete"). Without a mark, which most names lack, it is the first of a
    name, and of no name's first any in it.
    """
    alt, window = _key("alt"), observation.active_window
    letters = {_letter(min(keys - {alt})) for keys in pressed if alt in keys and len(keys) == 2} - {""}
    if not letters or window is None:
        return ()
    first, within = list[Element](), list[Element]()
    for one in observation.elements:
        in_dialog = window.modal or any(part.startswith(_DIALOG_ROLES) for part in one.path)
        if one.window_id == window.id and in_dialog and one.role in PRESSED_ROLES:
            name = one.name.casefold()
            marked = re.findall(r"[_&](\w)", name)
            if letters & set(marked or name[:1]):
                first.append(one)
            elif not marked and letters & set(name):
                within.append(one)
    return first or within


def _letter(symbol: int) -> str:
    """Return the letter of a key in Latin-1 or Unicode; empty for any other key."""
    code = symbol if symbol <= 0xFF else symbol - 0x01000000
    letter = chr(code) if 0 <= code <= sys.maxunicode else ""
    return letter.casefold() if letter.isalnum() else ""


def _pressed(action: Hotkey | HoldAndPress | KeyDown, observation: Observation) -> list[_Chord]:
    """Return the chords of an action, with the keys that are held; [] if it names an unknown key."""
    try:
        held = chord(observation.held_keys)
        if not isinstance(action, HoldAndPress):
            return [_plain([*held, *chord(action.keys)])]
        held += chord(action.hold_keys)
        return [_plain([*held, *chord([key])]) for key in action.press_keys]
    except UnknownKey:
        return []


def _plain(symbols: list[int]) -> _Chord:
    """Return a chord with left keys and small letters, since the difference changes nothing."""
    return frozenset(left_key(symbol + 32 if 0x41 <= symbol <= 0x5A else symbol) for symbol in symbols)


def _key(name: str) -> int:
    return chord([name])[0]


def _is_irreversible(keys: _Chord, focused: Element | None, window: Window | None) -> bool:
    if keys in _chords("ctrl+alt+Delete", "ctrl+alt+BackSpace"):
        return True
    app, title = (window.app, window.title) if window is not None else ("", "")
    if keys in _chords("ctrl+Return", "ctrl+KP_Enter"):
        return bool(pattern("mailers").search(app) or pattern("mailers").search(title))
    editing = focused is not None and (focused.role in _FIELDS or "editable" in focused.states)
    deleting = keys in _chords("Delete", "shift+Delete", "ctrl+Delete", "KP_Delete")
    return deleting and not editing and bool(pattern("file_managers").search(app))


def _enters_text(keys: _Chord) -> bool:
    if keys in _chords("ctrl+v", "ctrl+shift+v", "shift+Insert"):
        return True
    rest = keys - {_key("shift")}
    return len(rest) == 1 and (0x20 <= min(rest) <= 0xFF or min(rest) >= 0x01000000)


def _switching(action: SwitchApplications, observation: Observation) -> Iterator[Danger]:
    from aci.applications.catalog import Catalog
    from aci.applications.switching import find_window

    if find_window(action.app_code, observation.windows, Catalog([], "")) is None:
        yield Danger("launch", f"it may start {action.app_code!r}, of which no window is to be seen")


def _is_for_password(element: Element) -> bool:
    if element.is_password:
        return True
    field = element.role in _FIELDS or "editable" in element.states
    return field and any(
        pattern("password").search(text) for text in (element.name, element.label, element.description)
    )


def _is_terminal(element: Element | None, window: Window | None) -> bool:
    """Return whether input goes to a terminal, perhaps one inside an editor."""
    if element is not None:
        if element.role == "terminal" or any(part.startswith("terminal:") for part in element.path):
            return True
        field = element.role in _FIELDS or "editable" in element.states
        if field and element.name.casefold().startswith("terminal"):
            return True
    return window is not None and bool(pattern("terminals").search(window.app))


def _unsaved(window: Window | None, observation: Observation) -> bool:
    """Return whether a window has unsaved changes; for a menu, whether its application's windows have."""
    if window is None:
        return False
    if not window.popup:
        return bool(UNSAVED.search(window.title))
    owners = [each for each in observation.windows if not each.popup and _same_application(each, window)]
    return any(UNSAVED.search(each.title) for each in owners)


def _same_application(one: Window, other: Window) -> bool:
    return (one.pid is not None and one.pid == other.pid) or (bool(one.app) and one.app == other.app)


def _title(window: Window | None) -> str:
    return repr(window.title or window.app) if window is not None else "in front"
