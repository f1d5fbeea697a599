"""What an attempt changed: the difference of two looks, at the screen and at the files and settings of the home."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from aci.observation.geometry import Rect
from aci.observation.observation import Element
from exploration.search.controls import MENU_ROLES, called, portable
from exploration.search.homes import HomeState
from exploration.search.records import Change, ChangeKind
from exploration.search.states import Look, by_identity, different_pixels

TOLD_STATES = ("checked", "mixed", "pressed", "selected", "expanded", "editable")
WEAK = ("appeared", "vanished", "picture")
"""Kinds of changes that are drawn as the rest of the screen allows."""

_MOMENT = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?: ?[AaPp][Mm])?|\d{1,4}([-/.])\d{1,2}\1\d{1,4}")
"""Times and dates: what inserts one inserts another each time."""

_MOST_PARTS = 12
_MOST_TEXT = 300
_LEAST_PIXELS = 900
"""Fewer different pixels than this are a caret, a shadow or the mark of what has the keyboard."""


def changes(before: Look, after: Look) -> tuple[Change, ...]:
    """Return what differs, the most telling first.

    Args:
        before: The screen and home before.
        after: The screen and home after.
    """
    found = [
        *_of_settings(before.home, after.home),
        *_of_files(before.home, after.home),
        *_of_windows(before, after),
        *_of_elements(before, after),
    ]
    if not found and not _covered(before, after):
        found = list(_of_usability(before, after)) or list(_of_pictures(before, after))
    return tuple(found)


def happened_again(expected: tuple[Change, ...], found: tuple[Change, ...]) -> str:
    """Say what of an effect did not happen again; empty where it did.

    What says most decides: a setting, file, state, text or window by its kind, name and new value; parts and pictures
    by their kind alone, since they are drawn as the rest of the screen allows.
    """
    strict = [change for change in expected if change.kind not in WEAK]
    for change in strict or expected:
        if not any(_agree(change, other) for other in found):
            return f"{change.kind} {change.what!r} did not become {change.after!r} again"
    return ""


def _agree(one: Change, other: Change) -> bool:
    if one.kind != other.kind:
        return False
    if one.kind == "picture":
        return True
    if one.kind == "file":
        return one.what == other.what and bool(one.after) == bool(other.after)
    return one.what == other.what and _MOMENT.sub("", one.after) == _MOMENT.sub("", other.after)


def _of_settings(before: HomeState, after: HomeState) -> Iterator[Change]:
    yield from _of_entries("setting", before.settings, after.settings)


def _of_files(before: HomeState, after: HomeState) -> Iterator[Change]:
    for change in _of_entries("file", before.files, after.files):
        words = {"before": "there" if change.before else "", "after": "there" if change.after else ""}
        if change.before and change.after:
            words["after"] = "changed"
        yield change.model_copy(update=words)


def _of_entries(kind: ChangeKind, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for key in sorted({*before, *after}):
        old, new = before.get(key, ""), after.get(key, "")
        if old != new:
            yield Change(kind=kind, what=key, before=old[:_MOST_TEXT], after=new[:_MOST_TEXT])


def _of_windows(before: Look, after: Look) -> Iterator[Change]:
    old, new = ({w.id: w for w in look.observation.windows if not w.popup} for look in (before, after))
    for window in new.values():
        title = portable(window.title, after.place)
        if window.id not in old:
            yield Change(kind="opened", what=title, after="open")
            continue
        was = old[window.id]
        if was.title != window.title:
            yield Change(kind="title", what="window", before=portable(was.title, before.place), after=title)
        screen = after.observation.screenshot.shape
        fills, filled = (_fills(each.rect, screen) for each in (window, was))
        if fills != filled:
            yield Change(kind="state", what="window", before=_size_word(filled), after=_size_word(fills))
    for number, window in old.items():
        if number not in new:
            yield Change(kind="closed", what=portable(window.title, before.place), before="open")


def _fills(rect: Rect, screen: tuple[int, ...]) -> bool:
    return rect.height >= screen[0] and rect.width >= screen[1]


def _size_word(fills: bool) -> str:
    return "fills the screen" if fills else "does not fill the screen"


def _of_elements(before: Look, after: Look) -> Iterator[Change]:
    """Compare what lies in windows that were there before; menus come and go and say nothing."""
    shared = _shared_windows(before, after)
    old, new = (by_identity(_inside(look, shared), look.place) for look in (before, after))
    for key, element in new.items():
        if key in old:
            yield from _of_element(old[key], element, after.place)
    if _covered(before, after):
        return
    come = list(dict.fromkeys(_part(element, after.place) for key, element in new.items() if key not in old))
    gone = list(dict.fromkeys(_part(element, before.place) for key, element in old.items() if key not in new))
    if come:
        yield Change(kind="appeared", what=", ".join(come[:_MOST_PARTS]), after="shown")
    if gone:
        yield Change(kind="vanished", what=", ".join(gone[:_MOST_PARTS]), before="shown")


def _shared_windows(before: Look, after: Look) -> set[int]:
    old, new = ({w.id for w in look.observation.windows if not w.popup} for look in (before, after))
    return old & new


def _inside(look: Look, windows: set[int]) -> list[Element]:
    return [element for element in look.observation.elements if element.window_id in windows]


def _covered(before: Look, after: Look) -> bool:
    """Tell whether a window or menu came, which covers others without changing them."""
    old = {window.id for window in before.observation.windows}
    tooltips = {window.id for window in after.observation.windows if window.popup} - after.menus
    return any(window.id not in old | tooltips for window in after.observation.windows)


def _part(element: Element, home: str) -> str:
    return f"{element.role} {called(element, home)}".strip()


def _of_element(was: Element, now: Element, home: str) -> Iterator[Change]:
    name = _part(now, home)
    for state in TOLD_STATES if now.role not in MENU_ROLES else ("checked",):
        held, holds = state in was.states, state in now.states
        if held != holds:
            yield Change(kind="state", what=name, before=_state_word(state, held), after=_state_word(state, holds))
    if was.text is not None and now.text is not None and was.text != now.text:
        yield Change(kind="text", what=name, before=was.text[:_MOST_TEXT], after=portable(now.text, home)[:_MOST_TEXT])
    if was.value is not None and now.value is not None and was.value != now.value:
        yield Change(kind="value", what=name, before=f"{was.value:g}", after=f"{now.value:g}")


def _state_word(state: str, holds: bool) -> str:
    return state if holds else f"not {state}"


def _of_usability(before: Look, after: Look) -> Iterator[Change]:
    """Compare what is greyed out: copying something shows in nothing else than that it can be pasted."""
    for key in sorted(before.elements.keys() & after.elements.keys()):
        was, now = before.elements[key], after.elements[key]
        if "disabled" in was.states and "disabled" not in now.states:
            yield Change(kind="state", what=_part(now, after.place), before="greyed out", after="can be used")


def _of_pictures(before: Look, after: Look) -> Iterator[Change]:
    first, second = before.observation.screenshot, after.observation.screenshot
    if first.shape == second.shape and different_pixels(before, after) >= _LEAST_PIXELS:
        yield Change(kind="picture", what=after.title, after="looks different")
