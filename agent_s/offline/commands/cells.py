"""Enter texts into the cells of a sheet, and select cells, by address."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aci.acting.actions import Type
from aci.observation.observation import Element
from agent_s.offline.commands.base import UNDECIDED, Command, Finding, Seen
from agent_s.offline.commands.choose import Choose
from agent_s.offline.commands.type import text_in
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import Candidate
from agent_s.offline.finding.names import name_score
from agent_s.offline.finding.roles import EDITABLE
from agent_s.offline.finding.screen import Screen, content_of
from agent_s.offline.finding.targets import named
from agent_s.offline.ui import UI, Steps, changed, same_number, shorten
from agent_s.offline.words import FIELDS
from intents.text import Phrase

CELL = r"\$?[A-Z]{1,3}\$?[1-9]\d{0,6}"
_IN = r"\s+(?:in|into|to)\s+(?:the\s+)?(?:cell\s+)?"
_VALUE_IN_CELL = re.compile(rf"(?P<value>.+?){_IN}(?P<cell>{CELL})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class EnterCells(Command):
    """Enter texts into cells of a sheet."""

    cells: tuple[tuple[str, str], ...]

    def run(self, ui: UI) -> Execution:
        """Enter each text into its cell; Return moves on to the cell below."""
        start = ui.screen
        for address, text in self.cells:
            yield from select_cell(address, ui)
            yield from ui.do(Type(text=text, enter=True), f"type {shorten(text)!r} into the cell {address}")
        shown: list[str] = []
        for address, text in self.cells:
            cell = cell_at(address, ui.screen)
            if cell is not None and cell.text is not None and not cell.text.strip() and text.strip():
                give_up(f"the cell {address} is empty after {shorten(text)!r} was typed into it")
            shown += [f"cell {address} shows {content_of(cell)!r}"] if cell is not None else []
        return "; ".join(shown[:12]) or changed(start, ui.screen)

    def judge(self, seen: Seen) -> Finding:
        """Check the contents of the cells; a formula must not show an error."""
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

    def run(self, ui: UI) -> Execution:
        """Select it; without a sheet, choose the element that has the address as its name."""
        if not ui.screen.has_sheet() and not name_box(ui.screen, ui):
            return (yield from Choose((named(self.address),)).run(ui))
        yield from select_cell(self.address, ui)
        return f"{self.address} is selected"


def cell_at(address: str, screen: Screen) -> Element | None:
    """Return the cell with an address, in the active window before others."""
    cells = [element for element in screen.elements if element.role == "table cell" and element.name == address]
    return min(cells, key=lambda cell: not screen.is_active(cell), default=None)


def name_box(screen: Screen, ui: UI) -> list[Candidate]:
    """Return the box that shows the address of the current cell."""
    return ui.rank(named(FIELDS["cell"][0]), EDITABLE | {"panel"})


def select_cell(address: str, ui: UI) -> Steps[None]:
    """Select a cell or range: nothing where it has the focus, by a click where it is in sight, else by the name box."""
    focus, cell = ui.screen.focus, cell_at(address, ui.screen)
    if cell is not None and focus is not None and focus.id == cell.id:
        return
    if cell is not None and cell.point is not None and ui.screen.is_active(cell):
        yield from ui.click_element(cell)
        return
    box = yield from ui.await_element(named(FIELDS["cell"][0]), lambda screen: name_box(screen, ui))
    if not box:
        give_up(f"there is no cell {address} in sight, and no name box to go to it")
    action = Type(text=address, element_id=box[0].element.id, overwrite=True, enter=True)
    yield from ui.do(action, f"go to the cell {address} by the name box")


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
