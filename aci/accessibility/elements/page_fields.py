"""What fields of pages for numbers, dates and times contain."""

from __future__ import annotations

from aci.accessibility.tree.nodes import Node
from aci.accessibility.tree.text_runs import filled_text


def date_part(node: Node) -> str | None:
    """Return what a part of a date or time says, empty if it is not set; None for what is no such part.

    A part that is not set says "0" in Chromium, where it has a placeholder, and nothing in Gecko.
    """
    attributes = node.attributes
    is_part = attributes.get("tag") != "input" and not attributes.keys().isdisjoint(("valuetext", "placeholder"))
    if node.role != "spin button" or not is_part:
        return None
    said = attributes.get("valuetext", "")
    return "" if said == "0" and "placeholder" in attributes else said


def date_text(node: Node) -> str:
    """Return the content of a date or time field: its parts and separators."""
    if (part := date_part(node)) is not None:
        return part or node.attributes.get("placeholder") or node.text or ""
    if node.role == "static":
        return node.name
    filled = filled_text(node, date_text) if node.children else None  # Gecko has the separators there
    return filled if filled is not None else "".join(map(date_text, node.children))


def number_of(node: Node) -> float | None:
    """Return the number of a node; browsers say 0 for empty fields, and Gecko for all parts of a date."""
    if (part := date_part(node)) is not None:
        return float(part) if part.isdecimal() else None
    is_empty = node.role == "spin button" and node.attributes.get("tag") == "input" and node.text == ""
    return None if is_empty else node.value
