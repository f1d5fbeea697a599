"""A PostgreSQL server that is restarted, and connections that break in the middle of a change."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from benchmarks.support.postgres import Server, running_server
from benchmarks.support.team import fill_server, work_as_team
from memory_store import ConnectionLost, Experience, HashingEmbedder, MemoryStore
from memory_store.storage import postgres
from memory_store.storage.opening import locate
from memory_store.storage.postgres import PostgresDatabase
from tests.integration.memory_store.samples import SAVE, SAVE_LIKE, SUM, narrative


class Proxy:
    """A server's socket that breaks one connection at its next commit.

    Attributes:
        breaks: When to break: "before" the commit reaches the server, "after" it did; "" for not at all.
        broken: How many connections were broken.
    """

    def __init__(self, folder: Path, server: Path) -> None:
        self.breaks = ""
        self.broken = 0
        self._server = server
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX)
        with client, server:
            server.connect(str(self._server / ".s.PGSQL.5432"))
            threading.Thread(target=self._answer, args=(server, client), daemon=True).start()
            while data := self._received(client):
                when = self.breaks if b"COMMIT" in data else ""
                if when:
                    self.breaks = ""
                    self.broken += 1
                    client.shutdown(socket.SHUT_RDWR)  # the client gets no answer any more
                if when != "before":
                    server.sendall(data)
                if when:
                    return

    def _answer(self, server: socket.socket, client: socket.socket) -> None:
        try:
            while data := self._received(server):
                client.sendall(data)
        except OSError:
            pass  # the client has gone

    @staticmethod
    def _received(source: socket.socket) -> bytes:
        try:
            return source.recv(65536)
        except OSError:
            return b""


@pytest.fixture
def proxy(server: Server, tmp_path: Path) -> Iterator[Proxy]:
    made = Proxy(tmp_path, server.folder)
    yield made
    made.close()


@pytest.fixture
def through(server: Server, proxy: Proxy, tmp_path: Path) -> Iterator[MemoryStore]:
    url = server.new_database().replace(str(server.folder), str(tmp_path))
    with MemoryStore.open(url, HashingEmbedder()) as store:
        yield store


@contextmanager
def stopped(server: Server, crash: bool) -> Iterator[None]:
    server.stop(crash)
    try:
        yield
    finally:
        server.start()


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_change_whose_commit_was_cut_off_is_stored_exactly_once(
    through: MemoryStore, proxy: Proxy, when: str
) -> None:
    proxy.breaks = when
    made = narrative(through)
    assert proxy.broken == 1
    assert through.list_experiences() == [made]
    proxy.breaks = when
    through.record_uses([made.id], worked=True)
    assert proxy.broken == 2
    assert through.get(made.id).provenance.times_used == 1
    proxy.breaks = when
    assert through.forget(iter([made.id])) == 1
    assert through.list_experiences() == []
    assert through.check() == []


@pytest.mark.parametrize("crash", [False, True])
def test_methods_wait_for_a_server_that_is_restarted(crash: bool) -> None:
    with running_server() as own, MemoryStore.open(own.new_database(), HashingEmbedder()) as store:
        first = narrative(store)
        assert store.search_narrative(SAVE_LIKE)
        found: list[str] = []
        with stopped(own, crash):
            waiting = [
                threading.Thread(target=lambda: found.append(narrative(store, SUM).id)),
                threading.Thread(target=lambda: found.append(store.search_narrative(SAVE_LIKE)[0].experience.id)),
            ]
            for thread in waiting:
                thread.start()
        for thread in waiting:
            thread.join(60)
        assert len(found) == 2
        assert first.id in found
        assert len(store.list_experiences()) == 2
        store.search_narrative(SAVE)
        assert store.check() == []


def test_opening_reading_all_and_vacuum_wait_for_a_server_that_is_restarted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "OPENING_PATIENCE_S", 120.0)
    with running_server() as own:
        url = own.new_database()
        with MemoryStore.open(url, HashingEmbedder()) as store:
            made = narrative(store)
            forgotten = narrative(store, SUM)
            store.forget([forgotten.id])
        found: list[object] = []
        calls: list[Callable[[], object]] = [
            lambda: MemoryStore.open(url, HashingEmbedder()).close(),
            lambda: found.append(store.vacuum().deleted),
            lambda: found.append([one.id for one in read_all(store)]),
        ]
        for call in calls:
            with MemoryStore.open(url, HashingEmbedder()) as store:
                store.stats()
                with stopped(own, crash=False):
                    waiting = threading.Thread(target=call)
                    waiting.start()
                waiting.join(120)
                assert not waiting.is_alive()
        assert found == [1, [made.id]]


def read_all(store: MemoryStore) -> list[Experience]:
    with store.snapshot() as (_, experiences):
        return list(experiences)


def test_a_server_that_stays_away_is_waited_for_once() -> None:
    with running_server() as own:
        database = PostgresDatabase(locate(own.new_database()), 1.0, patience_s=0.3)  # type: ignore[arg-type]
        tries: list[int] = []

        def look() -> int:
            tries.append(1)
            with database.read() as connection:
                return int(connection.scalar(text("SELECT 7")) or 0)

        own.stop()
        with pytest.raises(ConnectionLost, match="server runs"):
            database.persist(look)
        assert len(tries) > 1
        tries.clear()
        with pytest.raises(ConnectionLost):
            database.persist(look)
        assert len(tries) == 1
        own.start()
        assert database.persist(look) == 7
        database.close()


@pytest.mark.slow
def test_a_team_loses_nothing_while_the_server_is_restarted(tmp_path: Path) -> None:
    with running_server("fsync=on") as own:
        url = own.new_database()
        fill_server(url, 200)
        done = work_as_team(own, url, tmp_path, members=2, seconds=8.0, restarts=1)
    assert (done.lost, done.doubled, done.stale) == (0, 0, 0)
    assert done.acknowledged
    assert done.asked
