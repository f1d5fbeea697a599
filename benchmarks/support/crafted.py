"""Clicking through the crafted fixtures, and counting what of them can be seen and is no element."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aci.acting.actions import Click, Hotkey, Scroll
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Element, Observation
from benchmarks.fixtures.crafted_page import crafted_page, dialog_page
from benchmarks.support.clicking import TEXTS, Tally, bears
from benchmarks.support.figures import NotMeasured, tell
from benchmarks.support.reports import FileReports, PageServer, Reports, wait_until

HIT_LIMIT_S = 1.0
ANSWER_LIMIT_S = 8.0
OVERLAP_PX = 200
SCROLLED = (0, 60, 110)
"""How far the boxes of the page that scroll are scrolled at each place of the page, px."""
WHEELED = ("Place", "Flow", "Line", "Item", "File|Folder")
"""Beginnings of the names of what lies in boxes of the programs that scroll."""


@dataclass(frozen=True, slots=True)
class View:
    """What a page tells of itself at one place."""

    # roles and name, "" where either does not matter, of what can be seen, by its token
    shown: Mapping[str, Sequence[str]]
    height: int  # of the page, px
    part: int  # what of that can be seen at once, px


class Guide:
    """Scrolls a page and asks it what can be seen."""

    def __init__(self, html: str) -> None:
        """Take the page, not yet served."""
        self._number = 0
        self._pages = {"/": html}
        self.server = PageServer(self._pages)
        self._order(0, 0)

    def look(self, top: int, inner: int = 0) -> View:
        """Scroll to a place, px, and return what the page tells.

        Raises:
            NotMeasured: The page does not answer.
        """
        self._order(top, inner)
        if not wait_until(lambda: self._told().get("number") == self._number, ANSWER_LIMIT_S):
            raise NotMeasured("the page does not answer")
        told = self._told()
        return View(told["shown"], told["height"], told["view"])

    def _order(self, top: int, inner: int) -> None:
        self._number += 1
        self._pages["/order"] = json.dumps({"number": self._number, "top": top, "inner": inner})

    def _told(self) -> dict[str, Any]:
        return dict(json.loads(self.server.text or "{}"))


def click_crafted_page(desktop: VirtualDesktop, tally: Tally, views: int) -> None:
    """Click what the crafted page says can be seen, at its first `views` places; desktop and browser are up to us."""
    _click_page(desktop, crafted_page(), "crafted page", tally, views)


def click_dialog_page(desktop: VirtualDesktop, tally: Tally) -> None:
    """Click what a modal dialog leaves to be used."""
    _click_page(desktop, dialog_page(), "dialog page", tally, 1)


def _click_page(desktop: VirtualDesktop, html: str, fixture: str, tally: Tally, views: int) -> None:
    guide = Guide(html)
    with guide.server:
        process = desktop.launch(["chromium", f"--app={guide.server.url}/", "--window-size=1240,780"])
        view = guide.look(0)
        tried: set[str] = set()
        shown: set[str] = set()
        phantoms: set[str] = set()
        for top in list(range(0, max(1, view.height - OVERLAP_PX), view.part - OVERLAP_PX))[:views]:
            for inner in SCROLLED:
                view = guide.look(top, inner)
                shown |= view.shown.keys()
                phantoms |= _phantoms(desktop.observe(), view)
                _click_view(desktop, guide, view, tally, fixture, tried)
        for token in sorted(shown - tried):
            tally.add(fixture, False, f"{token} can be seen and was never an element")
        if phantoms:
            tell(f"  {fixture}: elements at first sight that cannot be seen: {sorted(phantoms)}")
        desktop.perform(Hotkey(keys=("ctrl", "w")))
        wait_until(lambda: not process.running, ANSWER_LIMIT_S)


def _click_view(desktop: VirtualDesktop, guide: Guide, view: View, tally: Tally, fixture: str, tried: set[str]) -> None:
    alone = _windows(desktop)
    for token, wanted in view.shown.items():
        if _windows(desktop) - alone:  # a dialog that took its time
            desktop.perform(Hotkey(keys=("Escape",)))
            wait_until(lambda: not _windows(desktop) - alone, HIT_LIMIT_S)
        element = None if token in tried else _bearing(token, desktop.observe(), wanted)
        if element is not None:
            tried.add(token)
            _click(desktop, guide.server, token, element, tally, fixture)


def click_program(desktop: VirtualDesktop, reports: FileReports, letter: str, tally: Tally, fixture: str) -> None:
    """Click everything in a program whose name bears a token that begins with a letter."""
    tried: set[str] = set()
    pattern = re.compile(rf"\b{letter}\d\d\d\b")
    for _ in range(4):
        _click_all(desktop, reports, pattern, tally, fixture, tried)
        seen = desktop.observe()
        for name in WHEELED:
            found = [e for e in seen.elements if re.match(name, e.name) and e.point is not None]
            if found:
                desktop.perform(Scroll(element_id=found[-1].id, clicks=-2))


def _click_all(
    desktop: VirtualDesktop,
    reports: FileReports,
    pattern: re.Pattern[str],
    tally: Tally,
    fixture: str,
    tried: set[str],
) -> None:
    while True:
        seen = desktop.observe()
        tokens = {token for element in seen.elements for token in pattern.findall(f"{element.name} {element.label}")}
        ready = ((token, _bearing(token, seen)) for token in sorted(tokens - tried))
        token, element = next(((token, found) for token, found in ready if found is not None), ("", None))
        if element is None:
            return
        tried.add(token)
        if element.role not in TEXTS:
            _click(desktop, reports, token, element, tally, fixture)


def _click(desktop: VirtualDesktop, reports: Reports, token: str, element: Element, tally: Tally, fixture: str) -> None:
    before, count = _windows(desktop), len(reports.lines())
    result = desktop.perform(Click(element_id=element.id))
    if "disabled" in element.states:
        return  # It need not report.
    if result.ok:
        wait_until(lambda: len(reports.lines()) > count, HIT_LIMIT_S)
    hits = reports.lines()[count:]
    trouble = result.error or f"hit {hits or 'nothing'}"
    tally.add(fixture, token in hits, f"{token} {element.role} {element.rect} at {element.point}: {trouble}")
    if _windows(desktop) - before or element.role in ("combo box", "date editor") or element.name.startswith("In menu"):
        desktop.perform(Hotkey(keys=("Escape",)))


def _windows(desktop: VirtualDesktop) -> set[int]:
    return {window.id for window in desktop.x11.screen.windows()}


def _phantoms(seen: Observation, view: View) -> set[str]:
    usable = [element for element in seen.elements if element.point is not None and element.role not in TEXTS]
    tokens = {token for element in usable for token in re.findall(r"\b[vd]\d\d\d\b", element.name)}
    return tokens - view.shown.keys()


def _bearing(token: str, seen: Observation, wanted: Sequence[str] = ("", "")) -> Element | None:
    """Return the element that bears a token: one of the role that is wanted, and rather a small one than its box."""
    pattern = re.compile(rf"\b{re.escape(token)}\b")
    found = [element for element in seen.elements if element.point is not None and bears(pattern, element)]
    roles = wanted[0].split("|")

    def order(element: Element) -> tuple[bool, bool, bool, int]:
        named = bool(pattern.search(f"{element.name} {element.label}"))
        return element.role not in roles, not named, element.role in TEXTS, element.rect.area

    return min(found, key=order, default=None)
