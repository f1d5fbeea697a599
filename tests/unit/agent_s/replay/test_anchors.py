from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aci.acting.actions import Action, Click, DragAndDrop
from aci.acting.result import ActionResult, Effect
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element, Observation, Window
from agent_s.records import ActResponse, GroundedStep, Step
from agent_s.replay.grounded_steps import ground_steps, is_repeatable
from agent_s.replay.grounding import ground
from agent_s.replay.template import Mismatch

WINDOW = Window(1, "Map", "maps", Rect(0, 0, 400, 300), active=True)


BOX = Rect(50, 40, 300, 200)


def seen_with(spot: Point, canvas: bool = True) -> Observation:
    """Return a screen with a chequered spot on a plain canvas."""
    pixels: NDArray[np.uint8] = np.full((300, 400, 3), 240, np.uint8)
    rows, columns = np.indices((24, 24))
    pixels[spot.y - 12 : spot.y + 12, spot.x - 12 : spot.x + 12] = np.where((rows // 4 + columns // 4) % 2, 200, 20)[
        ..., None
    ]
    element = Element(5, "canvas", "Map", BOX, BOX.center, WINDOW.id, app="maps")
    return Observation(pixels, (element,) if canvas else (), (WINDOW,))


def learned(action: Action, seen: Observation) -> GroundedStep:
    result = ActionResult(ok=True, effect=Effect(kind="expected"))
    [step] = ground_steps([Step(1, seen, ActResponse(action=action), result)], seen)
    return step


def test_a_pixel_is_stored_as_a_position_in_its_element() -> None:
    seen = seen_with(Point(120, 90))
    step = learned(Click(at=(120, 90)), seen)
    assert step.targets["element_id"].name == "Map"
    assert step.action.targets()[0].inside(BOX) == Point(120, 90)  # type: ignore[union-attr]
    again = GroundedStep.model_validate_json(step.model_dump_json())
    assert ground(again, seen) == step.action


def test_a_position_follows_its_picture() -> None:
    step = learned(Click(at=(120, 90)), seen_with(Point(120, 90)))
    now = seen_with(Point(131, 83))
    action = ground(step, now)
    assert isinstance(action, Click)
    assert action.targets()[0].inside(now.elements[0].rect) == Point(131, 83)  # type: ignore[union-attr]


def test_a_position_without_its_picture_is_not_used() -> None:
    step = learned(Click(at=(120, 90)), seen_with(Point(120, 90)))
    assert isinstance(ground(step, seen_with(Point(300, 200))), Mismatch)


def test_a_pixel_without_a_known_element_is_not_replayed() -> None:
    seen = seen_with(Point(120, 90), canvas=False)
    result = ActionResult(ok=True, effect=Effect(kind="expected"))
    assert not is_repeatable([Step(1, seen, ActResponse(action=Click(at=(120, 90))), result)])
    known = seen_with(Point(120, 90))
    assert is_repeatable([Step(1, known, ActResponse(action=Click(at=(120, 90))), result)])


def test_a_path_of_pixels_becomes_positions() -> None:
    seen = seen_with(Point(120, 90))
    step = learned(DragAndDrop(from_at=(120, 90), path=((200, 100), (349, 239))), seen)
    box = BOX
    points = [target.inside(box) for target in step.action.targets()]  # type: ignore[union-attr]
    assert points == [Point(120, 90), Point(200, 100), Point(349, 239)]


def test_a_path_is_not_traced_if_its_start_has_moved() -> None:
    step = learned(DragAndDrop(from_at=(120, 90), path=((200, 100), (349, 239))), seen_with(Point(120, 90)))
    assert ground(step, seen_with(Point(120, 90))) == step.action
    assert isinstance(ground(step, seen_with(Point(131, 83))), Mismatch)
