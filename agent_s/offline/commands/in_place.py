"""A command in a certain application, window or part of a window."""

from __future__ import annotations

from dataclasses import dataclass, replace

from aci.acting.actions import SwitchApplications
from agent_s.offline.commands.base import Command, Finding, Seen
from agent_s.offline.commands.choose import Choose
from agent_s.offline.commands.click import Click
from agent_s.offline.commands.menu import FollowPath
from agent_s.offline.commands.set import SetValue
from agent_s.offline.commands.type import TypeText
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import elements_within, window_score
from agent_s.offline.finding.names import name_score
from agent_s.offline.finding.roles import EDITABLE, ROLES
from agent_s.offline.finding.targets import Target, parse_target
from agent_s.offline.ui import UI, Steps
from agent_s.offline.words import TABLE
from intents.text import Phrase

_FRONT = frozenset((*TABLE["current"], *TABLE["resulting"]))


@dataclass(frozen=True, slots=True)
class InPlace(Command):
    """A command that is meant in a certain application, window or part of a window."""

    command: Command
    place: Target

    def run(self, ui: UI) -> Execution:
        """Go to the place, or narrow the command down to it."""
        command = yield from self._settled(ui)
        return (yield from command.run(ui))

    def judge(self, seen: Seen) -> Finding:
        """Judge the command."""
        return self.command.judge(seen)

    def _settled(self, ui: UI) -> Steps[Command]:
        place, command = self.place, self.command
        active = ui.screen.active
        if active is not None and self._is_front(ui):
            return command.at(place) if place.is_a("dialog") else command
        if place.kind == "tab":
            found = yield from ui.seek(place)
            if "selected" not in found[0].element.states:
                yield from ui.click(found)
            return command
        fields = EDITABLE | ROLES["combo"] | ROLES["list"]
        if not command.about() and ui.rank(place, fields):  # "in Name type Ada"
            return _in_field(place, command)
        other = [w for w in ui.screen.windows if not (w.active or w.popup) and place.name]
        is_other = any(window_score(place.name, ui.screen, window.id) >= 66 for window in other)
        if elements_within(place, ui.screen) is not None and not is_other:
            return command.at(place)
        if place.kinds and not place.is_a("window", "dialog", "page", "terminal", "area", "form"):
            found = yield from ui.await_element(place)
            if not found and elements_within(place, ui.screen) is None:
                give_up(ui.not_found(place))
            return command.at(place)
        name = place.name or place.phrase
        result = yield from ui.try_to(SwitchApplications(app_code=name[:200]), f"bring {name!r} to the front")
        if not result.ok and not (len(name.split()) <= 6 and place.is_a("form", "page")):
            give_up(f"{ui.not_found(place)}, and no application either: {result.error}")
        return command

    def _is_front(self, ui: UI) -> bool:
        window, place = ui.screen.active, self.place
        if not place.name or place.name.casefold() in _FRONT:
            return place.is_a("window", "page", "dialog", "area", "form", "tab")
        if window is None:
            return False
        return window_score(place.name, ui.screen, window.id) >= 66 or name_score(place.phrase, window.title)[0] >= 66


def _in_field(place: Target, command: Command) -> Command:
    """Return a command that acts on a place that is a field or list: typing goes into it, values are chosen from it."""
    if isinstance(command, TypeText) and command.target is None:
        return replace(command, target=place)
    if isinstance(command, Choose) and command.source is None:
        return replace(command, source=place)
    return command.at(place)


def _entries(command: Command) -> tuple[str, ...]:
    match command:
        case Click(targets=(target,)) | Choose(values=(target,), source=None):
            return (target.name or target.phrase,)
        case FollowPath(items=items):
            return items
        case _:
            return ()


def read(place: Phrase, do: Command, as_field: str = "") -> Command | None:
    """Read the place; a menu makes a path, a field or list belongs to the command."""
    target = parse_target(place)
    if place.casefold() in TABLE["places_of_no_importance"]:
        return do
    if as_field:
        text = do.text if isinstance(do, TypeText) else do.said if isinstance(do, Choose) else None
        return SetValue(target, text) if text is not None else None
    entries = _entries(do)
    if entries and target.kind == "menu" and target.name:
        return FollowPath((target.name, *entries))
    is_choice = isinstance(do, Choose) and do.source is None and target.is_a("combo", "list")
    if is_choice or (target.is_a("field", "combo", "spin", "list") and not do.about()):
        return _in_field(target, do)
    return InPlace(do, target)
