"""Press keys."""

from __future__ import annotations

from dataclasses import dataclass

from aci.acting.actions import HoldAndPress, Hotkey
from aci.observation.observation import Element
from agent_s.offline.commands.base import Command
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import EXACT, best
from agent_s.offline.finding.roles import ROLES
from agent_s.offline.finding.targets import named
from agent_s.offline.ui import UI, changed
from intents.keys import Chord, parse_keys
from intents.lexicon import read_number
from intents.tables import table
from intents.text import Phrase


@dataclass(frozen=True, slots=True)
class Press(Command):
    """Press chords one after another, a number of times.

    Attributes:
        chords: The chords.
        times: How often.
        label: A single sign, which may name a button.
        function: What applications usually do then; one that shows no change does not have it.
    """

    chords: tuple[Chord, ...]
    times: int = 1
    label: str = ""
    function: str = ""

    def run(self, ui: UI) -> Execution:
        """Press the chords; a single sign that names a button in sight is a click on it."""
        start, button = ui.screen, self._button(ui)
        if button is not None:
            for _ in range(self.times):
                yield from ui.click_element(button)
        else:
            for chords in self._batches():
                shown = ", ".join("+".join(chord) for chord in chords)
                held, keys = chords[0][:-1], tuple(chord[-1] for chord in chords)
                single = Hotkey(keys=chords[0])
                action = single if len(chords) == 1 else HoldAndPress(hold_keys=held, press_keys=keys)
                yield from ui.do(action, f"press {shown}")
        app = start.active.app if start.active is not None else "the screen"
        if self.function and start.windows and not ui.screen.windows:
            give_up(f"{app} ended after {'+'.join(self.chords[0])}")
        if self.function and not ui.worked:
            give_up(f"{app} shows nothing new after {'+'.join(self.chords[0])}: it may be unable to {self.function}")
        return f"the keys were pressed; {changed(start, ui.screen)}"

    def _button(self, ui: UI) -> Element | None:
        """Return the button in front that is called like the key, such as "7" on a calculator."""
        if not self.label:
            return None
        found = best(ui.rank(named(self.label, "button"), ROLES["button"]), EXACT)
        return found[0].element if found and ui.screen.is_active(found[0].element) else None

    def _batches(self) -> list[list[Chord]]:
        """Join keys with the same modifiers; keys that may open or close something stay alone, to see their effect."""
        batches: list[list[Chord]] = []
        for chord in self.chords * self.times:
            joins = chord[-1] not in ("Return", "Escape") and not set(chord[:-1]) & {"ctrl", "alt", "super"}
            if batches and joins and batches[-1][0][:-1] == chord[:-1] and len(batches[-1]) < 60:
                batches[-1].append(chord)
            else:
                batches.append([chord])
        return batches


def read(
    keys: tuple[Chord, ...] | str, times: Phrase | int = 1, held: tuple[Chord, ...] = (), function: str = ""
) -> Command | None:
    """Read the keys, from the sentence or from the table."""
    chords = (parse_keys(keys) or ()) if isinstance(keys, str) else keys
    if held:
        chords = tuple((*held[0], *chord) for chord in chords)
    count = times if isinstance(times, int) else read_number(times)
    if count is None:
        return None
    return Press(chords, count, _sign_of(chords[0][0]) if len(chords) == len(chords[0]) == 1 else "", function)


def _sign_of(key: str) -> str:
    """Return the sign that a key types; "" where it types none."""
    sign: str = key if len(key) == 1 else table("keys")["signs"].get(key, "").strip()[:1]
    return sign if sign.isascii() else ""
