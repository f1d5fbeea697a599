"""Whether what a window shows is seen, in each toolkit, while it changes, and whether nothing else is.

The programs of `benchmarks/fixtures/windows` show windows of controls that a number determines, change them step by
step and report their visible texts and controls, each with its box. After each step the screen is looked at twice: as
it is looked at in between, where only what changed is read, and completely. `window_seen`: share of the parts for which
the complete look has an element in the right place with the text, or the kind, name, content and state of the control;
`window_seen_quickly`: the same of the other looks. `window_unseen_shown`: share of the elements of texts and buttons
where the window shows nothing.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aci.observation.geometry import Point
from benchmarks.support.figures import Figures, NotMeasured, tell
from benchmarks.support.reference import SYSTEM_PYTHON
from benchmarks.support.reports import wait_until
from benchmarks.support.screens import desktop_without_ocr
from benchmarks.support.truth.shown import Comparison

NAMES = ("window_parts", "window_seen", "window_seen_quickly", "window_unseen_shown")
TOOLKITS: Mapping[str, Sequence[str]] = {
    "GTK 3": ("gtk", "3"), "GTK 4": ("gtk", "4"), "Qt 5": ("qt", "5"), "Qt 6": ("qt", "6"),
}  # fmt: skip
SIZE = (1280, 900)
WINDOWS, STEPS = 10, 15
QUICK_WINDOWS = 1
_LIMIT_S = 20.0
_ROOT = Path(__file__).parents[3]


def measure(figures: Figures, quick: bool) -> None:
    """Set the figures."""
    parts = unseen = elements = unseen_quickly = phantoms = 0
    for toolkit in TOOLKITS:
        found = [look(toolkit, seed, STEPS) for seed in range(QUICK_WINDOWS if quick else WINDOWS)]
        for whole, quickly in found:
            for line in dict.fromkeys((*whole.unseen, *quickly.unseen, *whole.phantoms)):
                tell(f"  {toolkit}, {line}")
        here = sum(len(whole.unseen) for whole, _ in found), sum(len(quickly.unseen) for _, quickly in found)
        tell(f"{toolkit}: {here[0]} of {sum(whole.parts for whole, _ in found)} parts unseen, {here[1]} by quick looks")
        parts, elements = parts + sum(one.parts for one, _ in found), elements + sum(one.elements for one, _ in found)
        unseen, unseen_quickly = unseen + here[0], unseen_quickly + here[1]
        phantoms += sum(len(whole.phantoms) for whole, _ in found)
    figures.set("window_parts", parts)
    figures.set("window_seen", 1 - unseen / parts)
    figures.set("window_seen_quickly", 1 - unseen_quickly / parts)
    figures.set("window_unseen_shown", phantoms / elements)


def look(toolkit: str, seed: int, steps: int) -> tuple[Comparison, Comparison]:
    """Let a window take some steps; return what came of the complete looks, and of the quick ones.

    Args:
        toolkit: One of `TOOLKITS`.
        seed: Number that determines the window and its steps.
        steps: How many.

    Raises:
        NotMeasured: The program does not report what it shows.
    """
    program, version = TOOLKITS[toolkit]
    module = f"benchmarks.fixtures.windows.{program}"
    whole, quickly = Comparison(), Comparison()
    with desktop_without_ocr(SIZE) as desktop, tempfile.TemporaryDirectory() as folder:
        python = ["env", f"PYTHONPATH={_ROOT}", str(SYSTEM_PYTHON), "-m", module]
        desktop.launch([*python, version, folder, str(seed)])
        for step in range(steps + 1):
            shown = _ask(Path(folder), step)
            name = f"window {seed}, after {shown['after']}"
            quickly.add(name, shown, desktop.observe(check=False).elements, Point(0, 0))
            whole.add(name, shown, desktop.observe().elements, Point(0, 0))
    return whole, quickly


def _ask(folder: Path, step: int) -> dict[str, Any]:
    """Let the program take a step, and return its report."""
    (folder / "ask.new").write_text(str(step))
    (folder / "ask.new").rename(folder / "ask")
    report = folder / f"report-{step}.json"
    if not wait_until(report.exists, _LIMIT_S):
        raise NotMeasured(f"the window did not report step {step}")
    shown: dict[str, Any] = json.loads(report.read_text())
    return shown
