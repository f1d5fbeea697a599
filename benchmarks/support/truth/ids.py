"""Whether an id ever names another object, and whether elements that stay keep theirs.

Lists, feeds, calendars and tables are scrolled, sorted and refilled, in Chromium (the page says over its debugging port
which object lies where), in GTK 3, GTK 4 and Thunar (the model does) and in Calc (the content of each cell is known).

`id_views`: how many views were looked at. `id_moved`: how often an id named another object than before. `id_kept`:
share of the objects seen in two views in a row that kept their ids.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aci.acting.actions import Hotkey, Type, Wait
from aci.desktop.virtual import VirtualDesktop
from aci.errors import LaunchFailed
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation
from benchmarks import fixtures
from benchmarks.fixtures.documents import write_book
from benchmarks.fixtures.refilled_pages import PAGES
from benchmarks.support.figures import Figures, NotMeasured, tell
from benchmarks.support.reference import SYSTEM_PYTHON
from benchmarks.support.reports import PageServer
from benchmarks.support.screens import desktop_without_ocr
from evaluation.state.devtools import PORT_FILE, DevTools

NAMES = ("id_views", "id_moved", "id_kept")
SIZE = (1280, 800)
VIEWS_PER_PAGE = 24
_LOAD_LIMIT_S = 10.0

_KEYED = """(() => { const found = [];
const box = document.getElementById('view').getBoundingClientRect();
for (const e of document.querySelectorAll('[data-key]')) { const r = e.getBoundingClientRect();
  const inside = document.getElementById('view').contains(e);
  const top = inside ? Math.max(r.top, box.top) : r.top, bottom = inside ? Math.min(r.bottom, box.bottom) : r.bottom;
  if (r.width && bottom > top) found.push([e.dataset.key, r.x, top, r.width, bottom - top]); }
return found; })()"""

_RECORD = re.compile(r"[a-z]+ ([0-9]+)$")
Truth = list[tuple[str, Rect]]
"""Objects and where they lie on the screen, px."""


@dataclass(slots=True)
class Tally:
    """What became of the ids."""

    views: int = 0  # views looked at
    named: dict[int, tuple[str, str]] = field(default_factory=dict)  # what each id was seen to name
    last: dict[tuple[str, str, str], int] = field(default_factory=dict)  # the id of each object in the latest view
    moved: list[str] = field(default_factory=list)  # a line for each id that named something else
    stayed: int = 0  # objects seen in two views in a row
    kept: int = 0  # those of them with the same id

    def begin(self) -> tuple[int, int, int]:
        """Begin with a new desktop, on which ids begin anew; return what `_tell_scene` needs."""
        self.named.clear()
        self.last = {}
        return self.kept, self.stayed, len(self.moved)

    def see(self, scene: str, seen: Observation, name_of: Callable[[Element], str | None]) -> None:
        """Compare a view with those before."""
        self.views += 1
        now: dict[tuple[str, str, str], int] = {}
        for element in seen.elements:
            name = name_of(element)
            if name is None:
                continue
            record, _, kind = name.partition("/")
            before = self.named.get(element.id)
            if before is not None and (before[0] != record or (before[1] and kind and before[1] != kind)):
                self.moved.append(f"{scene}: {element.id} {element.role} {element.name!r} was {before}, is {name}")
            self.named[element.id] = (record, kind)
            now.setdefault((name, element.role, element.name), element.id)
        for what, identity in now.items():
            if what in self.last:
                self.stayed += 1
                self.kept += self.last[what] == identity
        self.last = now


def measure(figures: Figures, quick: bool) -> None:
    """Look at all scenes."""
    tally = Tally()
    count = 6 if quick else VIEWS_PER_PAGE
    for scene in (in_pages, in_lists, in_calc, in_thunar):
        with suppress(LaunchFailed):  # what is not installed is not looked at
            scene(tally, count)
    tell(f"ids: {tally.views} views, {tally.kept} of {tally.stayed} kept, {len(tally.moved)} moved")
    for line in tally.moved[:40]:
        tell(f"    {line}")
    if not tally.stayed:
        raise NotMeasured("nothing was seen twice")
    figures.set("id_views", tally.views)
    figures.set("id_moved", len(tally.moved))
    figures.set("id_kept", tally.kept / tally.stayed)


def in_pages(tally: Tally, count: int, only: str = "") -> None:
    """Scroll and refill the pages in Chromium."""
    with PageServer(PAGES) as server, desktop_without_ocr(SIZE) as desktop, browser(desktop) as tools:
        target = tools.attach(tools.pages()[0])
        for path in PAGES:
            if only and only not in path:
                continue
            tools.call("Page.navigate", {"url": server.url + path}, target)
            until(lambda: tools.evaluate(target, "typeof step === 'function' && document.readyState === 'complete'"))
            desktop.perform(Wait(time=0.8))
            before = tally.begin()
            for amount in _amounts(path, count):
                _look(tally, path[1:], desktop, lambda: tools.evaluate(target, _KEYED), _in_page)
                tools.evaluate(target, f"step({amount}), 0")
                desktop.perform(Wait(time=0.35))
            _tell_scene(path[1:], tally, before)


def in_lists(tally: Tally, count: int) -> None:
    """Scroll, sort and refill lists of GTK 3 and GTK 4."""
    for program, kind in (("gtk3", "tree"), ("gtk3", "boxes"), ("gtk3", "icons"), ("gtk4", "list"), ("gtk4", "grid")):
        with desktop_without_ocr(SIZE) as desktop:
            commands, truth = desktop.home / "commands", desktop.home / "truth"
            fixture = Path(fixtures.__file__).with_name(f"{program}_lists.py")
            desktop.launch([str(SYSTEM_PYTHON), str(fixture), kind, str(commands), str(truth)])
            until(truth.exists)
            _step_through(tally, f"{program} {kind}", desktop, commands, truth, _amounts(kind, count))


def _step_through(
    tally: Tally, scene: str, desktop: VirtualDesktop, commands: Path, truth: Path, amounts: list[int]
) -> None:
    def told() -> Any:
        return json.loads(truth.read_text(encoding="utf-8"))

    before = tally.begin()
    for number, amount in enumerate(amounts):
        until(lambda: told()[0] == number)  # noqa: B023
        desktop.perform(Wait(time=0.2))
        if scene in ("gtk3 tree", "gtk3 boxes"):
            _look(tally, scene, desktop, lambda: told()[1])
        else:  # the toolkit reports wrong places when these are scrolled; names are unique in the model
            tally.see(scene, desktop.observe(), _record)
        with commands.open("a", encoding="utf-8") as file:
            file.write(f"{amount}\n")
    _tell_scene(scene, tally, before)


def in_calc(tally: Tally, count: int) -> None:
    """Scroll two sheets and switch between them; the content of each cell says which one it is."""
    with desktop_without_ocr(SIZE) as desktop:
        book = write_book(desktop.home)
        desktop.launch(["localc", "--norestore", str(book)], timeout_s=60)
        until(lambda: any(element.text == "Plan A1" for element in desktop.observe().elements), 30.0)
        before = tally.begin()
        keys = ["pagedown", "down", "ctrl+pagedown", "pagedown", "alt+pagedown", "ctrl+pageup", "pageup", "ctrl+home"]
        for number in range(count):
            seen = desktop.observe()
            tally.see("calc", seen, lambda one: one.text or None if one.role == "table cell" else None)
            desktop.perform(Hotkey(keys=keys[number % len(keys)].split("+")))
        _tell_scene("calc", tally, before)


def in_thunar(tally: Tally, count: int) -> None:
    """Look into folders that have files of the same names, and scroll them."""
    with desktop_without_ocr(SIZE) as desktop:
        folders = [desktop.home / "many" / name for name in ("first", "second")]
        for folder in folders:
            folder.mkdir(parents=True)
            for number in range(70):
                (folder / f"note {number:02}.txt").write_text("x", encoding="utf-8")
        desktop.launch(["thunar", str(folders[0])])
        desktop.perform(Hotkey(keys=["ctrl", "2"]))  # as a list; its icons are not in the tree
        before = tally.begin()
        for number in range(count):
            seen = desktop.observe()
            title = next((window.title for window in seen.windows if not window.popup), "")
            here = title.split(" - ")[0]
            tally.see("thunar", seen, lambda one: _file(one, here))  # noqa: B023
            if number % 4 == 3:
                desktop.perform(Hotkey(keys=["ctrl", "l"]))
                desktop.perform(Type(text=str(folders[number // 4 % 2 - 1]), overwrite=True, enter=True))
            else:
                desktop.perform(Hotkey(keys=["pagedown" if number % 4 < 2 else "home"]))
        _tell_scene("thunar", tally, before)


def _file(element: Element, folder: str) -> str | None:
    return f"{folder} {element.name}" if element.name.startswith("note ") else None


def _amounts(scene: str, count: int) -> list[int]:
    return random.Random(scene).choices([-6, -3, -2, -1, 1, 1, 2, 2, 3, 4, 5, 8, 14], k=count)


def _tell_scene(scene: str, tally: Tally, before: tuple[int, int, int]) -> None:
    kept, stayed, moved = tally.kept - before[0], tally.stayed - before[1], len(tally.moved) - before[2]
    tell(f"  {scene}: {kept} of {stayed} kept, {moved} moved")


def _look(
    tally: Tally,
    scene: str,
    desktop: VirtualDesktop,
    read: Callable[[], Any],
    counts: Callable[[Element], bool] = lambda element: True,
) -> None:
    before = read()
    seen = desktop.observe()
    if before != read():
        return  # it was still moving
    zero = next((one for one in seen.elements if one.name == "Zero point"), None)
    place = next(
        (Rect(round(x), round(y), round(w), round(h)) for key, x, y, w, h in before if key == "page/zero"), None
    )
    if zero is None or place is None:
        return
    shift = zero.rect.x - place.x, zero.rect.y - place.y
    truth = [
        (f"{scene}:{key}", Rect(round(x), round(y), round(w), round(h)).moved(*shift)) for key, x, y, w, h in before
    ]
    tally.see(scene, seen, lambda element: _at(truth, element) if counts(element) else None)


def _record(element: Element) -> str | None:
    """Return the number of the record that an element, or the row around it, is named after."""
    for said in (element.name, *reversed(element.path)):
        if match := _RECORD.search(said):
            return match[1] + ("" if said is element.name else f"/{element.name}")
    return None


def _in_page(element: Element) -> bool:
    return any(part.startswith("document web:") for part in element.path)


def _at(truth: Truth, element: Element) -> str | None:
    """Return the smallest known object around the middle of an element, unless that is far smaller or larger."""
    around = [(rect.area, key) for key, rect in truth if rect.contains(element.rect.center)]
    if not around:
        return None
    area, key = min(around)
    return key if area / 6 <= element.rect.area <= area * 6 else None


@contextmanager
def browser(desktop: VirtualDesktop) -> Iterator[DevTools]:
    """Start Chromium, and return the connection to its debugging port."""
    profile = desktop.home / "refilled"
    desktop.launch(["chromium", f"--user-data-dir={profile}", "--remote-debugging-port=0", "about:blank"])
    until((profile / PORT_FILE).exists)
    tools = DevTools(profile)
    try:
        yield tools
    finally:
        tools.close()


def until(holds: Callable[[], bool], limit_s: float = _LOAD_LIMIT_S) -> None:
    """Wait until something holds, for a bounded time."""
    deadline = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > deadline:
            raise NotMeasured("what was waited for did not come")
        time.sleep(0.05)
