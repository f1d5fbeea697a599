"""Applications that count in larger pixels than the screen, as on screens of high resolution."""

from __future__ import annotations

from pathlib import Path

import pytest

from aci.acting.actions import Click, Type
from aci.desktop.virtual import VirtualDesktop
from tests.integration.aci.seeing import element, find, until

pytestmark = [pytest.mark.desktop, pytest.mark.slow]

PAGE = """<body style="height:3000px"><button onclick="this.textContent='Hit'">Go</button>
<p style="margin:40px 300px">far <a href="#there" onclick="document.title='Followed'">away</a></p>"""


@pytest.fixture
def page(tmp_path: Path) -> str:
    file = tmp_path / "page.html"
    file.write_text(PAGE)
    return file.as_uri()


def press(desktop: VirtualDesktop, role: str, name: str) -> None:
    assert desktop.perform(Click(element_id=element(desktop, role, name).id)).ok


def test_gtk_at_twice_the_size() -> None:
    with VirtualDesktop(size=(1600, 1100), ocr=None, environment={"GDK_SCALE": "2"}) as desktop:
        editor = desktop.launch(["mousepad"])
        press(desktop, "menu", "Search")
        press(desktop, "menu item", "Find")
        until(desktop, lambda seen: any(item.role == "push button" for item in seen.elements))
        editor.terminate()
        desktop.launch(["gnome-calculator"])
        for key in "7×6=":
            press(desktop, "push button", key)
        until(desktop, lambda seen: any(item.text == "42" for item in seen.elements))


def test_sheet_at_twice_the_size() -> None:
    with VirtualDesktop(size=(1600, 1100), ocr=None, environment={"GDK_SCALE": "2"}) as desktop:
        desktop.launch(["localc", "--norestore", "--nologo", "--nofirststartwizard"])
        press(desktop, "table cell", "C7")
        assert desktop.perform(Type(text="kept", enter=True)).ok
        until(desktop, lambda seen: (cell := find(seen, "table cell", "C7")) is not None and cell.text == "kept")


@pytest.mark.parametrize("factor", ["2", "1.5"])
def test_browser_and_page_at_another_size(page: str, factor: str) -> None:
    with VirtualDesktop(size=(1600, 1100), ocr=None) as desktop:
        desktop.launch(["chromium", f"--force-device-scale-factor={factor}", page])
        press(desktop, "push button", "Go")
        element(desktop, "push button", "Hit")
        press(desktop, "link", "away")
        until(desktop, lambda seen: any("Followed" in window.title for window in seen.windows))
        press(desktop, "push button", "New Tab")
        until(desktop, lambda seen: len([item for item in seen.elements if item.role == "page tab"]) == 2)
