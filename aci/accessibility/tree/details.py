"""Details of nodes that their cache lacks: extents, text, value, labels and attributes."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import isfinite
from typing import Any
from urllib.parse import urlsplit

from aci.accessibility.atspi import LABELLED_BY, PREFIX, SCREEN_COORDINATES, UNMAPPED, Ref, StateBit, object_ref
from aci.accessibility.dbus.bus import Answer, Bus, CallRefused
from aci.accessibility.roles import FIELDS, MENU_ENTRIES, READ_AS_TEXT, VALUED
from aci.accessibility.tree.capture import all_properties, get_property
from aci.accessibility.tree.names import ADDRESS, is_field, visible_children, without_additions
from aci.accessibility.tree.nodes import Application, Node
from aci.accessibility.tree.text_runs import HOLDS_TEXT, UNNAMED, read_runs
from aci.observation.geometry import Rect

_ACTIVATING = frozenset({"space", "return", "enter"})
_MNEMONIC = re.compile(r"Alt\+.")
_KEY_PARTS = re.compile(r"[<>]+|(?<=[^+])\+")
_MODIFIERS = {"primary": "Ctrl", "control": "Ctrl", "ctrl": "Ctrl", "alt": "Alt", "shift": "Shift", "meta": "Super"}
LONGEST_TEXT = 20_000  # characters of one text that are read at every look


def utf16_length(text: str) -> int:
    """Return the length of a text in UTF-16 units."""
    return len(text) + sum(character > "\uffff" for character in text)


def converted_twice(text: str, offset: int) -> int | None:
    """Return an offset in characters as Chromium reports it for a selection: taken for units of UTF-16 once more.

    None if that many units end within a character.
    """
    units = text.encode("utf-16-le")[: 2 * offset]
    try:
        return len(units.decode("utf-16-le"))
    except UnicodeDecodeError:
        return None


async def read_details(bus: Bus, application: Application, nodes: Sequence[Node]) -> None:
    """Read the extents of nodes, and the rest where it matters."""
    placed = [node for node in nodes if "Component" in node.interfaces]
    for node in nodes:
        node.asked = True
    for node, rect in zip(placed, await all_extents(bus, [node.ref for node in placed]), strict=True):
        node.rect = rect
    await read_contents(bus, application, nodes)


async def read_contents(bus: Bus, application: Application, nodes: Sequence[Node]) -> None:
    """Read text, value, labels and attributes of nodes with known extents, where these matter."""
    on_screen = [node for node in nodes if node.rect is not None]
    chromium = application.toolkit.startswith("Chromium")
    with_text = [node for node in on_screen if _wants_text(node, chromium, application.keeps_texts(node))]
    valued = [node for node in on_screen if node.role in VALUED and "Value" in node.interfaces]
    waiting = [_read_choice(bus, node) for node in on_screen if node.role == "combo box"]
    await asyncio.gather(
        _read_texts(bus, with_text),
        _read_values(bus, valued),
        _read_settled(bus, application, [node for node in on_screen if _wants_settled(application, node)]),
        _read_shortcuts(bus, application, [node for node in on_screen if _has_shortcut(node)]),
        *waiting,
    )
    await read_runs(bus, [node for node in with_text if application.keeps_texts(node) and not is_field(node)])
    await _read_carets(bus, on_screen, chromium)


async def extents(bus: Bus, ref: Ref) -> Rect | None:
    """Return the extents of an object, or None if it is gone or not mapped."""
    [rect] = await all_extents(bus, [ref])
    return rect


async def all_extents(bus: Bus, refs: Iterable[Ref]) -> list[Rect | None]:
    """Return the extents of some objects, None for each that is gone or not mapped."""
    answers = await bus.ask_all(
        [(*ref, PREFIX + "Component", "GetExtents", "u", (SCREEN_COORDINATES,)) for ref in refs]
    )
    return [_rect(answer) for answer in answers]


def _rect(answer: Sequence[int] | None) -> Rect | None:
    if answer is None or answer[0] == UNMAPPED or answer[1] == UNMAPPED or answer[2] < 0 or answer[3] < 0:
        return None
    return Rect(*answer)


async def full_text(bus: Bus, refs: Sequence[Ref]) -> str | None:
    """Return the current text of some objects, one per line, or None if they have none."""
    lines = await all_texts(bus, refs)
    known = [line for line in lines if line is not None]
    return "\n".join(known) if known else None


def _wants_text(node: Node, chromium: bool, keeps_texts: bool) -> bool:
    if "Text" not in node.interfaces:
        return bool(node.text_at)
    if node.has(StateBit.EDITABLE) or node.role in FIELDS:
        return True
    if keeps_texts and node.role in HOLDS_TEXT:
        return not node.name or node.role in UNNAMED
    # Chromium shows text as separate nodes that are named by it.
    return not chromium and not node.name and node.role in READ_AS_TEXT


async def _read_texts(bus: Bus, nodes: Sequence[Node]) -> None:
    plain = [node for node in nodes if not _read_apart(node)]
    texts, _ = await asyncio.gather(
        all_texts(bus, [node.ref for node in plain]),
        asyncio.gather(*(_read_text(bus, node) for node in nodes if _read_apart(node))),
    )
    for node, text in zip(plain, texts, strict=True):
        node.text = None if text is None else text[:LONGEST_TEXT]


def _read_apart(node: Node) -> bool:
    return node.role == "password text" or bool(node.text_at) or node.has(StateBit.MULTI_LINE)


async def _read_text(bus: Bus, node: Node) -> None:
    if node.role == "password text":
        length = await _text_length(bus, node.ref)
        node.text = "•" * min(length, LONGEST_TEXT)
    elif node.text_at:
        text = await full_text(bus, node.text_at)
        node.text = None if text is None else text[:LONGEST_TEXT]
    else:
        length = await _text_length(bus, node.ref)
        node.text = await _text_until(bus, node.ref, min(length, LONGEST_TEXT))


async def all_texts(bus: Bus, refs: Sequence[Ref]) -> list[str | None]:
    """Return the whole text of each of some objects, None if it is refused."""
    texts = await bus.ask_all([(*ref, PREFIX + "Text", "GetText", "ii", (0, -1)) for ref in refs])
    for place, (ref, text) in enumerate(zip(refs, texts, strict=True)):
        if text == "" and (length := await _text_length(bus, ref)):  # entries of GTK 4 do not know that -1 means all
            texts[place] = await _text_until(bus, ref, length)
    return [None if text is None else str(text) for text in texts]


async def _text_until(bus: Bus, ref: Ref, end: int) -> str | None:
    text = await bus.ask(*ref, "Text", "GetText", "ii", (0, end))
    return None if text is None else str(text)[:LONGEST_TEXT]


async def _text_length(bus: Bus, ref: Ref) -> int:
    length = await get_property(bus, ref, "Text", "CharacterCount")
    return length if isinstance(length, int) and length > 0 else 0


async def _read_values(bus: Bus, nodes: Sequence[Node]) -> None:
    values = await all_properties(bus, [node.ref for node in nodes], "Value", "CurrentValue")
    for node, value in zip(nodes, values, strict=True):
        node.value = float(value) if isinstance(value, int | float) and isfinite(value) else None
    # Qt says of a field for a date or time that its value is a number, which can only be 0.
    zeros = [node for node in nodes if node.value == 0 and node.role == "spin button"]
    lowest, highest = await asyncio.gather(
        *(all_properties(bus, [node.ref for node in zeros], "Value", f"{bound}imumValue") for bound in ("Min", "Max"))
    )
    for node, *bounds in zip(zeros, lowest, highest, strict=True):
        if bounds == [0, 0]:
            node.value = None


async def _read_carets(bus: Bus, nodes: Sequence[Node], chromium: bool) -> None:
    """Read where the caret is, and what is selected, in the text that has the focus and is read already.

    Chromium converts the offsets of selections twice, from units of UTF-16 to characters.
    """
    for node in nodes:
        node.caret = node.selection = None
    focused = [node for node in nodes if node.has(StateBit.FOCUSED) and ("Text" in node.interfaces or node.text_at)]
    for node in focused:
        before = 0
        for ref in node.text_at or (node.ref,):
            caret, selected = await asyncio.gather(
                get_property(bus, ref, "Text", "CaretOffset"),
                bus.call_all([(*ref, PREFIX + "Text", "GetSelection", "i", (0,))]),
            )
            counts = await _counts(bus, ref, chromium) if _may_have_long_characters(node) else None
            if isinstance(caret, int) and caret >= 0:
                node.caret = before + (caret if chromium else _characters(counts, caret))
                if (selection := _selection(selected[0])) is not None:
                    node.selection = (
                        before + _characters(counts, selection[0]),
                        before + _characters(counts, selection[1]),
                    )
                break
            before += (len(counts) - 1 if counts is not None else await _text_length(bus, ref)) + 1


def _selection(answer: Answer) -> tuple[int, int] | None:
    if isinstance(answer, CallRefused) or len(answer) != 2 or not 0 <= answer[0] < answer[1]:
        return None
    return answer[0], answer[1]


def _may_have_long_characters(node: Node) -> bool:
    """Return whether the text of a node may hold characters that are two units of UTF-16."""
    return bool(node.text) and (max(node.text or "") > "\uffff" or len(node.text or "") == LONGEST_TEXT)


async def _counts(bus: Bus, ref: Ref, chromium: bool) -> list[int] | None:
    """Return what an object reports as the offset of each place between its characters, from its start on.

    None if it counts characters. Others count units of UTF-16; see `converted_twice` for Chromium.
    """
    [text] = await all_texts(bus, [ref])
    if text is None or (units := utf16_length(text)) == len(text):
        return None
    if not chromium and await _text_length(bus, ref) != units:
        return None
    counts = list(accumulate((1 + (character > "\uffff") for character in text), initial=0))
    return [bisect_right(counts, offset) - 1 for offset in range(len(text) + 1)] if chromium else counts


def _characters(counts: Sequence[int] | None, offset: int) -> int:
    """Return how many characters lie before an offset as an object reports it."""
    return offset if counts is None else bisect_right(counts, offset) - 1


async def _read_choice(bus: Bus, node: Node) -> None:
    """Read the selection of a combo box without a text of its own."""
    if node.has(StateBit.EDITABLE):
        return
    chosen = selected_below(node, 3)  # entries of Chromium may be in groups
    holder = next((each for each in (node, *node.children) if "Selection" in each.interfaces), None)
    if chosen is not None:
        node.choice = chosen.name or None
    elif holder is not None:
        ref = object_ref(await bus.ask(*holder.ref, "Selection", "GetSelectedChild", "i", [0]))
        if ref is not None:
            name = await get_property(bus, ref, "Accessible", "Name")
            node.choice = name if isinstance(name, str) and name else None


def selected_below(node: Node, levels: int) -> Node | None:
    """Return the first selected node with a name among the descendants down to this number of levels."""
    for child in node.children:
        if child.has(StateBit.SELECTED) and child.name:
            return child
        found = selected_below(child, levels - 1) if levels > 1 else None
        if found is not None:
            return found
    return None


def _wants_settled(application: Application, node: Node) -> bool:
    if node.role in FIELDS:
        return True
    # A node named by nothing but its class may be an icon, or hold one.
    nameless = application.toolkit.startswith("Chromium") and not without_additions(node.name)
    shown = visible_children(application, node)
    return nameless and all(child.role == "image" and not without_additions(child.name) for child in shown)


async def _read_settled(bus: Bus, application: Application, nodes: Sequence[Node]) -> None:
    """Read attributes and labels, once for each object: they hardly ever change while it lives."""
    keys = [(node.ref, node.role, node.name) for node in nodes]
    new = [node for node, key in zip(nodes, keys, strict=True) if key not in application.settled]
    # Chromium names its fields by what labels them.
    named = application.toolkit.startswith("Chromium")
    attributes, relations, hidden = await asyncio.gather(
        _all_attributes(bus, new),
        _all_relations(bus, [None if named and node.name else node.ref for node in new]),
        _all_relations(bus, [node.labelled_as for node in new]),
    )
    for node, has, own, of_hidden in zip(new, attributes, relations, hidden, strict=True):
        application.settled[node.ref, node.role, node.name] = (has, _labels(own) or _labels(of_hidden))
    await _read_addresses(bus, application, [node for node in new if node.role == "link"])
    for node, key in zip(nodes, keys, strict=True):
        node.attributes, node.labels = application.settled[key]
    changing = [node for node in nodes if node.role == "spin button" and "valuetext" in node.attributes]
    for node, now in zip(changing, await _all_attributes(bus, changing), strict=True):
        node.attributes = {**node.attributes, **now}


def _has_shortcut(node: Node) -> bool:
    return node.role in MENU_ENTRIES and node.role != "menu" and "Action" in node.interfaces


async def _read_shortcuts(bus: Bus, application: Application, nodes: Sequence[Node]) -> None:
    """Read the shortcuts of menu entries, once for each object."""
    keys = [(node.ref, node.role, node.name) for node in nodes]
    new = [key for key in keys if key not in application.shortcuts]
    answers = await bus.ask_all([(*ref, PREFIX + "Action", "GetKeyBinding", "i", (0,)) for ref, _, _ in new])
    for key, answer in zip(new, answers, strict=True):
        application.shortcuts[key] = shortcut_of(answer or "") or shortcut_of(key[2].partition("\t")[2])
    for node, key in zip(nodes, keys, strict=True):
        node.shortcut = application.shortcuts[key]


def shortcut_of(binding: str) -> str:
    """Return the keys that a key binding names, such as "Ctrl+Shift+S"; empty if it names only a mnemonic.

    GTK gives mnemonic, way and accelerator, "s;<Alt>f:s;<Primary>s", GTK 4 the space bar for each menu item, which
    activates what has the focus, and Qt either a mnemonic, "Alt+S", or "Ctrl+S".
    """
    keys = binding.rpartition(";")[2].strip()
    if _MNEMONIC.fullmatch(keys):
        return ""
    *modifiers, key = [part for part in _KEY_PARTS.split(keys) if part] or [""]
    if not key or (not modifiers and (len(key) == 1 or key.casefold() in _ACTIVATING)):
        return ""
    return "+".join(
        [*(_MODIFIERS.get(each.casefold(), each) for each in modifiers), key.upper() if len(key) == 1 else key]
    )


async def _all_attributes(bus: Bus, nodes: Sequence[Node]) -> list[dict[str, str]]:
    answers = await bus.ask_all([(*node.ref, PREFIX + "Accessible", "GetAttributes", "", ()) for node in nodes])
    return [answer or {} for answer in answers]


async def _all_relations(bus: Bus, refs: Sequence[Ref | None]) -> list[Sequence[Any]]:
    answers = iter(await bus.ask_all([(*ref, PREFIX + "Accessible", "GetRelationSet", "", ()) for ref in refs if ref]))
    return [(next(answers) or ()) if ref else () for ref in refs]


async def _read_addresses(bus: Bus, application: Application, links: Sequence[Node]) -> None:
    """Store the end of a link's address, which describes it if nothing else does."""
    answers = await bus.ask_all([(*link.ref, PREFIX + "Hyperlink", "GetURI", "i", [0]) for link in links])
    for link, address in zip(links, answers, strict=True):
        path = urlsplit(address).path if isinstance(address, str) else ""
        key = (link.ref, link.role, link.name)
        attributes, labels = application.settled[key]
        application.settled[key] = ({**attributes, ADDRESS: path.rstrip("/").rpartition("/")[2]}, labels)


def _labels(relations: Sequence[Any]) -> tuple[Ref, ...]:
    return tuple(Ref(*target) for kind, targets in relations if kind == LABELLED_BY for target in targets)
