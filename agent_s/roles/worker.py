"""The Worker: one subtask, one primitive a step (paper, section 3.1.2)."""

from __future__ import annotations

from dataclasses import dataclass

from agent_s.llm.protocol import ActContext, ActResponse, Model, ask
from agent_s.records import Subtask, Task
from agent_s.roles.grounder import ground
from memory_store import EpisodicExperience, MemoryStore


@dataclass(frozen=True, slots=True)
class Worker:
    """Retrieves similar subtasks, and chooses the next primitive."""

    model: Model  # answers the act calls
    memory: MemoryStore | None = None  # episodic memory, or None to work without it
    zooms: int | None = None  # how often a grounding model looks closer; None if there is none

    def recall(self, task: Task, subtask: Subtask) -> tuple[EpisodicExperience, ...]:
        """Return experiences of similar subtasks, best first."""
        if self.memory is None:
            return ()
        hits = self.memory.search_episodic(task.instruction, subtask.name, subtask.info)
        return tuple(hit.experience for hit in hits)

    def act(self, context: ActContext) -> ActResponse:
        """Return the next step, with pixels in place of descriptions if there is a grounding model."""
        response = ask(self.model, context, ActResponse)
        return response if self.zooms is None else ground(self.model, response, context, self.zooms)
