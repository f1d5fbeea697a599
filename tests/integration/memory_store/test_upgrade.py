"""A store that the version with schema 0003 wrote while it explored a text editor; upgrading it loses nothing."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memory_store import HashingEmbedder, MemoryStore, SkillExperience, export_store, import_store, salvage_store
from tests.integration.memory_store.test_salvage import destroy, pages_of

DATA = Path(__file__).resolve().parents[2] / "data"


def unpacked(name: str, target: Path) -> Path:
    target.write_bytes(gzip.decompress((DATA / name).read_bytes()))
    return target


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return unpacked("store_0003.db.gz", tmp_path / "memory.db")


@pytest.fixture
def upgraded(old: Path) -> Iterator[MemoryStore]:
    with MemoryStore.open(old, HashingEmbedder()) as store:
        yield store


def skills(store: MemoryStore) -> dict[str, SkillExperience]:
    return {one.id: one for one in store.list_experiences("skill") if isinstance(one, SkillExperience)}


def test_experiences_keep_their_provenance(old: Path) -> None:
    columns = "state, state_reason, verified, verified_by, times_used, times_worked, times_seen, run_id, app"
    with closing(sqlite3.connect(old)) as raw:
        query = f"SELECT uid, {columns} FROM experience WHERE forgotten_at IS NULL"
        before = {uid: values for uid, *values in raw.execute(query)}
    with MemoryStore.open(old, HashingEmbedder()) as store:
        after = {one.id: one.provenance for one in store.list_experiences()}
        assert (store.stats().narrative, store.stats().episodic, store.stats().skill) == (4, 5, 34)
        assert store.stats().web_answers == 1
        assert store.undo_forget() == 1
        store.search_skills("turn on line numbers")
        assert store.check() == []
    assert {uid: [getattr(source, name) for name in columns.split(", ")] for uid, source in after.items()} == before


def test_aliases_move_out_of_the_descriptions(upgraded: MemoryStore) -> None:
    named = {one.name: one for one in skills(upgraded).values()}
    wrap = named["turn on word wrap"]
    assert wrap.aliases == ("turn on word wrapping", "turn on breaking lines in between words")
    assert wrap.description == "Turn on word wrap, by Document > Word Wrap in Mousepad."
    assert named["turn on line numbers"].aliases == ("Show line numbers",)
    assert named["select font"].aliases == ("open choose font", "Change the editor font")
    assert "which shows “Search”" in named["select font"].description
    subtask = named["Choose 'Edit' > 'Paste'"]
    assert (subtask.aliases, subtask.description) == ((), "choose 'Edit' > 'Paste'")


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("turn on word wrap", "turn on word wrap"),
        ("turn on breaking lines in between words", "turn on word wrap"),
        ("turn off main menubar", "hide the menubar"),
        ("switch to read-only", "switch to viewer mode"),
        ("Show line numbers", "turn on line numbers"),
    ],
)
def test_skills_are_found_by_name_and_alias(upgraded: MemoryStore, query: str, name: str) -> None:
    assert upgraded.search_skills(query)[0].experience.name == name


def test_a_skill_is_found_by_its_exact_name_and_description(upgraded: MemoryStore) -> None:
    for skill in skills(upgraded).values():
        found = upgraded.find_skill(skill.name, skill.description, states=[skill.provenance.state])
        assert (found is not None) == (skill.provenance.state in ("active", "candidate"))
        assert found is None or found.steps == skill.steps


def test_skills_get_an_intent_and_keep_their_steps(old: Path) -> None:
    with closing(sqlite3.connect(old)) as raw:
        before = dict(raw.execute("SELECT uid, steps FROM skill JOIN experience USING (pk)"))
    with MemoryStore.open(old, HashingEmbedder()) as store:
        for skill in skills(store).values():
            assert list(skill.steps) == json.loads(before[skill.id])
            assert skill.intent.kind
            assert skill.effects == ()


def test_an_upgraded_store_is_exported_and_imported_without_loss(upgraded: MemoryStore, tmp_path: Path) -> None:
    export_store(upgraded, tmp_path / "export.jsonl")
    with MemoryStore.open(tmp_path / "new.db", HashingEmbedder()) as other:
        assert import_store(other, tmp_path / "export.jsonl").added == 43
        assert other.list_experiences() == upgraded.list_experiences()


def test_an_export_of_version_2_is_imported_as_the_store_is_upgraded(upgraded: MemoryStore, tmp_path: Path) -> None:
    export = unpacked("export_2.jsonl.gz", tmp_path / "export.jsonl")
    with MemoryStore.open(tmp_path / "new.db", HashingEmbedder()) as other:
        assert import_store(other, export).added == 43
        assert other.list_experiences() == upgraded.list_experiences()


@pytest.mark.parametrize("change", [{"name": 3}, {"description": None}, {"provenance": []}])
def test_a_damaged_export_of_version_2_is_refused(upgraded: MemoryStore, tmp_path: Path, change: Any) -> None:
    lines = unpacked("export_2.jsonl.gz", tmp_path / "export.jsonl").read_text(encoding="utf-8").splitlines()
    number = next(number for number, line in enumerate(lines) if '"kind": "skill"' in line)
    lines[number] = json.dumps({**json.loads(lines[number]), **change})
    (tmp_path / "export.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(Exception, match=f"line {number + 1} is not a valid experience: {next(iter(change))}"):
        import_store(upgraded, tmp_path / "export.jsonl")


def test_a_damaged_store_of_the_old_version_is_salvaged(old: Path, tmp_path: Path) -> None:
    leaves = pages_of(old, "skill")
    destroy(old, leaves[-1])
    report = salvage_store(old, tmp_path / "saved.jsonl")
    assert report.saved + len(report.lost) == 43
    assert report.lost
    whole = unpacked("store_0003.db.gz", tmp_path / "whole.db")
    with (
        MemoryStore.open(whole, HashingEmbedder()) as store,
        MemoryStore.open(tmp_path / "new.db", HashingEmbedder()) as new,
    ):
        assert import_store(new, tmp_path / "saved.jsonl").added == report.saved
        assert all(store.get(one.id) == one for one in new.list_experiences())
