"""Whether clicks hit what is meant, and whether text that is only pixels becomes elements.

```
python -m benchmarks.grounding --json
```

`click_through`: share of the things to be hit that a click on their element hit, told by the fixtures themselves: a
page of 200 widgets in Chromium and one as sites craft them, which tells itself what of it can be seen, two GTK 3 and
two GTK 4 programs, cells of Calc, menus and toolbars of LibreOffice; what never becomes an element counts as missed.
`point_exact`: share of the pixels of a canvas that were pressed as meant, by pixel, by place, and by coordinates of
pictures that were scaled down, at four scales and on two monitors; `canvas`: share of the shapes on it, in a picture in
GIMP and in a drawing in Draw that were hit; `text_span`: share of the spans that an application copies as they
were selected, in six kinds of texts.
`pointed_pages`: share of the pages of MiniWoB++ that need points, places, paths or spans that were solved by a model
that knows the answers.
`candidates_recall`: share of the icons and shapes without a name, on pages and in programs whose buttons are hidden
from the search, that became candidates; `candidates_wrong_per_right`: candidates that stand for none of them, for each
that does.
`ocr_recall`: share of the labels of 12 px and more on a canvas that became
elements with exactly their text. `ocr_duplicates`: share of recognized texts that an element of the tree at the same
place says already.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from aci.acting.actions import Click, Hotkey, Scroll
from aci.desktop.virtual import VirtualDesktop
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation
from benchmarks.fixtures import gtk3_tokens, gtk4_tokens
from benchmarks.fixtures.canvas_page import canvas_page, labels
from benchmarks.fixtures.widgets_page import COVERED, tokens, widgets_page
from benchmarks.support.clicking import Clicker, Tally, bearing
from benchmarks.support.crafted import click_crafted_page, click_dialog_page, click_program
from benchmarks.support.drawings import measure_drawings
from benchmarks.support.figures import Figures, NotMeasured, command, tell
from benchmarks.support.pointed_pages import measure_pages
from benchmarks.support.pointing import measure_canvas, measure_spans
from benchmarks.support.reference import SYSTEM_PYTHON
from benchmarks.support.reports import FileReports, PageServer, wait_until
from benchmarks.support.screens import FULL_HD, desktop_with_ocr, desktop_without_ocr, open_all, open_program
from benchmarks.support.steps import find
from benchmarks.support.unnamed.measuring import measure_candidates

NAMES = (
    *("click_through", "ocr_recall", "ocr_duplicates", "candidates_recall", "candidates_wrong_per_right"),
    *("point_exact", "canvas", "text_span", "pointed_pages"),
)
SIZE = (1280, 800)
PROGRAMS = Path(__file__).parent / "fixtures"
READY_LIMIT_S = 8.0
READING_LIMIT_S, STILL_READING_S = 30.0, 4.0
"""Longest time for recognizing a screen, and for a look to bring anything new."""
CELLS = 40
MENU_ITEMS = (
    ("File", "Properties", "Properties"),
    ("Edit", "Find and Replace", "Find and Replace"),
    ("Insert", "Hyperlink", "Hyperlink"),
    ("Format", "Character", "Character"),
    ("Format", "Paragraph", "Paragraph"),
    ("Table", "Insert Table", "Insert Table"),
    ("Tools", "Word Count", "Word Count"),
    ("Tools", "Options", "Options"),
    ("Help", "About LibreOffice", "About LibreOffice"),
)
"""Menu of Writer, beginning of an entry's name, and of the title of the window that it opens."""
TOOLBAR = ("Bold", "Italic", "Underline", "Align Center", "Align Right", "Align Left", "Center Horizontally")


def main() -> int:
    """Measure, and print the figures; with --json the last line is one JSON object."""

    def options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--only", choices=(*_CLICKED, *_PARTS), help="one part only")

    return command("grounding", __doc__ or "", measure, options)


def measure(wanted: argparse.Namespace) -> Figures:
    """Measure everything."""
    figures, tally, quick = Figures(NAMES), Tally(), bool(wanted.quick)
    reasons = []
    for name, click in _CLICKED.items():
        if wanted.only in (None, name):
            started = time.monotonic()
            try:
                click(tally, quick)
            except NotMeasured as missing:
                reasons.append(f"{name}: {missing}")
            tell(f"[{name}: {time.monotonic() - started:.0f} s]")
    tally.tell()
    for reason in reasons:
        tell(f"left out of click_through: {reason}")
    if tally.tried:
        figures.set("click_through", tally.hits / tally.tried)
    if wanted.only is None:
        with figures.part("ocr_recall", "ocr_duplicates"):
            recall, duplicates = _recognition()
            figures.set("ocr_recall", recall)
            figures.set("ocr_duplicates", duplicates)
    for part, run in _PARTS.items():
        if wanted.only in (None, part):
            run(figures, quick)
    return figures


def _pointing(figures: Figures, quick: bool) -> None:
    with figures.part("point_exact", "canvas"):
        exact, shapes = measure_canvas(quick)
        tell(f"point_exact: {sum(exact)} of {len(exact)}")
        figures.set("point_exact", sum(exact) / len(exact))
        shapes += measure_drawings(quick)
        tell(f"canvas: {sum(shapes)} of {len(shapes)}")
        figures.set("canvas", sum(shapes) / len(shapes))


def _spans(figures: Figures, quick: bool) -> None:
    with figures.part("text_span"):
        spans = measure_spans(quick)
        tell(f"text_span: {sum(spans)} of {len(spans)}")
        figures.set("text_span", sum(spans) / len(spans))


def _pages(figures: Figures, quick: bool) -> None:
    with figures.part("pointed_pages"):
        solved = [all(each) for each in measure_pages((2,) if quick else (1, 2)).values()]
        tell(f"pointed_pages: {sum(solved)} of {len(solved)}")
        figures.set("pointed_pages", sum(solved) / len(solved))


def _candidates(figures: Figures, quick: bool) -> None:
    with figures.part("candidates_recall", "candidates_wrong_per_right"):
        score = measure_candidates(quick)
        tell(f"candidates: {score}")
        figures.set("candidates_recall", score.recall)
        figures.set("candidates_wrong_per_right", score.wrong_per_right)


_PARTS = {"pointing": _pointing, "spans": _spans, "pages": _pages, "candidates": _candidates}


def click_page(tally: Tally, quick: bool) -> None:
    """Click through the page of widgets."""
    with PageServer({"/": widgets_page()}) as server, desktop_without_ocr(SIZE) as desktop:
        process = desktop.launch(["chromium", server.url + "/"])
        pid = _pid_of(desktop, "chromium") or process.pid
        _wait_for(desktop, lambda seen: bearing("w007", seen, pid) is not None)
        wanted = tokens() if not quick else random.Random(1).sample(tokens(), 24)
        clicker = Clicker(desktop, server, "page", pid, tally)
        clicker.click_all(wanted, ("^Option w", "^Item w", r"^Scrolled link w\d+$"), "^(Link|Button|Part|Titled|Tab) w")
        seen = desktop.observe()
        phantoms = [token for token in COVERED if bearing(token, seen, pid) is not None]
        if phantoms:
            tell(f"  page: elements that a layer of the page hides: {phantoms}")


def click_crafted(tally: Tally, quick: bool) -> None:
    """Click through the crafted page and the modal dialog."""
    with desktop_without_ocr(SIZE) as desktop:
        click_crafted_page(desktop, tally, views=1 if quick else 9)
    if not quick:
        with desktop_without_ocr(SIZE) as desktop:
            click_dialog_page(desktop, tally)


def click_layers(tally: Tally, quick: bool) -> None:
    """Click through the programs with layers, trees and icons."""
    if not SYSTEM_PYTHON.exists():
        raise NotMeasured(f"there is no {SYSTEM_PYTHON}")
    for name, letter in (("gtk3_crafted", "p"), ("gtk4_crafted", "r"))[: 1 if quick else 2]:
        with desktop_without_ocr(SIZE) as desktop:
            reports = FileReports(desktop.home / "hits.txt")
            process = desktop.launch([str(SYSTEM_PYTHON), str(PROGRAMS / f"{name}.py"), str(reports.path)])
            _wait_for(desktop, lambda seen: len(seen.elements) > 10)
            if not process.running:
                raise NotMeasured(f"{name} ended: {process.last_words}")
            click_program(desktop, reports, letter, tally, name)


def click_gtk3(tally: Tally, quick: bool) -> None:
    """Click through the GTK 3 program."""
    _click_program("gtk3_widgets", gtk3_tokens(), ("First", "Second"), "Row g|Line g", tally, quick)


def click_gtk4(tally: Tally, quick: bool) -> None:
    """Click through the GTK 4 program."""
    _click_program("gtk4_widgets", gtk4_tokens(), ("Choose",), "Row h", tally, quick)


def _click_program(
    name: str, wanted: Sequence[str], menus: Sequence[str], rows: str, tally: Tally, quick: bool
) -> None:
    if not SYSTEM_PYTHON.exists():
        raise NotMeasured(f"there is no {SYSTEM_PYTHON}")
    with desktop_without_ocr(SIZE) as desktop:
        reports = FileReports(desktop.home / "hits.txt")
        process = desktop.launch([str(SYSTEM_PYTHON), str(PROGRAMS / f"{name}.py"), str(reports.path)])
        _wait_for(desktop, lambda seen: len(seen.elements) > 10)
        if not process.running:
            raise NotMeasured(f"{name} ended: {process.last_words}")
        clicker = Clicker(desktop, reports, name, process.pid, tally)
        in_menus = set()
        for menu in menus:
            in_menus |= _click_menu(desktop, clicker, menu, process.pid, wanted)
        rest = [token for token in wanted if token not in in_menus]
        clicker.click_all(rest[:12] if quick else rest, tuple(f"^{part}" for part in rows.split("|")))


def _click_menu(desktop: VirtualDesktop, clicker: Clicker, menu: str, pid: int, wanted: Sequence[str]) -> set[str]:
    """Open a menu for each of its entries, and click that; return the tokens that it has."""
    done: set[str] = set()
    while True:
        seen = desktop.observe()
        heads = [element for element in seen.elements if element.name == menu and element.point is not None]
        if not heads or not desktop.perform(Click(element_id=heads[0].id)).ok:
            return done
        seen = desktop.observe()
        opened = {element.name for element in seen.elements} - {menu}
        token = next(
            (token for token in wanted if token not in done and bearing(token, seen, pid) and _entry(token, opened)),
            None,
        )
        if token is None:
            desktop.perform(Hotkey(keys=("Escape",)))
            return done
        done.add(token)
        clicker.click(token, seen)


def _entry(token: str, names: set[str]) -> bool:
    return any(re.fullmatch(rf"(Checked entry|Entry) {token}", name) for name in names)


def click_cells(tally: Tally, quick: bool) -> None:
    """Click cells of a sheet; its name box tells which one was hit."""
    chance = random.Random(5)
    with desktop_without_ocr(SIZE) as desktop:
        window = open_program(desktop, "calc", Rect(0, 20, *SIZE))
        _wait_for(desktop, lambda seen: len(_cells(seen)) > 20)
        for scrolled in (0, -3, -7, 4):
            seen = desktop.observe()
            if scrolled:
                desktop.perform(Scroll(element_id=chance.choice(_cells(seen)).id, clicks=scrolled))
            for _ in range(3 if quick else CELLS // 4):
                cell = chance.choice(_cells(desktop.observe()))
                result = desktop.perform(Click(element_id=cell.id))
                hit = wait_until(lambda cell=cell: _name_box(desktop.observe()) == cell.name, 1.5)  # type: ignore[misc]
                read = _name_box(desktop.observe())
                tally.add("cells", hit, f"{cell.name} {cell.rect} at {cell.point}: {result.error or read}")
                tally.outside += desktop.x11.screen.active_window() != window.id


def click_office(tally: Tally, quick: bool) -> None:
    """Click menus and toolbars of Writer; the window that opens and the state of the button tell what was hit."""
    with desktop_without_ocr(SIZE) as desktop:
        open_program(desktop, "writer", Rect(0, 20, *SIZE))
        _wait_for(desktop, lambda seen: bool(find(seen, "soffice", "menu", "File")))
        for menu, entry, title in MENU_ITEMS[:2] if quick else MENU_ITEMS:
            _click_menu_entry(desktop, tally, menu, entry, title)
        for name in TOOLBAR[:2] if quick else TOOLBAR:
            _click_tool(desktop, tally, name)


def _click_menu_entry(desktop: VirtualDesktop, tally: Tally, menu: str, entry: str, title: str) -> None:
    what = f"menu {menu} > {entry}"
    before = {window.id for window in desktop.x11.screen.windows()}
    trouble = _clicked(desktop, "menu", menu) or _clicked(desktop, "(check )?menu item", f"{re.escape(entry)}.*")
    opened = not trouble and wait_until(lambda: title in _active_title(desktop), 4.0)
    tally.add("office", opened, f"{what}: {trouble or f'the active window is {_active_title(desktop)!r}'}")
    for _ in range(4):
        if not {window.id for window in desktop.x11.screen.windows()} - before:
            return
        desktop.perform(Hotkey(keys=("Escape",)))


def _click_tool(desktop: VirtualDesktop, tally: Tally, name: str) -> None:
    found = find(desktop.observe(), "soffice", "toggle button|push button", name)
    if not found:
        return  # Which buttons a toolbar has depends on its width.
    was = _is_on(found[0])
    trouble = _clicked(desktop, "toggle button|push button", name)

    def turned() -> bool:
        now = find(desktop.observe(), "soffice", "toggle button|push button", name)
        return bool(now) and (_is_on(now[0]) != was or (was and name.startswith("Align")))

    hit = not trouble and wait_until(turned, 2.0)
    tally.add("office", hit, f"button {name}: {trouble or 'its state did not change'}")


def _is_on(element: Element) -> bool:
    return bool(element.states & {"pressed", "checked"})


def _clicked(desktop: VirtualDesktop, role: str, name: str) -> str:
    """Click what has a role and name; return why that was not possible, or an empty text."""
    found = find(desktop.observe(), "soffice", role, name)
    if not found:
        return f"there is no {role} {name!r}"
    return desktop.perform(Click(element_id=found[0].id)).error or ""


def _active_title(desktop: VirtualDesktop) -> str:
    screen = desktop.x11.screen
    active = screen.active_window()
    return next((window.title for window in screen.windows() if window.id == active), "")


def _recognition() -> tuple[float, float]:
    """Return recall of labels that are only pixels, and the share of recognized texts that the tree tells as well."""
    recognized = doubled = 0
    with PageServer({"/": canvas_page()}) as server, desktop_with_ocr(SIZE) as desktop:
        desktop.launch(["chromium", f"--app={server.url}/", "--window-size=1270,790", "--window-position=0,0"])
        seen = _read_to_the_end(desktop)
        texts = {_collapse(element.name or element.text or "") for element in _recognized(seen)}
        missed = [label for label in labels() if label not in texts]
        tell(f"canvas: {len(labels()) - len(missed)} of {len(labels())} labels read exactly; not: {missed[:20]}")
        tell(f"  read: {sorted(texts - set(labels()))[:30]}")
        recall = 1 - len(missed) / len(labels())
        counted = _doubles(seen)
        recognized, doubled = len(_recognized(seen)), len(counted)
    with desktop_with_ocr(FULL_HD) as desktop:
        open_all(desktop)
        seen = _read_to_the_end(desktop)
        counted += (more := _doubles(seen))
        recognized, doubled = recognized + len(_recognized(seen)), doubled + len(more)
    tell(f"{recognized} recognized texts, {doubled} of them told by the tree: {counted[:20]}")
    if not recognized:
        raise NotMeasured("no text was recognized")
    return recall, doubled / recognized


def _read_to_the_end(desktop: VirtualDesktop) -> Observation:
    """Look until no more texts are recognized: what did not fit into one look is read on and appears in a later one."""
    seen = desktop.observe()
    counts = [len(_recognized(seen))]
    started = grown = time.monotonic()
    while time.monotonic() < started + READING_LIMIT_S and time.monotonic() < grown + STILL_READING_S:
        seen = desktop.observe()
        if len(_recognized(seen)) != counts[-1]:
            grown = time.monotonic()
            counts.append(len(_recognized(seen)))
    tell(f"  recognized texts, look by look: {counts}; notes: {seen.notes}")
    return seen


def _recognized(seen: Observation) -> list[Element]:
    return [element for element in seen.elements if element.source == "ocr"]


def _doubles(seen: Observation) -> list[str]:
    tree = [element for element in seen.elements if element.source == "accessibility"]
    return [text.name for text in _recognized(seen) if any(_says(element, text) for element in tree)]


def _says(element: Element, text: Element) -> bool:
    """Tell whether an element of the tree says what was recognized within it."""
    common = element.rect.intersection(text.rect)
    if element.window_id != text.window_id or common is None or 2 * common.area < text.rect.area:
        return False
    told = " ".join((element.name, element.text or "", element.description, element.label))
    return _plain(text.name) in _plain(told) and bool(_plain(text.name))


def _plain(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _collapse(text: str) -> str:
    return " ".join(text.split())


def _cells(seen: Observation) -> list[Element]:
    found = find(seen, "soffice", "table cell", "[A-Z]+[0-9]+")
    return [cell for cell in found if cell.rect.width > 12 and cell.rect.height > 8]


def _name_box(seen: Observation) -> str:
    texts = (e.text or "" for e in seen.elements if e.role in ("text", "combo box", "entry"))
    return next((text for text in texts if re.fullmatch(r"[A-Z]{1,3}[0-9]+", text)), "")


def _pid_of(desktop: VirtualDesktop, app: str) -> int | None:
    return next((window.pid for window in desktop.x11.screen.windows() if app in window.app.casefold()), None)


def _wait_for(desktop: VirtualDesktop, ready: Callable[[Observation], bool]) -> None:
    if not wait_until(lambda: ready(desktop.observe()), READY_LIMIT_S):
        raise NotMeasured(f"the program showed nothing to click within {READY_LIMIT_S:g} s")


_CLICKED: dict[str, Callable[[Tally, bool], None]] = {
    "page": click_page,
    "crafted": click_crafted,
    "layers": click_layers,
    "gtk3": click_gtk3,
    "gtk4": click_gtk4,
    "cells": click_cells,
    "office": click_office,
}

if __name__ == "__main__":
    sys.exit(main())
