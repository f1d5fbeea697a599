"""A store on a full disk, with a clock that jumps, with locks that fail, and with large texts."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memory_store import HashingEmbedder, InvalidExperience, MemoryStore, StoreFull, StoreUnavailable
from memory_store.storage.forgetting import Selection
from memory_store.storage.opening import open_database
from tests.integration.memory_store.samples import SAVE, SAVE_LIKE, episodic, narrative, source


class Clock(datetime):
    """A clock that can be set."""

    ahead = timedelta()

    @classmethod
    def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) + cls.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> type[Clock]:
    monkeypatch.setattr(Clock, "ahead", timedelta())
    for module in ("records.experience", "storage.forgetting", "storage.trust", "search.ranking"):
        monkeypatch.setattr(f"memory_store.{module}.datetime", Clock)
    return Clock


def test_experience_is_kept_found_and_restored_with_the_clock_set_back(path: Path, clock: type[Clock]) -> None:
    clock.ahead = timedelta(days=700)
    with MemoryStore.open(path, HashingEmbedder()) as store, MemoryStore.open(path, HashingEmbedder()) as other:
        first = narrative(store)
        store.record_uses([first.id], worked=True)
        other.search_narrative(SAVE)
        clock.ahead = timedelta(days=-700)
        second = narrative(store, SAVE_LIKE, created_at=clock.now(UTC))
        # Another process's index follows the order of writes, not the times.
        assert {hit.experience.id for hit in other.search_narrative(SAVE_LIKE)} == {first.id, second.id}
        assert all(0 < hit.score < 3 for hit in other.search_narrative(SAVE_LIKE))
        third = narrative(store, created_at=clock.now(UTC))
        # The same experience again, with an earlier time: counted, and nothing is lost.
        assert third.id == first.id
        assert store.get(first.id).provenance.times_seen == 2
        assert store.forget([first.id]) == 1
        clock.ahead = timedelta(days=-1400)
        assert store.forget([second.id]) == 1
        assert store.undo_forget() == 1
        assert [one.id for one in store.list_experiences()] == [second.id]
        assert store.undo_forget() == 1
        assert store.check() == []


@pytest.mark.parametrize(
    "look_up",
    [
        lambda store, odd: store.get(odd),
        lambda store, odd: store.list_experiences(app=odd),
        lambda store, odd: store.search_narrative(SAVE, app=odd),
        lambda store, odd: store.forget([odd]),
        lambda store, odd: store.forget(Selection(app=odd)),
        lambda store, odd: store.mark_verified(verified=True, by="check", run_id=odd),
        lambda store, odd: store.record_uses([odd], worked=True),
        lambda store, odd: store.write_summaries({odd: "Done."}),
    ],
)
def test_a_name_that_is_no_text_is_refused(path: Path, look_up: Callable[[MemoryStore, str], object]) -> None:
    with MemoryStore.open(path, HashingEmbedder()) as store:
        made = narrative(store)
        with pytest.raises(InvalidExperience, match="surrogate"):
            look_up(store, os.fsdecode(b"caf\xe9"))
        assert [one.id for one in store.list_experiences()] == [made.id]


class FailingConnection(sqlite3.Connection):
    """A connection whose write transactions fail at their start, once `error` is set."""

    error: sqlite3.OperationalError | None = None

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        if self.error is not None and sql == "BEGIN IMMEDIATE":
            raise self.error
        return super().execute(sql, *values)


class UnsharedConnection(sqlite3.Connection):
    """A connection to a file system without shared memory: the journal mode stays as it was."""

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        return super().execute(sql.replace("journal_mode = WAL", "journal_mode = DELETE"), *values)


def connect_with(factory: type[sqlite3.Connection], monkeypatch: pytest.MonkeyPatch) -> None:
    connect = partial(sqlite3.connect, factory=factory)
    monkeypatch.setattr(sqlite3, "connect", connect)
    monkeypatch.setattr(sqlite3.dbapi2, "connect", connect)


def test_a_file_system_without_shared_locks_is_reported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect_with(UnsharedConnection, monkeypatch)
    with pytest.raises(StoreUnavailable, match="local disk"):
        MemoryStore.open(path, HashingEmbedder())


@pytest.mark.parametrize(
    ("code", "words"), [(sqlite3.SQLITE_PROTOCOL, "not a network one"), (sqlite3.SQLITE_IOERR_LOCK, "local")]
)
def test_a_failing_lock_is_reported_and_nothing_is_lost(
    path: Path, code: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect_with(FailingConnection, monkeypatch)
    error = sqlite3.OperationalError("locking protocol")
    error.sqlite_errorcode = code
    with MemoryStore.open(path, HashingEmbedder()) as store:
        made = narrative(store)
        monkeypatch.setattr(FailingConnection, "error", error)
        with pytest.raises(StoreUnavailable, match=words):
            narrative(store, SAVE_LIKE)
        assert [one.id for one in store.list_experiences()] == [made.id]


def test_an_error_without_a_code_is_passed_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect_with(FailingConnection, monkeypatch)
    with MemoryStore.open(path, HashingEmbedder()) as store:
        monkeypatch.setattr(FailingConnection, "error", sqlite3.OperationalError("locking protocol"))
        with pytest.raises(sqlite3.OperationalError, match="locking"):
            narrative(store)


def test_a_network_file_system_without_locks_is_refused_by_sqlite_itself(tmp_path: Path) -> None:
    # The VFS `unix-none` has no locks, as a network file system may not have; the log needs shared memory and locks.
    raw = sqlite3.connect(f"{(tmp_path / 'memory.db').as_uri()}?vfs=unix-none", uri=True)
    try:
        (mode,) = raw.execute("PRAGMA journal_mode = WAL").fetchone()
    finally:
        raw.close()
    assert mode != "wal"


def fill_disk(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let files whose name contains `name` find the disk full."""
    real = os.open

    def full(path: Any, *values: Any, **options: Any) -> int:
        if name in Path(path).name:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, *values, **options)

    monkeypatch.setattr(os, "open", full)


def test_a_full_disk_while_opening_leaves_a_store_that_can_be_opened_later(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as limited:
        fill_disk(path.name, limited)
        with pytest.raises(StoreFull, match="free some space"):
            MemoryStore.open(path, HashingEmbedder())
    with MemoryStore.open(path, HashingEmbedder()) as store:
        assert store.list_experiences() == []


def test_a_full_disk_during_the_backup_leaves_the_older_store(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database, _ = open_database(path, 1.0, head="0001")
    database.close()
    before = path.read_bytes()
    with monkeypatch.context() as limited:
        fill_disk(".backup-", limited)
        with pytest.raises(StoreFull, match="free some space"):
            MemoryStore.open(path, HashingEmbedder())
    assert path.read_bytes() == before
    MemoryStore.open(path, HashingEmbedder()).close()


def test_texts_at_the_limit_are_kept_whole(path: Path) -> None:
    text = "é漢\U0001f600 'x' " * 20_000
    with MemoryStore.open(path, HashingEmbedder()) as store:
        made = store.add_narrative(query=text, instruction=text, summary=text, success=True, provenance=source())
        step = episodic(store, context=text)
        assert store.get(made.id) == made
        assert store.get(step.id) == step
        assert store.search_narrative(text)[0].reason == "the same words"
        assert store.check() == []
