"""Which open window a phrase means."""

from __future__ import annotations

import pytest

from aci.applications.catalog import Application, Catalog
from aci.applications.switching import find_window
from aci.observation.geometry import Rect
from aci.observation.observation import Window


def window(number: int, title: str, app: str) -> Window:
    return Window(id=number, title=title, app=app, rect=Rect(0, 0, 10, 10))


WINDOWS = (
    window(1, "xterm", "XTerm"),
    window(2, "Report.ods - LibreOffice Calc", "libreoffice-calc"),
    window(3, "notes.txt - Mousepad", "Mousepad"),
    window(4, "Example Domain - Chromium", "Chromium"),
    window(5, "other.txt - Mousepad", "Mousepad"),
)
CATALOG = Catalog(
    [
        Application("vim", "Vim", ("xterm", "-e", "vim"), "Text Editor", (), ("TextEditor",), in_terminal=True),
        Application("org.xfce.mousepad", "Mousepad", ("mousepad",), "Text Editor", (), ("TextEditor",)),
        Application("chromium", "Chromium Web Browser", ("/usr/bin/chromium",), "Web Browser", (), ("WebBrowser",)),
        Application("debian-xterm", "XTerm", ("xterm",), "", (), ("TerminalEmulator",), "XTerm"),
    ]
)


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("Mousepad", 3),
        ("other.txt", 5),
        ("LibreOffice Calc", 2),
        ("report.ods", 2),
        ("text editor", 3),
        ("browser", 4),
        ("terminal", 1),
        ("mousepadd", 3),
        ("Chromium", 4),
    ],
)
def test_a_phrase_finds_its_window(phrase: str, expected: int) -> None:
    found = find_window(phrase, WINDOWS, CATALOG)
    assert found is not None
    assert found.id == expected


@pytest.mark.parametrize("phrase", ["GIMP", "calculator", "vim"])
def test_an_application_without_a_window_finds_none(phrase: str) -> None:
    assert find_window(phrase, WINDOWS, CATALOG) is None
