"""Drag an element onto another."""

from __future__ import annotations

from dataclasses import dataclass

from aci.acting.actions import DragAndDrop
from agent_s.offline.commands.base import Command
from agent_s.offline.commands.set import SetValue
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.screen import name_of
from agent_s.offline.finding.targets import Target
from agent_s.offline.ui import UI, changed, number_in


@dataclass(frozen=True, slots=True)
class Drag(Command):
    """Drag an element onto another."""

    source: Target
    destination: Target

    def run(self, ui: UI) -> Execution:
        """Drag it by the mouse."""
        before = ui.screen
        source = (yield from ui.seek(self.source))[0].element
        others = yield from ui.seek(self.destination, scroll=False)
        target = next((one.element for one in others if one.element.id != source.id), None)
        if target is None:
            give_up(ui.not_found(self.destination))
        action = DragAndDrop(drag_from_id=source.id, drop_on_id=target.id)
        yield from ui.do(action, f"drag {name_of(source)} onto {name_of(target)}")
        return f"{name_of(source)} was dragged onto {name_of(target)}; {changed(before, ui.screen)}"


def read(what: Target, where: Target) -> Command:
    """Read both ends; a slider that is moved to a number is set to it."""
    number = not where.quoted and number_in(where.phrase) is not None and where.phrase.rstrip("%").isdigit()
    return SetValue(what, where.phrase) if what.is_a("slider") or number else Drag(what, where)
