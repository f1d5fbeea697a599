"""The Worker: one subtask, one primitive a step (paper, section 3.1.2)."""

from __future__ import annotations

from dataclasses import dataclass

from agent_s.llm.protocol import ActContext, ActResponse, Model, ask
from agent_s.records import Subtask, Task
from agent_s.roles.grounder import ground
from memory_store import EpisodicExperience, MemoryStore
from memory_store.embedding.embedders import checked_embed
from memory_store.keys import make_key


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
