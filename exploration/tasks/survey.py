"""Lists the controls of an application within a minute: those of its window, and those of each menu.

Nothing is chosen from a menu, so a survey changes nothing. The search (`exploration.search.dfs`) explores dialogs.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field

from aci.acting.actions import Action, Click, Hotkey
from aci.desktop.desktop import ActionResult
from aci.observation.identity import ElementDescription
from aci.observation.observation import Element, Observation
from aci.safety.risk_words import is_irreversible, pattern
from agent_s.llm.protocol import Affordance
from intents.labels import label

SURVEY_LIMIT_S = 60.0  # time for one survey, s; menus that are not reached by then are left out
_OPEN_LIMIT_S = 2.0
MOST_PER_MENU = 60  # maximum number of entries of a menu; longer ones list files, fonts or languages
_DEEPEST = 2
_TRIES = 2  # number of tries to open a menu; on a busy machine its window may be late
_MENU_ROLES = frozenset({"menu item", "check menu item", "radio menu item", "menu"})
_PRESSED_ROLES = frozenset(
    {"push button", "toggle button", "radio button", "check box", "switch", "combo box", "spin button", "page tab"}
)
_CHECKED_ROLES = frozenset({"check menu item", "radio menu item", "toggle button", "check box", "switch"})


class Operable(Protocol):
    """The part of a desktop that a survey uses."""

    def observe(self) -> Observation:
        """Return the current screen."""

    def perform(self, action: Action) -> ActionResult:
        """Carry out one primitive."""


class Survey(BaseModel):
    """The controls of an application."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    affordances: tuple[Affordance, ...] = ()  # controls in reading order, those of menus after those of the window
    complete: bool = True  # whether every menu was opened
    seconds: Annotated[float, Field(ge=0)] = 0.0  # duration, s


def is_safe(name: str) -> bool:
    """Return whether a control of this name is safe to try: it does not delete, end, send or print anything."""
    plain = re.sub(r"^[\W_]+", "", name)
    return not (is_irreversible(name) or pattern("closing").match(plain) or label("leads_away").match(plain))


def survey(
    desktop: Operable,
    observation: Observation,
    *,
    limit_s: float = SURVEY_LIMIT_S,
    clock: Callable[[], float] = time.monotonic,
) -> Survey:
    """List the controls of an application.

    Args:
        desktop: The desktop on which it has just been started.
        observation: The screen after its start.
        limit_s: Time limit, s.
        clock: Monotonic clock, s.
    """
    began = clock()
    menus = _Menus(desktop, clock, began + limit_s)
    found = [*_offered(_pressable(observation.elements), ()), *menus.open_all(observation)]
    unique = {(one.within, one.window, one.name, one.role): one for one in found if is_safe(one.name)}
    return Survey(affordances=tuple(unique.values()), complete=menus.complete, seconds=clock() - began)


class _Menus:
    """Opens menus one after another."""

    def __init__(self, desktop: Operable, clock: Callable[[], float], deadline: float) -> None:
        self._desktop = desktop
        self._clock = clock
        self._deadline = deadline
        self.complete = True

    def open_all(self, observation: Observation) -> Iterable[Affordance]:
        openers = [element for element in observation.elements if _opens_menu(element)]
        for opener in openers:
            found: list[Affordance] | None = None
            for _ in range(_TRIES):
                if found is None and self._clock() <= self._deadline:
                    found = self._into(opener.id, (name_of(opener),), observation)
                    self._close(observation)
            self.complete = self.complete and found is not None
            yield from found or ()

    def _into(self, opener_id: int, within: tuple[str, ...], before: Observation) -> list[Affordance] | None:
        """Return the entries of a menu and of its submenus; None if it does not open."""
        if not self._desktop.perform(Click(element_id=opener_id)).ok:
            return None
        after, entries = self._opened(set(before.by_id))
        found = list(_offered(entries[:MOST_PER_MENU], within))
        submenus = [each for each in entries if each.role == "menu" and "disabled" not in each.states]
        for entry in filter(lambda each: is_safe(each.name), submenus if len(within) < _DEEPEST else ()):
            late = self._clock() > self._deadline
            below = None if late else self._into(entry.id, (*within, name_of(entry)), after)
            self.complete = self.complete and below is not None
            found += below or ()
        return found if entries else None

    def _opened(self, known: set[int]) -> tuple[Observation, list[Element]]:
        """Look until two looks find the same entries; toolkits draw a menu before its entries are accessible."""
        deadline = self._clock() + _OPEN_LIMIT_S
        seen: list[Element] = []
        while True:
            after = self._desktop.observe()
            new = [element for element in after.elements if element.id not in known]
            entries = [element for element in new if element.role in _MENU_ROLES] or _pressable(new)
            steady = [element.id for element in entries] == [element.id for element in seen]
            if (entries and steady) or self._clock() > deadline:
                return after, entries
            seen = entries

    def _close(self, before: Observation) -> None:
        known = {window.id for window in before.windows}
        for _ in range(_DEEPEST + 1):
            self._desktop.perform(Hotkey(keys=["Escape"]))
            if {window.id for window in self._desktop.observe().windows} <= known:
                return


def _offered(elements: Iterable[Element], within: tuple[str, ...]) -> Iterable[Affordance]:
    for element in elements:
        name = name_of(element)
        if name and element.role != "menu" and "disabled" not in element.states:
            can_be_on = element.role in _CHECKED_ROLES or "checkable" in element.states
            on = bool({"checked", "pressed"} & element.states) if can_be_on else None
            yield Affordance(element.role, name, within, on=on)


def _pressable(elements: Iterable[Element]) -> list[Element]:
    return [
        element
        for element in elements
        if element.role in _PRESSED_ROLES and not label("resizes_window").fullmatch(name_of(element))
    ]


def _opens_menu(element: Element) -> bool:
    if "disabled" in element.states or not name_of(element):
        return False
    in_bar = element.role == "menu" and any(step.startswith("menu bar:") for step in element.path)
    return in_bar or any(step.endswith((":GtkMenuButton", ":GtkPopoverMenuBar")) for step in element.path)


def name_of(element: Element | ElementDescription) -> str:
    """Return the name, label or tooltip of an element."""
    return (element.name or element.label or element.description.partition(" [")[0]).strip()
