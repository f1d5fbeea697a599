"""Entries of lists, tables and trees of Java, which report the role of the component that draws them."""

from __future__ import annotations

from aci.accessibility.tree.names import is_java
from aci.accessibility.tree.nodes import Application, Node

_ENTRIES = {"list": "list item", "table": "table cell", "tree": "tree item"}
_DRAWN_AS = frozenset({"label", "panel", "unknown"})


def name_entries(application: Application) -> None:
    """Give the visible entries of lists, tables and trees their roles."""
    if not is_java(application):
        return
    views = [node for node in application.nodes.values() if node.role in _ENTRIES and node.has(application.shows_by)]
    for view in views:
        _name_in(view, _ENTRIES[view.role], application)


def _name_in(holder: Node, role: str, application: Application) -> None:
    for child in holder.children:
        if child.role not in _DRAWN_AS or not child.has(application.shows_by):
            continue
        child.keep_reported()
        child.role = role
        if role == "tree item":
            _name_in(child, role, application)
