"""Checking the tasks of the set `everyday`, each with its own solution or with one that goes wrong."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree
from typing import Any

from agent_s.settings import Settings, configs_folder
from evaluation.harness.results import Job, Result
from evaluation.osworld.bench import ConformanceBench
from evaluation.osworld.task import load_tasks
from evaluation.state.context import Rights

FOLDER = configs_folder() / "everyday"
OFFICE = ("calc", "draw", "impress", "several", "writer")
"""Groups that take about as long as all others together."""


def names(*groups: str) -> list[str]:
    """Return the ids of the tasks of some groups."""
    return [task.id for group in groups for task in load_tasks(FOLDER / group)]


def groups() -> list[str]:
    """Return the names of all groups."""
    return sorted({path.parent.name for path in FOLDER.glob("*/*.json")})


def conformance(task: str, results: Path, folder: Path = FOLDER) -> Result:
    """Check one task: untouched, and done by its scripted solution."""
    return ConformanceBench(Settings(), results, folder, rights=Rights(commands=True)).run(Job(task=task))


def after(task: str, steps: list[dict[str, Any]], place: Path) -> Result:
    """Check one task with other steps in the place of its solution."""
    copytree(FOLDER, place / "tasks")
    [path] = (place / "tasks").glob(f"*/solutions/{task}.json")
    path.write_text(json.dumps(steps))
    return conformance(task, place, place / "tasks")
