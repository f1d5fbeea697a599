"""Fill in the fields of a form by their names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent_s.offline.commands.base import Command
from agent_s.offline.commands.set import SetValue
from agent_s.offline.commands.switch import Switch
from agent_s.offline.commands.type import TypeText, fields_in
from agent_s.offline.execution import Execution
from agent_s.offline.finding.matching import GOOD, best
from agent_s.offline.finding.roles import CHECKABLE
from agent_s.offline.finding.targets import Target, parse_target
from agent_s.offline.ui import UI
from agent_s.offline.words import BUTTONS
from intents.lexicon import on_or_off
from intents.text import Phrase


@dataclass(frozen=True, slots=True)
class Fill(Command):
    """Set several fields, and click the first of some buttons that is there."""

    fields: tuple[tuple[Target, str], ...]
    submit: tuple[str, ...] = ()

    def run(self, ui: UI) -> Execution:
        """Set one field after another."""
        evidence: list[str] = []
        for target, value in self.fields:
            state = on_or_off(value)
            box = state is not None and best(ui.rank(target, CHECKABLE), GOOD)
            command = Switch((target,), state) if box else SetValue(target, value)
            evidence.append((yield from command.run(ui)))
        if self.submit:
            found = ui.buttons(self.submit)
            if found:
                yield from ui.click(found)
            else:
                yield from ui.press("Return", purpose="submit the form")
        return "; ".join(part for part in evidence if part)


def read(
    pairs: Phrase | None = None,
    labelled: Phrase | None = None,
    where: Target | None = None,
    user: Phrase | None = None,
    password: Phrase | None = None,
) -> Command | None:
    """Read "Name: Ada; Age: 36", 'the username "ada" and the password "x"', or what one logs in with."""
    if user is not None and password is not None:
        fields = (Target("username", "username", kinds=("field",)), str(user))
        secret = (Target("password", "password", kinds=("password", "field")), str(password))
        return Fill((fields, secret), BUTTONS["log in"])
    if labelled is not None:
        found = tuple(fields_in(labelled))
        if len(found) == 1 and where is not None and (where.name or where.every or where.ordinal):
            return TypeText(found[0][1], where)
        return Fill(found) if found else None
    found = _pairs(pairs) if pairs is not None else ()
    return Fill(found) if found else None


def _pairs(words: Phrase) -> tuple[tuple[Target, str], ...]:
    """Read "Name: Ada; Age: 36", one to a line or between semicolons, or between commas where a label follows."""
    lines = re.split(r"\s*[;\n]\s*|\s*,\s*(?:and\s+)?(?=[^,:=]{1,60}[:=])", words.marked.strip(" ,;\n"))
    found: list[tuple[Target, str]] = []
    for line in lines:
        label, mark, value = (part.strip() for part in (line.partition(":") if ":" in line else line.partition("=")))
        if not (label and mark and value):
            return ()
        found.append((parse_target(words.part(label)), str(words.part(value))))
    return tuple(found)
