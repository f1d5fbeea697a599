"""Whether what a page shows is seen, in each browser, and whether nothing else is.

The pages of `benchmarks/data/pages` and of MiniWoB++ report their visible texts and controls, each with its box, by a
script that asks the page itself (`probe.js`). `page_seen`: share of them for which an element in the right place has
the text, or the kind, name, content and state of the control. `page_unseen_shown`: share of the elements of texts and
buttons in a page where the page shows nothing.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

from aci.acting.actions import Hotkey, Type, Wait
from aci.desktop.virtual import VirtualDesktop
from aci.observation.geometry import Point
from aci.observation.observation import Observation
from benchmarks.support.figures import Figures, NotMeasured, tell
from benchmarks.support.reference import SYSTEM_PYTHON
from benchmarks.support.reports import wait_until
from benchmarks.support.screens import desktop_without_ocr
from benchmarks.support.truth.shown import NEAR_PX, Comparison
from benchmarks.support.truth.toolkits import PROGRAMS, applications
from evaluation.errors import PagesMissing
from evaluation.miniwob.pages import PACKAGE, find_pages

NAMES = ("page_parts", "page_seen", "page_unseen_shown")
BROWSERS: Mapping[str, Sequence[str]] = {
    "Chromium": ("chromium",),
    "Firefox": ("firefox-esr",),
    "WebKitGTK": (str(SYSTEM_PYTHON), str(PROGRAMS / "webkit_view.py")),
}
SIZE = (1280, 900)
EVERY = 4
"""Every so many pages of MiniWoB++ are shown."""
_PAGES = Path(__file__).parents[2] / "data" / "pages"
_PROBE = "<script src='/probe.js'></script>"
_MARKS = ((10, 200, 30), (200, 10, 30), (30, 10, 200))
_LIMIT_S, _TRIES = 10.0, 3


class _Handler(SimpleHTTPRequestHandler):
    reports: list[dict[str, Any]]

    def __init__(self, reports: list[dict[str, Any]], *more: Any, directory: str) -> None:
        self.reports = reports
        super().__init__(*more, directory=directory)

    def do_POST(self) -> None:
        self.reports.append(json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0)))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Keep the output for figures."""


def measure(figures: Figures, quick: bool) -> None:
    """Set the figures."""
    missing = [argv[0] for argv in BROWSERS.values() if shutil.which(argv[0]) is None]
    if obstacle := ", ".join(missing) or applications()["WebKitGTK"].obstacle:
        raise NotMeasured(f"cannot be started: {obstacle}")
    outcomes = []
    with _serving() as (url, names, reports):
        for browser, argv in BROWSERS.items():
            outcome = _look(argv, url, names[:: 6 if quick else 1], reports)
            for line in (*outcome.unseen, *outcome.phantoms):
                tell(f"  {browser}: {line}")
            tell(f"{browser}: {len(outcome.unseen)} of {outcome.parts} parts unseen, {len(outcome.phantoms)} phantoms")
            outcomes.append(outcome)
    parts, elements = sum(one.parts for one in outcomes), sum(one.elements for one in outcomes)
    figures.set("page_parts", parts)
    figures.set("page_seen", 1 - sum(len(one.unseen) for one in outcomes) / parts)
    figures.set("page_unseen_shown", sum(len(one.phantoms) for one in outcomes) / elements)


@contextmanager
def _serving() -> Iterator[tuple[str, list[str], list[dict[str, Any]]]]:
    """Serve the pages with the script in them; yield the address, their paths, and what they report."""
    try:
        miniwob = find_pages()
    except PagesMissing as error:
        raise NotMeasured(str(error)) from error
    reports: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copytree(miniwob.folder, root, dirs_exist_ok=True)
        shutil.copytree(_PAGES, root, dirs_exist_ok=True)
        names = [*sorted(f"/{each.name}" for each in _PAGES.glob("*.html"))]
        names += [f"/{PACKAGE}/{name}.html" for name in miniwob.names[::EVERY]]
        for name in names:
            page = root / name[1:]
            page.write_text(page.read_text(encoding="utf-8") + _PROBE, encoding="utf-8")
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, reports, directory=folder))
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, name="pages", daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", names, reports
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def _look(argv: Sequence[str], url: str, names: Sequence[str], reports: list[dict[str, Any]]) -> Comparison:
    """Show the pages one after another, and compare what each shows with what is seen."""
    found = Comparison()
    with desktop_without_ocr(SIZE) as desktop:
        for number, name in enumerate(names):
            reports.clear()
            if not number:
                desktop.launch([*argv, f"{url}{name}"], timeout_s=60.0)
            for _ in range(_TRIES):
                if number:
                    desktop.perform(Hotkey(keys=("ctrl", "l")))
                    desktop.perform(Type(text=f"{url}{name}\n"))
                if wait_until(lambda: bool(reports), _LIMIT_S):
                    break
            else:
                raise NotMeasured(f"{name} did not load in {argv[-1]}")
            desktop.perform(Wait(time=0.3))
            _compare(name, reports[0], desktop, found)
    return found


def _compare(name: str, shown: dict[str, Any], desktop: VirtualDesktop, found: Comparison) -> None:
    seen = desktop.observe()
    in_page = [each for each in seen.elements if any(part.startswith("document") for part in each.path)]
    found.add(name, shown, in_page, _corner(seen))


def _corner(seen: Observation) -> Point:
    """Return the pixel of the screen at which the view of the page begins, which its marks tell."""
    pixels = seen.screenshot.astype(int)
    found = np.ones((pixels.shape[0], pixels.shape[1] - 2), bool)
    for at, color in enumerate(_MARKS):
        found &= np.abs(pixels[:, at : pixels.shape[1] - 2 + at] - color).max(axis=2) <= NEAR_PX
    rows, columns = np.nonzero(found)
    if rows.size != 1:
        raise NotMeasured("the marks of the page cannot be seen")
    return Point(int(columns[0]), int(rows[0]))
