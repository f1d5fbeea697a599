"""A list of Qt that scrolls to a clicked entry half a second later is seen when it has scrolled."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from aci.acting.actions import Click
from aci.observation.observation import Observation
from benchmarks.support.reference import SYSTEM_PYTHON
from benchmarks.support.screens import desktop_without_ocr
from tests.integration.aci.seeing import until

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


def entries(seen: Observation) -> list[str]:
    return [each.name for each in seen.elements if each.role == "list item"]


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
