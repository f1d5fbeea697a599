"""Sliders, dials and number fields of real toolkits are set to a value, which they say themselves."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from aci.acting.actions import Type
from aci.desktop.virtual import VirtualDesktop
from benchmarks.support.reference import SYSTEM_PYTHON
from tests.integration.aci.seeing import element

pytestmark = [pytest.mark.desktop, pytest.mark.slow]

PYQT5 = Path("/usr/lib/python3/dist-packages/PyQt5")
GTK3 = """
import gi; gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
window, box = Gtk.Window(title="Values"), Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
scale = Gtk.Scale.new_with_range(Gtk.Orientation.HORIZONTAL, 0, 100, 1)
field = Gtk.SpinButton.new_with_range(0, 50, 1)
for name, widget in (("Volume", scale), ("Copies", field)):
    widget.get_accessible().set_name(name); widget.set_size_request(300, -1); box.add(widget)
told = Gtk.Label(label="nothing"); box.add(told)
for widget in (scale, field):
    widget.connect("value-changed", lambda _: told.set_text(f"{scale.get_value():g} and {field.get_value():g}"))
window.add(box); window.connect("destroy", Gtk.main_quit); window.show_all(); Gtk.main()
"""
GTK4 = """
import gi; gi.require_version("Gtk", "4.0")
from gi.repository import Gtk
def build(app):
    window, box = Gtk.ApplicationWindow(application=app, title="Values"), Gtk.Box(orientation=1)
    scale, told = Gtk.Scale.new_with_range(0, 0, 100, 1), Gtk.Label(label="nothing")
    scale.update_property([Gtk.AccessibleProperty.LABEL], ["Volume"]); scale.set_size_request(300, -1)
    scale.connect("value-changed", lambda _: told.set_text(f"{scale.get_value():g} and 0"))
    box.append(scale); box.append(told); window.set_child(box); window.present()
app = Gtk.Application(application_id="org.example.Values"); app.connect("activate", build); app.run()
"""
QT = """
from PyQt5.QtWidgets import QApplication, QDial, QLabel, QSpinBox, QVBoxLayout, QWidget
app = QApplication([]); window = QWidget(); window.setWindowTitle("Values"); box = QVBoxLayout(window)
dial, field, told = QDial(), QSpinBox(), QLabel("nothing")
dial.setRange(0, 100); field.setRange(0, 50)
for name, widget in (("Volume", dial), ("Copies", field)):
    widget.setAccessibleName(name); box.addWidget(widget)
    widget.valueChanged.connect(lambda _: told.setText(f"{dial.value()} and {field.value()}"))
box.addWidget(told); window.resize(300, 300); window.show(); app.exec_()
"""
JAVA = """
import javax.swing.*;
public class Values {
    public static void main(String[] arguments) {
        JFrame frame = new JFrame("Values");
        JSlider slider = new JSlider(0, 100, 30);
        JLabel told = new JLabel("nothing");
        slider.getAccessibleContext().setAccessibleName("Volume");
        slider.addChangeListener(event -> told.setText(slider.getValue() + " and 0"));
        frame.add(slider, "North"); frame.add(told, "South");
        frame.setSize(300, 200); frame.setVisible(true);
    }
}
"""
PAGE = """<!doctype html><meta charset="utf-8"><title>Values</title>
<div id="bar" role="slider" tabindex="0" aria-label="Volume" aria-valuemin="0" aria-valuemax="100" aria-valuenow="30"
 style="width: 200px; height: 20px; background: silver"></div>
<label>Copies <input id="field" type="number" value="1" max="50"></label><p id="told">nothing</p><script>
const tell = () => { told.textContent = `${bar.getAttribute('aria-valuenow')} and ${field.value}`; };
bar.onkeydown = event => {
  const by = {ArrowRight: 1, ArrowLeft: -1}[event.key] || 0;
  bar.setAttribute('aria-valuenow', +bar.getAttribute('aria-valuenow') + by); tell();
};
field.oninput = tell;
</script>"""


def opened(desktop: VirtualDesktop, toolkit: str, folder: Path) -> None:
    """Start a program with a slider or dial, called Volume, and a number field, called Copies."""
    match toolkit:
        case "Chromium":
            (folder / "values.html").write_text(PAGE, encoding="utf-8")
            argv = ["chromium", (folder / "values.html").as_uri()]
        case "Java":
            (folder / "Values.java").write_text(JAVA, encoding="utf-8")
            argv = ["java", str(folder / "Values.java")]
        case _:
            argv = [str(SYSTEM_PYTHON), "-c", {"GTK 3": GTK3, "GTK 4": GTK4, "Qt 5": QT}[toolkit]]
    program = "java" if toolkit == "Java" else "chromium" if toolkit == "Chromium" else str(SYSTEM_PYTHON)
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    if toolkit == "Qt 5" and not PYQT5.is_dir():
        pytest.skip("python3-pyqt5 is not installed")
    desktop.launch(argv, timeout_s=120.0)


@pytest.mark.parametrize(
    ("toolkit", "role", "by", "has_field"),
    [
        ("GTK 3", "slider", "accessibility", True),
        ("GTK 4", "slider", "accessibility", False),
        ("Qt 5", "dial", "accessibility", True),
        ("Chromium", "slider", "keys", True),
        ("Java", "slider", "keys", False),
    ],
)
def test_values_are_set_exactly(toolkit: str, role: str, by: str, has_field: bool, tmp_path: Path) -> None:
    with VirtualDesktop(size=(900, 600), ocr=None) as desktop:
        opened(desktop, toolkit, tmp_path)
        slider = element(desktop, role, "Volume")
        if toolkit == "Java":  # whose own name for itself is the title of its window, or "Java Application"
            assert slider.app == desktop.observe().windows[0].app
        copies = "0"
        if has_field:
            copies = "13"
            field = element(desktop, "spin button", "Copies")
            typed = desktop.perform(Type(text=copies, element_id=field.id, overwrite=True))
            assert typed.delivery is not None, typed.error
            assert typed.delivery.confirmed
        for text, value in (("37", 37), ("80%", 80)):
            result = desktop.perform(Type(text=text, element_id=slider.id, overwrite=True))
            assert result.ok, result.error
            assert result.delivery is not None
            assert (result.delivery.state, result.delivery.by) == ("exact", by)
            element(desktop, "label" if toolkit != "Chromium" else "paragraph", f"{value} and {copies}")
        refused = desktop.perform(Type(text="101", element_id=slider.id))
        assert refused.error is not None
        assert "takes a number from 0 to 100" in refused.error
