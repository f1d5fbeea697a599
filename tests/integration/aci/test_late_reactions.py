"""What opens or scrolls half a second later, or reports that it has, is seen as it is then."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from aci.acting.actions import Click, Hotkey
from aci.observation.observation import Observation
from benchmarks.fixtures.feed_page import write_feed
from benchmarks.support.reference import SYSTEM_PYTHON
from benchmarks.support.screens import desktop_without_ocr
from tests.integration.aci.seeing import until
from tests.integration.aci.test_acting import needs

PACKAGES = Path("/usr/lib/python3/dist-packages")
PROGRAM = """
import importlib, sys
widgets = importlib.import_module(f"{sys.argv[1]}.QtWidgets")
app = widgets.QApplication([])
entries = widgets.QListWidget()
entries.setWindowTitle("Entries")
entries.addItems([f"Entry {number}" for number in range(20)])
entries.setFixedSize(200, int(entries.sizeHintForRow(0) * 6.5))
entries.show()
app.exec()
"""

MENU = """
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk
window, menu, item = Gtk.Window(title="Late"), Gtk.Menu(), Gtk.MenuItem(label="Rotate")
area, label = Gtk.EventBox(), Gtk.Label(label="Picture")
menu.append(item)
menu.show_all()
def pressed(area, event):
    label.set_markup("<b><u>Picture</u></b>")
    GLib.timeout_add(500, menu.popup, None, None, None, None, event.button, 0)
area.connect("button-press-event", pressed)
area.add(label)
window.add(area)
window.set_default_size(300, 200)
window.show_all()
Gtk.main()
"""


def entries(seen: Observation) -> list[str]:
    return [each.name for each in seen.elements if each.role == "list item"]


def posts(seen: Observation) -> list[str]:
    return [each.name for each in seen.elements if each.name.startswith("Reply to post")]


@pytest.mark.desktop
@pytest.mark.parametrize("library", ["PyQt5", "PyQt6"])
def test_list_is_seen_after_it_has_scrolled_to_the_clicked_entry(library: str) -> None:
    if not (PACKAGES / library).is_dir():
        pytest.skip(f"{library} is not installed")
    with desktop_without_ocr((800, 600)) as desktop:
        desktop.launch([str(SYSTEM_PYTHON), "-c", PROGRAM, library])
        before = until(desktop, lambda seen: len(entries(seen)) > 5)
        last = [each for each in before.elements if each.role == "list item"][-1]
        assert desktop.perform(Click(element_id=last.id)).ok
        seen = entries(desktop.observe())
        time.sleep(1.0)  # longer than Qt delays a scroll
        assert entries(desktop.observe()) == seen != entries(before)


@pytest.mark.desktop
def test_menu_is_seen_that_opens_after_the_click_has_shown() -> None:
    with desktop_without_ocr((800, 600)) as desktop:
        desktop.launch([str(SYSTEM_PYTHON), "-c", MENU])
        before = until(desktop, lambda seen: any(each.name == "Picture" for each in seen.elements))
        picture = next(each for each in before.elements if each.name == "Picture")
        assert desktop.perform(Click(element_id=picture.id, button_type="right")).ok
        assert any(each.name == "Rotate" for each in desktop.observe().elements)


@needs("chromium")
@pytest.mark.desktop
def test_page_is_seen_where_it_is_after_it_was_scrolled_down_and_up_at_once() -> None:
    with desktop_without_ocr((1280, 800)) as desktop:
        desktop.launch(["chromium", write_feed(desktop.home).as_uri()], timeout_s=60.0)
        first = posts(until(desktop, lambda seen: len(posts(seen)) > 3))
        time.sleep(1.0)  # longer than Chromium delays a report
        for _ in range(5):
            desktop.perform(Hotkey(keys=("Page_Down",)))
            desktop.perform(Hotkey(keys=("Page_Up",)))
            assert posts(desktop.observe()) == first
