"""Small things that a person does on the screen with all programs, one at a time, round and round or at random."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from aci.actions import Action, Click, Hotkey, Scroll, Type
from aci.geometry import Rect
from aci.observation import Element, Observation, Window
from aci.virtual import VirtualDesktop
from benchmarks.support.figures import tell
from benchmarks.support.screens import PROGRAMS, place_window

LETTERS = "abcdefghijklmnopqrstuvwxyz"

Choose = Callable[[Observation, random.Random], Action | None]
"""Chooses an action on what is seen; None where what it needs is not there."""


@dataclass(frozen=True, slots=True)
class Step:
    """One kind of thing to do.

    Attributes:
        name: What it is.
        choose: Chooses the action.
        undo: What is pressed afterwards, once the effect was looked at, so that the next step finds the screen free.
    """

    name: str
    choose: Choose
    undo: tuple[str, ...] = ()


def find(observation: Observation, app: str, role: str, name: str = ".*") -> list[Element]:
    """Return the elements of an application that can be hit, by patterns for the whole of role and name."""
    return [
        element
        for element in observation.elements
        if app in element.app.casefold()
        and element.point is not None
        and "disabled" not in element.states
        and re.fullmatch(role, element.role)
        and re.fullmatch(name, element.name, re.DOTALL)
    ]


def _some(app: str, role: str, name: str, act: Callable[[Element, random.Random], Action]) -> Choose:
    def choose(observation: Observation, chance: random.Random) -> Action | None:
        found = find(observation, app, role, name)
        return act(chance.choice(found), chance) if found else None

    return choose


def _click(element: Element, _: random.Random) -> Action:
    return Click(element_id=element.id)


def _letter(element: Element, chance: random.Random) -> Action:
    return Type(text=chance.choice(LETTERS), element_id=element.id)


def _number(element: Element, chance: random.Random) -> Action:
    return Type(text=str(chance.randrange(10, 99)), element_id=element.id, enter=True)


def _down(element: Element, chance: random.Random) -> Action:
    return Scroll(element_id=element.id, clicks=chance.choice((-3, -2, 2, 3)))


_MENUS = "(File|Edit|View|Help|Insert|Format|Tools|Window|Search|Document)"
_CELL = "[A-H]1?[0-9]"

SMALL: Sequence[Step] = (
    Step("a letter in the editor", _some("mousepad", "text", ".*", _letter)),
    Step("a check box of the page", _some("chromium", "check box", "Pick .*", _click)),
    Step("a letter in a field of the page", _some("chromium", "entry", "Field .*", _letter)),
    Step("a digit of the calculator", _some("calculator", "push button", "[0-9]", _click)),
    Step("a cell of the sheet selected", _some("soffice", "table cell", _CELL, _click)),
    Step("a letter in the document", _some("soffice", "(paragraph|document text|text)", "Paragraph .*|", _letter)),
)
"""One small change each, in what the tree covers."""

MORE: Sequence[Step] = (
    *SMALL,
    Step("a number in a cell", _some("soffice", "table cell", _CELL, _number)),
    Step("a menu of the editor", _some("mousepad", "menu", _MENUS, _click), undo=("Escape",)),
    Step("a menu of the office", _some("soffice", "menu", _MENUS, _click), undo=("Escape", "Escape")),
    Step("a list of the page scrolled", _some("chromium", "list item", "Place .*", _down)),
    Step("the page scrolled", _some("chromium", "push button", "Open .*", _down)),
    Step("the sheet scrolled", _some("soffice", "table cell", "[A-H][0-9]+", _down)),
    Step("a row added to the page", _some("chromium", "push button", "More", _click)),
    Step("the theme of the page", _some("chromium", "push button", "Theme", _click)),
    Step("a link of the page", _some("chromium", "link", "Link .*", _click)),
    Step("the list of a combo box", _some("chromium", "combo box", "Fruit", _click), undo=("Escape",)),
    Step(
        "the menu of the calculator", _some("calculator", "(push|toggle) button.*", "|Basic", _click), undo=("Escape",)
    ),
    Step("a format button", _some("soffice", "toggle button", "(Bold|Italic|Align.*|Center.*)", _click)),
)
"""All kinds of changes, also those that no accessibility event announces."""


class Walk:
    """Does steps on a desktop that has all programs open, and counts what could not be done."""

    def __init__(
        self, desktop: VirtualDesktop, steps: Sequence[Step], windows: Mapping[str, Window], seed: int
    ) -> None:
        """Take the desktop and the steps; the seed decides what is chosen."""
        self.done = 0
        self.refused: list[str] = []
        self.absent: list[str] = []
        self._desktop = desktop
        self._steps = steps
        self._windows = dict(windows)
        self._chance = random.Random(seed)

    def in_turn(self, count: int) -> Iterator[tuple[str, Callable[[Observation], None]]]:
        """Yield the names of steps one after another, each with what does it."""
        for number in range(count):
            step = self._steps[number % len(self._steps)]
            yield step.name, partial(self._do, step)

    def at_random(self, count: int) -> Iterator[tuple[str, Callable[[Observation], None]]]:
        """Yield steps drawn at random; now and then a window moves or comes to the front."""
        for _ in range(count):
            if self._chance.random() < 0.08:
                name = self._chance.choice(("mousepad", "writer", "calculator"))
                yield f"{name} moved", partial(self._move, name)
                continue
            step = self._chance.choice(self._steps)
            yield step.name, partial(self._do, step)

    def tidy(self, name: str) -> None:
        """Press what a step needs pressed behind it."""
        for step in self._steps:
            if step.name == name:
                for key in step.undo:
                    self._desktop.perform(Hotkey(keys=(key,)))

    def tell(self) -> None:
        """Tell what could not be done."""
        tell(f"  {self.done} steps done, {len(self.refused)} refused, {len(self.absent)} without what they need")
        for line in sorted(set(self.refused))[:12]:
            tell(f"    refused: {line}")
        for line in sorted(set(self.absent)):
            tell(f"    not there {self.absent.count(line)} times: {line}")

    def _do(self, step: Step, seen: Observation) -> None:
        action = step.choose(seen, self._chance)
        if action is None:
            self.absent.append(step.name)
            return
        result = self._desktop.perform(action)
        if result.ok:
            self.done += 1
        else:
            self.refused.append(f"{step.name}: {re.sub('[0-9]+', 'N', result.error or '')}")

    def _move(self, name: str, _: Observation) -> None:
        place = PROGRAMS[name].place or Rect(1400, 640, 0, 0)
        dx, dy = self._chance.randrange(-25, 25), self._chance.randrange(-15, 5)
        place_window(self._desktop, self._windows[name].id, place.moved(dx, dy))
        self.done += 1
