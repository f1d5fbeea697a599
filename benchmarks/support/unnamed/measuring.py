"""Pages and programs whose icons and shapes have no names, looked at and judged.

The cases that the search was developed with are other ones: pages of other seeds with other icons of the theme, Draw
and Thunar.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import count

from aci.candidates.finder import CandidateFinder
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Element, Observation
from benchmarks.support.figures import NotMeasured
from benchmarks.support.reports import PageServer
from benchmarks.support.screens import desktop_with_ocr
from benchmarks.support.unnamed.drawing import Page
from benchmarks.support.unnamed.judging import Score
from benchmarks.support.unnamed.pages import pages, theme_icons

SIZE = (1280, 800)
_SEEDS = (21, 22, 23)
_PROGRAMS = (("gimp",), ("lowriter", "--norestore"), ("localc", "--norestore"), ("featherpad",), ("qpdfview",))
_BUTTONS = frozenset({"push button", "toggle button", "radio button"})
_BUTTON_PX = (12, 56)  # shortest and longest side of a button that shows nothing but an icon
_READ_LIMIT_S = 90.0


def measure_candidates(quick: bool) -> Score:
    """Return how many of the things without names became candidates.

    Raises:
        NotMeasured: The icons of the theme are not installed.
    """
    score = Score()
    for page, seen in look_at_pages(quick):
        _judge_page(page, seen, score)
    for argv in _PROGRAMS[:1] if quick else _PROGRAMS:
        with desktop_with_ocr(SIZE) as desktop:
            desktop.launch(argv)
            _judge_buttons(argv[0], _read_to_the_end(desktop), score)
    return score


def look_at_pages(quick: bool) -> Iterator[tuple[Page, Observation]]:
    """Yield each page with the screen that shows it.

    Raises:
        NotMeasured: The icons of the theme are not installed.
    """
    icons = [*theme_icons(1), *theme_icons(2)]
    for seed in _SEEDS[:1] if quick else _SEEDS:
        shown = {f"/{number}": page for number, page in enumerate(pages([seed], icons))}
        with PageServer({path: page.html for path, page in shown.items()}) as server, desktop_with_ocr(SIZE) as desktop:
            for path, page in shown.items():
                url = server.url + path
                desktop.launch(["chromium", f"--app={url}", "--window-size=1260,740", "--window-position=0,0"])
                yield page, _read_to_the_end(desktop)


def _judge_page(page: Page, seen: Observation, score: Score) -> None:
    window = seen.windows[0]
    found = [candidate for candidate in seen.candidates if candidate.window_id == window.id]
    truth = [rect.moved(window.rect.x, window.rect.y) for rect in page.truth]
    score.add(page.name, truth, found, _texts(seen))


def _judge_buttons(name: str, seen: Observation, score: Score) -> None:
    """Hide the buttons that show an icon from the search, and see whether it finds them."""
    hidden = [element for element in seen.elements if _is_icon_button(element)]
    if not hidden:
        raise NotMeasured(f"{name} has no buttons with icons")
    ids = {element.id for element in hidden}
    rest = [element for element in seen.elements if element.id not in ids]
    found = CandidateFinder(count(1)).find(seen.screenshot, rest, seen.windows)
    score.add(name, [element.rect for element in hidden], found, _texts(seen))


def _is_icon_button(element: Element) -> bool:
    fits = all(_BUTTON_PX[0] <= side <= _BUTTON_PX[1] for side in (element.rect.width, element.rect.height))
    return element.role in _BUTTONS and element.point is not None and fits and not (element.text or "").strip()


def _texts(seen: Observation) -> Sequence[Element]:
    return [element for element in seen.elements if element.source == "ocr"]


def _read_to_the_end(desktop: VirtualDesktop) -> Observation:
    """Look until all texts have been recognized and two looks show the same."""
    deadline, before = time.monotonic() + _READ_LIMIT_S, desktop.observe()
    while time.monotonic() < deadline:
        seen = desktop.observe()
        if seen.elements and not seen.unread and [e.id for e in seen.elements] == [e.id for e in before.elements]:
            return seen
        before = seen
    raise NotMeasured(f"the texts of {before.windows[0].title!r} were not recognized within {_READ_LIMIT_S:g} s")
