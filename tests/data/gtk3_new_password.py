"""A GTK 3 window that asks for a new password twice, in fields without a name, and shows it on request."""

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk  # noqa: E402

window = Gtk.Window(title="New password")
window.connect("destroy", Gtk.main_quit)
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=8, margin=20)
entries = [Gtk.Entry(visibility=False) for _ in range(2)]
button = Gtk.Button(label="Show")
button.connect("clicked", lambda _: [entry.set_visibility(True) for entry in entries])
for widget in (*entries, button):
    box.add(widget)
window.add(box)
window.show_all()
Gtk.main()
