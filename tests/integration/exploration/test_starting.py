"""Applications that cannot be explored, as real programs on a desktop."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aci.applications.catalog import Application, Catalog, installed_applications
from aci.desktop.virtual import VirtualDesktop
from exploration.errors import ApplicationUnusable
from exploration.search.navigator import Navigator
from exploration.search.starting import start
from exploration.tasks.survey import survey

pytestmark = pytest.mark.desktop

WINDOW = """
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk
window = {window}
window.connect("destroy", Gtk.main_quit)
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
for widget in ({widgets},):
    box.add(widget)
(window.get_content_area() if isinstance(window, Gtk.Dialog) else window).add(box)
window.show_all()
{more}
Gtk.main()
"""
PROGRAMS = {
    "crash": ["/usr/bin/python3", "-c", "raise SystemExit('out of luck')"],
    "silent": ["sleep", "60"],
    "other": ["/bin/sh", "-c", "exec mousepad"],
    "password": ["/usr/bin/python3", "-c", WINDOW.format(
        window="Gtk.Window(title='Unlock')", widgets="Gtk.Entry(visibility=False), Gtk.Button(label='Go')", more="")],
    "brief": ["/usr/bin/python3", "-c", WINDOW.format(
        window="Gtk.Window(title='Brief')", widgets="Gtk.Label(label='')",
        more="GLib.timeout_add(300, lambda: __import__('os')._exit(3))")],
}  # fmt: skip
REASONS = {
    "crash": "cannot be started.*out of luck",
    "silent": "showed no window within 3 s",
    "other": "opens another program: Mousepad",
    "password": "asks for a password: Unlock",
    "brief": "ended with status 3|closed its window",
}

ASKING = """
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
dialog = Gtk.Dialog(title="Add Notebook")
dialog.add_buttons("Cancel", Gtk.ResponseType.CANCEL, "OK", Gtk.ResponseType.OK)
dialog.get_content_area().add(Gtk.Label(label="Where are the notes?"))
dialog.show_all()
if dialog.run() != Gtk.ResponseType.OK or {only}:
    raise SystemExit
dialog.destroy()
window = Gtk.Window(title="Notes")
window.connect("destroy", Gtk.main_quit)
window.add(Gtk.ToggleButton(label="Bold"))
window.show_all()
Gtk.main()
"""


@pytest.fixture(scope="module")
def desktop() -> Iterator[VirtualDesktop]:
    with VirtualDesktop(ocr=None) as running:
        yield running


@pytest.fixture
def catalog(desktop: VirtualDesktop) -> Catalog:
    return installed_applications(desktop.environment)


@pytest.mark.parametrize("name", PROGRAMS)
def test_reason_names_why_an_application_is_unusable(desktop: VirtualDesktop, catalog: Catalog, name: str) -> None:
    application = Application(name, name.capitalize(), tuple(PROGRAMS[name]))
    with pytest.raises(ApplicationUnusable, match=REASONS[name]):
        start(desktop, application, catalog, limit_s=3.0, fill_limit_s=3.0)
    desktop.x11.reset()


@pytest.mark.parametrize(("only", "title", "found"), [(False, "Notes", "Bold"), (True, "Add Notebook", "OK")])
def test_a_dialog_of_the_first_start_is_answered_unless_it_is_all_of_the_application(
    desktop: VirtualDesktop, catalog: Catalog, only: bool, title: str, found: str
) -> None:
    argv = ("/usr/bin/python3", "-c", ASKING.format(only=only))
    seen = start(desktop, Application("notes", "Notes", argv), catalog)
    assert [window.title for window in seen.windows] == [title]
    desktop.x11.reset()
    navigator = Navigator(desktop, argv)
    for _ in range(2):
        look = navigator.restart()
        assert [window.title for window in look.observation.windows] == [title]
        assert found in {each.control.name for each in look.candidates}
    desktop.x11.reset()


@pytest.mark.slow
def test_a_real_application_is_started_and_surveyed(desktop: VirtualDesktop, catalog: Catalog) -> None:
    first = start(desktop, catalog.find("mousepad"), catalog)
    found = survey(desktop, first)
    ways = {one.way for one in found.affordances}
    assert found.complete
    assert {"Edit > Select All", "View > Line Numbers", "Document > Tab Size > 4"} <= ways
    assert not {
        way for way in ways if way.startswith("File > ") and way.split(" > ")[1] in ("Quit", "Print...", "Close")
    }
    seen = desktop.observe()
    assert [window.title for window in seen.windows] == ["Untitled 1 - Mousepad"]  # as it was, no menu open
