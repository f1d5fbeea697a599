"""What workers are given before their jobs."""

from __future__ import annotations

from pathlib import Path

from agent_s.records import Record
from agent_s.settings import Settings


class Work(Record):
    """What every worker must know; benchmarks and explorations add to it."""

    settings: Settings  # model, limits, memory and desktop
    folder: Path  # folder of the results and the recorded runs
