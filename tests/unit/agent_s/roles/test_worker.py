"""The experience that a Worker is given."""

from __future__ import annotations

from pathlib import Path

from agent_s.llm.scripted import ScriptedModel
from agent_s.records import Subtask, Task
from agent_s.roles.worker import Worker
from memory_store import HashingEmbedder, MemoryStore, Provenance

TASK = Task(instruction="Prepare the report in Writer")


def test_only_relevant_experience_of_earlier_runs_is_given(tmp_path: Path) -> None:
    with MemoryStore.open(tmp_path / "memory.sqlite", HashingEmbedder()) as memory:

        def add(subtask: str, run: str) -> str:
            source = Provenance(run_id=run)
            return memory.add_episodic(
                task_query=TASK.instruction,
                subtask=subtask,
                context="in Writer",
                summary="done",
                steps=[],
                provenance=source,
            ).id

        same = add("Insert a table with 3 rows", "earlier")
        alike = add("Insert a table with 4 rows", "earlier")
        add("Start the application", "earlier")
        add("Insert a table with 5 rows", "now")
        worker = Worker(ScriptedModel({}), memory, run_id="now")
        given = worker.recall(TASK, Subtask(name="Insert a table with 3 rows", info="in Writer"))
        assert {one.id for one in given} == {same, alike}
        assert worker.recall(TASK, Subtask(name="Export a PDF", info="in Writer")) == ()
