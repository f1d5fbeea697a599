"""The fixtures report what was hit, and nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from aci.accessibility.dbus.bus import accessibility_bus_address
from aci.acting.actions import Click
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Element
from benchmarks import grounding
from benchmarks.fixtures import gtk3_tokens, gtk4_tokens
from benchmarks.fixtures.widgets_page import widgets_page
from benchmarks.support.clicking import Clicker, Tally, bearing
from benchmarks.support.naive import read_naively
from benchmarks.support.reference import SYSTEM_PYTHON, compare, read_reference
from benchmarks.support.reports import FileReports, PageServer, wait_until
from benchmarks.support.screens import desktop_without_ocr

pytestmark = pytest.mark.desktop
FIXTURES = Path(grounding.__file__).parent / "fixtures"


def has_library(name: str, version: str) -> bool:
    check = f"import gi; gi.require_version('{name}', '{version}')"
    return SYSTEM_PYTHON.exists() and subprocess.run([SYSTEM_PYTHON, "-c", check], capture_output=True).returncode == 0


def await_element(desktop: VirtualDesktop, token: str, pid: int) -> Element:
    assert wait_until(lambda: bearing(token, desktop.observe(), pid) is not None, 60)
    found = bearing(token, desktop.observe(), pid)
    assert found is not None
    return found


def test_the_page_reports_the_widget_that_was_hit_and_a_click_beside_it() -> None:
    with PageServer({"/": widgets_page()}) as server, desktop_without_ocr((1280, 800)) as desktop:
        process = desktop.launch(["chromium", server.url + "/"])
        window = next(window for window in desktop.observe().windows if process.owns(window))
        assert window.pid is not None
        button = await_element(desktop, "w007", window.pid)
        assert desktop.perform(Click(element_id=button.id)).ok
        assert wait_until(lambda: server.lines() == ["w007"], 3)
        heading = next(element for element in desktop.observe().elements if element.role == "heading")
        assert desktop.perform(Click(element_id=heading.id)).ok
        assert wait_until(lambda: server.lines() == ["w007", "nothing"], 3)


@pytest.mark.parametrize(
    ("program", "library", "token", "last"),
    [
        ("gtk3_widgets", "3.0", "g010", gtk3_tokens()[-1]),
        ("gtk4_widgets", "4.0", "h002", gtk4_tokens()[-1]),
    ],
)
def test_the_programs_report_what_was_hit(program: str, library: str, token: str, last: str) -> None:
    if not has_library("Gtk", library):
        pytest.skip(f"GTK {library} is not there for the system's Python")
    with desktop_without_ocr((1280, 800)) as desktop:
        reports = FileReports(desktop.home / "hits.txt")
        process = desktop.launch([str(SYSTEM_PYTHON), str(FIXTURES / f"{program}.py"), str(reports.path)])
        await_element(desktop, token, process.pid)
        tally = Tally()
        clicker = Clicker(desktop, reports, program, process.pid, tally)
        clicker.click(token, desktop.observe())
        clicker.click("g999", desktop.observe())
        assert (tally.hits, len(tally.misses), tally.outside) == (1, 1, 0), tally.misses
        assert reports.lines()[-1] == token
        await_element(desktop, last, process.pid)  # The program has as many widgets as are counted.


def test_the_baseline_and_the_reference_read_what_is_there() -> None:
    if not has_library("Atspi", "2.0"):
        pytest.skip("pyatspi is not there for the system's Python")
    with desktop_without_ocr((900, 600)) as desktop:
        process = desktop.launch(["mousepad"])
        seen = desktop.observe()
        address = accessibility_bus_address(desktop.environment["DBUS_SESSION_BUS_ADDRESS"])
        naive = read_naively(address, {process.pid}, limit_s=30)
        assert naive.whole
        assert {("menu", "File"), ("menu", "Edit")} <= set(naive.names)
        assert naive.calls > 5 * naive.objects
        reference = read_reference(desktop.environment, seen)
        assert any(found.role == "menu" and found.name == "File" and found.shows for found in reference)
        found = compare(seen, reference)
        assert found.same >= 6
        assert found.unexplained == []
