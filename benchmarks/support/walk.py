"""Does small things on the screen with all programs, one at a time, round and round or at random."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from aci.desktop.virtual import VirtualDesktop
from aci.observation.geometry import Rect
from aci.observation.observation import Observation, Window
from benchmarks.support.figures import tell
from benchmarks.support.screens import PROGRAMS, open_program, place_window
from benchmarks.support.steps import Step, pressed
from benchmarks.support.themes import LOOKS, Themes

Act = Callable[[Observation], bool]
"""Does something on what is seen; tells whether what it needs was there."""

_CORNER = Rect(1400, 640, 0, 0)
"""Where a window is put that keeps its size."""
_MOVED, _SIZED, _COVERED = "moved", "sized", "put over another"


class Walk:
    """Does steps on a desktop that has all programs open, and counts what could not be done."""

    def __init__(
        self,
        desktop: VirtualDesktop,
        steps: Sequence[Step],
        windows: Mapping[str, Window],
        seed: int,
        themes: Themes | None = None,
    ) -> None:
        """Take the desktop and the steps; the seed decides what is chosen."""
        self.done: Counter[str] = Counter()
        self.refused: list[str] = []
        self.absent: Counter[str] = Counter()
        self._desktop = desktop
        self._steps = {step.name: step for step in steps}
        self._windows = dict(windows)
        self._chance = random.Random(seed)
        self._themes = themes
        self._look = 0

    def in_turn(self, count: int) -> Iterator[tuple[str, Act]]:
        """Yield the names of steps one after another, each with what does it."""
        names = list(self._steps)
        for number in range(count):
            name = names[number % len(names)]
            yield name, partial(self._do, self._steps[name])

    def at_random(self) -> Iterator[tuple[str, Act]]:
        """Yield for ever steps drawn at random, and what is done to windows, programs and the look of all."""
        acts: dict[str, Act] = {name: partial(self._do, step) for name, step in self._steps.items()}
        for name in ("mousepad", "writer", "calculator", "chromium", "calc"):
            acts[f"{name} {_MOVED}"] = partial(self._place, name, _MOVED)
            acts[f"{name} {_COVERED}"] = partial(self._place, name, _COVERED)
            acts[f"{name} raised"] = partial(self._raise, name)
            if PROGRAMS[name].place is not None:
                acts[f"{name} {_SIZED}"] = partial(self._place, name, _SIZED)
        acts["the calculator started or ended"] = self._start_or_end
        if self._themes is not None:
            acts["the look of all programs"] = partial(self._dress, self._themes)
        names = list(acts)
        while True:
            name = self._chance.choice(names)
            yield name, acts[name]

    def tidy(self, name: str) -> None:
        """Undo what would be in the way of the next step."""
        for keys in self._steps[name].undo if name in self._steps else ():
            self._desktop.perform(pressed(keys))
        if name.endswith(_COVERED):
            self._place(name.removesuffix(_COVERED).strip(), _MOVED, None)
        self._revive()

    def tell(self) -> None:
        """Tell what was done, and what could not be done."""
        tell(f"  {self.done.total()} steps done, {len(self.refused)} refused")
        for name, count in sorted(self.done.items()):
            tell(f"    {count:4} {name}")
        for line, count in Counter(self.refused).most_common(12):
            tell(f"    refused {count} times: {line}")
        for line, count in self.absent.most_common():
            tell(f"    without what it needs {count} times: {line}")

    def _do(self, step: Step, seen: Observation) -> bool:
        actions = step.choose(seen, self._chance)
        if not actions:
            self.absent[step.name] += 1
            return False
        for action in actions:
            result = self._desktop.perform(action)
            if not result.ok:
                self.refused.append(f"{step.name}: {re.sub('[0-9]+', 'N', result.error or '')}")
                return True
        self.done[step.name] += 1
        return True

    def _place(self, name: str, how: str, _: Observation | None) -> bool:
        if name not in self._windows:
            self.absent[f"{name} {how}"] += 1
            return False
        place = PROGRAMS[name].place or _CORNER
        if how == _COVERED:
            place = place.moved(self._chance.choice((-300, 300)), self._chance.choice((-200, 200)))
        elif how == _SIZED:
            dx, dy = self._chance.randrange(-80, 20), self._chance.randrange(-60, 10)
            place = Rect(place.x, place.y, place.width + dx, place.height + dy)
        else:
            place = place.moved(self._chance.randrange(-25, 25), self._chance.randrange(-15, 5))
        place_window(
            self._desktop, self._windows[name].id, Rect(max(0, place.x), max(0, place.y), place.width, place.height)
        )
        self.done[f"{name} {how}"] += 1
        return True

    def _raise(self, name: str, _: Observation) -> bool:
        there = name in self._windows and self._desktop.x11.screen.activate(self._windows[name].id)
        (self.done if there else self.absent)[f"{name} raised"] += 1
        return there

    def _start_or_end(self, _: Observation) -> bool:
        name = "calculator"
        window = self._windows.pop(name, None)
        if window is None:
            self._windows[name] = open_program(self._desktop, name, _CORNER)
        else:
            self._desktop.x11.screen.close_window(window.id)
        self.done[f"the {name} {'started' if window is None else 'ended'}"] += 1
        return True

    def _revive(self) -> None:
        """Start again what crashed, so that the rest of the walk goes over all programs."""
        there = {window.id for window in self._desktop.x11.screen.managed_windows()}
        ended = [name for name, window in self._windows.items() if window.id not in there]
        if ended:
            for lock in self._desktop.home.rglob(".~lock.*#"):
                lock.unlink()
        for name in ended:
            self._windows[name] = open_program(self._desktop, name, PROGRAMS[name].place or _CORNER)
            self.done[f"the {name} started again after it had ended by itself"] += 1

    def _dress(self, themes: Themes, _: Observation) -> bool:
        self._look = (self._look + 1) % len(LOOKS)
        themes.show(LOOKS[self._look])
        self.done["the look of all programs"] += 1
        return True
