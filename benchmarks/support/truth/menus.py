"""Whether menus and lists of choices are seen as they are, and whether a click on an entry chooses it.

The programs of `benchmarks/fixtures/menus` generate windows with random menus, with submenus, and lists of choices, and
report which entries they show and which were chosen. Menus and lists are opened as a user does, by clicks; then an
entry is clicked. `menu_seen`: share of the entries for which the observation has an element in the right place with the
right name and state; `menu_unseen_shown`: share of the elements within menus where no entry is shown; `menu_hit`: share
of the clicks on entries that chose this entry. `page_hit`: the same for lists of choices in pages of browsers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from aci.acting.actions import Click, Hotkey
from aci.desktop.virtual import VirtualDesktop
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element
from benchmarks.fixtures.menus.page import CHOSEN, make_page
from benchmarks.support.figures import Figures, NotMeasured, tell
from benchmarks.support.reports import wait_until
from benchmarks.support.screens import desktop_without_ocr, place_window, window_of
from benchmarks.support.truth.programs import PYTHON, Program, program
from benchmarks.support.truth.shown import Comparison

NAMES = ("menu_entries", "menu_seen", "menu_unseen_shown", "menu_clicks", "menu_hit", "page_clicks", "page_hit")
_FIXTURES = "benchmarks.fixtures.menus"
# the programs; a folder and a seed follow
TOOLKITS: Mapping[str, Sequence[str]] = {
    "GTK 3": (*PYTHON, f"{_FIXTURES}.gtk3"),
    "GTK 4": (*PYTHON, f"{_FIXTURES}.gtk4"),
    "Qt 5": (*PYTHON, f"{_FIXTURES}.qt", "5"),
    "Qt 6": (*PYTHON, f"{_FIXTURES}.qt", "6"),
    "Swing": ("Menus",),
}
WINDOWS, STEPS = 3, 12
QUICK_WINDOWS = 1
SIZE = (1280, 900)
PAGES = 3
BROWSERS: Mapping[str, Sequence[str]] = {"Chromium": ("chromium",), "Firefox": ("firefox-esr",)}
_DEEPEST = 3
_LIMIT_S = 5.0
_OPENERS = frozenset({"menu", "menu item", "combo box", "toggle button", "push button"})
_CONTEXT = "Context "
_STEP_PX = 17


@dataclass
class Found:
    """What came of opening the menus of some windows."""

    seen: Comparison = field(default_factory=Comparison)
    covered: list[str] = field(default_factory=list)  # elements that are seen, though a menu covers them
    clicks: int = 0
    missed: list[str] = field(default_factory=list)  # clicks that chose another entry, or none


def measure(figures: Figures, quick: bool) -> None:
    """Set the figures."""
    found: list[Found] = []
    for toolkit in TOOLKITS:
        here = [choose(toolkit, seed, STEPS) for seed in range(QUICK_WINDOWS if quick else WINDOWS)]
        for line in dict.fromkeys(
            line for one in here for line in (*one.seen.unseen, *one.seen.phantoms, *one.covered, *one.missed)
        ):
            tell(f"  {toolkit}, {line}")
        unseen, missed = sum(len(one.seen.unseen) for one in here), sum(len(one.missed) for one in here)
        tell(f"{toolkit}: {unseen} entries unseen, {missed} clicks missed")
        found += here
    entries, clicks = sum(one.seen.parts for one in found), sum(one.clicks for one in found)
    figures.set("menu_entries", entries)
    figures.set("menu_seen", 1 - sum(len(one.seen.unseen) for one in found) / entries)
    figures.set(
        "menu_unseen_shown",
        sum(len((*one.seen.phantoms, *one.covered)) for one in found) / sum(one.seen.elements for one in found),
    )
    figures.set("menu_clicks", clicks)
    figures.set("menu_hit", 1 - sum(len(one.missed) for one in found) / clicks)
    _measure_pages(figures, 1 if quick else PAGES)


def _measure_pages(figures: Figures, pages: int) -> None:
    clicks, missed = 0, 0
    for browser in BROWSERS:
        here = [choose_in_page(browser, seed, STEPS) for seed in range(pages)]
        for line in (line for one in here for line in one.missed):
            tell(f"  {browser}, {line}")
        tell(f"{browser}: {sum(len(one.missed) for one in here)} clicks missed")
        clicks, missed = clicks + sum(one.clicks for one in here), missed + sum(len(one.missed) for one in here)
    figures.set("page_clicks", clicks)
    figures.set("page_hit", 1 - missed / clicks)


def choose(toolkit: str, seed: int, steps: int) -> Found:
    """Open menus and lists of a window, and choose entries of them.

    Args:
        toolkit: One of `TOOLKITS`.
        seed: Seed of the window and of what is chosen.
        steps: Number of menus and lists to open.

    Raises:
        NotMeasured: The program does not report what it shows.
    """
    chance, found = random.Random(seed), Found()
    with _window(toolkit, seed, chance) as (shower, corner):
        desktop = shower.desktop

        def report() -> dict[str, Any]:
            return _on_screen(shower.report(), corner)

        for _ in range(steps):
            elements = desktop.observe().elements
            opener = chance.choice(
                [each for each in elements if each.role in _OPENERS or each.name.startswith(_CONTEXT)]
            )
            taken = {opener.text or opener.name} if opener.role == "combo box" else set()
            right = opener.name.startswith(_CONTEXT)
            desktop.perform(Click(element_id=opener.id, button_type="right" if right else "left"))
            name = f"window {seed}, {opener.role} {opener.name or opener.text!r}"
            _choose_entry(desktop, name, report, taken, corner, chance, found)
            for _ in range(_DEEPEST):
                if report()["popovers"]:
                    desktop.perform(Hotkey(keys=("Escape",)))
    return found


def _choose_entry(
    desktop: VirtualDesktop,
    name: str,
    report: Callable[[], dict[str, Any]],
    taken: set[str],
    corner: Point,
    chance: random.Random,
    found: Found,
) -> None:
    """Compare an open menu or list with what is seen, and choose an entry of it, through submenus; add to `found`.

    Args:
        desktop: The desktop.
        name: How it was opened.
        report: Returns what the program shows.
        taken: Entries not to choose; those that are chosen are added.
        corner: The corner from which reports count, px.
        chance: Source of the random choices.
        found: What came of it.
    """
    for _ in range(_DEEPEST):
        elements, shown = desktop.observe().elements, report()
        if not shown["popovers"]:
            found.clicks += 1
            found.missed.append(f"{name}: nothing opened")
            return
        within = _within(shown, elements, corner)
        found.seen.add(name, shown, within, corner)
        found.covered += [f"{name}: {each.role} {each.name!r} is covered" for each in _covered(shown, within, corner)]
        picked = _entry(shown, elements, corner, taken, chance)
        if picked is None:
            return
        entry, element = picked
        found.clicks += 1
        desktop.perform(Click(element_id=element.id))
        taken.add(entry["name"])
        name += f" > {entry['name']}"
        after = report()
        chosen = after["chosen"][len(shown["chosen"]) :]
        if entry["kind"] != "menu":
            found.missed += [f"{name}: chose {chosen}"] if chosen != [entry["name"]] else []
            return
        if not _opened(shown, after):
            found.missed.append(f"{name}: no menu opened")


def choose_in_page(browser: str, seed: int, steps: int) -> Found:
    """Open lists of choices in a page, and choose entries of them; see `choose`."""
    chance, found = random.Random(seed), Found()
    with desktop_without_ocr(SIZE) as desktop:
        page = desktop.home / "lists.html"
        page.write_text(make_page(seed), encoding="utf-8")
        desktop.launch([*BROWSERS[browser], str(page)])
        for _ in range(steps):
            boxes = [each for each in _wait_for_boxes(desktop) if each.text]
            box = chance.choice(boxes)
            desktop.perform(Click(element_id=box.id))
            entries = [
                each for each in desktop.observe().elements if each.role == "menu item" and each.name != box.text
            ]
            found.clicks += 1
            name = f"page {seed}, {box.label or box.name} {box.text}"
            if usable := [each for each in entries if each.name and "disabled" not in each.states]:
                entry = chance.choice(usable)
                desktop.perform(Click(element_id=entry.id))
                if not wait_until(partial(_says, desktop, f"{CHOSEN}{entry.name} "), _LIMIT_S):
                    found.missed.append(f"{name} > {entry.name}: {window_of(desktop, '').title}")
            else:
                found.missed.append(f"{name}: no entry is seen")
            desktop.perform(Hotkey(keys=("Escape",)))
    return found


def _says(desktop: VirtualDesktop, words: str) -> bool:
    """Return whether the title of the window in front begins with some words; the browser's name follows."""
    return window_of(desktop, "").title.startswith(words)


def _wait_for_boxes(desktop: VirtualDesktop) -> list[Element]:
    """Return the lists of choices in a page, once there are some."""
    found: list[Element] = []

    def look() -> bool:
        nonlocal found
        elements = desktop.observe().elements
        found = [each for each in elements if each.role == "combo box" and any("document" in one for one in each.path)]
        return bool(found)

    if not wait_until(look, _LIMIT_S):
        raise NotMeasured("the browser shows no list of choices")
    return found


@contextmanager
def _window(toolkit: str, seed: int, chance: random.Random) -> Iterator[tuple[Program, Point]]:
    """Show a window somewhere, often at an edge; yield its program, and the corner for reports."""
    with program(TOOLKITS[toolkit], seed, SIZE) as shower:
        desktop = shower.desktop
        shower.report()
        window = window_of(desktop, "")
        width, height = (
            max(size, least + _STEP_PX * chance.randrange(20))
            for size, least in ((window.rect.width, 420), (window.rect.height, 300))
        )
        x, y = (chance.choice((0, room, chance.randrange(room))) for room in (SIZE[0] - width, SIZE[1] - height))
        place_window(desktop, window.id, Rect(window.rect.x, window.rect.y, width, height))
        place_window(desktop, window.id, Rect(x, y, 0, 0))  # Swing does not learn of a move that also resizes
        place = window_of(desktop, "").rect
        yield shower, Point(place.x, place.y) if toolkit == "GTK 4" else Point(0, 0)


def _on_screen(shown: Mapping[str, Any], corner: Point) -> dict[str, Any]:
    """Return a report in which what is not whole on the screen has no content."""
    screen, texts, controls = Rect(0, 0, *SIZE), list(shown["texts"]), []
    for control in shown["controls"]:
        place = _rect(control, corner)
        if place.intersection(screen) == place:
            controls.append(control)
        else:
            texts.append({**control, "words": "", "counts": False})
    return {**shown, "texts": texts, "controls": controls}


def _within(shown: Mapping[str, Any], elements: Sequence[Element], corner: Point) -> list[Element]:
    """Return the elements that would be clicked within menus and lists."""
    areas = [_rect(each, corner) for each in shown["popovers"]]
    return [each for each in elements if any(area.contains(each.point or each.rect.center) for area in areas)]


def _covered(shown: Mapping[str, Any], elements: Sequence[Element], corner: Point) -> list[Element]:
    """Return the elements within menus that are not theirs."""
    parts = [_rect(each, corner) for each in shown["texts"]]
    names = {each["name"] for each in shown["controls"]}
    return [
        each
        for each in elements
        if each.name and each.name not in names and not any(map(each.rect.intersection, parts))
    ]  # fmt: skip


def _entry(
    shown: Mapping[str, Any], elements: Sequence[Element], corner: Point, taken: Container[str], chance: random.Random
) -> tuple[Mapping[str, Any], Element] | None:
    """Return an entry that can be chosen and is not taken yet, and its element."""
    entries = [each for each in shown["controls"] if each["kind"] in ("menu", "entry") and not each["disabled"]]
    entries = [each for each in entries if each["name"] not in taken]
    chance.shuffle(entries)
    for entry in entries:
        for element in elements:
            if element.name == entry["name"] and _rect(entry, corner).contains(element.rect.center):
                return entry, element
    return None


def _opened(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return {each["name"] for each in after["controls"]} != {each["name"] for each in before["controls"]}


def _rect(part: Mapping[str, Any], corner: Point) -> Rect:
    return Rect(corner.x + round(part["x"]), corner.y + round(part["y"]), round(part["width"]), round(part["height"]))
