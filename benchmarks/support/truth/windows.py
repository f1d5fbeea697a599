"""Whether everything that a changing window shows is seen, in each toolkit, and nothing else.

The programs of `benchmarks/fixtures/windows` generate windows from a seed, change them step by step and report their
visible texts and controls, each with its box. After each step the screen is observed twice: quickly, reading only what
has changed, and completely. `window_seen`: share of the parts for which the complete observation has an element in the
right place with the text, or the kind, name, content and state of the control; `window_seen_quickly`: the same for the
quick observation. `window_unseen_shown`: share of the elements of texts and buttons where the window shows nothing.
`acted_seen`: the same as `window_seen` for the observation after a click or typed text, compared with what the window
reports 0.4 s later.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from aci.acting.actions import Click, Type
from aci.observation.geometry import Point
from benchmarks.support.figures import Figures, tell
from benchmarks.support.truth.programs import PYTHON, program
from benchmarks.support.truth.shown import Comparison

NAMES = ("window_parts", "window_seen", "window_seen_quickly", "window_unseen_shown", "acted_parts", "acted_seen")
_GTK, _QT = ((*PYTHON, f"benchmarks.fixtures.windows.{name}") for name in ("gtk", "qt"))
# the programs; a folder and a seed follow
TOOLKITS: Mapping[str, Sequence[str]] = {
    "GTK 3": (*_GTK, "3"), "GTK 4": (*_GTK, "4"), "Qt 5": (*_QT, "5"), "Qt 6": (*_QT, "6"), "Swing": ("Windows",),
}  # fmt: skip
SIZE = (1280, 900)
WINDOWS, STEPS = 10, 15
QUICK_WINDOWS = 1
_CLICKED = frozenset(
    {"check box", "radio button", "toggle button", "push button", "page tab", "list item", "switch", "slider"}
)
_WRITTEN = frozenset({"text", "entry"})


def measure(figures: Figures, quick: bool) -> None:
    """Set the figures."""
    found: list[tuple[Comparison, Comparison, Comparison]] = []
    for toolkit in TOOLKITS:
        here = [
            (*look(toolkit, seed, STEPS), act(toolkit, seed, STEPS))
            for seed in range(QUICK_WINDOWS if quick else WINDOWS)
        ]
        for line in dict.fromkeys(line for one in here for each in one for line in (*each.unseen, *each.phantoms)):
            tell(f"  {toolkit}, {line}")
        unseen = [sum(len(one[place].unseen) for one in here) for place in range(3)]
        tell(f"{toolkit}: {unseen[0]} parts unseen, {unseen[1]} by quick looks, {unseen[2]} after actions")
        found += here
    whole, quickly, acted = zip(*found, strict=True)
    figures.set("window_parts", sum(one.parts for one in whole))
    figures.set("window_seen", _share_seen(whole))
    figures.set("window_seen_quickly", _share_seen(quickly))
    figures.set("window_unseen_shown", sum(len(one.phantoms) for one in whole) / sum(one.elements for one in whole))
    figures.set("acted_parts", sum(one.parts for one in acted))
    figures.set("acted_seen", _share_seen(acted))


def _share_seen(found: Sequence[Comparison]) -> float:
    return 1 - sum(len(one.unseen) for one in found) / sum(one.parts for one in found)


def look(toolkit: str, seed: int, steps: int) -> tuple[Comparison, Comparison]:
    """Change a window step by step; return the comparisons with the complete and with the quick observations.

    Args:
        toolkit: One of `TOOLKITS`.
        seed: Seed of the window and of its changes.
        steps: Number of changes.

    Raises:
        NotMeasured: The program does not report what it shows.
    """
    whole, quickly = Comparison(), Comparison()
    with program(TOOLKITS[toolkit], seed, SIZE) as shower:
        for _ in range(steps + 1):
            shown = shower.change()
            name = f"window {seed}, after {shown['after']}"
            quickly.add(name, shown, shower.desktop.observe(check=False).elements, Point(0, 0))
            whole.add(name, shown, shower.desktop.observe().elements, Point(0, 0))
    return whole, quickly


def act(toolkit: str, seed: int, steps: int) -> Comparison:
    """Click and type in a window; return the comparison with the observations after each action. See `look`."""
    chance, found = random.Random(seed), Comparison()
    with program(TOOLKITS[toolkit], seed, SIZE) as shower:
        desktop = shower.desktop
        shower.report()
        for step in range(1, steps + 1):
            usable = [each for each in desktop.observe().elements if each.role in _CLICKED | _WRITTEN]
            chosen = chance.choice([each for each in usable if not each.states & {"disabled", "read_only"}])
            write = chosen.role in _WRITTEN
            desktop.perform(
                Type(element_id=chosen.id, text=f"words {step}", overwrite=True)
                if write
                else Click(element_id=chosen.id)
            )
            elements = desktop.observe().elements
            shown = shower.report()
            name = f"window {seed}, after {'typing into' if write else 'a click on'} {chosen.name or chosen.label!r}"
            found.add(name, shown, elements, Point(0, 0))
    return found
