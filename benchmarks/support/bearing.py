"""Whether the experiences that a Worker is given bear on its subtask, by labelled pairs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from agent_s.llm.scripted import ScriptedModel
from agent_s.records import Subtask, Task
from agent_s.roles.worker import Worker
from memory_store import MemoryStore, Provenance

PAIRS = Path(__file__).parents[1] / "data" / "experiences.yaml"


@dataclass(frozen=True, slots=True)
class Bearing:
    """How many experiences were given, how many of them help, and for how many subtasks that have one it was given."""

    given: int
    helping: int
    subtasks: int
    answered: int
    wrong: tuple[str, ...] = ()


def measure_bearing() -> Bearing:
    """Fill a memory with the stored subtasks, and ask it for each of the others as a Worker does."""
    pairs: dict[str, Any] = yaml.safe_load(PAIRS.read_text(encoding="utf-8"))
    given = helping = answered = 0
    wrong = []
    with TemporaryDirectory() as folder, MemoryStore.open(Path(folder) / "memory.sqlite") as memory:
        names = {}
        for name, one in pairs["stored"].items():
            source = Provenance(run_id=f"run-{name}", app=one["app"], platform="linux/x11", verified=True)
            stored = memory.add_episodic(task_query=one["task"], subtask=one["subtask"], context=one["info"],
                                         summary=one["subtask"], steps=[], provenance=source)  # fmt: skip
            names[stored.id] = name
        worker = Worker(ScriptedModel({}), memory)
        for asked in pairs["asked"]:
            subtask = Subtask(name=asked["subtask"], info=asked["info"])
            found = [names[one.id] for one in worker.recall(Task(instruction=asked["task"]), subtask)]
            given += len(found)
            helping += sum(name in asked["helps"] for name in found)
            answered += any(name in asked["helps"] for name in found)
            wrong += [f"{asked['subtask']} <- {pairs['stored'][name]['subtask']}"
                      for name in found if name not in asked["helps"]]  # fmt: skip
    subtasks = sum(bool(asked["helps"]) for asked in pairs["asked"])
    return Bearing(given, helping, subtasks, answered, tuple(wrong))
