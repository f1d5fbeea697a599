from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_store import (
    HashingEmbedder,
    ImportReport,
    MemoryStore,
    TransferError,
    export_store,
    import_store,
    merge_export,
)
from tests.integration.memory_store.samples import SAVE_LIKE, episodic, narrative


@pytest.fixture
def exported(store: MemoryStore, tmp_path: Path) -> Path:
    narrative(store, verified=True, verified_by="judge", times_used=2, times_worked=1)
    episodic(store, context="x\u2028y\r\nz")
    narrative(store, "another task", success=False)
    file = tmp_path / "memory.jsonl"
    assert export_store(store, file) == 3
    return file


def test_export_and_import_lose_nothing(store: MemoryStore, exported: Path, tmp_path: Path) -> None:
    with MemoryStore.open(tmp_path / "other.db", HashingEmbedder(64)) as other:
        assert import_store(other, exported) == ImportReport(added=3, present=0)
        assert other.list_experiences() == store.list_experiences()
        assert other.search_narrative(SAVE_LIKE)[0].experience == store.search_narrative(SAVE_LIKE)[0].experience
        export_store(other, tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == exported.read_bytes()


def test_importing_twice_changes_nothing(store: MemoryStore, exported: Path) -> None:
    changed = store.list_experiences()[0]
    store.record_uses([changed.id], worked=True)
    before = store.list_experiences()
    assert import_store(store, exported) == ImportReport(added=0, present=3)
    assert import_store(store, exported) == ImportReport(added=0, present=3)
    assert store.list_experiences() == before


def test_merging_an_export_is_like_learning_it(store: MemoryStore, tmp_path: Path) -> None:
    known, wrong = narrative(store), episodic(store)
    store.mark_verified(verified=False, by="judge", ids=[wrong.id])
    with MemoryStore.open(tmp_path / "learned.db", HashingEmbedder(64)) as learned:
        narrative(learned, run_id="run-2")
        right = episodic(learned, run_id="run-2")
        new = narrative(learned, "another task", run_id="run-2")
        learned.mark_verified(verified=True, by="state check", ids=[right.id])
        export_store(learned, tmp_path / "learned.jsonl")

    merge_export(store, tmp_path / "learned.jsonl")

    assert len(store.list_experiences()) == 4
    merged = store.get(known.id).provenance
    assert (merged.times_seen, merged.run_id) == (2, "run-2")
    assert store.get(new.id).provenance.author == store.get(known.id).provenance.author
    assert store.get(right.id).provenance.verified_by == "state check"
    assert store.get(wrong.id).provenance.quarantined
    assert store.search_narrative("another task")
    assert store.check() == []
    merge_export(store, tmp_path / "learned.jsonl")
    assert len(store.list_experiences()) == 4


def test_the_export_has_the_documented_format(exported: Path) -> None:
    lines = [json.loads(line) for line in exported.read_text(encoding="utf-8").split("\n") if line]
    assert lines[0] == {"format": "agent-s-memory", "version": 4, "experiences": 3}
    assert [line["kind"] for line in lines[1:]] == ["narrative", "episodic", "narrative"]
    assert lines[1]["plan"][0] == {"name": "Open the file", "info": "from Documents"}
    assert lines[1]["provenance"]["created_at"].endswith("Z")
    assert stat.S_IMODE(exported.stat().st_mode) == 0o600


def edit(line: int, change: Callable[[dict[str, object]], object]) -> Callable[[list[str]], None]:
    def apply(lines: list[str]) -> None:
        value = json.loads(lines[line])
        change(value)
        lines[line] = json.dumps(value)

    return apply


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda lines: lines.pop(), "2 experiences, not 3"),
        (lambda lines: lines.append(lines[-1]), "4 experiences, not 3"),
        (lambda lines: lines.__setitem__(3, lines[3][:50]), "line 4 is not JSON"),
        (lambda lines: lines.__setitem__(3, "[1]"), "line 4 is not a JSON object"),
        (lambda lines: lines.pop(0), "not the header"),
        (lambda lines: lines.clear(), "not JSON"),
        (edit(0, lambda line: line.update(version=5)), "version 5"),
        (edit(2, lambda line: line.update(kind="dream")), "line 3 has an unknown kind"),
        (edit(2, lambda line: line.update(surprise=1)), "line 3 .*surprise"),
        (edit(3, lambda line: line.update(success="true")), "line 4 .*success"),
        (edit(3, lambda line: line.update(query=" ")), "line 4 .*blank"),
        (edit(3, lambda line: line.update(summary="a\0")), "line 4 .*NUL"),
        (edit(2, lambda line: line.update(id="e-1")), "line 3 .*id"),
    ],
)
def test_a_damaged_export_is_refused_as_a_whole(
    exported: Path, tmp_path: Path, damage: Callable[[list[str]], None], words: str
) -> None:
    lines = exported.read_text(encoding="utf-8").split("\n")[:-1]
    damage(lines)
    exported.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    with MemoryStore.open(tmp_path / "other.db", HashingEmbedder()) as other:
        with pytest.raises(TransferError, match=words):
            import_store(other, exported)
        assert other.list_experiences() == []


def test_binary_and_missing_files_are_refused(store: MemoryStore, tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00" * 10)
    for place in (binary, tmp_path / "missing", tmp_path):
        with pytest.raises(TransferError):
            import_store(store, place)


def test_an_export_that_cannot_be_written_leaves_the_old_one(
    store: MemoryStore, exported: Path, tmp_path: Path
) -> None:
    with pytest.raises(TransferError):
        export_store(store, tmp_path / "no" / "folder.jsonl")
    before = exported.read_bytes()
    store.close()
    with pytest.raises(Exception, match="closed"):
        export_store(store, exported)
    assert exported.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir() if file.name != "memory"] == ["memory.jsonl"]
