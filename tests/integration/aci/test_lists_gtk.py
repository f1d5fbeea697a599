"""Lists of GTK whose rows report more than they show, or show more than a name."""

from __future__ import annotations

import pytest

from aci.acting.actions import Click
from aci.desktop.virtual import VirtualDesktop
from benchmarks.support.reference import SYSTEM_PYTHON
from tests.integration.aci.seeing import find, until

pytestmark = pytest.mark.desktop

HEADINGS = """
import gi; gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
rows = [("Library", True), ("Queue", False), ("Music", False), ("Lists", True), ("Top rated", False), ("Played", False)]
store, column = Gtk.ListStore(str, bool), Gtk.TreeViewColumn()
for row in rows:
    store.append(row)
def show(wanted):
    def set_cell(_, renderer, model, row, __):
        renderer.set_visible(model[row][1] is wanted)
        if model[row][1] is wanted:  # else it keeps the text of the row before
            renderer.set_property("text", model[row][0])
    return set_cell
for wanted in (True, False):
    renderer = Gtk.CellRendererText()
    column.pack_start(renderer, not wanted)
    column.set_cell_data_func(renderer, show(wanted))
window, view = Gtk.Window(title="Sources"), Gtk.TreeView(model=store, headers_visible=False)
view.append_column(column); window.add(view); window.set_default_size(300, 300)
window.connect("destroy", Gtk.main_quit); window.show_all(); Gtk.main()
"""
COUNTS = """
import gi; gi.require_version("Gtk", "4.0")
from gi.repository import GLib, Gtk
def row(name, number):
    box, label = Gtk.Box(spacing=12), Gtk.Label(label=name, hexpand=True, xalign=0)
    count = Gtk.Label(label=number)
    box.append(label); box.append(count)
    return box, count
window, rows = Gtk.Window(title="Mail", default_width=300, default_height=300), Gtk.ListBox()
made = [row("Inbox", "0"), row("Spam", "12")]
for box, _ in made:
    rows.append(box)
rows.append(Gtk.Label(label="Layer 1"))
rows.connect("row-activated", lambda *_: made[0][1].set_label("3"))
window.set_child(rows); window.present()
GLib.MainLoop().run()
"""


def test_headings_of_a_list_are_seen_instead_of_what_their_rows_do_not_draw(desktop: VirtualDesktop) -> None:
    def cells() -> list[str]:
        return [each.name for each in desktop.observe().elements if each.role == "table cell"]

    program = desktop.launch([str(SYSTEM_PYTHON), "-c", HEADINGS])
    try:
        until(desktop, lambda seen: find(seen, "table cell", "Queue"))
        expected = ["Library", "Queue", "Music", "Lists", "Top rated", "Played"]
        assert cells() == expected
        for row in (3, 1):
            assert desktop.perform(Click(element_id=desktop.observe().elements[row].id)).ok
            assert cells() == expected
    finally:
        program.terminate()


def test_count_of_a_row_is_its_content_and_may_change(desktop: VirtualDesktop) -> None:
    def rows() -> list[tuple[str, str | None]]:
        return [(each.name, each.text) for each in desktop.observe().elements if each.role == "list item"]

    program = desktop.launch([str(SYSTEM_PYTHON), "-c", COUNTS])
    try:
        inbox = find(until(desktop, lambda seen: find(seen, "list item", "Inbox")), "list item", "Inbox")
        assert inbox is not None
        assert rows() == [("Inbox", "0"), ("Spam", "12"), ("Layer 1", None)]
        assert desktop.perform(Click(element_id=inbox.id)).ok
        after = until(desktop, lambda seen: seen.by_id[inbox.id].text == "3")
        assert 'list item "Inbox" text "3"' in after.to_text()
    finally:
        program.terminate()
