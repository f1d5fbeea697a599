"""The Worker, which carries out one subtask, one primitive per step (paper, section 3.1.2).

With a grounding model, it describes its targets in words and `ground` resolves them to pixels, as in Agent S2 and S3.
"""

from __future__ import annotations

from dataclasses import dataclass

from aci.acting.actions import ACTION_ADAPTER, Action
from aci.acting.targets import Words
from aci.observation.geometry import Point, Rect
from agent_s.errors import MalformedResponse
from agent_s.llm.protocol import ActContext, ActResponse, GroundContext, GroundResponse, Model, ask
from agent_s.records import Subtask, Task
from memory_store import EpisodicExperience, MemoryStore
from memory_store.embedding.embedders import checked_embed
from memory_store.keys import make_key

ZOOM_FACTOR = 2
MIN_REGION_PX = 224  # minimum side of the region that is zoomed in on
_TARGET_FIELDS = (("element_id", "at"), ("drag_from_id", "from_at"), ("drop_on_id", "drop_at"))
"""Pairs of fields of primitives: the element, and the place within it, which alone may be a description."""


@dataclass(frozen=True, slots=True)
class Worker:
    """Retrieves similar subtasks, and chooses the next primitive."""

    model: Model  # answers the act calls
    memory: MemoryStore | None = None  # episodic memory, or None to work without it
    run_id: str = ""  # id of the current run, whose own experience is not recalled
    zooms: int | None = None  # how often the grounding model zooms in; None without a grounding model

    def recall(self, task: Task, subtask: Subtask) -> tuple[EpisodicExperience, ...]:
        """Return experiences of similar subtasks from earlier runs, best first.

        The search compares task, subtask and context together. The subtask itself must be similar as well; otherwise,
        the same task and application would suffice.
        """
        if self.memory is None:
            return ()
        hits = self.memory.search_episodic(task.instruction, subtask.name, subtask.info)
        found = [hit.experience for hit in hits if hit.experience.provenance.run_id != self.run_id]
        wanted = make_key(subtask.name)
        others = [one for one in found if make_key(one.subtask).digest != wanted.digest]
        alike = self._are_similar(subtask.name, [one.subtask for one in others])
        return tuple(one for one in found if one not in others or alike[others.index(one)])

    def _are_similar(self, wanted: str, names: list[str]) -> list[bool]:
        """Return for each name whether it is similar to the wanted one, by the threshold of the memory's embedder."""
        if self.memory is None or not names:
            return []
        embedder = self.memory.embedder
        vectors = checked_embed(embedder, [wanted, *names])
        return [float(row @ vectors[0]) >= embedder.min_similarity for row in vectors[1:]]

    def act(self, context: ActContext) -> ActResponse:
        """Return the next step; with a grounding model, descriptions of targets are replaced by pixels."""
        response = ask(self.model, context, ActResponse)
        return response if self.zooms is None else ground(self.model, response, context, self.zooms)


def ground(model: Model, response: ActResponse, context: ActContext, zooms: int) -> ActResponse:
    """Return a Worker's answer with pixels in place of descriptions.

    A target that is not found keeps its description. The desktop then refuses the action, and the Worker reads why.

    Args:
        model: Answers the `ground` requests.
        response: The Worker's answer.
        context: The context of the answer.
        zooms: How often to zoom in on the pixel that was found.
    """
    actions = [_grounded(model, action, context, zooms) for action in response.actions]
    return response.model_copy(update={"action": actions[0], "then": tuple(actions[1:])})


def _grounded(model: Model, action: Action, context: ActContext, zooms: int) -> Action:
    fields = dict(action)
    for element, at in _TARGET_FIELDS:
        words = fields.get(at)
        if fields.get(element) is None and isinstance(words, Words):
            point = locate(model, words.text, context, zooms)
            fields[at] = words if point is None else (float(point.x), float(point.y))
    return ACTION_ADAPTER.validate_python(fields) if fields != dict(action) else action


def locate(model: Model, description: str, context: ActContext, zooms: int) -> Point | None:
    """Return the pixel of a described target; None if the model does not find it."""
    region = context.observation.screen
    point: Point | None = None
    for _ in range(zooms + 1):
        try:
            found = ask(model, GroundContext(context.task, context.observation, description, region), GroundResponse)
        except MalformedResponse:
            break
        point = Point(found.x, found.y)
        region = _zoom_in(region, point)
    return point


def _zoom_in(region: Rect, point: Point) -> Rect:
    """Return a smaller region around a point, within the given one."""
    width = min(region.width, max(MIN_REGION_PX, region.width // ZOOM_FACTOR))
    height = min(region.height, max(MIN_REGION_PX, region.height // ZOOM_FACTOR))
    x = min(max(region.x, point.x - width // 2), region.right - width)
    y = min(max(region.y, point.y - height // 2), region.bottom - height)
    return Rect(x, y, width, height)
