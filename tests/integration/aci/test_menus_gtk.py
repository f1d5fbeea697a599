"""Menus of GTK 3 whose items are reported as if they did not show."""

from __future__ import annotations

import pytest

from aci.acting.actions import Click, Hotkey
from aci.desktop.virtual import VirtualDesktop
from benchmarks.support.reference import SYSTEM_PYTHON
from tests.integration.aci.seeing import element, find, until

pytestmark = pytest.mark.desktop

HIDDEN_BAR = """
import gi; gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
def menu(*names):
    made = Gtk.Menu()
    for name in names:
        made.append(Gtk.MenuItem(label=name))
    made.show_all()
    return made
bar, box, header, text = Gtk.MenuBar(), Gtk.Box(), Gtk.MenuButton(label="More"), Gtk.TextView()
menus = menu("Preferences", "About"), menu("Paste", "Cut")
for name, each in zip(("Header", "Popup"), menus):
    entry = Gtk.MenuItem(label=name)
    entry.set_submenu(each)
    bar.append(entry)
shown = Gtk.MenuBar()
entry = Gtk.MenuItem(label="File")
entry.set_submenu(menu("Open", "Quit"))
shown.append(entry)
header.set_popup(menus[0])
text.connect("button-press-event", lambda _, event: event.button == 3 and (menus[1].popup_at_pointer(event) or True))
window = Gtk.Window(title="Notes")
for each in (shown, bar, header):
    box.pack_start(each, False, False, 0)
box.pack_start(text, True, True, 0)
window.add(box); window.set_default_size(400, 300)
window.connect("destroy", Gtk.main_quit); window.show_all(); bar.hide(); Gtk.main()
"""


def test_menus_of_a_hidden_menu_bar_are_seen_while_they_are_open(desktop: VirtualDesktop) -> None:
    program = desktop.launch([str(SYSTEM_PYTHON), "-c", HIDDEN_BAR])
    try:
        closed = until(desktop, lambda seen: find(seen, "toggle button", "More"))
        assert not any(find(closed, "menu item", name) for name in ("Preferences", "Paste"))
        text = next(each for each in closed.elements if each.role == "text")
        for click, name, other in (
            (Click(element_id=element(desktop, "toggle button", "More").id), "About", "Cut"),
            (Click(element_id=text.id, button_type="right"), "Cut", "About"),
            (Click(element_id=element(desktop, "menu", "File").id), "Quit", "Cut"),
        ):
            assert desktop.perform(click).ok
            opened = until(desktop, lambda seen, name=name: find(seen, "menu item", name))
            item = find(opened, "menu item", name)
            assert item is not None and item.point is not None
            popup = next(window for window in opened.windows if window.id == item.window_id)
            assert popup.popup and popup.rect.contains(item.point)
            assert find(opened, "menu item", other) is None
            assert desktop.perform(Hotkey(keys=("Escape",))).ok
            until(desktop, lambda seen, name=name: find(seen, "menu item", name) is None)
    finally:
        program.terminate()
