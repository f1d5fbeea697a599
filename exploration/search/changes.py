"""The changes between two looks: screens, and files and settings of the home."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from aci.accessibility.roles import ROWS
from aci.observation.observation import Element, Window
from agent_s.records import Change, ChangeKind
from agent_s.replay.grounded_steps import COMPARED_STATES, window_changes
from exploration.search.controls import MENU_ROLES, called, portable
from exploration.search.homes import is_hidden
from exploration.search.states import MESSAGE, Look, by_identity, different_pixels, without_numbers

WEAK = ("appeared", "vanished", "picture")  # kinds of changes that depend on how the rest of the screen is drawn

_MOMENT = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?: ?[AaPp][Mm])?|\d{1,4}([-/.])\d{1,2}\1\d{1,4}")
"""Times and dates, which differ each time they are inserted."""
_MOST_PARTS = 12
_MOST_TEXT = 300
_LEAST_PIXELS = 900  # fewer different pixels are a caret, a shadow or the mark of the focus


def changes(before: Look, after: Look) -> tuple[Change, ...]:
    """Return the changes from one look to a later one, the most telling first."""
    files = [_of_file(change) for change in _of_entries("file", before.home.files, after.home.files)]
    found = [
        *_of_entries("setting", before.home.settings, after.home.settings),
        *(change for change in files if not is_hidden(change.what)),
        *_of_windows(before, after),
        *_of_elements(before, after),
    ]
    if not found and not _covered(before, after):
        found = list(_of_usability(before, after)) or list(_of_pictures(before, after))
    return tuple(found or files)  # what is noted in hidden files is often a by-product, such as a list of open windows


def missing_change(expected: tuple[Change, ...], found: tuple[Change, ...]) -> str:
    """Return which expected change is missing, in words; empty if none is.

    The most telling kinds decide: a setting, file, state, text or window by its name and new value. Only if there are
    none, `WEAK` changes count, pictures by their kind alone.
    """
    strict = [change for change in expected if change.kind not in WEAK]
    for change in strict or expected:
        if not any(_agree(change, other) for other in found):
            return f"{change.kind} {change.what!r} did not become {change.after!r} again"
    return ""


def _agree(one: Change, other: Change) -> bool:
    if one.kind != other.kind or one.kind == "picture":
        return one.kind == other.kind
    if one.kind == "file":
        return one.what == other.what and bool(one.after) == bool(other.after)
    if one.kind in ("appeared", "vanished"):  # a stopwatch counts
        return {*without_numbers(one.what).split(", ")} == {*without_numbers(other.what).split(", ")}
    return one.what == other.what and _MOMENT.sub("", one.after) == _MOMENT.sub("", other.after)


def _of_entries(kind: ChangeKind, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for key in sorted({*before, *after}):
        old, new = before.get(key, ""), after.get(key, "")
        if old != new:
            yield Change(kind=kind, what=key, before=old[:_MOST_TEXT], after=new[:_MOST_TEXT])


def _of_file(change: Change) -> Change:
    """Return the change of a file with words in place of the digests of its contents."""
    after = "changed" if change.before and change.after else "there" if change.after else ""
    return change.model_copy(update={"before": "there" if change.before else "", "after": after})


def _of_windows(before: Look, after: Look) -> Iterator[Change]:
    old, new = ({w.id: w for w in look.observation.windows if not w.popup} for look in (before, after))
    old_titles = {number: portable(window.title, before.place) for number, window in old.items()}
    new_titles = {number: portable(window.title, after.place) for number, window in new.items()}
    yield from window_changes(old_titles, new_titles)
    for number, window in new.items():
        if number not in old:
            continue
        if old[number].title != window.title:
            yield Change(kind="title", what="window", before=old_titles[number], after=new_titles[number])
        sizes = [_size_in_words(each, look) for each, look in ((old[number], before), (window, after))]
        if sizes[0] != sizes[1]:
            yield Change(kind="state", what="window", before=sizes[0], after=sizes[1])


def _size_in_words(window: Window, look: Look) -> str:
    height, width = look.observation.screenshot.shape[:2]
    fills = window.rect.height >= height and window.rect.width >= width
    return "fills the screen" if fills else "does not fill the screen"


def _of_elements(before: Look, after: Look) -> Iterator[Change]:
    """Compare the contents of windows that both looks show, menus that stay open among them."""
    shared = (before.windows | before.menus) & (after.windows | after.menus)
    old, new = (
        by_identity((e for e in look.observation.elements if e.window_id in shared), look.place, after.volatile)
        for look in (before, after)
    )
    old_by_id, new_by_id = ({each.id: each for each in elements.values()} for elements in (old, new))
    for key, element in new.items():
        was = old.get(key)
        if was is None or key in after.volatile:
            continue
        if was.id != element.id:  # of several of that name, one may be covered in one of the looks
            twin, now = old_by_id.get(element.id), new_by_id.get(was.id)
            if twin is not None and _are_alike(twin, element):
                was = twin
            elif now is not None and _are_alike(now, element):
                continue
        yield from _of_element(was, element, after.place)
    if _covered(before, after):
        return
    fresh = [element for key, element in new.items() if key not in old or _is_recounted(old[key], element)]
    left = [element for key, element in old.items() if key not in new and element.role != MESSAGE]
    come = list(dict.fromkeys(_part(element, after.place) for element in fresh))
    gone = list(dict.fromkeys(_part(element, before.place) for element in left))
    if come:
        yield Change(kind="appeared", what=", ".join(come[:_MOST_PARTS]), after="shown")
    if gone:
        yield Change(kind="vanished", what=", ".join(gone[:_MOST_PARTS]), before="shown")


def _are_alike(one: Element, other: Element) -> bool:
    return (one.role, one.name, one.label, one.path) == (other.role, other.name, other.label, other.path)


def _is_recounted(was: Element, now: Element) -> bool:
    """Return whether a row shows another count, such as that of the messages in a folder; it is a new row then."""
    return now.role in ROWS and None not in (was.text, now.text) and was.text != now.text


def _covered(before: Look, after: Look) -> bool:
    """Return whether a window or menu opened, which covers others without changing them."""
    old = {window.id for window in before.observation.windows} | before.menus
    return bool((after.windows | after.menus) - old)


def _part(element: Element, home: str) -> str:
    return f"{element.role} {called(element, home)}".strip()


def _of_element(was: Element, now: Element, home: str) -> Iterator[Change]:
    name = _part(now, home)
    compared = (*sorted(COMPARED_STATES), "editable") if now.role not in MENU_ROLES else ("checked",)
    for state in compared if now.role != "menu" else ():  # of Java, an open menu is checked
        words = [state if state in element.states else f"not {state}" for element in (was, now)]
        if words[0] != words[1]:
            yield Change(kind="state", what=name, before=words[0], after=words[1])
    if was.text is not None and now.text is not None and was.text != now.text and not _is_recounted(was, now):
        yield Change(kind="text", what=name, before=was.text[:_MOST_TEXT], after=portable(now.text, home)[:_MOST_TEXT])
    if was.value is not None and now.value is not None and was.value != now.value:
        yield Change(kind="value", what=name, before=f"{was.value:g}", after=f"{now.value:g}")


def _of_usability(before: Look, after: Look) -> Iterator[Change]:
    """Compare what is greyed out: a copy shows only in that it can be pasted."""
    for key in sorted(before.elements.keys() & after.elements.keys()):
        was, now = before.elements[key], after.elements[key]
        if "disabled" in was.states and "disabled" not in now.states:
            yield Change(kind="state", what=_part(now, after.place), before="greyed out", after="can be used")


def _of_pictures(before: Look, after: Look) -> Iterator[Change]:
    first, second = before.observation.screenshot, after.observation.screenshot
    if first.shape == second.shape and different_pixels(before, after) >= _LEAST_PIXELS:
        yield Change(kind="picture", what=after.title, after="looks different")
