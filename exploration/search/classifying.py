"""Classifies an attempt: more to explore, a complete unit function, or nothing (OSExpert, section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

from agent_s.records import Change
from exploration.search.changes import changes
from exploration.search.controls import CONTEXT_MENU, Candidate
from exploration.search.homes import is_hidden
from exploration.search.records import Classification, Control
from exploration.search.states import Look

NOTHING_CHANGED = "nothing changed"
"""The reason of an attempt without a visible effect."""

_MOST_IN_A_LIST = 8
"""Maximum number of entries of a list or combo box to try; longer ones hold data rather than functions."""

_RELEASED = (("state", "not pressed"), ("state", "not expanded"))


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of an attempt."""

    classification: Classification
    why: str  # the reason, in a sentence
    effect: tuple[Change, ...] = ()  # what it changed
    offers: tuple[Candidate, ...] = ()  # controls that became visible and are to be tried


def classify(control: Control, before: Look, after: Look, app: str, ground: Look | None = None) -> Finding:
    """Compare the screens and homes before and after an attempt.

    Args:
        control: What was acted on.
        before: The look before.
        after: The look after.
        app: The application that is explored.
        ground: The look before the menu of the control was opened; `before` if None.
    """
    if stranger := _other_program(before, after, app):
        return Finding("skipped", f"it opens another program, {stranger}")
    known = (before if ground is None else ground).with_password_fields | before.with_password_fields
    asks = not after.with_password_fields <= known
    offers = () if asks else _offers(control, before, after, ground or before, app)
    effect = _effect(before, after, ground or before, bool(offers))
    if asks:  # nothing is tried there
        return Finding("terminal", "it asks for a password", effect)
    left = all(each.control.key != control.key for each in after.candidates)
    if left and not before.menus and control.role != CONTEXT_MENU:
        # A popover inside the window has closed, so that the button that had opened it is no longer pressed.
        effect = tuple(each for each in effect if (each.kind, each.after) not in _RELEASED)
    if control.role == "page tab" and effect:
        chosen = tuple(each for each in effect if (each.kind, each.what, each.after) == _in_front(control))
        return Finding("continue" if offers else "terminal", "another tab is in front", chosen, offers)
    # That a button has its menu open is no effect, nor is what an application notes then, such as that it was open.
    if offers and all(
        (each.kind == "state" and each.after in ("pressed", "expanded", "selected"))
        or (each.kind == "file" and is_hidden(each.what))
        for each in effect
    ):
        effect = ()
    if offers:
        return Finding("continue", f"{len(offers)} more controls became visible", effect, offers)
    if any(
        after.elements[key].id in after.in_toolkit_dialogs for key in after.elements.keys() - before.elements.keys()
    ):
        return Finding("terminal", "it opens a dialog of the toolkit", effect)
    if effect:
        return Finding("terminal", f"{effect[0].kind} {effect[0].what!r} changed", effect)
    return Finding("error", NOTHING_CHANGED)


def _in_front(tab: Control) -> tuple[str, str, str]:
    """Return the change by which a tab comes to the front; that of what it shows follows from it."""
    return "state", f"{tab.role} {tab.name}", "selected"


def _effect(before: Look, after: Look, ground: Look, leads_on: bool) -> tuple[Change, ...]:
    """Return the changes since the menu of the control was opened.

    In a menu that stays open, opening it is left out, and what changed inside it counts unless it only `leads_on`.
    """
    effect = changes(ground, after)
    if not (before.menus and after.menus):
        return effect
    opening = changes(ground, before)
    inside = () if leads_on else changes(before, after)
    return tuple(dict.fromkeys(change for change in (*effect, *inside) if change not in opening))


def _other_program(before: Look, after: Look, app: str) -> str:
    """Return the program of a new window that does not belong to the application."""
    old = {window.id for window in before.observation.windows}
    own = {window.pid for window in before.observation.windows if window.app == app and window.pid is not None}
    for window in after.observation.windows:
        if window.id not in old and not window.popup and window.app not in ("", app) and window.pid not in own:
            return window.app
    return ""


def _offers(control: Control, before: Look, after: Look, ground: Look, app: str) -> tuple[Candidate, ...]:
    """Return the controls that became visible; of a new window, all of its controls.

    Those of a window of another application in the same program, such as the text document that a spreadsheet's menu
    opens, are left to the exploration of that application. Those behind a dialog cannot be used.
    """
    opened = {window.id for window in after.observation.windows} - {window.id for window in before.observation.windows}
    with_menus = {each.element.window_id for each in after.candidates if each.control.role == "menu"}
    others = {each.id for each in after.observation.windows if each.id in opened and each.id in with_menus}
    others -= {each.id for each in after.observation.windows if each.popup or each.modal or each.app in ("", app)}
    others |= {each.id for each in after.observation.windows if after.observation.blocking_dialog(each.id) is not None}
    own = [each for each in after.candidates if each.element.window_id not in others]
    found = [each for each in own if each.element.window_id in opened]
    if not found:
        # What a menu had covered is not new when it closes.
        known = {each.control.key for each in (*ground.candidates, *before.candidates)}
        found = [each for each in own if each.control.key not in known]
    in_lists = found if control.role == "combo box" else [each for each in found if _in_list(each)]
    left_out = {id(each) for each in in_lists[_MOST_IN_A_LIST:]}
    return tuple(each for each in found if id(each) not in left_out and each.element.id not in after.in_toolkit_dialogs)


def _in_list(candidate: Candidate) -> bool:
    inside = any(part.startswith(("combo box:", "list:", "list box:")) for part in candidate.element.path)
    return candidate.element.role == "list item" or inside
