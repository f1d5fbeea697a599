"""The screens that are measured: one application each, and all of them at once side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aci.desktop.virtual import VirtualDesktop
from aci.observation.geometry import Rect
from aci.observation.observation import Window
from benchmarks.fixtures.documents import write_letter, write_page, write_sheet
from benchmarks.support.figures import NotMeasured

FULL_HD = (1920, 1080)
_REMOVE, _SOURCE_PAGER = 0, 2
_PLACED_LIMIT_S = 5.0
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Program:
    """A program of a screen."""

    name: str  # what it is called here
    argv: Callable[[VirtualDesktop], Sequence[str]]  # returns how it is started, after writing what it shows
    app: str  # part of its windows' application name, in lower case
    place: Rect | None  # where its window stands when all are open at once, px; None where it keeps its own size


PROGRAMS: Mapping[str, Program] = {
    program.name: program
    for program in (
        Program("mousepad", lambda _: ["mousepad"], "mousepad", Rect(770, 690, 520, 360)),
        Program("chromium", lambda d: ["chromium", str(write_page(d.home))], "chromium", Rect(0, 0, 960, 650)),
        Program("calc", lambda d: ["localc", "--norestore", str(write_sheet(d.home))], "libreoffice-calc",
                Rect(965, 25, 950, 620)),
        Program("writer", lambda d: ["lowriter", "--norestore", str(write_letter(d.home))], "libreoffice-writer",
                Rect(5, 690, 750, 380)),
        Program("calculator", lambda _: ["gnome-calculator"], "calculator", Rect(1400, 640, 0, 0)),
    )
}  # fmt: skip


def open_program(desktop: VirtualDesktop, name: str, place: Rect | None = None) -> Window:
    """Start one program and return its window, moved and sized where that is asked for."""
    program = PROGRAMS[name]
    desktop.launch(program.argv(desktop))
    window = window_of(desktop, program.app)
    if place is None:
        return window
    place_window(desktop, window.id, place)
    return window_of(desktop, program.app)


def open_all(desktop: VirtualDesktop) -> dict[str, Window]:
    """Start all programs side by side; return their windows by the programs' names."""
    return {name: open_program(desktop, name, program.place) for name, program in PROGRAMS.items()}


def window_of(desktop: VirtualDesktop, app: str) -> Window:
    """Return the topmost ordinary window of an application.

    Raises:
        NotMeasured: There is none.
    """
    for window in desktop.x11.screen.windows():
        if app in window.app.casefold() and not window.popup:
            return window
    raise NotMeasured(f"there is no window of {app}")


def place_window(desktop: VirtualDesktop, window_id: int, place: Rect) -> None:
    """Move a window, and size it unless the place is empty; returns when it stands still there."""
    from Xlib.protocol.event import ClientMessage
    from Xlib.X import SubstructureNotifyMask, SubstructureRedirectMask

    from aci.screen.screen import open_display

    display = open_display(desktop.display)
    try:
        root = display.screen().root

        def ask(kind: str, *data: int) -> None:
            event = ClientMessage(
                window=display.create_resource_object("window", window_id),
                client_type=display.intern_atom(kind),
                data=(32, [*(value & 0xFFFFFFFF for value in data), *([0] * (5 - len(data)))]),
            )
            root.send_event(event, event_mask=SubstructureRedirectMask | SubstructureNotifyMask)
            display.sync()

        maximized = [display.intern_atom(f"_NET_WM_STATE_MAXIMIZED_{axis}") for axis in ("HORZ", "VERT")]
        ask("_NET_WM_STATE", _REMOVE, *maximized, _SOURCE_PAGER)
        fields = 0b11 if not place.area else 0b1111
        ask("_NET_MOVERESIZE_WINDOW", fields << 8 | _SOURCE_PAGER << 12, place.x, place.y, place.width, place.height)
    finally:
        display.close()
    _until_still(desktop, window_id, moved_to=place)


def _until_still(desktop: VirtualDesktop, window_id: int, moved_to: Rect) -> None:
    deadline, before, since = time.monotonic() + _PLACED_LIMIT_S, None, 0.0
    while time.monotonic() < deadline:
        now = next((window.rect for window in desktop.x11.screen.windows() if window.id == window_id), None)
        if now != before:
            before, since = now, time.monotonic()
        near = now is not None and abs(now.x - moved_to.x) < 60 and abs(now.y - moved_to.y) < 60
        if near and time.monotonic() - since > 0.3:
            return
        time.sleep(_POLL_S)


def desktop_without_ocr(size: tuple[int, int]) -> VirtualDesktop:
    """Return a desktop that shows what the accessibility tree tells and nothing else, not yet started."""
    return VirtualDesktop(size, ocr=None)


def desktop_with_ocr(size: tuple[int, int]) -> VirtualDesktop:
    """Return a desktop that recognizes text with RapidOCR, not yet started.

    Raises:
        MissingDependency: It is not installed.
    """
    from aci.ocr.engines import build_engine

    return VirtualDesktop(size, ocr=build_engine("rapidocr"))
