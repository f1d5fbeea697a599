"""Show a web page by its address."""

from __future__ import annotations

from dataclasses import dataclass

from aci.acting.actions import SwitchApplications, Type
from aci.observation.observation import Element
from agent_s.offline.commands.base import Command
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import best
from agent_s.offline.finding.roles import EDITABLE
from agent_s.offline.finding.targets import named
from agent_s.offline.ui import UI
from agent_s.offline.words import FIELDS


@dataclass(frozen=True, slots=True)
class GoTo(Command):
    """Show a web page."""

    url: str

    def run(self, ui: UI) -> Execution:
        """Type the address into the browser's address bar; start a browser if none is in front."""
        if address_bar(ui) is None:
            result = yield from ui.try_to(SwitchApplications(app_code="web browser"), "bring a browser to the front")
            if not result.ok:
                give_up(f"there is no browser to open the page in: {result.error}")
        purpose = "wait for the address bar"
        bar = yield from ui.wait_until(lambda: address_bar(ui), (0.5, 0.7, 1.0), purpose)
        before = ui.screen.title
        if bar is None:
            yield from ui.press("ctrl", "l", purpose="go to the address bar")
        action = Type(text=self.url, element_id=bar.id if bar else None, overwrite=bar is not None, enter=True)
        yield from ui.do(action, f"type the address {self.url!r}")
        yield from ui.wait_until(lambda: ui.screen.title != before, (0.5, 1.0), "wait for the page")
        return f"the address was entered; the title is {ui.screen.title!r}"


def address_bar(ui: UI) -> Element | None:
    """Return the field for addresses of a browser in front; None where there is none."""
    for name in FIELDS["address"]:
        found = [one.element for one in best(ui.rank(named(name), EDITABLE), 90.0)]
        found = [element for element in found if element in ui.screen.front and element.point]
        if found:
            return found[0]
    return None


read = GoTo
