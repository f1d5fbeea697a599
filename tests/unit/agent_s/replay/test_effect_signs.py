"""What says that a step has had its effect without a look at the screen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aci.acting.actions import Action, Click, Type
from aci.observation.geometry import Rect
from aci.observation.identity import describe
from aci.observation.observation import Element, Window
from agent_s.records import Change, ElementState, GroundedStep
from agent_s.replay.effect_signs import sign_of
from tests.unit.agent_s.fakes import EDITOR, screen

FIELD = Element(1, "table cell", "A1", Rect(10, 40, 80, 30), None, EDITOR.id, app="editor", text="")
BOX = Element(2, "table cell", "A2", Rect(10, 80, 80, 30), None, EDITOR.id, app="editor", text="")
SEEN = screen(FIELD, BOX)
DIALOG = Window(id=2, title="Save As", app="editor", rect=Rect(0, 0, 300, 200), active=True)


class Glances:
    """A screen as it is now."""

    def __init__(self, *elements: Element, windows: tuple[Window, ...] | None = (DIALOG, EDITOR)) -> None:
        self.elements = {element.id: element for element in elements}
        self.shown = windows

    def windows(self) -> tuple[Window, ...] | None:
        return self.shown

    def element_now(self, element: Element) -> Element | None:
        return self.elements.get(element.id)


def step(action: Action, target: Element | None = None, **more: object) -> GroundedStep:
    targets = {} if target is None else {"element_id": describe(target, SEEN)}
    return GroundedStep.model_validate({"action": action, "targets": targets, **more})


CHECK = step(
    Click(element_id=2),
    BOX,
    state_before=ElementState(states=(), text=""),
    state_after=ElementState(states=("selected",), text=""),
)
TYPE_ADA = step(
    Type(text="Ada", element_id=1), FIELD, state_before=ElementState(text=""), state_after=ElementState(text="Ada")
)
INTO_FIELD = step(Click(element_id=1), FIELD, state_before=ElementState(text=""), state_after=ElementState(text=""))
CLOSE = step(Click(element_id=9), effect=(Change(kind="closed", what="Save As", before="open"),))


def test_selected_cell_is_the_sign_of_a_click() -> None:
    glances = Glances(BOX)
    sign = sign_of(CHECK, None, BOX, glances)
    assert sign is not None and not sign()
    glances.elements[2] = replace(BOX, states=frozenset({"selected"}))
    assert sign()
    glances.elements.clear()
    assert not sign()


@pytest.mark.parametrize(("text", "there"), [("Ada", True), ("Ad", False), ("", False), (None, False)])
def test_typed_text_is_the_sign_of_typing(text: str | None, there: bool) -> None:
    sign = sign_of(TYPE_ADA, None, FIELD, Glances(replace(FIELD, text=text)))
    assert sign is not None and sign() is there


def test_focus_is_the_sign_of_a_click_into_the_next_typed_field() -> None:
    following = step(Type(text="Ada"), focus=describe(FIELD, SEEN))
    glances = Glances(FIELD)
    sign = sign_of(INTO_FIELD, following, FIELD, glances)
    assert sign is not None and not sign()
    glances.elements[1] = replace(FIELD, states=frozenset({"focused"}))
    assert sign()
    assert sign_of(INTO_FIELD, step(Type(text="Ada"), focus=describe(BOX, SEEN)), FIELD, glances) is None


def test_closed_window_is_the_sign_of_a_step_that_closes_it() -> None:
    glances = Glances()
    sign = sign_of(CLOSE, None, None, glances)
    assert sign is not None and not sign()
    glances.shown = (EDITOR,)
    assert sign()
    assert sign_of(CLOSE, None, None, Glances(windows=None)) is None


@pytest.mark.parametrize("kind", ["opened", "appeared", "vanished", "rewritten"])
def test_effect_that_takes_time_to_complete_has_no_sign(kind: str) -> None:
    more = step(CHECK.action, BOX, state_before=CHECK.state_before, state_after=CHECK.state_after)
    more = more.model_copy(update={"effect": (Change(kind=kind, what="window"),)})  # type: ignore[arg-type]
    assert sign_of(more, None, BOX, Glances(BOX)) is None


def test_there_is_no_sign_if_before_and_after_look_the_same() -> None:
    on = replace(BOX, states=frozenset({"selected"}))
    assert sign_of(CHECK, None, on, Glances(on)) is None
    assert sign_of(CHECK, None, None, Glances()) is None
    assert sign_of(CHECK.model_copy(update={"untried": True}), None, BOX, Glances(BOX)) is None
    unnamed = step(Click(element_id=9), effect=(Change(kind="closed", what="", before="open"),))
    assert sign_of(unnamed, None, None, Glances()) is None


@pytest.mark.parametrize("role", ["check box", "entry"])
def test_state_that_the_application_may_revert_is_no_sign(role: str) -> None:
    control = replace(BOX, role=role)
    assert sign_of(CHECK, None, control, Glances(control)) is None
