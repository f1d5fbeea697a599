"""Put texts into the cells of a sheet, by address."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aci.acting.actions import Type
from aci.observation.observation import Element
from agent_s.offline.commands.base import UNDECIDED, Command, Finding, Seen
from agent_s.offline.commands.choose import Choose
from agent_s.offline.commands.type import text_in
from agent_s.offline.course import Course, give_up
from agent_s.offline.desk import Desk, Steps, changed, same_number, shorten
from agent_s.offline.finding.matching import Candidate
from agent_s.offline.finding.names import name_score
from agent_s.offline.finding.roles import EDITABLE
from agent_s.offline.finding.screen import Screen, content_of
from agent_s.offline.finding.targets import named
from agent_s.offline.words import FIELDS
from intents.text import Phrase

CELL = r"\$?[A-Z]{1,3}\$?[1-9]\d{0,6}"
_IN = r"\s+(?:in|into|to)\s+(?:the\s+)?(?:cell\s+)?"
_VALUE_IN_CELL = re.compile(rf"(?P<value>.+?){_IN}(?P<cell>{CELL})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class EnterCells(Command):
    """Put texts into cells of a sheet."""

    cells: tuple[tuple[str, str], ...]

    def run(self, desk: Desk) -> Course:
        """Put each text into its cell; the key that ends one leads to the cell below."""
        start = desk.screen
        for address, text in self.cells:
            yield from select_cell(address, desk)
            yield from desk.do(Type(text=text, enter=True), f"type {shorten(text)!r} into the cell {address}")
        shown: list[str] = []
        for address, text in self.cells:
            cell = cell_at(address, desk.screen)
            if cell is not None and cell.text is not None and not cell.text.strip() and text.strip():
                give_up(f"the cell {address} is empty after {shorten(text)!r} was typed into it")
            shown += [f"cell {address} shows {content_of(cell)!r}"] if cell is not None else []
        return "; ".join(shown[:12]) or changed(start, desk.screen)

    def judge(self, seen: Seen) -> Finding:
        """Look at what the cells show; a formula must show no error."""
        shown: list[str] = []
        for address, text in self.cells:
            cell = cell_at(address, seen.last)
            if cell is None or cell.text is None:
                return UNDECIDED
            if text.startswith("="):
                if re.search(r"#[\w/]+[!?]|#N/A|Err:\d", cell.text):
                    return False, f"the cell {address} shows {cell.text!r}"
            elif name_score(text, cell.text)[0] < 90 and not same_number(text, cell.text):
                return UNDECIDED
            shown.append(f"{address} shows {cell.text!r}")
        return True, ", ".join(shown)


@dataclass(frozen=True, slots=True)
class GoToCell(Command):
    """Select a cell or a range of a sheet."""

    address: str

    def run(self, desk: Desk) -> Course:
        """Select it; where there is no sheet, choose what is called like the address."""
        if not desk.screen.has_sheet() and not name_box(desk.screen, desk):
            return (yield from Choose((named(self.address),)).run(desk))
        yield from select_cell(self.address, desk)
        return f"{self.address} is selected"


def cell_at(address: str, screen: Screen) -> Element | None:
    """Return the cell with an address, in the active window before others."""
    cells = [element for element in screen.elements if element.role == "table cell" and element.name == address]
    return min(cells, key=lambda cell: not screen.is_active(cell), default=None)


def name_box(screen: Screen, desk: Desk) -> list[Candidate]:
    """Return the box that shows the address of the current cell."""
    return desk.rank(named(FIELDS["cell"][0]), EDITABLE | {"panel"})


def select_cell(address: str, desk: Desk) -> Steps[None]:
    """Select a cell or range: nothing where it has the focus, by a click where it is in sight, else by the name box."""
    focus, cell = desk.screen.focus, cell_at(address, desk.screen)
    if cell is not None and focus is not None and focus.id == cell.id:
        return
    if cell is not None and cell.point is not None and desk.screen.is_active(cell):
        yield from desk.click_element(cell)
        return
    box = yield from desk.await_element(named(FIELDS["cell"][0]), lambda screen: name_box(screen, desk))
    if not box:
        give_up(f"there is no cell {address} in sight, and no name box to go to it")
    action = Type(text=address, element_id=box[0].element.id, overwrite=True, enter=True)
    yield from desk.do(action, f"go to the cell {address} by the name box")


def read(cell: str, pairs: Phrase | None = None, text: Phrase | None = None) -> Command | None:
    """Read one cell and its text, "Item into A1, Price into B1, ..." with the last cell apart, or a cell to select."""
    if text is not None:
        content = text_in(text)
        return EnterCells(((cell, content),)) if content is not None and ":" not in cell else None
    if pairs is None:
        return GoToCell(cell)
    if ":" in cell:
        return None
    cells: list[tuple[str, str]] = []
    parts = re.split(
        rf"\s*[,;\n]\s*(?:and\s+)?(?=[^,;]+{_IN}{CELL}\b)|\s+and\s+(?=[^,;]+{_IN}{CELL}\b)", f"{pairs.marked} in {cell}"
    )
    for part in parts:
        match = _VALUE_IN_CELL.fullmatch(part.strip())
        content = text_in(pairs.part(match["value"])) if match else None
        if match is None or content is None:
            return None
        cells.append((match["cell"].replace("$", ""), content))
    return EnterCells(tuple(cells))
