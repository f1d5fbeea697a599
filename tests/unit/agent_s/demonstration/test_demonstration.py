from __future__ import annotations

from pathlib import Path

import numpy as np

from aci.observation.observation import Observation
from agent_s.demonstration.demonstration import finish, write_run
from agent_s.demonstration.interpretation import Look
from agent_s.runs.reading import read_trajectory
from memory_store import HashingEmbedder, MemoryStore


def test_a_run_with_other_line_ends_in_its_texts_is_whole_when_it_is_finished(tmp_path: Path) -> None:
    wording = "Write\u2028a\x85note\u2029now"
    last = Look(Observation(np.zeros((1, 1, 3), np.uint8), (), ()))
    demonstration, folder = write_run([], [], last, wording, "virtual", "r1", tmp_path / "runs", home=None)
    with MemoryStore.open(tmp_path / "memory.db", HashingEmbedder()) as memory:
        assert finish(demonstration.named("Say\u2028it", {}), folder, memory) == "nothing was done"
    read = read_trajectory(folder)
    assert read.problem == ""
    assert read.events[0].task.instruction == "Say\u2028it"  # type: ignore[union-attr]
