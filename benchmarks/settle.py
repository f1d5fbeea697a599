"""How often an observation after an action is out of date, and what waiting costs.

```
python -m benchmarks.settle --json
```

After each action on eleven applications (`benchmarks.support.settling`), the screen is observed at once and again
1.5 s later, without input in between. An observation is late if a window, the focus, or the role, name, text or state
of an element differs.

`actions`: number of actions; those without a target on the screen are listed and not counted. `late_rate`: share of
late observations. `late_rate_sleep_1s`, `late_rate_sleep_2s`: the same where each action is followed by a fixed sleep,
on the same machine in the same run. `act_p50_s`, `act_p90_s`: time from the start of an action to its observation, s.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from aci.acting.actions import Action
from aci.desktop.virtual import VirtualDesktop
from aci.errors import AciError
from aci.observation.observation import Element, Observation
from benchmarks.fixtures.slow_pages import SlowPages
from benchmarks.support.figures import Figures, NotMeasured, command, tell
from benchmarks.support.person import become_person
from benchmarks.support.settling import SCENES, Scene

NAMES = ("actions", "late_rate", "late_rate_sleep_1s", "late_rate_sleep_2s", "act_p50_s", "act_p90_s")
SIZE = (1280, 900)
LATER_S = 1.5
SLEEPS_S = (1.0, 2.0)
READY_S = 2.0
"""Time for an application to come to rest before its first action, s."""


@dataclass(slots=True)
class Tally:
    """Counts of one way of waiting."""

    times: list[float] = field(default_factory=list)  # times of actions with their observations, s
    late: list[str] = field(default_factory=list)  # a line for each late observation
    absent: list[str] = field(default_factory=list)  # actions whose target was not on the screen

    @property
    def rate(self) -> float:
        """Share of late observations."""
        return len(self.late) / len(self.times)


def main() -> int:
    """Measure, and print the figures; with --json the last line is one JSON object."""
    become_person()

    def options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--scene", action="append", choices=[scene.name for scene in SCENES], help="only this one")
        parser.add_argument("--no-sleeps", action="store_true", help="leave out the fixed sleeps")

    return command("settle", __doc__ or "", measure, options)


def measure(wanted: argparse.Namespace) -> Figures:
    """Measure everything."""
    figures = Figures(NAMES)
    scenes = [scene for scene in SCENES if not wanted.scene or scene.name in wanted.scene]
    if wanted.quick:
        scenes = scenes[-4:]
    waits: list[float | None] = [None] if wanted.no_sleeps else [None, *SLEEPS_S]
    tallies = {wait: Tally() for wait in waits}
    with SlowPages() as pages:
        for scene in scenes:
            for wait, tally in tallies.items():
                known = len(tally.times)
                try:
                    _play(scene, pages.url, wait, tally)
                    median = statistics.median(tally.times[known:])
                    tell(f"{scene.name}, {f'after {wait:g} s' if wait else 'when settled'}: {median:.2f} s an action")
                except AciError as error:
                    tell(f"{scene.name} broke off: {error}")
                    tally.absent.append(f"{scene.name}, the rest: {error}")
    for wait, tally in tallies.items():
        name = "late_rate" if wait is None else f"late_rate_sleep_{wait:g}s"
        with figures.part(name):
            if not tally.times:
                raise NotMeasured("no action was carried out")
            figures.set(name, tally.rate)
            if wait is None:
                figures.set("actions", len(tally.times))
                figures.set("act_p50_s", statistics.median(tally.times))
                figures.set("act_p90_s", statistics.quantiles(tally.times, n=10, method="inclusive")[8])
                for line in tally.absent:
                    tell(f"  not on the screen: {line}")
            tell(f"{name}: {len(tally.late)} of {len(tally.times)}")
            for line in tally.late:
                tell(f"    {line}")
    return figures


def _play(scene: Scene, url: str, sleep_s: float | None, tally: Tally) -> None:
    with VirtualDesktop(SIZE) as desktop:
        desktop.launch(scene.argv(desktop, url))
        time.sleep(READY_S)
        seen = desktop.observe()
        for act in scene.acts:
            action = act.choose(seen)
            if action is None:
                if sleep_s is None:
                    tally.absent.append(f"{scene.name}: {act.name}")
                continue
            started = time.monotonic()
            refusal = _perform(desktop, action, started, sleep_s)
            if refusal:
                if sleep_s is None:
                    tally.absent.append(f"{scene.name}: {act.name}: {refusal}")
                seen = desktop.observe()
                continue
            seen = desktop.observe()
            tally.times.append(time.monotonic() - started)
            time.sleep(LATER_S)
            later = desktop.observe()
            differences = _differences(seen, later)
            if differences:
                tally.late.append(f"{scene.name}: {act.name} ({tally.times[-1]:.2f} s): {'; '.join(differences[:3])}")
            seen = later


def _perform(desktop: VirtualDesktop, action: Action, started: float, sleep_s: float | None) -> str:
    result = desktop.perform(action, settle=sleep_s is None)
    if not result.ok:
        return result.error or "refused"
    if sleep_s is not None:
        time.sleep(max(0.0, started + sleep_s - time.monotonic()))
    return ""


def _differences(seen: Observation, later: Observation) -> list[str]:
    found = []
    windows, later_windows = ({window.id: window.title for window in look.windows} for look in (seen, later))
    for window_id in windows.keys() | later_windows.keys():
        before, after = windows.get(window_id), later_windows.get(window_id)
        if before != after:
            found.append(f"window {before!r} -> {after!r}")
    if seen.focus_id != later.focus_id:
        found.append(f"focus {_named(seen, seen.focus_id)} -> {_named(later, later.focus_id)}")
    elements, later_elements = ({element.id: element for element in look.elements} for look in (seen, later))
    for element_id in elements.keys() | later_elements.keys():
        old, new = elements.get(element_id), later_elements.get(element_id)
        if _content(old) != _content(new):
            found.append(f"{_content(old)} -> {_content(new)}")
    return found


def _named(look: Observation, element_id: int | None) -> str:
    element = look.by_id.get(element_id) if element_id is not None else None
    return f"{element.role} {element.name!r}" if element else "nothing"


def _content(element: Element | None) -> Sequence[object] | None:
    return None if element is None else (element.role, element.name, element.text, tuple(sorted(element.states)))


if __name__ == "__main__":
    sys.exit(main())
