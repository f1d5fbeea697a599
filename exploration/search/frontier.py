"""The order in which a search tries the controls of an application.

1. The menus of the first screen, and then what only reveals other controls: submenus, tabs, dialogs with the settings
   of the application, and its list of shortcuts. What has been seen can be used even if there is no time to try it.
2. What these show and the other parts of the first screen, such as tool bars, take turns, a few controls each, so that
   a search that runs out of time has tried something of everything. Of each, controls that open a dialog and switches
   come first.
3. Controls that were disabled, once with everything selected and once with something typed. The search passes over
   them where that changes nothing.
4. The contents of other dialogs, controls that differ from an earlier one only in a number, and at the end long lists
   and the values of combo boxes.

In a large application, turns are longer, long submenus take turns as well, and all dialogs are opened, but only those
with settings are explored before everything else was tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from aci.acting.actions import Hotkey, Type
from agent_s.records import GroundedStep
from exploration.search.controls import CONTEXT_MENU, SETTING_ROLES
from exploration.search.ledger import Ledger
from exploration.search.places import Path
from exploration.search.records import Attempt, Control, Offer
from exploration.search.shortcuts import SHORTCUT
from exploration.search.states import without_numbers
from intents.labels import label

START = "start"  # key of the attempt that starts the application
SEPARATOR = " > "
DISABLED = "it is greyed out"
"""Why a disabled control is skipped."""

_LARGE, _LARGE_WITH_POSTPONED = 150, 600  # a search usually gets to fewer controls than this
_TURN, _TURN_IF_LARGE = 3, 6  # number of controls that a group gets per turn; the way to its screen costs time
_LONG_LIST = 18  # longer lists come last; the menu of a whole application may have as many
_MOST_SUBMENUS = 12  # number of submenus that are opened before anything takes turns
_OPENS_MENU = frozenset({"menu", "menu item", "push button menu", "menu button"})  # the last two are of GTK 3
_REVEALING = frozenset({"push button menu", "menu button", "page tab"})
_SWITCHING = frozenset({CONTEXT_MENU, "check menu item", "toggle button", "check box", "switch", "page tab"})


@dataclass(frozen=True, slots=True)
class Setup:
    """A step that enables disabled controls, and the precondition that then holds, as a sentence."""

    key: str
    step: GroundedStep
    precondition: str


SETUPS = (
    Setup(
        "everything selected",
        GroundedStep(action=Hotkey(keys=("ctrl", "a")), intent="select everything"),
        "everything is selected",
    ),
    Setup(
        "something typed",
        GroundedStep(action=Type(text="7"), intent="type '7'"),
        "something was typed",
    ),
)


@dataclass(frozen=True, slots=True)
class Pending:
    """An attempt that is still to be made: a control, and the path to its screen."""

    key: str
    path: Path
    offer: Offer
    start: str
    precondition: str = ""


class FirstOffers:
    """The attempt that offered each control first, in the order of the ledger."""

    def __init__(self, ledger: Ledger, max_depth: int) -> None:
        self._ledger = ledger
        self._max_depth = max_depth
        self._by_control: dict[str, str] = {}
        self._counted = 0

    def by_control(self) -> dict[str, str]:
        """Return the keys of the attempts by the identities of the controls."""
        new = list(islice(self._ledger.attempts.values(), self._counted, None))
        self._counted += len(new)
        for attempt in new:
            if attempt.classification == "continue" and attempt.depth < self._max_depth:
                for each in attempt.offers:
                    self._by_control.setdefault(each.control.identity, attempt.key)
        return self._by_control


@dataclass
class Frontier:
    """Orders what is to be tried in one pass over an application.

    Attributes:
        ledger: The record of the search.
        first_offers: The attempt that offered each control first.
        max_depth: Longest path, in steps.
        works_on: Takes on a screen, by its fingerprint; returns False if another desktop works on it.
    """

    ledger: Ledger
    first_offers: FirstOffers
    max_depth: int
    works_on: Callable[[str], bool]
    _revealing: list[Pending] = field(default_factory=list)
    _submenus: int = 0  # number of submenus among them so far
    _in_turn: list[list[Pending]] = field(default_factory=list)
    _postponed: list[list[Pending]] = field(default_factory=list)

    def pending(self, tried: Callable[[], Iterable[Attempt]]) -> Iterator[Pending]:
        """Yield what is to be tried, in order; `add` what each attempt shows before the next one.

        Args:
            tried: Returns the attempts of this pass so far.
        """
        first = self._children(self.ledger.attempts[START], ())
        menus = [each for each in first if each.offer.control.role in _OPENS_MENU or each.offer.opens_menu]
        yield from menus
        for part in _by_place(each for each in first if each not in menus):
            self._put(self._in_turn, part)
        while self._revealing or self._in_turn:
            if self._revealing:
                yield self._revealing.pop(0)
                continue
            most = _TURN_IF_LARGE if self.is_large else _TURN
            group = self._next_group(self._in_turn)
            turn = _turn(group, most)
            if rest := group[len(turn) :]:
                self._in_turn.append(rest)
            yield from turn
        for setup in SETUPS:
            yield from _prepared(setup, list(tried()))
        while waiting := self._in_turn or self._postponed:
            waiting.sort(key=lateness)
            yield from self._next_group(waiting)

    def add(self, attempt: Attempt, path: Path) -> None:
        """Put the controls that an attempt showed where they belong.

        Args:
            attempt: The attempt.
            path: All steps to the screen that it led to.
        """
        is_large = self.is_large
        children = self._children(attempt, path)
        if not children:
            return
        # A menu has no effect, unlike a dialog, a tool bar or another view.
        soon = not attempt.effect if is_large else _comes_soon(attempt, children)
        # What opens with the settings of the application is asked for more often than the rest of a menu.
        at_once = _comes_soon(attempt, children) and label("opens_settings").match(attempt.control.name) is not None
        self._put(self._in_turn if soon or at_once else self._postponed, children, at_once)

    @property
    def is_large(self) -> bool:
        """Whether more known controls are left, with or without postponed ones, than a search usually gets to."""
        return self.left() > _LARGE or self.left(postponed=True) > _LARGE_WITH_POSTPONED

    @property
    def reveals(self) -> bool:
        """Whether controls are next that only reveal others."""
        return bool(self._revealing)

    def left(self, *, postponed: bool = False) -> int:
        """Return the number of known controls that are left, optionally with the postponed ones."""
        groups = (self._revealing, *self._in_turn, *(self._postponed if postponed else ()))
        return sum(map(len, groups))

    def _next_group(self, groups: list[list[Pending]]) -> list[Pending]:
        """Remove and return the next group, preferably of a screen that no other desktop works on.

        Each desktop has to find the way to a screen once before it knows what to wait for there, so desktops that share
        a search work on different screens as long as there are enough.
        """
        for number, group in enumerate(groups):
            if all(each.key in self.ledger.attempts for each in group) or self.works_on(group[0].start):
                return groups.pop(number)
        return groups.pop(0)

    def _put(self, groups: list[list[Pending]], found: Sequence[Pending], at_once: bool = False) -> None:
        """Add the controls of a screen to groups; those that differ from another one in a number alone are postponed.

        Controls that reveal others come before all groups; of submenus, of which large applications have many, only the
        first ones do.
        """
        alike, seen = list[Pending](), set[tuple[str, str]]()
        first = list[Pending]()
        for each in sorted(found, key=lambda each: not _often_works(each.offer.control)):
            control = each.offer.control
            kind = control.role, without_numbers(control.name)
            (alike if kind in seen and kind[1] != control.name else first).append(each)
            seen.add(kind)
        if groups is self._in_turn:
            menus = [each for each in first if each.offer.control.role == "menu" or each.offer.opens_menu]
            submenus = menus[: _MOST_SUBMENUS - self._submenus]
            self._submenus += len(submenus)
            revealing = [each for each in first if each in submenus or _reveals(each.offer.control)]
            self._revealing = sorted((*self._revealing, *revealing), key=lambda each: not _reveals(each.offer.control))
            first = [each for each in first if each not in revealing]
        if first:
            groups.insert(0 if at_once else len(groups), first)
        if alike:
            self._postponed.append(alike)

    def _children(self, attempt: Attempt, path: Path) -> list[Pending]:
        """Return the attempts that follow an attempt, without controls that another one offered first."""
        if attempt.classification != "continue" or len(path) >= self.max_depth:
            return []
        prefix = "" if attempt.key == START else attempt.key + SEPARATOR
        first = self.first_offers.by_control()
        return [
            Pending(
                f"{prefix}{each.control.key}",
                () if each.control.role == SHORTCUT else path,
                each,
                self.ledger.attempts[START].end if each.control.role == SHORTCUT else attempt.end,
                attempt.precondition,
            )
            for each in attempt.offers
            if first[each.control.identity] == attempt.key
        ]


def _by_place(found: Iterable[Pending]) -> list[list[Pending]]:
    """Group the controls of a screen by the named parts that contain them, in the order of their first controls."""
    parts = dict[str, list[Pending]]()
    for each in found:
        parts.setdefault(each.offer.control.place, []).append(each)
    return list(parts.values())


def _prepared(setup: Setup, tried: Iterable[Attempt]) -> list[Pending]:
    """Return attempts on the controls that were disabled, after a setup."""
    return [
        Pending(
            f"{setup.key}{SEPARATOR}{attempt.key}",
            (setup.step, *attempt.path[:-1]),
            Offer(control=attempt.control, step=attempt.path[-1]),
            attempt.start,
            setup.precondition,
        )
        for attempt in tried
        if attempt.classification == "skipped" and attempt.why == DISABLED and not attempt.precondition
    ]


def _often_works(control: Control) -> bool:
    """Return whether a control opens a dialog or shows whether it is on; most of these turn out to be functions."""
    opens_dialog = control.name.endswith(("...", "…")) or label("opens_settings").match(control.name)
    return bool(opens_dialog) or control.role in _SWITCHING


def _reveals(control: Control) -> bool:
    """Return whether a control is there to show others: a menu, a tab, the settings, or the list of shortcuts."""
    named = any(label(kind).match(control.name) for kind in ("opens_settings", "names_of_menus", "opens_shortcuts"))
    return named or control.role in _REVEALING


def _turn(group: list[Pending], most: int) -> list[Pending]:
    """Return the first controls of a group, up to a number of those that can be used; all if none can be."""
    usable = [n for n, each in enumerate(group, start=1) if not (each.offer.unsafe or each.offer.disabled)]
    return group[: usable[:most][-1]] if usable else group


def _comes_soon(attempt: Attempt, children: list[Pending]) -> bool:
    """Return whether what an attempt showed takes turns with the menus, since people often ask for such things."""
    if any(each.offer.control.role == SHORTCUT for each in children):
        return True
    if any(change.kind == "opened" for change in attempt.effect):
        return _are_settings(children)
    return attempt.depth == 1 or (attempt.depth == 2 and lateness(children) == (False, False))


def lateness(group: Sequence[Pending]) -> tuple[bool, bool]:
    """Return a sort key for variety: long lists come after other groups, and the values of a combo box last."""
    way = [target.role for step in group[0].path[-1:] for target in step.targets.values()] if group else []
    return len(group) > _LONG_LIST, "combo box" in way


def _are_settings(group: list[Pending]) -> bool:
    """Return whether at least half of the usable controls of a dialog are there to be switched or chosen."""
    usable = [each.offer for each in group if not (each.offer.unsafe or each.offer.disabled)]
    return bool(usable) and 2 * sum(each.control.role in SETTING_ROLES for each in usable) >= len(usable)
