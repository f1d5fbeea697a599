"""A GTK 3 window that asks for a name and a password, and writes down who signed in and how long the password was."""

import sys
from pathlib import Path

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk  # noqa: E402

window = Gtk.Window(title="Sign in")
window.connect("destroy", Gtk.main_quit)
grid = Gtk.Grid(row_spacing=8, column_spacing=8, margin=20)
entries = {}
for row, name in enumerate(("User", "Password")):
    label = Gtk.Label(label=name)
    entries[name] = Gtk.Entry(visibility=name != "Password")
    label.set_mnemonic_widget(entries[name])
    grid.attach(label, 0, row, 1, 1)
    grid.attach(entries[name], 1, row, 1, 1)
state = Gtk.Label(label="Nobody is signed in")


def sign_in(_: Gtk.Button) -> None:
    """Write down who signed in."""
    user, password = (entry.get_text() for entry in entries.values())
    Path(sys.argv[1]).write_text(f"{user} {password.startswith('hunter')} {len(password)}", encoding="utf-8")
    state.set_label(f"Signed in as {user}")


button = Gtk.Button(label="Sign in")
button.connect("clicked", sign_in)
grid.attach(button, 1, 2, 1, 1)
grid.attach(state, 0, 3, 2, 1)
window.add(grid)
window.show_all()
Gtk.main()
