"""What came of an attempt: more to explore, a complete unit function, or nothing (OSExpert, section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

from exploration.search.changes import changes
from exploration.search.controls import Candidate, in_toolkit_dialog, new_ones
from exploration.search.records import Change, Classification, Control
from exploration.search.states import Look

_MOST_IN_A_LIST = 8
"""So many entries of a list or combo box are tried; longer ones hold data rather than functions."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of an attempt.

    Attributes:
        classification: What it counts as.
        why: The reason, in a sentence.
        effect: What it changed.
        offers: Controls that became visible and are to be tried.
    """

    classification: Classification
    why: str
    effect: tuple[Change, ...] = ()
    offers: tuple[Candidate, ...] = ()


def classify(control: Control, before: Look, after: Look, app: str, ground: Look | None = None) -> Finding:
    """Compare the screens and homes before and after an attempt.

    Args:
        control: What was acted on.
        before: As it was.
        after: As it is.
        app: The application that is explored.
        ground: As it was before the menu was opened that the control is in; by default the same as `before`.
    """
    stranger = _stranger(before, after, app)
    if stranger:
        return Finding("skipped", f"it opens another program, {stranger}")
    if _asks_for_password(after):
        return Finding("skipped", "it asks for a password")
    offers = _offers(before, after, ground or before)
    effect = changes(ground or before, after)
    if control.role == "page tab" and effect:
        return Finding("continue" if offers else "terminal", "another tab is in front", (), offers)
    if offers and all(_is_of_opening(change) for change in effect):
        effect = ()
    if offers:
        return Finding("continue", f"{len(offers)} more controls became visible", effect, offers)
    if _opened_toolkit_dialog(before, after):
        return Finding("terminal", "it opens a dialog of the toolkit", effect)
    if effect:
        return Finding("terminal", f"{effect[0].kind} {effect[0].what!r} changed", effect)
    return Finding("error", "nothing changed")


def _is_of_opening(change: Change) -> bool:
    """Tell whether a change says only that a button has its menu open."""
    return change.kind == "state" and change.after in ("pressed", "expanded", "selected")


def _stranger(before: Look, after: Look, app: str) -> str:
    """Name a program whose window came, where it is not the application's own."""
    old = {window.id for window in before.observation.windows}
    own = {window.pid for window in before.observation.windows if window.app == app and window.pid is not None}
    for window in after.observation.windows:
        if window.id not in old and not window.popup and window.app not in ("", app) and window.pid not in own:
            return window.app
    return ""


def _asks_for_password(look: Look) -> bool:
    return any("password" in e.states or e.role == "password text" for e in look.observation.elements)


def _offers(before: Look, after: Look, ground: Look) -> tuple[Candidate, ...]:
    """Return what became visible; of a window that came, all that is in it."""
    old = {window.id for window in before.observation.windows}
    come = {window.id for window in after.observation.windows if window.id not in old}
    fresh = [each for each in after.candidates if each.element.window_id in come]
    # What a menu had covered is not new when it closes.
    found = fresh or list(new_ones((*ground.candidates, *before.candidates), after.candidates))
    of_functions = [each for each in found if not _in_list(each)]
    kept = {id(each) for each in (*of_functions, *[each for each in found if _in_list(each)][:_MOST_IN_A_LIST])}
    return tuple(each for each in found if id(each) in kept and not in_toolkit_dialog(each.element))


def _in_list(candidate: Candidate) -> bool:
    inside = any(part.startswith(("combo box:", "list:", "list box:")) for part in candidate.element.path)
    return candidate.element.role == "list item" or inside


def _opened_toolkit_dialog(before: Look, after: Look) -> bool:
    fresh = set(after.elements) - set(before.elements)
    return any(in_toolkit_dialog(after.elements[key]) for key in fresh)
