"""What the tree does not say of a node: where it is, its text, value, labels and attributes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from aci.accessibility.atspi import LABELLED_BY, SCREEN_COORDINATES, UNMAPPED, StateBit
from aci.accessibility.bus import Bus
from aci.accessibility.nodes import Application, Node, Ref
from aci.accessibility.roles import FIELDS, READ_AS_TEXT, VALUED
from aci.accessibility.tree import get_property
from aci.geometry import Rect

LONGEST_TEXT = 20_000
"""Characters of one text that are read at every look."""


async def read_details(bus: Bus, application: Application, nodes: Sequence[Node]) -> None:
    """Ask for the extents of the nodes, and for the rest where it matters."""
    await asyncio.gather(*(_read_extents(bus, node) for node in nodes))
    await read_contents(bus, application, nodes)


async def read_contents(bus: Bus, application: Application, nodes: Sequence[Node]) -> None:
    """Ask the nodes whose extents are known for the rest, where it matters."""
    on_screen = [node for node in nodes if node.rect is not None]
    chromium = application.toolkit.startswith("Chromium")
    waiting = [_read_text(bus, node) for node in on_screen if _wants_text(node, chromium)]
    waiting += [_read_value(bus, node) for node in on_screen if node.role in VALUED and "Value" in node.interfaces]
    waiting += [_read_choice(bus, node) for node in on_screen if node.role == "combo box"]
    waiting += [_read_settled(bus, application, node) for node in on_screen if _wants_settled(node, chromium)]
    await asyncio.gather(*waiting)


async def extents(bus: Bus, ref: Ref) -> Rect | None:
    """Return where an object says it is, or None where it is gone or not mapped."""
    answer = await bus.ask(*ref, "Component", "GetExtents", "u", [SCREEN_COORDINATES])
    if answer is None or answer[0] == UNMAPPED or answer[1] == UNMAPPED or answer[2] < 0 or answer[3] < 0:
        return None
    return Rect(*answer)


async def full_text(bus: Bus, refs: Sequence[Ref]) -> str | None:
    """Return all text that some objects hold now, a line each, or None where they have none to give."""
    lines = await asyncio.gather(*(_text_of(bus, ref) for ref in refs))
    known = [line for line in lines if line is not None]
    return "\n".join(known) if known else None


async def _read_extents(bus: Bus, node: Node) -> None:
    node.asked = True
    if "Component" in node.interfaces:
        node.rect = await extents(bus, node.ref)


def _wants_text(node: Node, chromium: bool) -> bool:
    if "Text" not in node.interfaces:
        return bool(node.text_at)
    if node.has(StateBit.EDITABLE) or node.role in FIELDS:
        return True
    # What Chromium shows as text are nodes of their own, which bear it as their name.
    return not chromium and not node.name and node.role in READ_AS_TEXT


async def _read_text(bus: Bus, node: Node) -> None:
    if node.role == "password text":
        length = await _text_length(bus, node.ref)
        node.text = "•" * min(length, LONGEST_TEXT)
        return
    if node.text_at:
        node.text = await full_text(bus, node.text_at)
        return
    end = -1
    if node.has(StateBit.MULTI_LINE):
        length = await _text_length(bus, node.ref)
        end = min(length, LONGEST_TEXT)
    text = await _text_of(bus, node.ref, end)
    node.text = None if text is None else text[:LONGEST_TEXT]


async def _text_of(bus: Bus, ref: Ref, end: int = -1) -> str | None:
    """Return the text up to `end`; entries of GTK 4 do not understand that -1 means all."""
    text = await bus.ask(*ref, "Text", "GetText", "ii", [0, end])
    if text == "" and end < 0 and (length := await _text_length(bus, ref)):
        text = await bus.ask(*ref, "Text", "GetText", "ii", [0, length])
    return None if text is None else str(text)


async def _text_length(bus: Bus, ref: Ref) -> int:
    length = await get_property(bus, ref, "Text", "CharacterCount")
    return length if isinstance(length, int) and length > 0 else 0


async def _read_value(bus: Bus, node: Node) -> None:
    value = await get_property(bus, node.ref, "Value", "CurrentValue")
    node.value = float(value) if isinstance(value, int | float) else None


async def _read_choice(bus: Bus, node: Node) -> None:
    """Read what a combo box without a text of its own stands on."""
    if node.has(StateBit.EDITABLE):
        return
    chosen = _selected_below(node, 2)
    if chosen is not None:
        node.choice = chosen.name or None
    elif "Selection" in node.interfaces:
        ref = await bus.ask(*node.ref, "Selection", "GetSelectedChild", "i", [0])
        if ref is not None and not ref[1].endswith("/null"):
            name = await get_property(bus, Ref(*ref), "Accessible", "Name")
            node.choice = name if isinstance(name, str) and name else None


def _selected_below(node: Node, levels: int) -> Node | None:
    for child in node.children:
        if child.has(StateBit.SELECTED) and child.name:
            return child
        found = _selected_below(child, levels - 1) if levels > 1 else None
        if found is not None:
            return found
    return None


def _wants_settled(node: Node, chromium: bool) -> bool:
    return node.role in FIELDS or (chromium and not node.children and not node.name)


async def _read_settled(bus: Bus, application: Application, node: Node) -> None:
    """Read what hardly ever changes while an object lives, once."""
    key = (node.ref, node.role, node.name)
    known = application.settled.get(key)
    if known is None:
        attributes, relations, hidden = await asyncio.gather(
            bus.ask(*node.ref, "Accessible", "GetAttributes"),
            bus.ask(*node.ref, "Accessible", "GetRelationSet"),
            _relations(bus, node.labelled_as),
        )
        known = (dict(attributes or {}), _labels(relations or ()) or _labels(hidden))
        application.settled[key] = known
    node.attributes, node.labels = known
    if node.role == "spin button" and "valuetext" in node.attributes:
        attributes = await bus.ask(*node.ref, "Accessible", "GetAttributes")
        node.attributes = {**node.attributes, **(attributes or {})}


async def _relations(bus: Bus, ref: Ref | None) -> Sequence[Any]:
    return [] if ref is None else await bus.ask(*ref, "Accessible", "GetRelationSet") or []


def _labels(relations: Sequence[Any]) -> tuple[Ref, ...]:
    return tuple(Ref(*target) for kind, targets in relations if kind == LABELLED_BY for target in targets)
