"""The grounder: turns what the Worker describes into pixels of the screen, as in Agent S2 and S3."""

from __future__ import annotations

from aci.acting.actions import ACTION_ADAPTER, Action
from aci.acting.targets import Words
from aci.observation.geometry import Point, Rect
from agent_s.errors import MalformedResponse
from agent_s.llm.protocol import ActContext, ActResponse, GroundContext, GroundResponse, Model, ask

CLOSER = 2  # how much smaller the part is at which it looks again
LEAST_PX = 224  # no side of a part is smaller

_PLACES = (("element_id", "at"), ("drag_from_id", "from_at"), ("drop_on_id", "drop_at"))
"""The fields of primitives that name an element, with those that say where in it; alone, words describe something."""


def ground(model: Model, response: ActResponse, context: ActContext, zooms: int) -> ActResponse:
    """Return an answer of the Worker with pixels in place of descriptions.

    What is not found keeps its description; the desktop refuses it then, which the Worker reads.

    Args:
        model: Answers the `ground` requests.
        response: The answer.
        context: What it answers.
        zooms: How often to look closer at the place that was found.
    """
    actions = [_grounded(model, action, context, zooms) for action in response.actions]
    return response.model_copy(update={"action": actions[0], "then": tuple(actions[1:])})


def _grounded(model: Model, action: Action, context: ActContext, zooms: int) -> Action:
    fields = dict(action)
    for element, at in _PLACES:
        words = fields.get(at)
        if fields.get(element) is None and isinstance(words, Words):
            point = find(model, words.text, context, zooms)
            fields[at] = words if point is None else (float(point.x), float(point.y))
    return ACTION_ADAPTER.validate_python(fields) if fields != dict(action) else action


def find(model: Model, description: str, context: ActContext, zooms: int) -> Point | None:
    """Return the pixel of what is described; None if the model does not find it."""
    part = context.observation.screen
    point: Point | None = None
    for _ in range(zooms + 1):
        try:
            found = ask(model, GroundContext(context.task, context.observation, description, part), GroundResponse)
        except MalformedResponse:
            break
        point = Point(found.x, found.y)
        part = _closer(part, point)
    return point


def _closer(part: Rect, point: Point) -> Rect:
    """Return a smaller part around a point, inside the part."""
    width = min(part.width, max(LEAST_PX, part.width // CLOSER))
    height = min(part.height, max(LEAST_PX, part.height // CLOSER))
    x = min(max(part.x, point.x - width // 2), part.right - width)
    y = min(max(part.y, point.y - height // 2), part.bottom - height)
    return Rect(x, y, width, height)
