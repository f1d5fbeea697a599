"""How fast, how small and how true observations are.

```
python -m benchmarks.observe --json
```

Screens: mousepad; Chromium with a page of more than 500 elements; Calc with 50 x 20 filled cells; LibreOffice Writer;
gnome-calculator; all of them at once at 1920 x 1080.

`ratio_chromium`, `ratio_all`: time of a naive reading (a call for each property of each object, by recursion) divided
by that of the first whole observation of a newly attached desktop, without OCR, connecting included on both sides;
medians of runs in turn. `calc_s`: that observation of Calc, s. `menu_opened_ratio`, `menu_closed_ratio`: the same
divided by a look after one of Calc's menus was opened or closed, without the wait for late changes. `steady_p50_ms`,
`steady_p99_ms`: an observation after one small change, with that wait, all programs open. `look_p50_ms`,
`look_p99_ms`: the same without it. `steady_ocr_p50_ms`: the same where the change lies in a canvas of 2% of the
screen, OCR included. `text_bytes_ratio`: bytes of the first `to_text()` and of the `changes_since` of 20 steps, divided
by those of a table `id tag name text` at each step. `pyatspi_agreement`: share of the elements of all screens that
pyatspi sees at the same place, or differently for a reason that is proven. `incremental_agreement`: share of the
elements that a newly attached client sees the same way after each of many random actions (500, or as many as
fit into half an hour; `--seconds` gives another time).
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from aci.accessibility.connection import connect_accessibility
from aci.accessibility.dbus.bus import accessibility_bus_address
from aci.acting.actions import Click, Hotkey
from aci.desktop.virtual import VirtualDesktop
from aci.desktop.x11 import X11Desktop
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation
from benchmarks.support.figures import Figures, NotMeasured, command, tell
from benchmarks.support.naive import read_naively
from benchmarks.support.reference import Agreement, compare, read_reference
from benchmarks.support.screens import FULL_HD, desktop_with_ocr, desktop_without_ocr, open_all, open_program
from benchmarks.support.steps import MORE, SMALL, find
from benchmarks.support.themes import Themes
from benchmarks.support.walk import Walk

NAMES = (
    "ratio_chromium", "ratio_all", "calc_s", "menu_opened_ratio", "menu_closed_ratio", "steady_p50_ms",
    "steady_p99_ms", "look_p50_ms", "look_p99_ms", "steady_ocr_p50_ms", "text_bytes_ratio", "pyatspi_agreement",
    "incremental_agreement",
)  # fmt: skip
_OF_ONE = {"chromium": ("ratio_chromium",), "calc": ("calc_s", "menu_opened_ratio", "menu_closed_ratio")}
_OF_ALL = tuple(name for name in NAMES if name not in {*_OF_ONE["chromium"], *_OF_ONE["calc"], "steady_ocr_p50_ms"})
WHOLE_SCREEN = Rect(0, 0, *FULL_HD)
SCREENS: dict[str, Rect | None] = {
    "mousepad": None, "chromium": WHOLE_SCREEN, "calc": WHOLE_SCREEN, "writer": WHOLE_SCREEN, "calculator": None,
}  # fmt: skip
NAIVE_LIMIT_S = 40.0
READY_LIMIT_S = 6.0
TEXT_STEPS = 20
INCREMENTAL_LIMIT_S, INCREMENTAL_QUICK_LIMIT_S = 1800.0, 8.0
"""After this long no further random action is begun, unless asked for."""


@dataclass(slots=True)
class Pair:
    """Times of naive readings and first observations of one screen, s."""

    naive: list[float] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """How many times longer the naive reading takes."""
        return statistics.median(self.naive) / statistics.median(self.ours)


def main() -> int:
    """Measure, and print the figures; with --json the last line is one JSON object."""

    def options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--actions", type=int, default=500, help="random actions after which readings are compared")
        parser.add_argument("--seed", type=int, default=3, help="what chance those are drawn by")
        parser.add_argument("--seconds", type=float, help=f"longest time for them ({INCREMENTAL_LIMIT_S:g})")

    return command("observe", __doc__ or "", measure, options)


def measure(wanted: argparse.Namespace) -> Figures:
    """Measure everything."""
    figures, quick = Figures(NAMES), bool(wanted.quick)
    agreement = Agreement()
    rounds = 1 if quick else 3
    for name, place in SCREENS.items():
        if quick and name not in ("chromium", "calc"):
            continue
        with (
            figures.part(*_OF_ONE.get(name, ())),
            desktop_without_ocr(FULL_HD) as desktop,
        ):
            open_program(desktop, name, place)
            pair = _first_readings(desktop, name, rounds)
            if name == "chromium":
                figures.set("ratio_chromium", pair.ratio)
            if name == "calc":
                whole_s = statistics.median(pair.ours)
                figures.set("calc_s", whole_s)
                for kind, times in zip(("opened", "closed"), _after_menus(desktop, 4 * rounds), strict=True):
                    figures.set(f"menu_{kind}_ratio", whole_s / statistics.median(times))
            with figures.part("pyatspi_agreement"):
                agreement.add(_agreement(desktop, name))
    seconds = wanted.seconds or (INCREMENTAL_QUICK_LIMIT_S if quick else INCREMENTAL_LIMIT_S)
    _everything_open(figures, agreement, quick, wanted.actions, seconds, rounds, wanted.seed)
    with figures.part("steady_ocr_p50_ms"):
        figures.set("steady_ocr_p50_ms", _steady_with_ocr(4 if quick else 20))
    return figures


def _everything_open(
    figures: Figures, agreement: Agreement, quick: bool, actions: int, seconds: float, rounds: int, seed: int
) -> None:
    with figures.part(*_OF_ALL), desktop_without_ocr(FULL_HD) as desktop:
        windows = open_all(desktop)
        with figures.part("ratio_all"):
            figures.set("ratio_all", _first_readings(desktop, "all", rounds).ratio)
        with figures.part("pyatspi_agreement"):
            agreement.add(_agreement(desktop, "all"))
            figures.set("pyatspi_agreement", agreement.share)
        with figures.part("steady_p50_ms", "steady_p99_ms", "text_bytes_ratio"):
            for kind, check in (("steady", True), ("look", False)):
                walk = Walk(desktop, SMALL, windows, seed=2)
                times, ratio = _steady(desktop, walk, 20 if quick else 102, check)
                figures.set(f"{kind}_p50_ms", statistics.median(times) * 1000)
                figures.set(f"{kind}_p99_ms", statistics.quantiles(times, n=100, method="inclusive")[98] * 1000)
                if check:
                    figures.set("text_bytes_ratio", ratio)
        with figures.part("incremental_agreement"), Themes(desktop.display) as themes:
            walk = Walk(desktop, MORE, windows, seed=seed, themes=themes)
            figures.set("incremental_agreement", _incremental(desktop, walk, actions, seconds))


def _first_readings(desktop: VirtualDesktop, name: str, rounds: int) -> Pair:
    address = accessibility_bus_address(desktop.environment["DBUS_SESSION_BUS_ADDRESS"])
    pair, count = Pair(), _wait_for_content(desktop)
    for _ in range(rounds):
        pids = {window.pid for window in desktop.x11.screen.windows() if window.pid is not None}
        pair.ours.append(_first_observation(desktop))
        naive = read_naively(address, pids, NAIVE_LIMIT_S)
        pair.naive.append(naive.seconds)
    limited = "" if naive.whole else ", cut off by the time limit"
    tell(
        f"{name}: {count} elements in {_list(pair.ours)} s (median {statistics.median(pair.ours):.3f}); naively "
        f"{naive.objects} objects, {naive.calls} calls in {_list(pair.naive)} s, {naive.left_out} left out{limited}; "
        f"ratio {pair.ratio:.1f}"
    )
    return pair


def _after_menus(desktop: VirtualDesktop, rounds: int) -> tuple[list[float], list[float]]:
    """Return the seconds of the looks after a menu was opened, and after it was closed."""
    opened, closed = list[float](), list[float]()
    seen = desktop.observe()
    menus = [each.id for each in seen.elements if each.role == "menu" and each.path[-1:] == ("menu bar:",)]
    for number in range(rounds):
        click = Click(element_id=menus[number % len(menus)])
        for action, times in ((click, opened), (Hotkey(keys=("Escape",)), closed)):
            desktop.perform(action)
            started = time.perf_counter()
            desktop.observe(check=False)
            times.append(time.perf_counter() - started)
    tell(f"  looks after menus opened: {_list(opened)} s, closed: {_list(closed)} s")
    return opened, closed


def _wait_for_content(desktop: VirtualDesktop) -> int:
    """Wait until every window shows elements, as some programs fill theirs late; return how many there are.

    The looking is done by an attached desktop that is thrown away, so that nothing is known beforehand.
    """
    deadline, count = time.monotonic() + READY_LIMIT_S, -1
    while True:
        with _attached(desktop) as other:
            seen = other.observe()
        filled = {element.window_id for element in seen.elements}
        bare = [window.title for window in seen.windows if window.id not in filled and not window.popup]
        if not bare and len(seen.elements) == count:
            return count
        if time.monotonic() > deadline:
            if bare:
                tell(f"  windows without elements after {READY_LIMIT_S:g} s: {bare}")
            return len(seen.elements)
        count = len(seen.elements)


def _attached(desktop: VirtualDesktop) -> X11Desktop:
    return X11Desktop(desktop.display, environment=desktop.environment, ocr=None)


def _first_observation(desktop: VirtualDesktop) -> float:
    started = time.perf_counter()
    with _attached(desktop) as other:
        other.observe()
        return time.perf_counter() - started


def _agreement(desktop: VirtualDesktop, name: str) -> Agreement:
    with _attached(desktop) as other:
        seen = other.observe()
    found = compare(seen, read_reference(desktop.environment, seen))
    tell(f"{name}: {found.same} of {found.total} as pyatspi sees them; differences:")
    for kind, count in found.explained.most_common():
        tell(f"    {count:5} {kind}")
    for line in found.unexplained[:20]:
        tell(f"        ? {line}")
    return found


def _steady(desktop: VirtualDesktop, walk: Walk, count: int, check: bool) -> tuple[list[float], float]:
    """Do small things one after another.

    Returns:
        Seconds of the observation after each, and what the first 20 steps cost in bytes of text, divided by what a
        plain table at each step does.
    """
    seen = desktop.observe()
    times: list[float] = []
    by_step: dict[str, list[float]] = {}
    first = shown = len(seen.to_text().encode())
    plain, whole = _table_bytes(seen), 0
    for name, act in walk.in_turn(count):
        before = seen
        act(before)
        started = time.perf_counter()
        seen = desktop.observe(check=check)
        times.append(time.perf_counter() - started)
        by_step.setdefault(name, []).append(times[-1])
        if len(times) <= TEXT_STEPS:
            difference = seen.changes_since(before)
            whole += difference.startswith("Windows, topmost first:")
            shown += len(difference.encode())
            plain += _table_bytes(seen)
    for name, taken in by_step.items():
        tell(f"    {statistics.median(taken) * 1000:6.0f} ms after {name}")
    tell(
        f"  first text {first} bytes, {TEXT_STEPS} differences {shown - first} ({whole} of them whole observations); "
        f"as tables {plain}, of which the last {_table_bytes(seen)}, for {len(seen.elements)} elements"
    )
    walk.tell()
    return times, shown / plain


def _steady_with_ocr(count: int) -> float:
    """Return the median of an observation, ms, after a canvas of 2% of the screen was drawn anew."""
    with desktop_with_ocr(FULL_HD) as desktop:
        open_all(desktop)
        seen = desktop.observe()
        times, texts = [], 0
        for _ in range(count):
            buttons = find(seen, "chromium", "push button", "Redraw")
            if not buttons:
                raise NotMeasured("the page's button that draws the canvas anew is not seen")
            desktop.perform(Click(element_id=buttons[0].id))
            started = time.perf_counter()
            seen = desktop.observe()
            times.append(time.perf_counter() - started)
            texts += sum(element.source == "ocr" for element in seen.elements)
    tell(f"canvas drawn anew {count} times: {_list(times)} s; {texts / count:.0f} recognized texts each")
    if not texts:
        raise NotMeasured("no text was recognized")
    return statistics.median(times) * 1000


def _table_bytes(observation: Observation) -> int:
    rows = ("\t".join((str(e.id), e.role, e.name, e.text or "")) for e in observation.elements)
    return len("\n".join(("id\ttag\tname\ttext", *rows)).encode())


@dataclass(slots=True)
class _Tally:
    """How incremental looks compare to fresh readings, elements added up."""

    compared: int = 0  # elements that were compared
    wrong: int = 0  # elements that differ although two fresh readings agree on them
    late: int = 0  # elements that the look at once after the action had otherwise than a second later
    moving: int = 0  # elements on which two fresh readings do not agree
    kinds: Counter[str] = field(default_factory=Counter)  # the differences


def _incremental(desktop: VirtualDesktop, walk: Walk, actions: int, seconds: float) -> float:
    """Return the share of elements that a fresh client sees as the running one does, after each action.

    What differs between two fresh readings around the running one was in motion and does not count. What a desktop
    mends at rest is not waited for: it is off.
    """
    desktop.x11.rest_s = None
    seen, tally = desktop.observe(), _Tally()
    deadline, acted = time.monotonic() + seconds, 0
    for name, act in walk.at_random():
        if acted == actions or time.monotonic() > deadline:
            break
        if not act(seen):
            continue
        acted += 1
        seen = _compared(desktop, name, tally)
        walk.tidy(name)
    tell(
        f"{tally.compared} elements compared after {acted} of {actions} actions: {tally.wrong} differ, {tally.moving} "
        f"were in motion; {tally.late} were otherwise in the look at once after the action"
    )
    for line, count in tally.kinds.most_common(40):
        tell(f"    {count:4} {line}")
    walk.tell()
    return 1 - tally.wrong / tally.compared if tally.compared else 0.0


def _compared(desktop: VirtualDesktop, name: str, tally: _Tally) -> Observation:
    """Return an observation, and count how its elements compare to those of fresh readings before and after it.

    The look at once after the action takes the signs of change; what these announce too early shows in the second.
    """
    at_once = _keys(desktop.observe().elements)
    first = _keys(_fresh(desktop))
    seen = desktop.observe()
    mine = _keys(seen.elements)
    tally.late += (first - at_once).total()
    tally.compared += max(mine.total(), first.total())
    if mine == first:
        return seen
    second = _keys(_fresh(desktop))
    lacking, surplus = (first & second) - mine, mine - (first | second)
    tally.moving += max((first - second).total(), (second - first).total())
    tally.wrong += max(lacking.total(), surplus.total())
    tally.kinds.update(f"after {name}: {note}" for note in seen.notes)
    tally.kinds.update(f"after {name}: lacks {key}" for key in list(lacking.elements())[:5])
    tally.kinds.update(f"after {name}: has only {key}" for key in list(surplus.elements())[:5])
    return seen


def _fresh(desktop: VirtualDesktop) -> Sequence[Element]:
    client = connect_accessibility("dbus", desktop.environment)
    try:
        screen = desktop.x11.screen
        return client.read(screen.windows(), screen.rect).elements
    finally:
        client.close()


def _keys(elements: Sequence[Element]) -> Counter[Hashable]:
    return Counter(
        (e.role, e.name, (e.rect.x, e.rect.y, e.rect.width, e.rect.height), tuple(sorted(e.states)), e.text, e.value)
        for e in elements
        if e.source == "accessibility"
    )


def _list(times: Sequence[float]) -> str:
    return ", ".join(f"{seconds:.3f}" for seconds in times)


if __name__ == "__main__":
    sys.exit(main())
