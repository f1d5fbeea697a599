"""Task files in OSWorld's format as a task of Inspect.

    inspect eval evaluation/adapters/inspect_task.py --model none/none -T folder=everyday -T agent_model=anthropic:NAME

Each sample is one task file, on a private desktop of its own, judged by the state of its applications. The agent uses
its own model and settings; Inspect's model is not asked. Needs `pip install inspect-ai`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import Score, Scorer, Target, accuracy, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from agent_s.settings import Settings, configs_folder, load_settings
from evaluation.osworld.runner import TaskResult, run_task
from evaluation.osworld.task import load_task, load_tasks
from evaluation.state.context import Rights

RESULT = "agent_s"  # key of the state's metadata with the result of a run


@task
def desktop_tasks(
    folder: str = "everyday",
    agent_model: str = "offline",
    config: str = "",
    allow_commands: bool = False,
    files: str = "",
) -> Task:
    """Return the task files of a folder as a task.

    Args:
        folder: A folder, or the name of a bundled set: demo, everyday.
        agent_model: Model of the agent, as for `agent-s run --model`.
        config: Settings file; empty for the defaults.
        allow_commands: Whether the commands of the task files may run.
        files: Folder with the files that tasks download; empty for none.
    """
    place = Path(folder) if Path(folder).is_dir() else configs_folder() / folder
    samples = [
        Sample(input=one.instruction, id=one.id, metadata={"path": str(one.path), **one.labels})
        for one in load_tasks(place)
    ]
    settings = load_settings(config or None, {"model": agent_model, "memory.enabled": False})
    rights = Rights(commands=allow_commands, files=Path(files).absolute() if files else None)
    return Task(dataset=MemoryDataset(samples), solver=agent_s(settings, rights), scorer=state_check())


@solver
def agent_s(settings: Settings, rights: Rights) -> Solver:
    """Return a solver that has the agent carry out a sample's task file."""

    async def solve(state: TaskState, _generate: Generate) -> TaskState:
        file = load_task(Path(state.metadata["path"]))
        result = await asyncio.to_thread(run_task, file, settings, rights=rights)
        state.metadata[RESULT] = result.model_dump(mode="json")
        state.output = ModelOutput.from_content(settings.model, f"{result.status}: {result.reason}")
        state.completed = True
        return state

    return solve


@scorer(metrics=[accuracy(), mean(), stderr()])
def state_check() -> Scorer:
    """Return a scorer that gives the score of the state check."""

    async def score(state: TaskState, _target: Target) -> Score:
        result = TaskResult.model_validate(state.metadata[RESULT])
        if result.score is None:
            raise RuntimeError(f"{result.task} could not be judged: {result.reason}")
        used: dict[str, Any] = result.model_dump(
            include={"status", "steps", "model_calls", "input_tokens", "output_tokens", "dollars", "seconds"}
        )
        return Score(value=result.score, answer=result.status, explanation=result.reason, metadata=used)

    return score
