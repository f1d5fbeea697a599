from __future__ import annotations

from dataclasses import replace

import pytest

from aci.acting.actions import Action, Click, Hotkey, Scroll, SwitchApplications, Type, Wait
from aci.acting.effects import with_effect
from aci.desktop.desktop import ActionResult
from aci.observation.observation import Window
from agent_s.llm.protocol import ActResponse
from agent_s.records import Step
from agent_s.roles.looking import is_read_only
from tests.unit.agent_s.fakes import EDITOR, button, screen

DIALOG = Window(id=9, title="Preferences", app="editor", rect=EDITOR.rect, active=True)
SCREEN = screen(
    button(2, "Format", role="menu"),
    button(3, "Delete"),
    button(4, "Preferences...", role="menu item"),
    button(5, "Properties"),
    replace(button(6, "Cancel"), window_id=DIALOG.id),
    replace(button(7, "OK"), window_id=DIALOG.id),
)


@pytest.mark.parametrize(
    ("action", "allowed"),
    [
        (Scroll(element_id=3, clicks=-5), True),
        (SwitchApplications(app_code="editor"), True),
        (Wait(time=1), True),
        (Hotkey(keys=("ctrl", "Home")), True),
        (Hotkey(keys=("Page_Down",)), True),
        (Hotkey(keys=("ctrl", "s")), False),
        (Hotkey(keys=("alt", "Left")), False),
        (Hotkey(keys=("shift", "End")), False),
        (Click(element_id=2), True),
        (Click(element_id=2, num_clicks=2), False),
        (Click(element_id=3), False),
        (Click(element_id=4), True),
        (Click(element_id=5), False),
        (Click(element_id=6), False),
        (Click(element_id=99), False),
        (Type(text="x"), False),
    ],
)
def test_only_actions_that_change_nothing_are_read_only(action: Action, allowed: bool) -> None:
    assert is_read_only(action, SCREEN) is allowed


def test_an_action_that_only_opened_a_window_may_be_repeated() -> None:
    opened = screen(*SCREEN.elements, windows=(DIALOG, EDITOR))
    for after, allowed in ((opened, True), (SCREEN, False), (screen(windows=(DIALOG,)), False)):
        steps: list[Step] = []
        for action in (Click(element_id=5), Hotkey(keys=("ctrl", "comma"))):
            result = with_effect(ActionResult(ok=True), action, SCREEN, after)
            steps.append(Step(len(steps) + 1, SCREEN, ActResponse(action=action), result))
        assert is_read_only(Click(element_id=5), SCREEN, steps) is allowed
        assert is_read_only(Hotkey(keys=("ctrl", "comma")), SCREEN, steps) is allowed


@pytest.mark.parametrize("role", ["spin button", "slider", "combo box", "radio button"])
def test_the_wheel_and_arrow_keys_do_not_change_values(role: str) -> None:
    field = replace(SCREEN.elements[0], id=40, role=role)
    seen = replace(SCREEN, elements=(*SCREEN.elements, field), focus_id=40)
    for action in (Scroll(element_id=40, clicks=1), Hotkey(keys=("Down",)), Hotkey(keys=("ctrl", "Home"))):
        assert not is_read_only(action, seen)
    assert is_read_only(Hotkey(keys=("Down",)), replace(seen, focus_id=None))


def test_escape_must_not_close_a_dialog_that_the_run_left_open() -> None:
    dialog = replace(SCREEN.windows[0], active=True, modal=True)
    seen = replace(SCREEN, windows=(dialog,))
    assert not is_read_only(Hotkey(keys=("Escape",)), seen)
    assert is_read_only(Hotkey(keys=("Escape",)), seen, opened=dialog.id)
    assert is_read_only(Hotkey(keys=("Escape",)), replace(seen, windows=(replace(dialog, modal=False),)))


def test_a_dialog_that_the_evaluator_opened_may_be_cancelled() -> None:
    assert is_read_only(Click(element_id=6), SCREEN, opened=DIALOG.id)
    assert not is_read_only(Click(element_id=7), SCREEN, opened=DIALOG.id)
