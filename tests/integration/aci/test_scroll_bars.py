"""Scroll bars of real applications go to a position, which they say themselves."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from aci.acting.actions import Scroll
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Element, Observation

pytestmark = [pytest.mark.desktop, pytest.mark.slow]


def pane(seen: Observation, roles: set[str]) -> Element:
    """Return the largest element of some roles."""
    return max((one for one in seen.elements if one.role in roles), key=lambda one: one.rect.area)


def lines(home: Path) -> str:
    path = home / "lines.txt"
    path.write_text("\n".join(f"line {number}" for number in range(500)), encoding="utf-8")
    return str(path)


def rows(home: Path) -> str:
    path = home / "rows.csv"
    path.write_text("\n".join(f"row {number},1" for number in range(500)), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("command", "file", "roles", "exact"),
    [
        (["mousepad"], lines, {"text"}, 1e-6),
        (["featherpad"], lines, {"text"}, 1 / 400),  # Qt counts in lines
        # By the wheel; the range grows with what is in view.
        (["soffice", "--norestore", "--infilter=CSV:44,34,76,1", "--calc"], rows, {"table cell"}, 0.12),
    ],
    ids=["GTK 3", "Qt 5", "LibreOffice"],
)
def test_scroll_bar_goes_to_a_position(
    command: list[str], file: Callable[[Path], str], roles: set[str], exact: float
) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed: make setup-toolkits")
    with VirtualDesktop(ocr=None) as desktop:
        desktop.launch([*command, file(desktop.home)])
        accessibility = desktop.x11.accessibility
        for percent in (50, 100, 0):
            chosen = pane(desktop.observe(), roles)
            result = desktop.perform(Scroll(element_id=chosen.id, to=percent))
            assert result.ok, result.error
            bar = accessibility.scroll_bar(pane(desktop.observe(), roles).id, horizontal=False)
            assert bar is not None
            now = accessibility.value_range(bar)
            assert now is not None
            assert now.current / now.maximum == pytest.approx(percent / 100, abs=exact)
