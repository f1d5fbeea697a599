"""Doing a task again in a GTK program that was changed since."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from aci.desktop.virtual import VirtualDesktop
from agent_s.loop.agent import AgentS
from agent_s.records import Task
from agent_s.settings import Settings
from benchmarks import fixtures
from benchmarks.support.figures import NotMeasured
from benchmarks.support.reference import SYSTEM_PYTHON
from benchmarks.support.repeating import Attempt, watched
from memory_store import MemoryStore

ASKED = "Type 'Ada' into Name, click 'Green', check 'Gift wrap', and click 'Order'."
WANTED = [{"name": "Ada", "colour": "Green", "wrap": True}]
AS_IT_WAS = "as it was"
_PROGRAM = str(Path(fixtures.__file__).parent / "gtk3_orders.py")


def changes() -> list[str]:
    """Return the names of the changes.

    Raises:
        NotMeasured: The system's Python, or its GTK, is not there.
    """
    try:
        told = subprocess.run([SYSTEM_PYTHON, _PROGRAM], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotMeasured(f"{SYSTEM_PYTHON} cannot run a GTK 3 program: {error}") from error
    return [name for name in told.stdout.splitlines() if name != AS_IT_WAS]


def order(change: str, settings: Settings, memory: MemoryStore) -> tuple[Attempt, list[dict[str, Any]]]:
    """Do the task, and return how that went and what was written down."""
    with tempfile.TemporaryDirectory(prefix="agent-s-orders-") as folder, VirtualDesktop() as desktop:
        orders = Path(folder) / "orders.txt"
        desktop.launch([str(SYSTEM_PYTHON), _PROGRAM, str(orders), change])
        agent = AgentS.from_settings(settings, desktop, memory=memory)
        attempt = watched(agent.stream(Task(instruction=ASKED)))
        lines = orders.read_text(encoding="utf-8").splitlines() if orders.exists() else []
        return attempt, [json.loads(line) for line in lines]


def is_good(attempt: Attempt, written: list[dict[str, Any]]) -> bool:
    """Tell whether a run did what was asked for and nothing else, or said that it did not and did no harm."""
    if attempt.outcome.status == "done":
        return written == WANTED
    return attempt.outcome.status == "failed" and written in ([], WANTED)
