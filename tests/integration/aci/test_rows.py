"""A list whose rows all have the same button: a new row comes in at the top between look and click."""

from __future__ import annotations

import pytest

from aci.acting.actions import Click, Wait
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Element
from benchmarks.support.reference import SYSTEM_PYTHON
from tests.integration.aci.seeing import press_behind_its_back, wait_until

pytestmark = pytest.mark.desktop

LIST = """
import sys, gi; gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
window, rows = Gtk.Window(title="Letters"), Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
def add(name, place):
    row, button = Gtk.Box(), Gtk.Button(label="Delete")
    button.connect("clicked", lambda _: window.set_title("deleted " + name))
    row.pack_start(Gtk.Label(label=name if sys.argv[1] == "named" else "Letter"), False, False, 0)
    row.pack_end(button, False, False, 0)
    rows.pack_start(row, False, False, 0); rows.reorder_child(row, place); row.show_all()
for place, name in enumerate(("first", "second", "third")):
    add(name, place)
window.connect("key-press-event", lambda *_: (add("new", 0), window.set_title("four rows")))
window.connect("destroy", Gtk.main_quit)
window.add(rows); window.show_all(); Gtk.main()
"""


@pytest.mark.parametrize("labels", ["named", "alike"])
def test_a_pixel_on_a_button_of_a_row_is_not_clicked_in_another_row(desktop: VirtualDesktop, labels: str) -> None:
    def buttons() -> list[Element]:
        return [each for each in desktop.observe().elements if each.name == "Delete"]

    program = desktop.launch([str(SYSTEM_PYTHON), "-c", LIST, labels])
    try:
        second = buttons()[1].rect.center
        press_behind_its_back(desktop, "x")
        wait_until(lambda: program.window_titles == ("four rows",))
        desktop.perform(Wait(time=0.5))  # until it is drawn
        result = desktop.perform(Click(at=(second.x, second.y)))
        assert (result.ok, result.refusal, program.window_titles) == (False, "stale", ("four rows",))
        first = buttons()[1].rect.center
        assert desktop.perform(Click(at=(first.x, first.y))).ok
        wait_until(lambda: program.window_titles == ("deleted first",))
    finally:
        program.terminate()
