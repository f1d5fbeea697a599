"""Ambiguous values, which prevent a replay."""

from __future__ import annotations

import pytest

from aci.acting.actions import Action, Click, HoldAndPress, Hotkey, Scroll, Type
from aci.observation.identity import ElementDescription
from agent_s.records import GroundedStep
from agent_s.replay.ambiguity import find_ambiguity
from intents.alignment import align


def on(role: str, name: str, action: Action | None = None, ordinal: int = 0) -> GroundedStep:
    target = ElementDescription(role=role, name=name, ordinal=ordinal)
    return GroundedStep(action=action or Click(element_id=1), targets={"element_id": target})


def typed(text: str) -> GroundedStep:
    return on("text", "", Type(text=text, element_id=1))


SAVE = on("push button", "Save")
DOWN = GroundedStep(action=Hotkey(keys=("Down",)))


def doubt(old: str, new: str, *steps: GroundedStep) -> str:
    parameters = align(old, new)
    assert parameters is not None
    return find_ambiguity(steps, parameters)


@pytest.mark.parametrize(
    ("old", "new", "steps", "why"),
    [
        (
            "type Save and keep it as a.txt",
            "type Discard and keep it as a.txt",
            (typed("Save"), SAVE),
            "fixed name",
        ),
        (
            "set Status to Open",
            "set Status to Cancel",
            (on("list item", "Open"), on("push button", "Open")),
            "fixed name",
        ),
        ("type Down and press Down", "type Up and press Up", (typed("Down"), DOWN), "a key"),
        (
            "go down 3 rows and type 3",
            "go down 5 rows and type 5",
            (DOWN, DOWN, DOWN, typed("3")),
            "number of repetitions",
        ),
        (
            "type 2 into Count and click 2 times",
            "type 3 into Count and click 3 times",
            (typed("2"), on("push button", "Add", Click(element_id=1, num_clicks=2))),
            "number of repetitions",
        ),
        (
            "type 4 and press Left 4 times",
            "type 5 and press Left 5 times",
            (typed("4"), GroundedStep(action=HoldAndPress(hold_keys=(), press_keys=("Left",) * 4))),
            "number of repetitions",
        ),
        (
            "type 4 and scroll by 4",
            "type 5 and scroll by 5",
            (typed("4"), on("list", "", Scroll(element_id=1, clicks=-4))),
            "number of repetitions",
        ),
        ("in row 2 type 2", "in row 7 type 7", (on("table cell", "A2"), typed("2")), "which table cell"),
        ("in entry 2 type 2", "in entry 7 type 7", (on("entry", "", ordinal=1), typed("2")), "which entry"),
        (
            "type 'Dear Bob, hello' and send it to Bob",
            "type 'Dear Bob, hello' and send it to Ann",
            (typed("Dear Bob,"), typed("hello"), on("list item", "Bob")),
            "where 'Dear Bob, hello' was used",
        ),
        ("type a into Name", "type the into Name", (typed("a"),), "more than a filler"),
        ("press . in the calculator", "press , in the calculator", (on("push button", "."),), "more than a filler"),
        ("uncheck it in A1", "check it in A1", (on("table cell", "A1"),), "what 'uncheck' is for"),
    ],
)
def test_ambiguous_value_is_reported(old: str, new: str, steps: tuple[GroundedStep, ...], why: str) -> None:
    assert why in doubt(old, new, *steps)


@pytest.mark.parametrize(
    ("old", "new", "steps"),
    [
        ("type hello and save it as a.txt", "type bye and save it as b.txt", (typed("hello"), typed("a.txt"), SAVE)),
        ("type 2 into A2", "type 7 into A2", (on("table cell", "A2"), typed("2"))),
        ("type 2 into A2", "type 7 into B3", (on("table cell", "A2"), typed("2"))),
        ("type 3 and 3", "type 4 and 4", (typed("3"), typed("3"))),
        ("compute 7 x 6", "compute 8 x 9", (on("push button", "7"), on("push button", "6"))),
        ("search for Ada and open Ada", "search for Bob and open Bob", (typed("Ada"), on("link", "Ada"))),
        (
            "type 'about a.txt' and save it as a.txt",
            "type 'about a.txt' and save it as b.txt",
            (typed("about a.txt"), typed("a.txt")),
        ),
        ("open a file", "open the file", (on("menu item", "Open"),)),
    ],
)
def test_clear_values_are_not_reported(old: str, new: str, steps: tuple[GroundedStep, ...]) -> None:
    assert doubt(old, new, *steps) == ""
