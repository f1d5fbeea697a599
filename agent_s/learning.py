"""Continual update: what a run writes to memory (paper, section 3.2).

Finished subtasks are stored at once, so that a run that is stopped or killed keeps them; the verdict on the task marks
them afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence

from aci.observation import Observation
from agent_s.errors import LimitReached, ModelError
from agent_s.evaluator import Evaluator
from agent_s.events import Event, ExperienceStored, Troubled
from agent_s.grounded_steps import ground_steps, is_repeatable
from agent_s.records import Plan, Status, Step, Subtask, Task, Verdict
from agent_s.version import program_version
from memory_store import MemoryStore, MemoryStoreError, PlannedSubtask, Provenance

PLATFORM = "linux/x11"


class Learner:
    """Writes the experience of one run.

    Args:
        evaluator: Summarizes.
        memory: Where to write, or None to learn nothing.
        run_id: For the provenance.
        task: For the keys.
        model: Name of the model, for the provenance.
    """

    def __init__(self, evaluator: Evaluator, memory: MemoryStore | None, run_id: str, task: Task, model: str) -> None:
        self._evaluator = evaluator
        self._memory = memory
        self._run_id = run_id
        self._task = task
        self._model = model
        self._episodes: list[str] = []
        self._app = ""

    def store_subtask(self, subtask: Subtask, steps: Sequence[Step], last: Observation) -> list[Event]:
        """Store a finished subtask in episodic memory; trouble with memory is told and survived."""
        if self._memory is None:
            return []
        self._app = last.active_window.app if last.active_window else self._app
        try:
            summary = self._evaluator.summarize_subtask(self._task, subtask, steps)
            grounded = ground_steps(steps, last) if is_repeatable(steps) else ()
            stored = self._memory.add_episodic(
                task_query=self._task.instruction,
                subtask=subtask.name,
                context=subtask.info,
                summary=summary,
                steps=[step.model_dump(mode="json") for step in grounded],
                provenance=self._provenance("done"),
            )
        except (MemoryStoreError, ModelError, LimitReached) as error:
            return [Troubled(problem=f"the subtask's experience could not be stored: {error}")]
        self._episodes.append(stored.id)
        return [ExperienceStored(memory="episodic", experience_id=stored.id, summary=summary)]

    def store_task(self, query: str, plan: Plan | None, status: Status, reason: str, verdict: Verdict) -> list[Event]:
        """Store a finished task in narrative memory, failures as well as successes.

        Raises:
            MemoryStoreError: Memory cannot be written.
            ModelError: There is no summary.
        """
        if self._memory is None or status not in ("done", "failed", "infeasible"):
            return []
        summary = self._evaluator.summarize_task(self._task, plan, verdict, reason)
        stored = self._memory.add_narrative(
            query=query or self._task.instruction,
            instruction=self._task.instruction,
            summary=summary,
            plan=[PlannedSubtask(name=part.name, info=part.info) for part in plan.subtasks] if plan else [],
            success=status == "done",
            provenance=self._provenance(status, verdict),
        )
        return [ExperienceStored(memory="narrative", experience_id=stored.id, summary=summary)]

    def mark(self, verdict: Verdict) -> None:
        """Write the verdict on the task to the subtasks that were stored on the way.

        Raises:
            MemoryStoreError: Memory cannot be written.
        """
        if self._memory is not None and self._episodes and verdict.verified is not None:
            self._memory.mark_verified(
                verified=verdict.verified, by=verdict.by, run_id=self._run_id, ids=self._episodes
            )

    def count_use(self, experience_id: str, worked: bool) -> None:
        """Count that an experience was relied on.

        Raises:
            MemoryStoreError: Memory cannot be written.
        """
        if self._memory is not None:
            self._memory.record_use(experience_id, worked)

    def _provenance(self, outcome: str, verdict: Verdict | None = None) -> Provenance:
        return Provenance(
            run_id=self._run_id,
            task_id=self._task.id,
            app=self._app,
            platform=PLATFORM,
            model=self._model,
            outcome=outcome,
            verified=verdict.verified if verdict else None,
            verified_by=verdict.by if verdict else "",
            version=program_version(),
        )
