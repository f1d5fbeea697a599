"""Entries of lists, tables and trees of Java."""

from __future__ import annotations

from aci.accessibility.tree.java import name_entries
from aci.accessibility.tree.nodes import JAVA
from tests.unit.aci.accessibility.trees import application, frame, node


def test_entries_get_the_roles_of_what_they_are_in() -> None:
    oven, hidden = node("label", "Oven"), node("unknown", states=0)
    tree = node("tree", "", None, node("label", "House", None, node("unknown", "", None, oven), hidden))
    table = node("table", "", None, node("label", "Lamp"), node("check box", "Sold"))
    listed = node("list", "", None, node("panel", "", None, node("label", "Wood")))
    top = frame(tree, table, listed, node("label", "Name:"))
    name_entries(application(top, toolkit="gtk 3.24.38"))
    assert oven.role == "label"
    name_entries(application(top, toolkit=f"{JAVA} 1.0"))
    [house] = tree.children
    assert [house.role, house.children[0].role, oven.role, hidden.role] == [*["tree item"] * 3, "unknown"]
    assert [cell.role for cell in table.children] == ["table cell", "check box"]
    assert [listed.children[0].role, listed.children[0].children[0].role] == ["list item", "label"]
    assert top.children[-1].role == "label"
    oven.restore_reported()
    assert oven.role == "label"
