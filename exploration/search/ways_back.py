"""Which action may lead from a screen back to a known place, by what differs between them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from aci.accessibility.roles import TEXTS
from aci.acting.actions import Action, Click, Hotkey, Move
from aci.observation.observation import Element
from aci.observation.snapshot import Window
from aci.observation.visibility import bounding
from exploration.search.states import CHOSEN, Look, can_undo, lit_up, same, same_picture

ESCAPE, CLOSE_WINDOW = Hotkey(keys=("Escape",)), Hotkey(keys=("alt", "F4"))
UNDO = Hotkey(keys=("ctrl", "z"))

_LINE_PX = 40  # greatest height of a line, such as a status bar
_FEW = 4  # a tooltip, or what comes with a selection, is no more elements than this


class WaysBack:
    """Proposes one action after another, until nothing is left that could help.

    Args:
        first_windows: Ids of the windows that the application began with; others may be closed.
        may_be_greyed: The names of controls that may be greyed out or not at a place that is back.
    """

    def __init__(self, first_windows: frozenset[int], may_be_greyed: re.Pattern[str]) -> None:
        self._first_windows = first_windows
        self._may_be_greyed = may_be_greyed
        self._before: Look | None = None
        self._latest: Action | None = None
        self._in_vain: list[Action] = []  # since something changed
        self._asked_to_close: set[int] = set()
        self._clicked: set[int] = set()  # ids of cells

    def next(self, look: Look, places: Sequence[Look], ground: Look | None, pointed: bool) -> Action | None:
        """Return what to try next; None if nothing is left.

        Args:
            look: The present look.
            places: Looks at the known places that would do, nearest to the start first.
            ground: The one before the menus of the latest step, if it is known.
            pointed: Whether the pointer was moved to a control.
        """
        if self._before is not None and self._latest is not None:
            same_shown = look.exact == self._before.exact
            self._in_vain = [*self._in_vain, self._latest] if same_shown else []
        self._before, self._latest = look, self._choice(look, places, ground, pointed)
        return self._latest

    def _choice(self, look: Look, places: Sequence[Look], ground: Look | None, pointed: bool) -> Action | None:
        if any(place.exact == look.exact and same_picture(place, look) for place in places):
            return None  # only files or settings differ, which no key brings back
        undoes = can_undo(look) and bool(places) and not can_undo(places[0]) and UNDO not in self._in_vain
        focused = _focused_before(ground, look) if ground is not None else None
        if self._is_only_drawn_as_chosen(look, places):
            return self._clicks(look.chosen)
        if undoes and self._latest == UNDO:
            return self._undoes()
        if self._may_close_a_window(look):
            return CLOSE_WINDOW
        if ground is not None and _selects_otherwise(ground, look) and (way := self._clicks(focused)) is not None:
            return way
        lit = next(filter(None, (lit_up(place, look) for place in places)), None)
        if lit is not None and not any(isinstance(each, Move) for each in self._in_vain):
            return Move(element_id=lit.id)
        if ESCAPE not in self._in_vain:
            return ESCAPE
        if (away := pointer_away(look)) not in self._in_vain and any(
            (pointed and (place.exact == look.exact or _shows_a_tip(place, look))) or _differs_in_a_line(place, look)
            for place in places
        ):
            return away
        return self._undoes() if undoes else self._clicks(focused)

    def _is_only_drawn_as_chosen(self, look: Look, places: Sequence[Look]) -> bool:
        may_click = look.chosen is not None and look.chosen.id not in self._clicked
        return may_click and any(only_drawn_as_chosen(place, look, self._may_be_greyed) for place in places)

    def _undoes(self) -> Action:
        self._clicked.clear()  # it may leave another cell chosen
        return UNDO

    def _clicks(self, cell: Element | None) -> Action | None:
        """Return a click on a cell, which selects it alone; None if it was clicked."""
        if cell is None or cell.id in self._clicked:
            return None
        self._clicked.add(cell.id)
        return Click(element_id=cell.id)

    def _may_close_a_window(self, look: Look) -> bool:
        """Return whether the window in front came later and was not asked to close; if it was, it asks something."""
        front = look.observation.active_window
        if front is None or front.id in self._first_windows or front.id in self._asked_to_close:
            return False
        if leaves(look.observation.windows, self._first_windows) == ESCAPE and ESCAPE not in self._in_vain:
            return False
        self._asked_to_close.add(front.id)
        return True


def leaves(windows: Iterable[Window], first: frozenset[int]) -> Action:
    """Return what closes the window in front: Escape for menus and dialogs, and another key for a further window."""
    active = next((window for window in windows if window.active), None)
    further = active is not None and active.id not in first and not (active.popup or active.modal)
    return CLOSE_WINDOW if further and not any(window.popup for window in windows) else ESCAPE


def only_drawn_as_chosen(known: Look, look: Look, may_be_greyed: re.Pattern[str]) -> bool:
    """Return whether a look differs from a known one at most in how the chosen cell or row is drawn.

    A dialog or an undo may leave it selected that only had the focus before; no state tells the two apart.
    """
    chosen = look.chosen
    return chosen is not None and same(
        known, look, may_be_greyed=may_be_greyed, hidden_files_count=False, besides=(chosen.rect,)
    )


def pointer_away(look: Look) -> Move:
    """Return the way of the pointer to where it was at the start, away from what shows a tip under it."""
    height, width = look.observation.screenshot.shape[:2]
    return Move(at=(width - 1, height - 1))


def _focused_before(ground: Look, look: Look) -> Element | None:
    """Return the cell or row that had the focus at a known place, as it is now: a click on it selects it alone.

    None if another kind of element had the focus, or if more than a selection differs.
    """
    focused = ground.observation.focused
    if focused is None or focused.role not in CHOSEN or len(ground.exact.keys() ^ look.exact.keys()) > _FEW:
        return None
    return next((look.elements.get(key) for key, each in ground.elements.items() if each.id == focused.id), None)


def _selects_otherwise(ground: Look, look: Look) -> bool:
    """Return whether something is selected in one of two looks alone."""
    common = ground.exact.keys() & look.exact.keys()
    return any(("selected" in ground.exact[key]) != ("selected" in look.exact[key]) for key in common)


def _differs_in_a_line(place: Look, look: Look) -> bool:
    """Return whether all that differs is one line with a text, such as a status bar that tells of the pointer."""
    differing = [
        [one.elements[key] for key, shown in one.exact.items() if other.exact.get(key) != shown and key in one.elements]
        for one, other in ((place, look), (look, place))
    ]
    tells = all(any(element.role in TEXTS for element in elements) for elements in differing)
    return tells and bounding([element.rect for elements in differing for element in elements]).height <= _LINE_PX


def _shows_a_tip(place: Look, look: Look) -> bool:
    """Return whether a look shows little more than a place, and the rest as it was there."""
    more = look.exact.keys() - place.exact.keys()
    return 0 < len(more) <= _FEW and all(look.exact.get(key, shown) == shown for key, shown in place.exact.items())
