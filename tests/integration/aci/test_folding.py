"""What GTK programs fold away: expanders, lists of choices, and the parts of a disabled container."""

from __future__ import annotations

from pathlib import Path

import pytest

from aci.acting.actions import Click
from aci.desktop.virtual import VirtualDesktop
from benchmarks.support.reference import SYSTEM_PYTHON
from benchmarks.support.screens import desktop_without_ocr
from tests.integration.aci.seeing import element, find, until

GI = Path("/usr/lib/python3/dist-packages/gi")
pytestmark = [pytest.mark.desktop, pytest.mark.skipif(not GI.is_dir(), reason="apt-get install python3-gi")]

PROGRAM = """
import gi, sys; gi.require_version("Gtk", sys.argv[1])
from gi.repository import GLib, Gtk
new = sys.argv[1] == "4.0"
def filled(*parts):
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    for part in parts: (box.append if new else box.add)(part)
    return box
Gtk.init(*([] if new else [[]]))
window = Gtk.Window(title="Folding")
inside = filled(Gtk.CheckButton(label="Shadow"), Gtk.Entry(text="words"))
switch = Gtk.ToggleButton(label="Lock", active=True)
switch.bind_property("active", inside, "sensitive", 4 | 2)
text = Gtk.Label(label="Several\\nlines\\nof\\ntext")
choice = Gtk.DropDown.new_from_strings(["Alpha", "Beta", "Gamma"]) if new else Gtk.Label(label="None")
expander = Gtk.Expander(label="Details", expanded=True, child=text)
letter = Gtk.Label(label="Letter", mnemonic_widget=choice)
window.set_property("child", filled(expander, switch, inside, letter, choice))
window.present() if new else window.show_all()
GLib.MainLoop().run()
"""


@pytest.mark.parametrize("version", ["3.0", "4.0"])
def test_an_expander_closes_and_a_disabled_box_disables_its_parts(version: str) -> None:
    with desktop_without_ocr((800, 600)) as desktop:
        desktop.launch([str(SYSTEM_PYTHON), "-c", PROGRAM, version])
        assert "disabled" in element(desktop, "check box", "Shadow").states
        assert "disabled" in next(each for each in desktop.observe().elements if each.text == "words").states
        press(desktop, "Lock")
        assert until(desktop, lambda seen: "disabled" not in find(seen, "check box", "Shadow").states)
        press(desktop, "Details")
        assert until(desktop, lambda seen: not any("lines" in each.name for each in seen.elements))


def test_the_choice_of_a_labelled_drop_down_of_gtk4_is_read_and_made() -> None:
    with desktop_without_ocr((800, 600)) as desktop:
        desktop.launch([str(SYSTEM_PYTHON), "-c", PROGRAM, "4.0"])
        box = element(desktop, "combo box", "Letter")
        assert box.text == "Alpha"
        assert desktop.perform(Click(element_id=box.id)).ok
        entry = element(desktop, "list item", "Beta")
        assert desktop.perform(Click(element_id=entry.id)).ok
        assert until(desktop, lambda seen: (find(seen, "combo box", "Letter") or box).text == "Beta")


def press(desktop: VirtualDesktop, name: str) -> None:
    button = next(each for each in desktop.observe().elements if each.name == name and "button" in each.role)
    assert desktop.perform(Click(element_id=button.id)).ok
