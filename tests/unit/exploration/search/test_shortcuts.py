"""Shortcuts that a window lists are functions, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from aci.acting.actions import Hotkey
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation, Window
from exploration.search.ledger import Ledger
from exploration.search.records import Control
from exploration.search.shortcuts import listed_shortcuts
from tests.unit.exploration.an_app import APP, FakeEditor
from tests.unit.exploration.search.test_dfs import ARGV, explored

OVERVIEW = Window(2, "Shortcuts", "editor", Rect(0, 0, 300, 200), active=True)


def overview(*rows: str) -> Observation:
    """Show rows of labels, each a text with its parts between blanks, and _ for a blank."""
    labels = [
        Element(
            100 * line + place, "label", word.replace("_", " "), place_of, place_of.center, OVERVIEW.id, app="editor"
        )
        for line, row in enumerate(rows)
        for place, word in enumerate(row.split())
        for place_of in [Rect(10 + 30 * place, 10 + 30 * line, 25, 16)]
    ]
    return Observation(np.zeros((200, 300, 3), np.uint8), tuple(labels), (OVERVIEW,))


def listed(screen: Observation, *known: Control) -> dict[str, tuple[str, ...]]:
    found = ((each.control.name, each.step.action) for each in listed_shortcuts(screen, known) if not each.unsafe)
    return {name: action.keys for name, action in found if isinstance(action, Hotkey)}


def test_keys_and_what_they_do_are_read_from_the_labels() -> None:
    screen = overview(
        "General", "F1 Show_help", "Ctrl + Page_Down Next_page", "Shift + Ctrl + A Select_nothing", "Ctrl + Q Quit"
    )
    assert listed(screen) == {
        "Show help": ("F1",), "Next page": ("ctrl", "Page_Down"), "Select nothing": ("shift", "ctrl", "a"),
    }  # fmt: skip


def test_what_is_a_control_elsewhere_is_not_listed_again() -> None:
    screen = overview("F1 Show_help", "F5 Reload")
    assert listed(screen, Control(role="menu item", name="Reload", key="menu item:Reload")) == {"Show help": ("F1",)}


def test_letters_in_a_dialog_are_no_shortcuts() -> None:
    assert listed(overview("A Answer", "B Other", "Ctrl + S Save")) == {}  # one key is no overview


def test_listed_shortcut_becomes_a_skill_of_the_main_window(tmp_path: Path) -> None:
    (home := tmp_path / "home").mkdir()
    with Ledger(tmp_path / "ledger.jsonl", APP, ARGV) as ledger:
        explored(home, ledger, editor=FakeEditor(home, shortcuts={"Shout": ("ctrl", "u"), "Whisper": ("ctrl", "w")}))
        skill = next(one for one in ledger.skills.values() if one.name == "use shout")
    (step,) = skill.steps
    assert step.action == Hotkey(keys=("ctrl", "u"))
    assert [change.after for change in skill.effect if change.kind == "text"] == ["shout"]
