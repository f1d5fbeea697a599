"""Whole texts of elements, also out of sight, with the object and offset of each part; places and selections in them.

Where an object's text holds U+FFFC, the object replacement character, a child with a text of its own stands; the
children of an object without a text follow one another. Offsets count characters, or UTF-16 units in toolkits whose
strings do (Qt, LibreOffice, Java); which of the two an object counts is seen by its length.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from aci.accessibility.atspi import FLOWS_FROM, FLOWS_TO, PREFIX, SCREEN_COORDINATES, Ref, object_ref, role_name
from aci.accessibility.dbus.bus import Bus, CallRefused
from aci.accessibility.roles import TABLES
from aci.accessibility.tree.capture import get_property
from aci.accessibility.tree.details import all_texts, converted_twice, utf16_length
from aci.accessibility.tree.nodes import Application
from aci.observation.geometry import Rect

MOST_OBJECTS = 6000
MOST_BOXES = 400
MOST_CELLS = 20_000
"""Tables with more cells, such as sheets, are read up to a number of empty rows and columns."""
EMPTY_ROWS, EMPTY_COLUMNS = 100, 26
MOST_CHARACTERS = 2_000_000
DEEPEST = 60
_PLACEHOLDER = "\ufffc"
_ACROSS = frozenset({"table row", "tool bar", "page tab list", "menu bar"})
"""Roles whose children stand side by side."""
_INLINE = frozenset({"static", "text leaf"})
"""Roles of children whose text is also a part of their parent's."""
_MAIN = {"document": 3, "terminal": 2, "text": 1, "table": 1, "tree table": 1, "tree": 1, "list": 1, "list box": 1}
"""Which roles are the main text of a window, by rank; all kinds of documents alike."""


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of text."""

    text: str  # the piece
    ref: Ref | None = None  # the object that has it; None for a separator, or for the name of an object without a text
    start: int = 0  # where it begins in the object's text, characters
    whole: str = ""  # the object's text
    in_utf16: bool = False  # whether the object's offsets count UTF-16 units

    def offset(self, characters: int) -> int:
        """Return an offset in this piece as the object counts it."""
        at = self.start + characters
        return utf16_length(self.whole[:at]) if self.in_utf16 else at

    def part(self, first: int, last: int) -> Part:
        """Return the part between two positions in this piece."""
        assert self.ref is not None  # Only an object's own text has parts.
        before, after = self.whole[: self.start + first], self.whole[self.start + last :]
        elsewhere = None
        if "\n" in before.lstrip():
            elsewhere = self.offset(len(before) - len(before.lstrip()) - self.start)
        elif "\n" in after and after[after.index("\n") :].strip():
            rest = after[after.index("\n") :]
            elsewhere = self.offset(last + after.index("\n") + len(rest) - len(rest.lstrip()))
        twice = converted_twice(self.whole, self.start + first), converted_twice(self.whole, self.start + last)
        return Part(self.ref, self.offset(first), self.offset(last), twice, elsewhere)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an object's text."""

    ref: Ref  # the object
    start: int  # its first character, as the object counts
    end: int  # the character behind it, as the object counts
    # start and end as Chromium reports them for a selection; None for one that it cannot report
    twice: tuple[int | None, int | None] = (None, None)
    elsewhere: int | None = None  # offset of a character on another line of the object's text; None if it has only one


@dataclass(frozen=True, slots=True)
class FoundText:
    """Words that were found; they can lie in several objects."""

    text: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class MissingText:
    """Why words were not found; `count` is how often they occur."""

    why: Literal["no_text", "absent", "fewer"]
    count: int = 0


def occurrences(words: str, text: str) -> list[tuple[int, int]]:
    """Return where words occur in a text, as pairs of start and end.

    White space matches any white space, and the case of letters matters only where the words occur as they are given.
    """
    tokens = [re.escape(token) for token in words.split()]
    pattern = r"\s+".join(tokens) if tokens else re.escape(words)
    return [found.span() for found in re.finditer(pattern, text)] or [
        found.span() for found in re.finditer(pattern, text, re.IGNORECASE)
    ]


def find(runs: Sequence[Run], words: str, occurrence: int = 1, until: str = "") -> FoundText | MissingText:
    """Return an occurrence of words in a text, up to the end of the next `until`."""
    whole = "".join(run.text for run in runs)
    if not any(run.ref is not None and run.text for run in runs):
        return MissingText("no_text")
    found = occurrences(words, whole)
    if len(found) < occurrence:
        return MissingText("fewer" if found else "absent", len(found))
    start, end = found[occurrence - 1]
    if until:
        ends = [last for first, last in occurrences(until, whole) if first >= start and last >= end]
        if not ends:
            return MissingText("absent")
        end = ends[0]
    return FoundText(whole[start:end], tuple(_parts(runs, start, end)))


def _parts(runs: Sequence[Run], start: int, end: int) -> list[Part]:
    parts: list[Part] = []
    at = 0
    for run in runs:
        first, last = max(start - at, 0), min(end - at, len(run.text))
        at += len(run.text)
        if run.ref is not None and first < last:
            parts.append(run.part(first, last))
    return parts


def main_text(applications: Iterable[Application], window_id: int) -> Ref | None:
    """Return the object with the main text of a window: its largest document, else terminal, text or table."""
    best: tuple[int, int, Ref] | None = None
    for application in applications:
        window = next((window.rect for window in application.windows if window.id == window_id), None)
        for node in application.nodes.values() if window is not None else ():
            rank = _MAIN.get(node.role.partition(" ")[0] if node.role.startswith("document") else node.role)
            if rank is None or node.rect is None or not node.has(application.shows_by):
                continue
            part = node.rect.intersection(window) if window is not None else None
            if part is not None and (best is None or (rank, part.area) > best[:2]):
                best = rank, part.area, node.ref
    return None if best is None else best[2]


async def read_runs(bus: Bus, refs: Sequence[Ref]) -> list[Run]:
    """Return the text of some objects and of what they contain, bounded by `MOST_OBJECTS`."""
    reader = _Reader(bus)
    pieces = await asyncio.gather(*(reader.read(ref, 0) for ref in refs))
    return _joined(pieces, "\n")


async def character_boxes(bus: Bus, parts: Sequence[Part]) -> list[Rect]:
    """Return the extents of the characters of some parts, px as the objects count; without those that have none.

    Of more than `MOST_BOXES` characters, the first and the last ones are asked for.
    """
    places = [(part.ref, offset) for part in parts for offset in range(part.start, part.end)]
    if len(places) > MOST_BOXES:
        places = [*places[: MOST_BOXES // 2], *places[-MOST_BOXES // 2 :]]
    answers = await bus.call_all(
        [(*ref, PREFIX + "Text", "GetCharacterExtents", "iu", (at, SCREEN_COORDINATES)) for ref, at in places]
    )
    boxes = [Rect(*answer) for answer in answers if not isinstance(answer, CallRefused) and len(answer) == 4]
    boxes = [box for box in boxes if box.area and box.x > -(2**20) and box.y > -(2**20)]
    return boxes if boxes and await _knows_lines(bus, parts[0], boxes[0]) else []


async def _knows_lines(bus: Bus, part: Part, first: Rect) -> bool:
    """Return whether an object places its lines below each other; Qt 5 places all lines of a plain text at the top."""
    if part.elsewhere is None:
        return True
    [other] = await bus.call_all(
        [(*part.ref, PREFIX + "Text", "GetCharacterExtents", "iu", (part.elsewhere, SCREEN_COORDINATES))]
    )
    return isinstance(other, CallRefused) or len(other) != 4 or other[1] != first.y


async def set_caret(bus: Bus, part: Part) -> bool:
    """Put the caret before a part of an object's text; return whether the object says that it did."""
    return bool(await bus.ask(*part.ref, "Text", "SetCaretOffset", "i", [part.start]))


async def select(bus: Bus, part: Part, toolkit: str) -> bool:
    """Select a part of an object's text, and nothing else of it; return whether the object says that it did."""
    if toolkit.startswith("GTK 4"):  # never answers AddSelection
        return False
    count = await bus.ask(*part.ref, "Text", "GetNSelections")
    if isinstance(count, int) and count > 0:
        done = await bus.ask(*part.ref, "Text", "SetSelection", "iii", [0, part.start, part.end])
    else:
        done = await bus.ask(*part.ref, "Text", "AddSelection", "ii", [part.start, part.end])
    return bool(done)


async def is_selected(bus: Bus, parts: Sequence[Part], toolkit: str) -> bool:
    """Return whether exactly these parts of their objects' texts are selected.

    Where Chromium's second conversion of an offset ends within a character, it reports a selection from 0 to 0.
    """
    chromium = toolkit.startswith("Chromium")
    whole: dict[Ref, Part] = {}  # what the selection of an object that contains others goes around
    for part in parts:
        first = whole.get(part.ref, part)
        whole[part.ref] = replace(part, start=first.start, twice=(first.twice[0], part.twice[1]))
    answers = await bus.call_all([(*ref, PREFIX + "Text", "GetSelection", "i", (0,)) for ref in whole])
    counts = await bus.ask_all([(*ref, PREFIX + "Text", "GetNSelections", "", ()) for ref in whole])
    expected = [
        (part.start, part.end) if not chromium else (0, 0) if None in part.twice else part.twice
        for part in whole.values()
    ]
    return bool(whole) and all(
        not isinstance(answer, CallRefused) and tuple(sorted(answer)) == wanted and (any(wanted) or count == 1)
        for answer, wanted, count in zip(answers, expected, counts, strict=True)
    )


class _Reader:
    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._left = MOST_OBJECTS

    async def read(self, ref: Ref, depth: int) -> list[Run]:
        """Return the text of an object and of what it contains."""
        if self._left <= 0 or depth > DEEPEST:
            return []
        self._left -= 1
        [text], number = await asyncio.gather(all_texts(self._bus, [ref]), self._bus.ask(*ref, "Accessible", "GetRole"))
        role = role_name(number) if isinstance(number, int) else ""
        if text and _PLACEHOLDER not in text:
            return [await self._run(ref, text[:MOST_CHARACTERS])]
        if role in TABLES and await get_property(self._bus, ref, "Accessible", "ChildCount") not in range(MOST_CELLS):
            return await self._sheet(ref)
        children = await self._children(ref)
        if role == "document text":
            children = await self._flow(children)
        if not children:
            return [await self._run(ref, text)] if text else await self._name(ref)
        if text:
            return await self._filled(ref, text, children, depth)
        pieces = await asyncio.gather(*(self.read(child, depth + 1) for child in children))
        if role in TABLES and (columns := await get_property(self._bus, ref, "Table", "NColumns")):
            return await self._rows(pieces, children, int(columns))
        return _joined(pieces, "\t" if role in _ACROSS else "\n")

    async def _flow(self, children: list[Ref]) -> list[Ref]:
        """Return all paragraphs of a document of LibreOffice, whose children are only those that are visible."""
        if not children:
            return children
        before, after = [await self._following(children[at], kind) for at, kind in ((0, FLOWS_FROM), (-1, FLOWS_TO))]
        return [*reversed(before), *children, *after]

    async def _following(self, ref: Ref, kind: int) -> list[Ref]:
        found: list[Ref] = []
        while len(found) < self._left:
            relations = await self._bus.ask(*ref, "Accessible", "GetRelationSet") or ()
            following = [Ref(*target) for relation, targets in relations if relation == kind for target in targets]
            if not following or following[0] in found:
                break
            ref = following[0]
            found.append(ref)
        return found

    async def _sheet(self, ref: Ref) -> list[Run]:
        """Return the cells of a large table, until many rows and columns are empty."""
        rows: list[list[str]] = []
        columns = EMPTY_COLUMNS
        while self._left > 0:
            block = await self._cells(ref, range(len(rows), len(rows) + EMPTY_ROWS), columns)
            while any(row[-1] for row in block) and self._left > 0:
                columns += EMPTY_COLUMNS
                block = await self._cells(ref, range(len(rows), len(rows) + EMPTY_ROWS), columns)
            if not any(any(row) for row in block):
                break
            rows += block
            self._left -= EMPTY_ROWS
        lines = ["\t".join(row).rstrip("\t") for row in rows]
        return [Run("\n".join(lines).rstrip("\n"))] if rows else []

    async def _cells(self, ref: Ref, rows: range, columns: int) -> list[list[str]]:
        calls: list[Any] = [
            (*ref, PREFIX + "Table", "GetAccessibleAt", "ii", (row, column))
            for row in rows
            for column in range(columns)
        ]
        refs = [object_ref(answer) for answer in await self._bus.ask_all(calls)]
        texts = iter(await all_texts(self._bus, [each for each in refs if each is not None]))
        shown = [(next(texts) or "") if each is not None else "" for each in refs]
        return [shown[at : at + columns] for at in range(0, len(shown), columns)]

    async def _rows(self, pieces: list[list[Run]], children: Sequence[Ref], columns: int) -> list[Run]:
        """Join cells that are direct children of their table, row by row; headers have a row of their own."""
        roles = await self._roles(children)
        if "table row" in roles or columns < 2:
            return _joined(pieces, "\n")
        heads = [piece for piece, role in zip(pieces, roles, strict=True) if role.endswith("header")]
        cells = [piece for piece, role in zip(pieces, roles, strict=True) if not role.endswith("header")]
        rows = [cells[at : at + columns] for at in range(0, len(cells), columns)]
        return _joined([_joined(row, "\t") for row in (heads, *rows) if row], "\n")

    async def _filled(self, ref: Ref, text: str, children: Sequence[Ref], depth: int) -> list[Run]:
        """Return a text in which children stand for the placeholders."""
        roles = await self._roles(children)
        embedded = [child for child, role in zip(children, roles, strict=True) if role not in _INLINE]
        if len(embedded) != text.count(_PLACEHOLDER):
            pieces = await asyncio.gather(*(self.read(child, depth + 1) for child in children))
            return _joined(pieces, "\n")
        own = await self._run(ref, text)
        inner = await asyncio.gather(*(self.read(child, depth + 1) for child in embedded))
        blocks = not text.replace(_PLACEHOLDER, "").strip()
        runs: list[Run] = []
        at = 0
        for piece, found in zip(inner, re.finditer(_PLACEHOLDER, text), strict=True):
            runs += [Run(text[at : found.start()], ref, at, text, own.in_utf16)] if found.start() > at else []
            runs += [Run("\n")] if blocks and runs and piece else []
            runs += piece
            at = found.end()
        return [*runs, Run(text[at:], ref, at, text, own.in_utf16)] if at < len(text) else runs

    async def _run(self, ref: Ref, text: str) -> Run:
        in_utf16 = False
        if max(text) > "\uffff":
            in_utf16 = await get_property(self._bus, ref, "Text", "CharacterCount") == utf16_length(text)
        return Run(text, ref, 0, text, in_utf16)

    async def _name(self, ref: Ref) -> list[Run]:
        name = await get_property(self._bus, ref, "Accessible", "Name")
        return [Run(name)] if isinstance(name, str) and name else []

    async def _children(self, ref: Ref) -> list[Ref]:
        found = await self._bus.ask(*ref, "Accessible", "GetChildren") or ()
        refs = (object_ref(child) for child in found[: self._left])
        return [child for child in refs if child is not None]

    async def _roles(self, refs: Sequence[Ref]) -> list[str]:
        numbers = await self._bus.ask_all([(*ref, PREFIX + "Accessible", "GetRole", "", ()) for ref in refs])
        return [role_name(number) if isinstance(number, int) else "" for number in numbers]


def _joined(pieces: Sequence[Sequence[Run]], separator: str) -> list[Run]:
    runs: list[Run] = []
    for piece in pieces:
        if piece:
            runs += [Run(separator)] if runs else []
            runs += piece
    return runs
