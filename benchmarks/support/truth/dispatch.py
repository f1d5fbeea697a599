"""Whether an action hits what was meant when the screen changes between look and act.

A page in Chromium and a GTK 3 program are observed, then changed without an observation, and then acted on; they say
themselves what was hit. Some changes are harmless, such as a clock or a progress bar.

`dispatch_cases`: number of changed screens that matter. `wrong_target`: how often something else was hit than what was
meant. `refused_needlessly`: share of the harmless changes after which the action was refused or did not arrive.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from aci.acting.actions import Action, Click, Hotkey, Type, Wait
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Observation
from benchmarks.fixtures import stirring
from benchmarks.support.figures import Figures, tell
from benchmarks.support.reference import SYSTEM_PYTHON
from benchmarks.support.reports import PageServer
from benchmarks.support.screens import desktop_without_ocr
from benchmarks.support.truth.ids import browser, until

NAMES = ("dispatch_cases", "wrong_target", "refused_needlessly")
SIZE = (1100, 800)

_ROWS = ("name", "drop", "mark")
_IN_LIST = ("refill", "shift", "back", "order", "anew", "lose", "lose_first", "disable", "cover", "page")
_IN_BAR = ("rename", "swap", "replace", "remove", "banner", "retitle", "disable", "page")
_KEYS = ("type", "Return", "Delete", "x")
_ELSEWHERE = ("other_field", "other_button", "page")
_HARMLESS = ("clock", "progress", "info", "append", "shade", "blank", "push")

PAGE_CASES = [
    *((change, f"row {part}") for change, part in product(_IN_LIST, _ROWS)),
    *((change, f"bar {name}") for change, name in product(_IN_BAR, ("Save", "Share"))),
    *((change, key) for change, key in product(_ELSEWHERE, _KEYS)),
    ("tick", "public"),
]
HARMLESS_CASES = list(product(_HARMLESS, ("row name", "row drop", "row mark", "bar Save", "type", "Return", "public")))
PROGRAM_CASES = [
    *product(("front", "dialog", "menu", "focus", "close"), ("type", "x")),
    *product(("front", "dialog", "menu", "close"), ("ctrl+s",)),
    *product(("rename", "hide", "disable", "swap", "dialog", "menu", "close"), ("Book",)),
]
PROGRAM_HARMLESS = list(product(("count", "move", "blank"), ("type", "x", "ctrl+s", "Book")))


@dataclass(slots=True)
class Tally:
    """What was hit."""

    cases: int = 0  # screens with a change that matters
    harmless: int = 0  # screens with one that does not
    wrong: list[str] = field(default_factory=list)  # a line for each action that hit something else
    # a line for each action that was refused or lost after a harmless change
    needless: list[str] = field(default_factory=list)

    def count(self, case: str, harmless: bool, allowed: Callable[[str], bool], hits: list[str], error: str) -> None:
        """Count what one action hit."""
        self.cases += not harmless
        self.harmless += harmless
        strange = [hit for hit in hits if not allowed(hit)]
        if strange:
            self.wrong.append(f"{case}: hit {strange}")
        elif harmless and not hits:
            self.needless.append(f"{case}: {error or 'nothing was hit'}")


def measure(figures: Figures, quick: bool) -> None:
    """Act on all changed screens."""
    tally = Tally()
    step = 6 if quick else 1
    on_page(tally, PAGE_CASES[::step], HARMLESS_CASES[::step])
    in_program(tally, PROGRAM_CASES[::step], PROGRAM_HARMLESS[::step])
    for line in [*tally.wrong, *tally.needless]:
        tell(f"    {line}")
    figures.set("dispatch_cases", tally.cases)
    figures.set("wrong_target", len(tally.wrong))
    figures.set("refused_needlessly", len(tally.needless) / max(1, tally.harmless))


def on_page(tally: Tally, cases: list[tuple[str, str]], harmless: list[tuple[str, str]]) -> None:
    """Change the page."""
    with PageServer({"/": stirring.PAGE}) as server, desktop_without_ocr(SIZE) as desktop, browser(desktop) as tools:
        target = tools.attach(tools.pages()[0])
        tools.call("Page.navigate", {"url": server.url + "/"}, target)
        until(lambda: bool(tools.evaluate(target, "typeof change === 'function'")))
        _click_into_page(desktop)
        for number, (change, aim) in enumerate([*cases, *harmless]):
            tools.evaluate(target, "fresh(), $('name').focus(), 0")
            desktop.perform(Wait(time=0.3))
            seen = desktop.observe()
            action = _action_on_page(seen, aim)
            if action is None:
                tell(f"  {change}, {aim}: not on the screen")
                continue
            tools.evaluate(target, f"change('{change}'), 0")
            if number % 2:
                time.sleep(0.25)  # half of the changes are on the screen when the action comes
            result = desktop.perform(action)
            desktop.perform(Wait(time=0.1))
            hits = [str(hit) for hit in tools.evaluate(target, "hits")]
            tally.count(f"{change}, {aim}", number >= len(cases), _meant(aim), hits, result.error or "")


def _click_into_page(desktop: VirtualDesktop) -> None:
    """Give the keyboard to the page; Chromium starts with it in the address bar."""
    until(lambda: any(one.name == "Save" for one in desktop.observe().elements))
    desktop.perform(Click(element_id=next(one.id for one in desktop.observe().elements if one.name == "Save")))


def _action_on_page(seen: Observation, aim: str) -> Action | None:
    kind, _, what = aim.partition(" ")
    elements = [element for element in seen.elements if any("document web" in part for part in element.path)]
    if kind == "row":
        row = next((one for one in elements if one.role == "push button" and one.name.startswith("cedar")), None)
        if row is None:
            return None
        level = [one for one in elements if one.role == "push button" and abs(one.rect.y - row.rect.y) < 12]
        found = sorted(level, key=lambda one: one.rect.x)[_ROWS.index(what)]
        return Click(element_id=found.id)
    if kind in ("bar", "public"):
        found_ids = [one.id for one in elements if one.name == (what or "Public")]
        return Click(element_id=found_ids[0]) if found_ids else None
    return Type(text="q") if aim == "type" else Hotkey(keys=[aim])


def _meant(aim: str) -> Callable[[str], bool]:
    kind, _, what = aim.partition(" ")
    if kind == "row":
        return lambda hit: hit == {"name": "cedar", "drop": "drop cedar", "mark": "mark cedar"}[what]
    if kind == "bar":
        return lambda hit: hit == what
    return (lambda hit: hit == "public true") if kind == "public" else (lambda hit: hit.startswith("name:"))


def in_program(tally: Tally, cases: list[tuple[str, str]], harmless: list[tuple[str, str]]) -> None:
    """Change the program; each case starts it anew."""
    with desktop_without_ocr(SIZE) as desktop:
        for number, (change, aim) in enumerate([*cases, *harmless]):
            with _program(desktop, number) as (commands, hits):
                desktop.perform(Wait(time=0.3))
                seen = desktop.observe()
                action = _action_in_program(seen, aim)
                if action is None:
                    tell(f"  {change}, {aim}: not on the screen")
                    continue
                commands.write_text(change + "\n", encoding="utf-8")
                until(lambda: "done" in _lines(hits))
                result = desktop.perform(action)
                desktop.perform(Wait(time=0.1))
                hit = [line for line in _lines(hits) if line != "done"]
                error = result.error or ""
                tally.count(f"{change}, {aim}", number >= len(cases), _meant_in_program(aim), hit, error)


def _meant_in_program(aim: str) -> Callable[[str], bool]:
    return lambda hit: hit in ({"Ledger Book"} if aim == "Book" else {"Ledger line", "Ledger key"})


def _action_in_program(seen: Observation, aim: str) -> Action | None:
    if aim == "Book":
        found = next((one for one in seen.elements if one.name == "Book"), None)
        return None if found is None else Click(element_id=found.id)
    return Type(text="q") if aim == "type" else Hotkey(keys=aim.split("+"))


@contextmanager
def _program(desktop: VirtualDesktop, number: int) -> Iterator[tuple[Path, Path]]:
    commands, hits = desktop.home / f"commands{number}", desktop.home / f"hits{number}"
    program = desktop.launch([str(SYSTEM_PYTHON), stirring.__file__, str(commands), str(hits)])
    try:
        yield commands, hits
    finally:
        program.terminate()


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").split("\n")[:-1] if file.exists() else []
