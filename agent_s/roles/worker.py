"""The Worker: one subtask, one primitive a step (paper, section 3.1.2).

With a grounding model it describes its targets, and `ground` turns them into pixels of the screen, as in Agent S2
and S3.
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

CLOSER = 2  # how much smaller the part is at which it looks again
LEAST_PX = 224  # no side of a part is smaller
_PLACES = (("element_id", "at"), ("drag_from_id", "from_at"), ("drop_on_id", "drop_at"))
"""The fields of primitives that name an element, with those that say where in it; alone, words describe something."""


@dataclass(frozen=True, slots=True)
class Worker:
    """Retrieves similar subtasks, and chooses the next primitive."""

    model: Model  # answers the act calls
    memory: MemoryStore | None = None  # episodic memory, or None to work without it
    run_id: str = ""  # the run at hand, whose own experience is not given
    zooms: int | None = None  # how often a grounding model looks closer; None if there is none

    def recall(self, task: Task, subtask: Subtask) -> tuple[EpisodicExperience, ...]:
        """Return experiences of similar subtasks from earlier runs, best first.

        They are found by task, subtask and context together; what the subtask itself asks for must be alike as well, or
        the same application and task would be enough.
        """
        if self.memory is None:
            return ()
        hits = self.memory.search_episodic(task.instruction, subtask.name, subtask.info)
        found = [hit.experience for hit in hits if hit.experience.provenance.run_id != self.run_id]
        wanted = make_key(subtask.name)
        others = [one for one in found if make_key(one.subtask).digest != wanted.digest]
        alike = self._alike(subtask.name, [one.subtask for one in others])
        return tuple(one for one in found if one not in others or alike[others.index(one)])

    def _alike(self, wanted: str, names: list[str]) -> list[bool]:
        """Return which names of subtasks are about the same as another, by the threshold of the memory's embedder."""
        if self.memory is None or not names:
            return []
        embedder = self.memory.embedder
        vectors = checked_embed(embedder, [wanted, *names])
        return [float(row @ vectors[0]) >= embedder.min_similarity for row in vectors[1:]]

    def act(self, context: ActContext) -> ActResponse:
        """Return the next step, with pixels in place of descriptions if there is a grounding model."""
        response = ask(self.model, context, ActResponse)
        return response if self.zooms is None else ground(self.model, response, context, self.zooms)


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
