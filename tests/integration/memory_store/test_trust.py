"""Trust, merging, forgetting and skills."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from benchmarks.support.postgres import Server
from memory_store import HashingEmbedder, MemoryStore, Selection, TransferError, UnknownExperience, import_store
from memory_store.storage.schema import experience
from tests.integration.memory_store.samples import SAVE, SUM, change_rows, episodic, narrative, source

STEPS = [{"action": "click", "element": {"role": "button", "name": "Save"}}]


def skill(store: MemoryStore, name: str = "Export as PDF") -> str:
    return store.add_skill(name=name, steps=STEPS, preconditions=("a document is open",), provenance=source()).id


def test_a_skill_is_active_only_after_a_checked_run_from_a_clean_state(store: MemoryStore) -> None:
    made = skill(store)
    assert store.search_skills("export as PDF") == []
    assert store.search_skills("export as PDF", candidates=True)[0].experience.id == made
    store.record_uses([made], worked=True)
    store.record_uses([made], worked=True, checked_by="file content")
    store.record_uses([made], worked=True, clean_start=True)
    assert store.get(made).provenance.state == "candidate"
    store.record_uses([made], worked=True, checked_by="file content", clean_start=True)
    kept = store.get(made).provenance
    assert (kept.state, kept.verified, kept.verified_by, kept.times_worked) == ("active", True, "file content", 4)
    assert store.search_skills("export as PDF")[0].experience.id == made


def test_experience_that_fails_twice_is_quarantined_listed_and_released(store: MemoryStore) -> None:
    made = narrative(store)
    for _ in range(2):
        store.record_uses([made.id], worked=False)
    assert store.search_narrative(SAVE) == []
    (listed,) = store.list_experiences(state="quarantined")
    assert (listed.id, "failed twice" in listed.provenance.state_reason) == (made.id, True)
    assert store.release(made.id)
    assert not store.release(made.id)
    assert store.search_narrative(SAVE)[0].experience.id == made.id
    store.quarantine(made.id, "out of date")
    assert store.search_narrative(SAVE) == []


def test_contradicted_claims_are_quarantined_and_reported_failures_are_kept(store: MemoryStore) -> None:
    wrong = episodic(store, run_id="run-1")
    right = store.add_episodic(
        task_query=wrong.task_query, subtask=wrong.subtask, summary="By the menu.", steps=STEPS,
        provenance=source(run_id="run-2", verified=True),
    )  # fmt: skip
    failed = narrative(store, success=False, run_id="run-1")
    narrative(store, run_id="run-2", verified=True)
    assert wrong.id == right.id or store.mark_verified(run_id="run-1", verified=False, by="judge")
    if wrong.id != right.id:
        assert store.get(wrong.id).provenance.state == "quarantined"
    assert store.get(right.id).provenance.state == "active"
    assert store.get(failed.id).provenance.state == "active"


def test_repeated_experience_is_merged_and_keeps_the_newer_words(store: MemoryStore) -> None:
    first = narrative(store, "How to save the file")
    again = narrative(store, "How to save a file", instruction=first.instruction)
    assert again.id == first.id
    assert (again.provenance.times_seen, again.query) == (2, "How to save a file")
    assert store.stats().narrative == 1
    assert store.search_narrative("How to save a file")[0].similarity == 1.0
    for other in ("How to save 2 files", "How to save the file as 'A'", "How to save the file as 'a'"):
        assert narrative(store, other, instruction=first.instruction).id != first.id
    assert store.check() == []


def test_a_verified_episode_is_not_replaced_by_other_steps(store: MemoryStore) -> None:
    proven = episodic(store, verified=True)
    other = store.add_episodic(
        task_query=proven.task_query, subtask=proven.subtask, summary="x", steps=STEPS, provenance=source()
    )
    assert other.id != proven.id
    found = store.find_verified_episode(proven.task_query, proven.subtask)
    assert found is not None
    assert found.steps == proven.steps


def test_a_verdict_of_a_run_does_not_apply_to_its_replacement_from_another_run(store: MemoryStore) -> None:
    first = episodic(store, run_id="run-1")
    second = episodic(store, run_id="run-2")
    assert second.id == first.id
    assert store.mark_verified(run_id="run-1", ids=[first.id], verified=True, by="judge") == 0
    assert store.get(first.id).provenance.verified is None


@pytest.mark.parametrize(
    ("selection", "left"),
    [
        (Selection(app="CALC"), {"b"}),
        (Selection(task_id="t1"), {"b"}),
        (Selection(text="under ANOTHER name"), {"a"}),
        (Selection(before=datetime(2026, 1, 1, tzinfo=UTC)), {"b"}),
        (Selection(everything=True), set()),
        (Selection(app="calc", text="under another name"), {"a", "b"}),
    ],
)
def test_selected_experience_is_counted_forgotten_and_restored(
    store: MemoryStore, selection: Selection, left: set[str]
) -> None:
    old = datetime(2025, 6, 1, tzinfo=UTC)
    names = {narrative(store, SUM, app="calc", task_id="t1", created_at=old).id: "a", narrative(store, SAVE).id: "b"}
    assert store.count(selection) == 2 - len(left)
    assert store.forget(selection) == 2 - len(left)
    assert {names[record.id] for record in store.list_experiences()} == left
    assert store.stats().forgotten == 2 - len(left)
    assert store.undo_forget() == 2 - len(left)
    assert store.search_narrative(SUM)[0].similarity == 1.0
    with pytest.raises(ValueError, match="nothing is chosen"):
        store.forget(Selection())


def test_nothing_is_restored_after_a_vacuum(file_store: MemoryStore, path: Path) -> None:
    gone, kept = narrative(file_store, SUM), narrative(file_store)
    secret = "a-word-that-is-nowhere-else"
    gone = narrative(file_store, f"How to keep {secret}")
    file_store.search_narrative(SAVE)
    file_store.forget([gone.id])
    assert file_store.vacuum().deleted == 1
    assert file_store.undo_forget() == 0
    assert secret.encode() not in path.read_bytes()
    assert file_store.search_narrative(SAVE)[0].experience.id == kept.id
    assert file_store.check() == []


def test_undo_follows_the_order_of_changes_and_not_the_clock(store: MemoryStore, place: str) -> None:
    first, second = narrative(store), narrative(store, SUM)
    store.forget([first.id])
    store.forget([second.id])
    later = datetime.now(UTC) + timedelta(days=9)
    change_rows(place, update(experience).where(experience.c.uid == first.id).values(forgotten_at=later))
    assert store.undo_forget() == 1
    assert [record.id for record in store.list_experiences()] == [second.id]


def test_the_opposite_and_other_applications_are_not_returned(store: MemoryStore) -> None:
    narrative(store, "How to turn on line numbers in Mousepad")
    assert store.search_narrative("How to turn line numbers on in Mousepad")
    assert store.search_narrative("How to turn off line numbers in Mousepad") == []
    assert store.search_narrative("How to turn on line numbers in Kate") == []


def test_a_knowledge_base_of_the_reference_is_imported_once(store: MemoryStore, tmp_path: Path) -> None:
    folder = tmp_path / "kb"
    folder.mkdir()
    (folder / "narrative_memory.json").write_text(json.dumps({SAVE: "Used the menu."}))
    key = f"Task:\n{SAVE}\n\nSubtask: Open the dialog\nSubtask Instruction: by the File menu"
    (folder / "episodic_memory.json").write_text(json.dumps({key: "Click File."}))
    assert import_store(store, folder).added == 2
    assert import_store(store, folder).added == 0
    (episode,) = store.list_experiences("episodic")
    assert store.search_episodic(SAVE, "Open the dialog", "by the File menu")[0].experience == episode
    assert store.find_verified_episode(SAVE, "Open the dialog", "by the File menu") is None
    (folder / "narrative_memory.json").write_text('{"a": "b"')
    with pytest.raises(TransferError, match="not JSON"):
        import_store(store, folder)


def test_skills_are_exported_and_imported(store: MemoryStore, tmp_path: Path) -> None:
    from memory_store import export_store

    made = skill(store)
    export_store(store, tmp_path / "m.jsonl")
    with MemoryStore.open(tmp_path / "other.db", HashingEmbedder()) as other:
        assert import_store(other, tmp_path / "m.jsonl").added == 1
        assert other.get(made) == store.get(made)


def test_experience_names_its_author_and_that_of_two_is_not_merged(server: Server) -> None:
    url = server.new_database()
    server.run("CREATE ROLE anna LOGIN IN ROLE agent")
    server.run("ALTER ROLE anna SET role TO agent")
    with (
        MemoryStore.open(url, HashingEmbedder()) as own,
        MemoryStore.open(url.replace("agent@", "anna@"), HashingEmbedder(), trusted=()) as hers,
    ):
        mine, her = narrative(own, verified=True), narrative(hers, verified=True)
        late = narrative(own, verified=True)
        assert (mine.provenance.author, her.provenance.author) == ("agent", "anna")
        assert late.id == mine.id != her.id
        assert hers.trusts(her)
        assert not hers.trusts(mine)
        assert own.trusts(her)
        # The newest one, unless it is not trusted.
        found = hers.find_verified_narrative(mine.instruction)
        assert found is not None
        assert found.id == her.id


def test_the_author_in_a_file_is_the_login_name_and_an_import_keeps_authors(path: Path, tmp_path: Path) -> None:
    with MemoryStore.open(path, HashingEmbedder(), trusted=()) as store:
        made = narrative(store)
        assert made.provenance.author
        assert store.trusts(made)
        theirs = made.model_copy(
            update={"id": "n-0123456789abcdef", "provenance": made.provenance.model_copy(update={"author": "ben"})}
        )
        assert store.add_records([theirs]) == 1
        assert not store.trusts(store.get(theirs.id))


def test_uses_of_a_run_count_together_or_not_at_all(store: MemoryStore) -> None:
    used, made = narrative(store), skill(store)
    with pytest.raises(UnknownExperience):
        store.record_uses([used.id, made, "e-0"], worked=True)
    assert store.get(used.id).provenance.times_used == 0
    store.record_uses([used.id, made], worked=True, checked_by="file content", clean_start=True)
    assert store.get(used.id).provenance.times_worked == 1
    assert store.get(made).provenance.state == "active"
    store.record_uses([used.id], worked=False)
    store.record_uses([used.id], worked=False)
    assert store.get(used.id).provenance.state == "quarantined"
