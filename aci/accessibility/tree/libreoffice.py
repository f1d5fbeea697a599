"""Peculiarities of LibreOffice (7.4 with its GTK 3 plugin)."""

from __future__ import annotations

from collections.abc import Iterable

from aci.accessibility.atspi import StateBit
from aci.accessibility.roles import SHAPE
from aci.accessibility.tree.nodes import Node

_ALIVE = (
    StateBit.SHOWING | StateBit.VISIBLE | StateBit.ENABLED | StateBit.SENSITIVE | StateBit.EDITABLE | StateBit.FOCUSABLE
).value
_SHEET = (StateBit.VISIBLE | StateBit.EDITABLE | StateBit.OPAQUE).value
_IN_A_TEXT = (StateBit.EDITABLE | StateBit.FOCUSABLE | StateBit.SELECTABLE).value
_DRAWN = _IN_A_TEXT | StateBit.SENSITIVE.value
_OBJECTS = frozenset({"panel", "image", "embedded", SHAPE})
_COMBO_PARTS = {"text", "combo box", "toggle button"}
MOST_LINES = 200  # paragraphs in an input line; a panel with more is something else


def may_be_sheet(states: int) -> bool:
    """Return whether an object with these states may be part of a sheet, though it denies that it shows."""
    return states & _SHEET == _SHEET


def is_part_of_sheet(role: str, states: int) -> bool:
    """Return whether an object is a sheet or holds one: of a split or frozen window, some deny that they show."""
    holds = role == "document spreadsheet" or (role == "table" and bool(states & StateBit.MANAGES_DESCENDANTS))
    return holds and may_be_sheet(states)


def revive_input_lines(nodes: Iterable[Node]) -> list[Node]:
    """Show the formula input line, which works but reports that it is defunct; return candidates to be settled."""
    found = [
        child
        for node in nodes
        if len(node.children) == 1
        for child in node.children
        if child.role == "panel" and child.states == StateBit.DEFUNCT.value and child.child_count <= MOST_LINES
    ]
    for node in found:
        node.keep_reported()
        node.states = _ALIVE
        node.child_count = MOST_LINES  # not known; any number but the true one has it asked for
    return found


def settle_input_lines(candidates: Iterable[Node]) -> None:
    """Turn revived panels that hold paragraphs into text fields, and hide the others again."""
    for node in candidates:
        if not node.children or any(child.role != "paragraph" for child in node.children):
            node.restore_reported()
            continue
        node.role = "text"
        node.text_at = tuple(child.ref for child in node.children)
        node.states |= StateBit.MULTI_LINE.value if len(node.children) > 1 else 0
        node.states |= StateBit.FOCUSED.value if any(child.has(StateBit.FOCUSED) for child in node.children) else 0


def is_input_line(node: Node) -> bool:
    """Return whether a node is the formula input line, whose own states mean nothing."""
    return node.role == "text" and bool(node.text_at)


def settle_combo_boxes(nodes: Iterable[Node]) -> None:
    """Turn the visible part of a combo box into a combo box.

    In dialogs it consists of an entry, a hidden GTK combo box, and a button that opens the list; without a visible
    entry the button is all of it.
    """
    for node in nodes:
        parts = {child.role: child for child in node.children}
        if node.role != "filler" or len(node.children) != 3 or set(parts) != _COMBO_PARTS:
            continue
        hidden, entry, button = parts["combo box"], parts["text"], parts["toggle button"]
        if hidden.has(StateBit.SHOWING):
            continue
        shown = entry if entry.has(StateBit.SHOWING) else button
        shown.keep_reported()
        shown.name = shown.name or hidden.name
        shown.labelled_as = hidden.ref
        if shown is button:
            button.role = "combo box"
            opened = StateBit.EXPANDED.value if button.has(StateBit.CHECKED) else 0
            button.states &= ~StateBit.CHECKED.value
            button.states |= StateBit.HAS_POPUP.value | StateBit.EXPANDABLE.value | opened


def lies_over_text(node: Node) -> bool:
    """Return whether a node is a frame, a picture or a shape in a document, which covers the text under it."""
    return node.role in _OBJECTS and node.states & _IN_A_TEXT == _IN_A_TEXT


def settle_shapes(nodes: Iterable[Node]) -> None:
    """Turn what is drawn in a document into shapes, each with its text."""
    for node in nodes:
        drawn = node.role == "panel" and node.states & _DRAWN == _DRAWN
        if drawn and node.children and all(child.role == "paragraph" for child in node.children):
            node.keep_reported()
            node.role, node.text_at = SHAPE, tuple(child.ref for child in node.children)
            # The shapes of a slide may all say that they have the keyboard.
            edited = node.has(StateBit.SELECTED) and any(child.has(StateBit.FOCUSED) for child in node.children)
            node.states &= ~StateBit.FOCUSED.value
            node.states |= (StateBit.MULTI_LINE | (StateBit.FOCUSED if edited else StateBit(0))).value
