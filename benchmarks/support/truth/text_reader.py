"""A reader that knows a screen only from the texts that a model gets: the first in full, then each difference."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"(?: \.\.\. "((?:[^"\\]|\\.)*)" \(\d+ characters\))?')
_ESCAPED = re.compile(r"\\(?:u\{([0-9a-f]+)\}|(.))")
_SPAN = re.compile(r"(\d+)(?: to (\d+))?")
_BLOCK = re.compile(r"([A-Z]+)(\d+)(?: to ([A-Z]+)(\d+))?")
_FACT = re.compile(r"(?:(label|text|about|selected|name was) )?§(\d+)§")
_CHANGED = ("Changed", "Shown again, but changed")
_STATES = {"checked": {"unchecked", "mixed"}, "unchecked": {"checked", "mixed"}, "mixed": {"checked", "unchecked"},
           "expanded": {"collapsed"}, "collapsed": {"expanded"}}  # fmt: skip


@dataclass
class Known:
    """What the reader knows of an element; `window` is its window's title, or else its application."""

    id: int
    role: str
    window: str
    name: str = ""
    label: str = ""
    text: str = ""
    value: str = ""
    about: str = ""
    states: set[str] = field(default_factory=set)
    shown: bool = True


@dataclass
class TextReader:
    """Reads texts one after another; `elements` is the screen as known from them, `latest` what the last one named."""

    elements: dict[int, Known] = field(default_factory=dict)
    active: str = ""
    focus: int | None = None
    latest: set[int] = field(default_factory=set)

    def read(self, text: str) -> None:
        """Read the next text."""
        self.latest, section, window = set(), "", ""
        for line in text.splitlines():
            masked, strings = _masked(line)
            if not line.startswith("  "):
                section, window = self._head(masked, strings, window)
            elif section == "windows":
                self._window(masked, strings)
            elif section == "listed":
                self._listed(masked.strip(), strings, window)
            elif section == "changed":
                self._changed(masked.strip(), strings)
            elif section == "gone":
                self._hide(self._named(masked.strip()))

    def _head(self, masked: str, strings: Sequence[str], window: str) -> tuple[str, str]:
        """Read a line that begins a section, or says everything itself."""
        head, _, rest = masked.partition(":")
        sections = {"Windows, topmost first": "windows", "Gone": "gone"} | dict.fromkeys(_CHANGED, "changed")
        if head.startswith(("Elements of window", "New in window")):
            return "listed", strings[0] if strings else "unknown"
        if head in ("Window opened", "Window now"):
            self._window(rest, strings)
        elif head == "Window closed":
            self._hide([each for each in self.elements.values() if each.window == (strings[0] or strings[1])])
        elif head.startswith("Covered by"):
            self._hide(self._meant(rest))
        elif head == "Shown again, as before":
            for element in self._meant(rest):
                element.shown = True
        elif head == "Focus":
            found = re.match(r" (\d+) ", rest)
            self.focus = int(found[1]) if found else None
        return sections.get(head, ""), window

    def _window(self, masked: str, strings: Sequence[str]) -> None:
        if " active " in masked:
            self.active = strings[0]

    def _listed(self, line: str, strings: Sequence[str], window: str) -> None:
        head, role = "", ""
        if found := re.match(r"(row|labels|cells|each ([a-z ]+), at y \d+, x \d+ to \d+): ", line):
            head, role = found[0], found[2] or {"labels": "label"}.get(found[1], "table cell")
        elif line.startswith("empty cells "):
            head, role = "empty cells", "table cell"
        for part in line[len(head) :].split(" | "):
            for element in _elements_of(part.strip(), strings, role, window):
                self.elements[element.id] = element
                self.latest.add(element.id)

    def _changed(self, line: str, strings: Sequence[str]) -> None:
        if line.startswith(("cells: ", "empty cells ")):
            for part in line.removeprefix("cells: ").removeprefix("empty cells").split(" | "):
                for cell in _elements_of(part.strip(), strings, "table cell", ""):
                    before = self.elements.get(cell.id)
                    cell.window = before.window if before is not None else ""
                    self.elements[cell.id] = cell
                    self.latest.add(cell.id)
            return
        subject = re.match(r"(\d+) ([a-z -]+) §(\d+)§: ", line)
        if subject is None:
            what, _, which = line.partition(": ")
            for element in self._named(which):
                self._turn(element, what)
        elif int(subject[1]) in self.elements:
            element = self.elements[int(subject[1])]
            changes = line[subject.end() :]
            for part in re.split(
                r", (?=text |value |label |about |name was |now |no longer |caret |selected |nothing )", changes
            ):
                self._change(element, part, strings, strings[int(subject[3])])
                self._turn(element, part)

    def _change(self, element: Known, part: str, strings: Sequence[str], called: str) -> None:
        if part.startswith("name was "):
            element.name = called
        elif found := re.match(r"text has §(\d+)§ instead of §(\d+)§ at character (\d+)", part):
            added, removed, at = strings[int(found[1])], strings[int(found[2])], int(found[3])
            element.text = element.text[:at] + added + element.text[at + len(removed) :]
        elif found := re.match(r"(text|label|about) §(\d+)§", part):
            setattr(element, found[1], strings[int(found[2])])
        elif found := re.match(r"value (\S+)", part):
            element.value = found[1]

    def _turn(self, element: Known, what: str) -> None:
        """Apply changes of states such as "now selected, no longer disabled"."""
        self.latest.add(element.id)
        element.shown = True
        for clause in what.split(", "):
            if clause.startswith("now "):
                for state in clause[4:].split():
                    element.states -= _STATES.get(state, set())
                    element.states.add(state)
            elif clause.startswith("no longer "):
                element.states -= set(clause[10:].split())

    def _meant(self, which: str) -> list[Known]:
        """Return the elements that "cells A1 to B2; ids 3 to 5" names."""
        found: list[Known] = []
        for part in which.split(";"):
            kind, _, rest = part.strip().partition(" ")
            if kind == "ids":
                numbers = [n for first, last in _SPAN.findall(rest) for n in range(int(first), int(last or first) + 1)]
                found += [self.elements[n] for n in numbers if n in self.elements]
            elif kind == "cells":
                names = {name for block in _BLOCK.findall(rest) for name in _addresses(*block)}
                found += [each for each in self.elements.values() if each.role == "table cell" and each.name in names]
        return found

    def _named(self, line: str) -> list[Known]:
        """Return the elements that a line is about: each by its own id, or all as ranges."""
        numbers = [int(found[1]) for part in line.split(" | ") if (found := re.match(r"(\d+) [a-z]", part))]
        alone = [self.elements[each] for each in numbers if each in self.elements]
        ranges = re.search(r"(?:cells [A-Z]|ids \d).*", line)
        return self._meant(ranges[0]) if ranges else alone

    @staticmethod
    def _hide(elements: Iterable[Known]) -> None:
        for element in elements:
            element.shown = False


def _masked(line: str) -> tuple[str, list[str]]:
    """Return a line with each quotation as §number§, and the quotations."""
    strings: list[str] = []

    def keep(found: re.Match[str]) -> str:
        parts = [found[1]] + ([found[2]] if found[2] is not None else [])
        strings.append(" ... ".join(_ESCAPED.sub(_plain, part) for part in parts))
        return f"§{len(strings) - 1}§"

    return _QUOTED.sub(keep, line.replace("§", "?")), strings


def _plain(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else {"n": "\n", "t": "\t"}.get(found[2], found[2])


def _elements_of(part: str, strings: Sequence[str], role: str, window: str) -> Iterator[Known]:
    """Yield the elements of a part of a line; a range of empty cells is several."""
    if found := re.match(r"(?:empty )?([A-Z]+)(\d+) to ([A-Z]+)(\d+)(?: \[([a-z_ ]+)\])?: ids (\d+) to (\d+)", part):
        names = list(_addresses(*found.groups()[:4]))
        for number, name in zip(range(int(found[6]), int(found[7]) + 1), names, strict=True):
            yield Known(number, "table cell", window, name, states=set((found[5] or "").split()))
        return
    start = re.match(r"(\d+) ", part)
    if start is None:
        return
    rest = part[start.end() :]
    element = Known(int(start[1]), role, window)
    if found := re.match(r"([A-Z]{1,3}\d{1,7}) §(\d+)§", rest):
        element.name, element.text = found[1], strings[int(found[2])]
    else:
        own = re.match(r"([a-z][a-z -]*?) (?=§|label §|text §|about §|value |caret |selected §)", rest)
        if (own is not None and own[1] not in ("label", "text", "about")) or role == "":
            element.role = own[1] if own is not None else rest.split(" §")[0]
            rest = rest[own.end() :] if own is not None else rest
        for kind, number in _FACT.findall(rest):
            key = kind or "name"
            if key in ("name", "label", "text", "about"):
                setattr(element, key, strings[int(number)])
    if found := re.search(r"(?:^| )value (\S+)", rest):
        element.value = found[1]
    if found := re.search(r"\[([a-z_ ]+)\]", rest):
        element.states = set(found[1].split())
    yield element


def _addresses(left: str, top: str, right: str, bottom: str) -> Iterator[str]:
    """Yield the addresses of a range of cells, row by row."""
    for row in range(int(top), int(bottom or top) + 1):
        for column in range(_number(left), _number(right or left) + 1):
            yield f"{_letters(column)}{row}"


def _number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def _letters(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
