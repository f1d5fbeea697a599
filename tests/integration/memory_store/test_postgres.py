"""The same store on a real PostgreSQL server, with pgvector and without."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text

from benchmarks.support.postgres import Server
from memory_store import (
    HashingEmbedder,
    MemoryStore,
    NotAStore,
    Selection,
    StoreBusy,
    StoreClosed,
    StoreNewer,
    StoreReadOnly,
    StoreUnavailable,
    export_store,
    import_store,
)
from memory_store.storage.opening import locate
from memory_store.storage.postgres import SCHEMA, open_postgres
from memory_store.storage.schema import metadata
from tests.integration.memory_store.samples import (
    SAVE,
    SAVE_LIKE,
    SUM,
    WEB_ANSWER,
    episodic,
    narrative,
    source,
)

WRITER = """
import sys
from memory_store import HashingEmbedder, MemoryStore
from tests.integration.memory_store.samples import narrative
with MemoryStore.open(sys.argv[1], HashingEmbedder(), busy_timeout_s=300) as store:
    for number in range(int(sys.argv[3])):
        print(narrative(store, f"How to do {sys.argv[2]} {number}").id, flush=True)
"""


@pytest.fixture(params=["pgvector", "local index"])
def url(server: Server, request: pytest.FixtureRequest) -> str:
    # An ordinary user may not install pgvector.
    return server.new_database("agent" if request.param == "pgvector" else "plain")


@pytest.fixture
def store(url: str) -> Iterator[MemoryStore]:
    with MemoryStore.open(url, HashingEmbedder()) as opened:
        yield opened


def run(url: str, statement: str) -> Any:
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    try:
        with engine.begin() as connection:
            found = connection.execute(text(statement))
            return found.all() if found.returns_rows else None
    finally:
        engine.dispose()


def writer(url: str, name: str, count: int) -> subprocess.Popen[str]:
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-c", WRITER, url, name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)


def test_a_server_with_pgvector_indexes_the_vectors_itself(
    store: MemoryStore, url: str, request: pytest.FixtureRequest
) -> None:
    narrative(store)
    assert store.search_narrative(SAVE_LIKE)
    indexes = run(url, "SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'vector_near_%'")
    assert len(indexes) == (0 if "[local index]" in request.node.name else 3)


def test_stored_experience_is_found_by_meaning_and_words_and_read_back(url: str) -> None:
    with MemoryStore.open(url, HashingEmbedder()) as store:
        made, step = narrative(store), episodic(store)
        skill = store.add_skill(name="save as", steps=[{"action": "hotkey"}], provenance=source(times_seen=2**40))
        for number in range(40):
            narrative(store, f"How to do the thing number {number} in Calc", app="calc")
    with MemoryStore.open(url, HashingEmbedder()) as store:
        assert [store.get(one.id) for one in (made, step, skill)] == [made, step, skill]
        (hit,) = store.search_narrative(SAVE_LIKE)
        assert hit.experience == made
        assert "similar meaning" in hit.reason
        assert "place 1 by words" in hit.reason
        assert store.search_narrative(SAVE)[0].reason == "the same words"
        assert store.search_episodic(SAVE, "Save it as draft.txt")[0].experience == step
        assert store.search_narrative("Install an add-on in Firefox") == []
        assert store.search_narrative(SAVE_LIKE, app="calc", min_similarity=0.6) == []
        assert store.check() == []
        stats = store.stats()
        assert (stats.narrative, stats.episodic, stats.skill) == (41, 1, 1)
        assert stats.bytes > 0


def test_forgetting_merging_and_trust_work_as_on_sqlite(store: MemoryStore) -> None:
    made = narrative(store)
    assert narrative(store).id == made.id
    assert store.get(made.id).provenance.times_seen == 2
    assert store.forget(Selection(text="save a TEXT")) == 1
    assert store.search_narrative(SAVE_LIKE) == []
    assert store.undo_forget() == 1
    assert store.search_narrative(SAVE_LIKE)[0].experience.id == made.id
    for _ in range(2):
        store.record_uses([made.id], worked=False)
    assert store.search_narrative(SAVE_LIKE) == []
    assert store.release(made.id)
    store.forget([made.id])
    assert store.vacuum().deleted == 1
    assert store.list_experiences() == []


def test_a_key_that_merging_changes_is_found_by_its_new_words(store: MemoryStore) -> None:
    made = narrative(store, "Save a text file under another name in Mousepad")
    assert narrative(store, "Save the text file under another name in Mousepad", instruction="Please: x").id != made.id
    other = narrative(
        store, "Please save a text file under another name in Mousepad", instruction=made.instruction, run_id="run-2"
    )
    assert other.id == made.id
    assert store.search_narrative(other.query)[0].reason == "the same words"


def test_two_embedders_share_one_store(url: str) -> None:
    with MemoryStore.open(url, HashingEmbedder()) as store:
        made = narrative(store)
        with MemoryStore.open(url, HashingEmbedder(64)) as other:
            late = narrative(store, SUM)
            assert [hit.experience.id for hit in other.search_narrative(SAVE_LIKE)] == [made.id]
            assert [hit.experience.id for hit in other.search_narrative(SUM + " quickly")] == [late.id]
    with MemoryStore.open(url, HashingEmbedder(64)) as other:
        assert other.stats().vectors == {"hashing-512": 2, "hashing-64": 2}


@pytest.mark.slow
def test_processes_share_one_store_and_a_killed_one_loses_nothing(url: str) -> None:
    acknowledged: set[str] = set()
    with MemoryStore.open(url, HashingEmbedder()) as reader:
        acknowledged.add(narrative(reader).id)
        victim, *others = [writer(url, name, count) for name, count in (("victim", 100_000), ("one", 30), ("two", 30))]
        try:
            assert victim.stdout is not None
            acknowledged |= {victim.stdout.readline().strip() for _ in range(10)}
            assert reader.search_narrative(SAVE_LIKE)
            for process in others:
                acknowledged |= set(process.communicate(timeout=500)[0].split())
            victim.kill()
            rest = victim.stdout.read()
            acknowledged |= {line.strip() for line in rest.splitlines(keepends=True) if line.endswith("\n")}
        finally:
            for process in (victim, *others):
                process.kill()
                process.wait()
        assert [process.returncode for process in others] == [0, 0]
        there = {record.id for record in reader.list_experiences()}
        assert acknowledged <= there
        assert len(there) >= 71
        # All writers' experience is in this process's index, in whatever order they committed.
        reader.search_narrative(SAVE_LIKE)
        assert reader.check() == []


def test_migrations_create_exactly_the_tables_of_the_schema(server: Server) -> None:
    url = server.new_database("plain")
    MemoryStore.open(url, HashingEmbedder()).close()
    database, _ = open_postgres(locate(url), 1.0)  # type: ignore[arg-type]
    with database.read() as connection:
        opts = {
            "compare_type": True,
            "compare_server_default": True,
            "include_name": lambda name, *_: name not in ("ix_experience_words", "alembic_version"),
        }
        assert compare_metadata(MigrationContext.configure(connection, opts=opts), metadata) == []
    database.close()


def test_an_older_store_is_copied_then_migrated(server: Server) -> None:
    url = server.new_database()
    database, _ = open_postgres(locate(url), 1.0, head="0001")  # type: ignore[arg-type]
    with database.write() as connection:
        connection.exec_driver_sql(
            "INSERT INTO experience (uid, kind, key_text, key_digest, run_id, task_id, app, platform, model, outcome,"
            " verified_by, embedder, created_at, version, times_used, times_worked) VALUES ('n-0123456789abcdef',"
            " 'narrative', 'How to x', 'd', 'r', '', '', '', '', '', '', 'e', now(), '', 2, 0)"
        )
        connection.exec_driver_sql("INSERT INTO narrative VALUES (1, 'How to x', 'x', 'd', 's', '[]', true)")
    database.close()
    with MemoryStore.open(url, HashingEmbedder()) as store:
        assert store.get("n-0123456789abcdef").provenance.quarantined
    ((name,),) = run(url, f"SELECT nspname FROM pg_namespace WHERE nspname LIKE '{SCHEMA}_backup_0001_%'")
    assert run(url, f'SELECT count(*) FROM "{name}".experience') == [(1,)]


def test_a_store_of_the_second_schema_is_upgraded_for_web_answers(server: Server) -> None:
    url = server.new_database()
    open_postgres(locate(url), 1.0, head="0002")[0].close()  # type: ignore[arg-type]
    with MemoryStore.open(url, HashingEmbedder()) as store:
        store.save_web_answer(WEB_ANSWER)
        later = WEB_ANSWER.model_copy(update={"asked_at": WEB_ANSWER.asked_at + timedelta(days=1)})
        store.save_web_answer(later)
        assert store.find_web_answer(WEB_ANSWER.engine, WEB_ANSWER.query) == later
        assert store.stats().web_answers == 1
        store.forget(Selection(text="漢字"))
        assert store.find_web_answer(WEB_ANSWER.engine, WEB_ANSWER.query) is None
        store.save_web_answer(WEB_ANSWER)
        assert store.vacuum(later.asked_at).web_answers == 1
    ((name,),) = run(url, f"SELECT nspname FROM pg_namespace WHERE nspname LIKE '{SCHEMA}_backup_0002_%'")
    assert run(url, f'SELECT count(*) FROM "{name}".experience') == [(0,)]


def test_aliases_of_older_skills_move_out_of_their_descriptions(server: Server) -> None:
    url = server.new_database()
    database, _ = open_postgres(locate(url), 1.0, head="0003")  # type: ignore[arg-type]
    with database.write() as connection:
        connection.exec_driver_sql(
            "INSERT INTO experience (uid, kind, key_text, key_digest, run_id, task_id, app, platform, model, outcome,"
            " verified_by, embedder, created_at, version, times_used, times_worked) VALUES ('s-0123456789abcdef',"
            " 'skill', 'wrap lines', 'd', 'r', '', 'Mousepad', '', '', '', '', 'e', now(), '', 0, 0)"
        )
        connection.exec_driver_sql(
            "INSERT INTO skill VALUES (1, 'wrap lines',"
            " 'Wrap lines, also called “break lines”, by View > Wrap in Mousepad.', '[]', '[{}]', '')"
        )
    database.close()
    with MemoryStore.open(url, HashingEmbedder()) as store:
        skill = store.find_skill("wrap lines", "Wrap lines, by View > Wrap in Mousepad.")
        assert skill is not None
        assert skill.aliases == ("break lines",)
        assert store.search_skills("break the lines")[0].experience == skill
        assert store.check() == []


def test_unusable_databases_are_refused_with_a_suggested_fix(server: Server) -> None:
    url = server.new_database("plain")
    with pytest.raises(StoreUnavailable, match="the database exists"):
        MemoryStore.open(url.replace("memory_", "nowhere_"), HashingEmbedder())
    with pytest.raises(StoreUnavailable, match="check that the server runs"):
        MemoryStore.open("postgresql://plain:secret@127.0.0.1:1/memory", HashingEmbedder())
    run(url, f"CREATE SCHEMA {SCHEMA}")
    run(url, f"CREATE TABLE {SCHEMA}.bookmark (url text)")
    with pytest.raises(NotAStore, match="another database"):
        MemoryStore.open(url, HashingEmbedder())
    newer = server.new_database("plain")
    MemoryStore.open(newer, HashingEmbedder()).close()
    run(newer, f"UPDATE {SCHEMA}.alembic_version SET version_num = '0999'")
    with pytest.raises(StoreNewer, match="update the program"):
        MemoryStore.open(newer, HashingEmbedder())
    with pytest.raises(StoreReadOnly, match="grant"):
        MemoryStore.open(server.new_database("agent").replace("agent@", "plain@"), HashingEmbedder())


def test_messages_and_statistics_contain_no_password(server: Server) -> None:
    with pytest.raises(StoreUnavailable) as error:
        MemoryStore.open("postgresql://plain:secret@127.0.0.1:1/memory", HashingEmbedder())
    assert "secret" not in str(error.value)
    url = server.new_database().replace("agent@", "agent:secret@")
    with MemoryStore.open(url, HashingEmbedder()) as store:
        assert "secret" not in store.stats().path


def test_a_locked_store_can_be_read_and_writers_get_store_busy(url: str) -> None:
    with MemoryStore.open(url, HashingEmbedder()) as first:
        narrative(first)
        with MemoryStore.open(url, HashingEmbedder(), busy_timeout_s=0.05) as second, first._database.write():
            assert second.search_narrative(SAVE_LIKE)
            with pytest.raises(StoreBusy, match="another process"):
                narrative(second)
        narrative(first, SUM)
    with pytest.raises(StoreClosed):
        first.stats()


def test_a_broken_connection_is_replaced(server: Server) -> None:
    with MemoryStore.open(server.new_database(), HashingEmbedder()) as store:
        made = narrative(store)
        server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'memory_%'")
        assert store.get(made.id) == made


def test_a_store_moves_between_file_and_server(store: MemoryStore, tmp_path: Path) -> None:
    with MemoryStore.open(tmp_path / "memory.db", HashingEmbedder()) as local:
        made = [narrative(local), episodic(local)]
        export_store(local, tmp_path / "export.jsonl")
    assert import_store(store, tmp_path / "export.jsonl").added == 2
    assert import_store(store, tmp_path / "export.jsonl").added == 0
    assert [store.get(one.id) for one in made] == made
