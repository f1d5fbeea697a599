"""What LibreOffice does in its own way (measured with 7.4 and its GTK 3 plugin)."""

from __future__ import annotations

from collections.abc import Iterable

from aci.accessibility.atspi import StateBit
from aci.accessibility.nodes import Node

_ALIVE = (
    StateBit.SHOWING | StateBit.VISIBLE | StateBit.ENABLED | StateBit.SENSITIVE | StateBit.EDITABLE | StateBit.FOCUSABLE
).value
MOST_LINES = 200
"""Paragraphs in an input line; a panel with more is something else."""


def revive_input_lines(nodes: Iterable[Node]) -> list[Node]:
    """Let the formula input line show itself: it works, but says of itself that it is defunct.

    Args:
        nodes: Nodes that show themselves.

    Returns:
        Candidates; those that turn out to hold anything but paragraphs are to be given to `settle_input_lines`.
    """
    found = [
        child
        for node in nodes
        if len(node.children) == 1
        for child in node.children
        if child.role == "panel" and child.states == StateBit.DEFUNCT.value and child.child_count <= MOST_LINES
    ]
    for node in found:
        node.states = _ALIVE
        node.child_count = MOST_LINES  # not known; any number but the true one has it asked for
    return found


def settle_input_lines(candidates: Iterable[Node]) -> None:
    """Make text fields of the revived panels that hold paragraphs, and let the others vanish again."""
    for node in candidates:
        if not node.children or any(child.role != "paragraph" for child in node.children):
            node.states = StateBit.DEFUNCT.value
            continue
        node.role = "text"
        node.text_at = tuple(child.ref for child in node.children)
        node.states |= StateBit.MULTI_LINE.value if len(node.children) > 1 else 0
        node.states |= StateBit.FOCUSED.value if any(child.has(StateBit.FOCUSED) for child in node.children) else 0
