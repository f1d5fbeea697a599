"""The Worker: one subtask, one primitive a step (paper, section 3.1.2)."""

from __future__ import annotations

from agent_s.llm.protocol import ActContext, ActResponse, Model, ask
from agent_s.records import Subtask, Task
from memory_store import EpisodicExperience, MemoryStore


class Worker:
    """Retrieves similar subtasks, and chooses the next primitive.

    Args:
        model: Answers the act calls.
        memory: Episodic memory, or None to work without it.
    """

    def __init__(self, model: Model, memory: MemoryStore | None = None) -> None:
        self._model = model
        self._memory = memory

    def recall(self, task: Task, subtask: Subtask) -> tuple[EpisodicExperience, ...]:
        """Return experiences of similar subtasks, best first."""
        if self._memory is None:
            return ()
        hits = self._memory.search_episodic(task.instruction, subtask.name, subtask.info)
        return tuple(hit.experience for hit in hits)

    def act(self, context: ActContext) -> ActResponse:
        """Return the next step."""
        return ask(self._model, context, ActResponse)
