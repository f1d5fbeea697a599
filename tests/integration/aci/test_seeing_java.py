"""Menus of Java whose popups are windows of their own, which Java places as if they covered what opened them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from aci.acting.actions import Click
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Observation
from tests.integration.aci.seeing import element, find, until

pytestmark = pytest.mark.desktop

MENUS = """
import javax.swing.*;
public class Menus {
    static JFrame frame = new JFrame("nothing");
    static JMenuItem item(String name) {
        JMenuItem item = new JMenuItem(name);
        item.addActionListener(event -> frame.setTitle(name));
        return item;
    }
    public static void main(String[] arguments) {
        JPopupMenu.setDefaultLightWeightPopupEnabled(false);
        JMenu plan = new JMenu("Plan"), levels = new JMenu("Levels");
        JMenuBar bar = new JMenuBar();
        for (String name : new String[] {"Pan", "Walls", "Rooms"}) plan.add(item(name));
        for (String name : new String[] {"Above", "Below"}) levels.add(item(name));
        plan.add(levels); bar.add(new JMenu("File")); bar.add(plan); frame.setJMenuBar(bar);
        frame.add(new JLabel("House"));
        frame.setSize(400, 300); frame.setVisible(true);
    }
}
"""


@pytest.mark.parametrize("path", [("Pan",), ("Walls",), ("Rooms",), ("Levels", "Above"), ("Levels", "Below")])
def test_entry_of_a_menu_in_a_window_of_its_own_is_clicked(path: tuple[str, ...], tmp_path: Path) -> None:
    if shutil.which("java") is None:
        pytest.skip("java is not installed")
    (tmp_path / "Menus.java").write_text(MENUS, encoding="utf-8")
    with VirtualDesktop(size=(900, 600), ocr=None) as desktop:
        desktop.launch(["java", str(tmp_path / "Menus.java")], timeout_s=120.0)
        until(desktop, lambda seen: _opened(desktop, seen))
        for name in path:
            entry = element(desktop, "menu" if name == "Levels" else "menu item", name)
            assert desktop.perform(Click(element_id=entry.id)).ok
        until(desktop, lambda seen: seen.active_window is not None and seen.active_window.title == path[-1])


def _opened(desktop: VirtualDesktop, seen: Observation) -> bool:
    """Open the menu, also where Java closes it again as its window comes up."""
    plan = find(seen, "menu", "Plan")
    if plan is not None and find(seen, "menu item", "Pan") is None:
        desktop.perform(Click(element_id=plan.id))
        return False
    return plan is not None and not any(each.role == "popup menu" for each in seen.elements)
