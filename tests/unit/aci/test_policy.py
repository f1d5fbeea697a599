from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aci.actions import Action, Click, Done, Hotkey, Scroll, SwitchApplications, Type, Wait
from aci.geometry import Rect
from aci.observation import Element, Observation, Window
from aci.policy import OWN_SCREEN, VIRTUAL, Policy, Risk, find_dangers

EDITOR = Window(1, "draft.txt", "mousepad", Rect(0, 0, 800, 600), active=True)
UNSAVED = replace(EDITOR, title="*draft.txt")
TERMINAL = Window(2, "~", "XTerm", Rect(0, 0, 800, 600), active=True)


def screen(window: Window = EDITOR, name: str = "OK", role: str = "push button", focus: bool = False) -> Observation:
    rect = Rect(10, 10, 60, 20)
    states = frozenset({"password"}) if role == "password text" else frozenset()
    element = Element(7, role, name, rect, rect.center, window.id, app=window.app, states=states)  # type: ignore[arg-type]
    return Observation(np.zeros((1, 1, 3), np.uint8), (element,), (window,), focus_id=7 if focus else None)


def risks(action: Action, observation: Observation, allowed: frozenset[str] = frozenset()) -> set[Risk]:
    return {danger.risk for danger in find_dangers(action, observation, allowed)}


@pytest.mark.parametrize(
    "name",
    [
        "Delete",
        "delete selected",
        "Send",
        "Pay now",
        "Format disk",
        "Don't Save",
        "Close without Saving",
        "Move to Trash",
    ],
)
def test_buttons_that_cannot_be_undone(name: str) -> None:
    assert risks(Click(element_id=7), screen(name=name)) == {"irreversible"}
    assert risks(Hotkey(keys=("Return",)), screen(name=name, focus=True)) == {"irreversible"}


@pytest.mark.parametrize("name", ["OK", "Save", "Sender", "Restart Later", "Format Cells...", "Undelete", "Orders", ""])
def test_plain_buttons(name: str) -> None:
    assert risks(Click(element_id=7), screen(name=name)) == set()


def test_a_label_is_not_pressed() -> None:
    assert risks(Click(element_id=7), screen(name="Delete", role="label")) == set()
    assert risks(Click(element_id=7, button_type="right"), screen(name="Delete")) == set()


def test_typing_and_keys_in_a_terminal() -> None:
    assert risks(Type(text="ls"), screen(TERMINAL)) == {"terminal"}
    assert risks(Type(text="ls", element_id=7), screen(EDITOR, role="terminal")) == {"terminal"}
    assert risks(Hotkey(keys=("ctrl", "c")), screen(TERMINAL)) == {"terminal"}
    assert risks(Type(text="ls"), screen(EDITOR)) == set()


def test_closing_with_unsaved_changes() -> None:
    assert risks(Hotkey(keys=("ctrl", "w")), screen(UNSAVED)) == {"unsaved"}
    assert risks(Click(element_id=7), screen(UNSAVED, name="Close")) == {"unsaved"}
    assert risks(Hotkey(keys=("ctrl", "w")), screen(EDITOR)) == set()
    assert risks(Hotkey(keys=("ctrl", "s")), screen(UNSAVED)) == set()


def test_password_fields() -> None:
    assert risks(Type(text="x", element_id=7), screen(role="password text")) == {"password"}
    assert risks(Type(text="x"), screen(role="password text", focus=True)) == {"password"}


def test_windows_outside_of_the_allowed_applications() -> None:
    allowed = frozenset({"Mousepad"})
    assert risks(Click(element_id=7), screen(TERMINAL), allowed) == {"outside"}
    assert risks(Scroll(element_id=7, clicks=1), screen(TERMINAL), allowed) == {"outside"}
    assert risks(SwitchApplications(app_code="xterm"), screen(), allowed) == {"outside"}
    assert risks(Click(element_id=7), screen(), allowed) == set()
    assert risks(Wait(time=1), screen(TERMINAL), allowed) == set()
    assert risks(Done(), screen(TERMINAL), allowed) == set()


def test_the_strictest_rule_wins_and_says_why() -> None:
    policy = Policy({**OWN_SCREEN, "irreversible": "refuse"})
    decision = policy.decide(Click(element_id=7), screen(UNSAVED, name="Close without saving"))
    assert decision.rule == "refuse" and "'Close without saving'" in decision.reason
    assert Policy(OWN_SCREEN).decide(Type(text="ls"), screen(TERMINAL)).rule == "confirm"
    assert Policy(VIRTUAL).decide(Type(text="ls"), screen(TERMINAL)).rule == "allow"
    assert Policy(OWN_SCREEN).decide(Click(element_id=7), screen()).rule == "allow"


def test_every_action_can_be_confirmed() -> None:
    policy = Policy(VIRTUAL, confirm_all=True)
    assert policy.decide(Click(element_id=7), screen()).rule == "confirm"
    assert policy.decide(Wait(time=1), screen()).rule == "allow"
