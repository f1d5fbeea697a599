"""What is seen of Swing: menus in windows of their own, and entries of trees, tables and lists."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from aci.acting.actions import Click
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Observation, State
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

VIEWS = """
import javax.swing.*;
import javax.swing.tree.DefaultMutableTreeNode;
public class Views {
    static DefaultMutableTreeNode node(String name, String... parts) {
        DefaultMutableTreeNode node = new DefaultMutableTreeNode(name);
        for (String part : parts) node.add(new DefaultMutableTreeNode(part));
        return node;
    }
    public static void main(String[] arguments) {
        DefaultMutableTreeNode house = node("House");
        house.add(node("Kitchen", "Oven", "Sink")); house.add(node("Garage", "Car"));
        JTree tree = new JTree(house);
        tree.expandRow(1); tree.setSelectionRow(1);
        Object[][] prices = {{"Lamp", "10"}, {"Chair", "20"}};
        JFrame frame = new JFrame("Views");
        frame.add(new JScrollPane(tree), "Center");
        JScrollPane table = new JScrollPane(new JTable(prices, new Object[] {"Name", "Price"}));
        table.setPreferredSize(new java.awt.Dimension(500, 80));
        frame.add(table, "South");
        frame.add(new JList<>(new String[] {"Wood", "Stone"}), "East");
        JComboBox<String> colors = new JComboBox<>(new String[] {"Red", "Green", "Blue"});
        colors.getAccessibleContext().setAccessibleDescription("Color");
        JTabbedPane tabs = new JTabbedPane();
        tabs.addTab("Rooms", new JPanel()); tabs.addTab("Paint", colors);
        frame.add(tabs, "North");
        frame.setSize(500, 400); frame.setVisible(true);
    }
}
"""


def opened(desktop: VirtualDesktop, name: str, program: str, folder: Path) -> None:
    if shutil.which("javac") is None:  # which `java` needs to run a source file
        pytest.skip("the JDK is not installed: make setup-toolkits")
    (folder / f"{name}.java").write_text(program, encoding="utf-8")
    desktop.launch(["java", str(folder / f"{name}.java")], timeout_s=120.0)


@pytest.mark.parametrize("path", [("Pan",), ("Walls",), ("Rooms",), ("Levels", "Above"), ("Levels", "Below")])
def test_entry_of_a_menu_in_a_window_of_its_own_is_clicked(path: tuple[str, ...], tmp_path: Path) -> None:
    with VirtualDesktop(size=(900, 600), ocr=None) as desktop:
        opened(desktop, "Menus", MENUS, tmp_path)
        until(desktop, lambda seen: _has_opened(desktop, seen))
        for name in path:
            entry = element(desktop, "menu" if name == "Levels" else "menu item", name)
            assert desktop.perform(Click(element_id=entry.id)).ok
        until(desktop, lambda seen: seen.active_window is not None and seen.active_window.title == path[-1])


def _has_opened(desktop: VirtualDesktop, seen: Observation) -> bool:
    """Open the menu, also where Java closes it again as its window comes up."""
    plan = find(seen, "menu", "Plan")
    if plan is not None and find(seen, "menu item", "Pan") is None:
        desktop.perform(Click(element_id=plan.id))
        return False
    return plan is not None and not any(each.role == "popup menu" for each in seen.elements)


def test_entries_of_trees_tables_and_lists_are_seen_and_chosen(tmp_path: Path) -> None:
    def names(seen: Observation, role: str) -> list[str]:
        return [each.name for each in seen.elements if each.role == role]

    def states(seen: Observation, role: str, name: str) -> frozenset[State]:
        entry = find(seen, role, name)
        return entry.states if entry is not None else frozenset()

    with VirtualDesktop(size=(900, 600), ocr=None) as desktop:
        opened(desktop, "Views", VIEWS, tmp_path)
        seen = until(desktop, lambda seen: find(seen, "tree item", "Sink"))
        assert names(seen, "tree item") == ["House", "Kitchen", "Oven", "Sink", "Garage"]
        assert names(seen, "table cell") == ["Lamp", "10", "Chair", "20"]
        assert names(seen, "table column header") == ["Name", "Price"]
        assert names(seen, "list item") == ["Wood", "Stone"]
        assert {"selected", "expanded"} <= states(seen, "tree item", "Kitchen")
        garage = element(desktop, "tree item", "Garage")
        assert desktop.perform(Click(element_id=garage.id, num_clicks=2)).ok
        opened_tree = until(desktop, lambda seen: find(seen, "tree item", "Car"))
        assert {"selected", "expanded"} <= states(opened_tree, "tree item", "Garage")
        assert desktop.perform(Click(element_id=element(desktop, "list item", "Stone").id)).ok
        until(desktop, lambda seen: "selected" in states(seen, "list item", "Stone"))
        for role, name in (("page tab", "Paint"), ("combo box", "Red"), ("list item", "Green")):
            assert desktop.perform(Click(element_id=element(desktop, role, name).id)).ok
        until(desktop, lambda seen: find(seen, "combo box", "Green"))
