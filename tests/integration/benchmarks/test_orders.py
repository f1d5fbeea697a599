"""A replay in a program that was changed since does what was asked for, or stops and does no harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_s.settings import Settings, load_settings
from benchmarks.support.orders import AS_IT_WAS, WANTED, changes, is_good, order
from memory_store import MemoryStore

pytestmark = pytest.mark.desktop


def settings(folder: Path, replay: bool | str) -> Settings:
    return load_settings(None, {"model": "offline", "runs_dir": str(folder), "replay": replay})


@pytest.mark.slow
def test_what_was_changed_is_done_right_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(changes()) >= 30
    monkeypatch.setattr("agent_s.replay.player.PATIENCE_S", 1.5)
    stops = {
        "a second button of the name before": "several that cannot be told apart",
        "another row is chosen by the box": "the list item 'Green' is not as it was before",
        "dialog that is not modal at the box": "opened, which it did not when learned",
    }
    with MemoryStore.open(tmp_path / "orders.sqlite") as memory:
        first, written = order(AS_IT_WAS, settings(tmp_path, True), memory)
        memory.mark_verified(verified=written == WANTED, by="what was ordered", run_id=first.outcome.run_id)
        again, written = order("list in another order", settings(tmp_path, "only"), memory)
        assert again.outcome.replayed and written == WANTED, again.outcome.reason
        again, written = order("button out of sight", settings(tmp_path, "only"), memory)
        assert again.outcome.replayed and written == WANTED, again.stopped
        for change, reason in stops.items():
            attempt, written = order(change, settings(tmp_path, "only"), memory)
            assert is_good(attempt, written) and written == [] and reason in attempt.stopped, (change, attempt, written)
            for experience in memory.list_experiences():
                memory.release(experience.id)
