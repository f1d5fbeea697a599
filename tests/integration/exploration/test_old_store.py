"""A store that an earlier version filled by exploring Mousepad is upgraded, and its skills are still replayed."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from agent_s import AgentS, Options, Task
from agent_s.llm.no_model import NoModel
from exploration.search.homes import read_home
from exploration.search.navigator import new_desktop
from memory_store import HashingEmbedder, MemoryStore

OLD_STORE = Path(__file__).parents[2] / "data" / "store_0003.db.gz"
LINE_NUMBERS = "org/xfce/mousepad/preferences/view/show-line-numbers"

pytestmark = [
    pytest.mark.desktop,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("mousepad") is None, reason="needs mousepad"),
]


@pytest.mark.parametrize("instruction", ["turn on line numbers", "make the line numbers visible"])
def test_skill_of_an_older_store_is_replayed(tmp_path: Path, instruction: str) -> None:
    store = tmp_path / "memory.db"
    store.write_bytes(gzip.decompress(OLD_STORE.read_bytes()))
    with MemoryStore.open(store, HashingEmbedder()) as memory, new_desktop() as desktop:
        desktop.launch(["mousepad"])
        agent = AgentS(model=NoModel(), desktop=desktop, memory=memory, options=Options(replay="only", learn=False))
        outcome = agent.run(Task(instruction=instruction))
        assert (outcome.status, outcome.verified, outcome.usage.model_calls) == ("done", True, 0), outcome.reason
        assert read_home(desktop.home).settings[LINE_NUMBERS] == "true"
