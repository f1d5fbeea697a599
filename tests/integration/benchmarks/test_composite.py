"""A task of several parts in a real editor, done by skills that were learned there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from benchmarks.composite import DATA, App, carry_out, learn
from exploration.search.navigator import Navigator, new_desktop
from memory_store import HashingEmbedder, MemoryStore

pytestmark = [
    pytest.mark.desktop,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("mousepad") is None, reason="needs mousepad"),
]


def test_a_task_of_known_parts_costs_a_plan_and_a_judgement(tmp_path: Path) -> None:
    data = yaml.safe_load(DATA.read_text(encoding="utf-8"))["Mousepad"]
    units = {name: data["units"][name] for name in ("number lines", "write")}
    task = {
        "say": "Rows with numbers, and the note 'milk and bread'",
        "do": [["number lines"], ["write", "milk and bread"]],
    }
    app = App("Mousepad", {**data, "units": units, "tasks": [task]})
    with (
        new_desktop() as desktop,
        MemoryStore.open(tmp_path / "memory.sqlite", embedder=HashingEmbedder()) as memory,
    ):
        navigator = Navigator(desktop, app.argv)
        learn(app, desktop, navigator, memory)
        app.begin(desktop, navigator)
        took = carry_out(app, task, desktop, memory, "skills")
    assert took["done"] and took["replayed"]
    assert took["calls"] == 2
