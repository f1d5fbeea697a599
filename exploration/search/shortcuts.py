"""Shortcuts that a window lists, as GTK applications do in an overview: keys on the left, what they do on the right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aci.acting.actions import Hotkey
from aci.observation.observation import Element, Observation
from agent_s.records import GroundedStep
from exploration.search.controls import unsafe_by_name
from exploration.search.records import Control, Offer
from intents.keys import Chord, is_modifier, parse_chord, parse_key

SHORTCUT = "shortcut"
"""Role of a control that stands for keys that a window lists; they are pressed in the main window."""

_FEWEST = 2  # keys of a single function may be named in any dialog
_JOIN = "+"


def listed_shortcuts(observation: Observation, known: Sequence[Control] = ()) -> tuple[Offer, ...]:
    """Return the functions that the window in front lists with their keys, without those of known controls.

    Args:
        observation: The screen.
        known: Controls that were found elsewhere.
    """
    front = observation.active_window
    labels = [
        each
        for each in observation.elements
        if each.role == "label" and front is not None and each.window_id == front.id
    ]
    names = {each.name.casefold() for each in known if each.role != SHORTCUT}
    found = dict(_rows(labels))
    return tuple(
        _offer(name, keys) for name, keys in found.items() if len(found) >= _FEWEST and name.casefold() not in names
    )


def _rows(labels: Sequence[Element]) -> Iterator[tuple[str, Chord]]:
    """Yield each text that follows keys in its line, with the keys."""
    keys: list[Element] = []
    for label in labels:
        key = label.name.replace("_", " ")  # of names such as Page_Down
        if key == _JOIN or is_modifier(key) or parse_key(key) is not None:
            keys.append(label)
            continue
        beside = keys and abs(keys[-1].rect.center.y - label.rect.center.y) <= label.rect.height
        chord = (
            parse_chord(_JOIN.join(each.name.replace("_", " ") for each in keys if each.name != _JOIN))
            if beside
            else None
        )
        if chord is not None and not is_modifier(chord[-1]) and (len(chord) > 1 or len(chord[0]) > 1):
            yield label.name, chord
        keys = []


def _offer(name: str, keys: Chord) -> Offer:
    step = GroundedStep(action=Hotkey(keys=keys), intent=f"press {_JOIN.join(keys)} to {name}")
    return Offer(
        control=Control(role=SHORTCUT, name=name, key=f"{SHORTCUT}:{name}"), step=step, unsafe=unsafe_by_name(name)
    )
