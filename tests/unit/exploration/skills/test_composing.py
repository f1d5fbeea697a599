"""Tasks of several skills, on a made-up application."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from aci.observation.observation import Element
from agent_s.replay.skill_matching import THEN
from exploration.search.dfs import search
from exploration.search.ledger import Ledger
from exploration.search.records import Composed
from exploration.skills.composing import compose, is_composed
from exploration.skills.compositions import propose
from exploration.skills.skill_keeper import SkillKeeper
from memory_store import MemoryStore, SkillExperience
from memory_store.embedding.embedders import HashingEmbedder
from tests.unit.exploration.an_app import APP, FakeEditor

ARGV = ("editor",)


class Quarrelsome(FakeEditor):
    """Zooming takes the line numbers away."""

    def _click(self, element: Element) -> None:
        super()._click(element)
        if element.role == "radio menu item" and self._numbers:
            self._set("line-numbers", "false")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def searched(editor: FakeEditor, path: Path) -> Ledger:
    ledger, ticks = Ledger(path, APP, ARGV), count()
    for _ in search(
        editor, ledger, SkillKeeper(None, "explore"), clock=lambda: next(ticks) * 0.05, pause=lambda _: None
    ):
        pass
    return ledger


def composed(
    editor: FakeEditor, ledger: Ledger, *, seconds: float = 600, memory: MemoryStore | None = None, most: int = 1000
) -> list[Composed]:
    ticks, events = count(), list[Composed]()
    running = compose(
        editor, ledger, seconds=seconds, memory=memory, clock=lambda: next(ticks) * 0.05, pause=lambda _: None
    )
    for event in running:
        events.append(event)
        if len(events) == most:
            break
    return events


def test_composite_tasks_that_work_become_skills(home: Path, tmp_path: Path) -> None:
    editor = FakeEditor(home)
    with (
        searched(editor, tmp_path / "ledger.jsonl") as ledger,
        MemoryStore.open(tmp_path / "m.sqlite", HashingEmbedder()) as memory,
    ):
        events = composed(editor, ledger, memory=memory)
        kept = {event.skill.name: event.skill for event in events if event.skill is not None}
        off = kept["turn off wrap lines"]
        assert [step.intent for step in off.steps][-2:] == [
            "click the Wrap lines check box",
            "click the Close push button",
        ]
        assert "Wrap lines is on" in off.preconditions
        assert [change.after for change in off.effect if change.kind == "setting"] == ["false"]
        assert any(f"{THEN}open preferences" in name for name in kept)
        assert any(name.count(THEN) == 2 for name in kept), "three skills in turn"
        confirmed = [event.skill for event in events if event.key.startswith("confirm ")]
        assert [skill.name for skill in confirmed if skill] == ["turn on wrap lines"]
        stored = memory.get(off.experience_id)
        assert isinstance(stored, SkillExperience)
        assert (stored.provenance.state, len(stored.steps)) == ("active", len(off.steps))
        lengths = [len(event.units) for event in events if event.key.count(" + ")]
    assert lengths == sorted(lengths), "from easy to hard"


def test_composite_task_with_a_lost_effect_is_not_kept(home: Path, tmp_path: Path) -> None:
    editor = Quarrelsome(home)
    with searched(editor, tmp_path / "ledger.jsonl") as ledger:
        events = composed(editor, ledger)
    quarrel = [event for event in events if event.name.startswith(f"turn on line numbers{THEN}set zoom")]
    assert quarrel
    assert all(event.skill is None and "line-numbers" in event.why for event in quarrel)


def test_composing_resumes_after_an_interruption(home: Path, tmp_path: Path) -> None:
    editor = FakeEditor(home)
    searched(editor, tmp_path / "one.jsonl").close()
    (tmp_path / "two.jsonl").write_bytes((tmp_path / "one.jsonl").read_bytes())
    with Ledger(tmp_path / "one.jsonl", APP, ARGV) as ledger:
        undisturbed = [(event.key, event.skill is not None) for event in composed(editor, ledger)]
    with Ledger(tmp_path / "two.jsonl", APP, ARGV) as ledger:
        composed(editor, ledger, most=2)
    with Ledger(tmp_path / "two.jsonl", APP, ARGV) as ledger:
        assert len(ledger.composed) == 2
        composed(editor, ledger)
        assert [(key, event.skill is not None) for key, event in ledger.composed.items()] == undisturbed
        assert composed(editor, ledger) == [], "nothing is left"
        assert is_composed(ledger)


def test_composing_ends_with_its_time(home: Path, tmp_path: Path) -> None:
    editor = FakeEditor(home)
    with searched(editor, tmp_path / "ledger.jsonl") as ledger:
        assert composed(editor, ledger, seconds=1) == []
        assert not is_composed(ledger)
        assert propose(tuple(ledger.skills.values()), ledger.attempts)
