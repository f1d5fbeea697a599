"""Replace a text by another."""

from __future__ import annotations

from dataclasses import dataclass

from agent_s.offline.commands.base import Command
from agent_s.offline.commands.type import TYPABLE, TypeText, place_in, text_in
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import rank
from agent_s.offline.finding.roles import EDITABLE
from agent_s.offline.finding.screen import content_of, name_of
from agent_s.offline.finding.targets import Target, parse_target
from agent_s.offline.ui import UI, shorten
from intents.text import Phrase


@dataclass(frozen=True, slots=True)
class Replace(Command):
    """Replace a text by another in a field or document."""

    old: str
    new: str
    target: Target | None = None

    def run(self, ui: UI) -> Execution:
        """Type the whole content again, with the text replaced."""
        target = self.target
        if target is not None:
            found = yield from ui.seek(target, lambda screen: rank(target, screen, TYPABLE, EDITABLE))
            holder = found[0].element
        else:
            fields = [element for element in ui.screen.editors() if self.old in content_of(element)]
            if not fields:
                give_up(f"no field or document in sight holds {self.old!r}")
            holder = fields[0]
        held = content_of(holder)
        if self.old not in held:
            give_up(f"{name_of(holder)} does not hold {self.old!r}; it reads {shorten(held)!r}")
        return (yield from ui.type_into(holder, held.rstrip("\n").replace(self.old, self.new), overwrite=True))


def read(new: Phrase, old: Phrase | None = None, where: Phrase | None = None) -> Command | None:
    """Read both texts; without an old one, the whole content of the place is replaced."""
    content = text_in(new)
    if content is None:
        return None
    if old is None:
        return TypeText(content, place_in(where), "replace")
    if old.literal is None:
        target = parse_target(old)
        return TypeText(content, target, "replace") if target.kinds else None
    return Replace(old.literal, content, place_in(where))
