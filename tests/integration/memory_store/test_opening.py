from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, event
from sqlalchemy.pool import Pool

from memory_store import (
    Experience,
    HashingEmbedder,
    MemoryStore,
    NotAStore,
    StoreBusy,
    StoreCorrupt,
    StoreFull,
    StoreNewer,
    StoreReadOnly,
    StoreUnavailable,
)
from memory_store.keys import make_key
from memory_store.migrations import HEAD, SCRIPTS
from memory_store.storage.opening import locate, open_database
from memory_store.storage.schema import APPLICATION_ID, metadata
from tests.integration.memory_store.samples import SAVE, WEB_ANSWER, episodic, narrative


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def filled(path: Path) -> Path:
    with MemoryStore.open(path, HashingEmbedder()) as store:
        for number in range(40):
            narrative(store, f"{SAVE} {number}")
    return path


# --- where it lives ---


def test_only_the_owner_can_read_the_file(path: Path) -> None:
    with MemoryStore.open(path, HashingEmbedder()) as store:
        narrative(store)
        files = list(path.parent.iterdir())
        assert {file.name for file in files} == {"memory.db", "memory.db-wal", "memory.db-shm"}
        assert {mode(file) for file in files} == {0o600}
    assert mode(path.parent) == 0o700
    path.chmod(0o644)
    MemoryStore.open(path, HashingEmbedder()).close()
    assert mode(path) == 0o600


def test_a_url_and_odd_names_lead_to_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "a folder" / "50% ?x#y ü.db"
    with MemoryStore.open(path, HashingEmbedder()) as store:
        made = narrative(store)
    quoted = str(path).replace("%", "%25").replace("?", "%3F").replace("#", "%23")
    with MemoryStore.open(f"sqlite:///{quoted}", HashingEmbedder()) as store:
        assert store.get(made.id) == made


@pytest.mark.parametrize("place", ["mysql://host/db", "sqlite://", "sqlite:///", ":memory:", "", "a\0b"])
def test_places_that_are_not_files_are_refused(place: str) -> None:
    with pytest.raises(StoreUnavailable):
        MemoryStore.open(place, HashingEmbedder())


@pytest.mark.parametrize("password", ["se@cret", "cret/se@", "se@cr@et"])
def test_a_password_that_the_url_does_not_quote_is_refused_and_not_shown(password: str) -> None:
    with pytest.raises(StoreUnavailable, match="%40") as error:
        locate(f"postgresql://anna:{password}@db.example.org/agent")
    assert "cret" not in str(error.value)


@pytest.mark.parametrize(
    ("number", "kind"), [(errno.ENOSPC, StoreFull), (errno.EROFS, StoreReadOnly), (errno.EIO, StoreUnavailable)]
)
def test_errors_of_the_operating_system_become_store_errors(path: Path, number: int, kind: type[Exception]) -> None:
    class Failing(type(path)):  # type: ignore[misc]
        def exists(self, **_: bool) -> bool:
            raise OSError(number, os.strerror(number))

    with pytest.raises(kind, match="the memory store"):
        open_database(Failing(path), 1.0)


def test_a_folder_or_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path, tmp_path / "file" / "memory.db"):
        with pytest.raises(StoreUnavailable):
            MemoryStore.open(place, HashingEmbedder())


READ_ONLY = """
import os, sys
from memory_store import HashingEmbedder, MemoryStore, StoreReadOnly
if os.geteuid() == 0:
    os.setuid(65534)  # Root may write everywhere.
for place in sys.argv[1:]:
    try:
        MemoryStore.open(place, HashingEmbedder()).close()
    except StoreReadOnly as error:
        print("refused", "rights" in str(error) or "choose" in str(error))
"""


def test_a_place_that_may_not_be_written_is_refused() -> None:
    # Not under pytest's own folder, which is closed to the user that the child becomes when we are root.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        path = folder / "memory.db"
        with MemoryStore.open(path, HashingEmbedder()) as store:
            narrative(store)
        before = path.read_bytes()
        path.chmod(0o444)
        folder.chmod(0o555)
        command = [sys.executable, "-c", READ_ONLY, str(path), str(folder / "new.db"), str(folder / "sub" / "new.db")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stdout.splitlines() == ["refused True"] * 3, done.stderr
        assert path.read_bytes() == before
        folder.chmod(0o755)


# --- files that are no sound store of ours ---


def garbage(path: Path) -> None:
    path.write_bytes(b'{"not": "a database"}' * 100)


def cut_short(path: Path) -> None:
    with path.open("rb+") as file:
        file.truncate(path.stat().st_size // 2)


def damaged_pages(path: Path) -> None:
    with path.open("rb+") as file:
        file.seek(4096 * 3)
        file.write(b"\xa5" * 4096 * 6)


def damaged_header(path: Path) -> None:
    with path.open("rb+") as file:
        file.seek(100)
        file.write(b"\xff" * 400)


def lost_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("DELETE FROM alembic_version")
        raw.commit()


def emptied_beside_its_log(path: Path) -> None:
    path.with_name("memory.db-wal").write_bytes(b"\x37\x7f\x06\x82" + bytes(5000))
    path.write_bytes(b"")


@pytest.mark.parametrize(
    "damage", [garbage, cut_short, damaged_pages, damaged_header, lost_version, emptied_beside_its_log]
)
def test_a_damaged_file_is_refused_and_left_as_it_is(filled: Path, damage: Callable[[Path], None]) -> None:
    damage(filled)
    before = {file: file.read_bytes() for file in filled.parent.iterdir()}
    with pytest.raises(StoreCorrupt, match="restore"):
        MemoryStore.open(filled, HashingEmbedder())
    assert {file: file.read_bytes() for file in before} == before


@pytest.mark.parametrize("alembic", [False, True])
def test_a_database_of_another_program_is_refused_and_left_as_it_is(tmp_path: Path, alembic: bool) -> None:
    path = tmp_path / "places.sqlite"
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE bookmark (url TEXT)")
        if alembic:
            raw.execute("CREATE TABLE alembic_version (version_num TEXT)")
            raw.execute(f"INSERT INTO alembic_version VALUES ('{HEAD}')")
        raw.commit()
    before = path.read_bytes()
    with pytest.raises(NotAStore, match="another"):
        MemoryStore.open(path, HashingEmbedder())
    assert path.read_bytes() == before


@pytest.mark.parametrize("revision", ["0999", "a1b2c3"])
def test_a_newer_store_is_refused_and_left_as_it_is(filled: Path, revision: str) -> None:
    with closing(sqlite3.connect(filled)) as raw:
        raw.execute("UPDATE alembic_version SET version_num = ?", (revision,))
        raw.commit()
    before = filled.read_bytes()
    with pytest.raises(StoreNewer, match="update the program"):
        MemoryStore.open(filled, HashingEmbedder())
    assert filled.read_bytes() == before


def test_damage_that_appears_while_open_is_reported(filled: Path) -> None:
    with MemoryStore.open(filled, HashingEmbedder()) as store:
        damaged_pages(filled)
        with pytest.raises(StoreCorrupt):
            for _ in store.list_experiences():
                store.search_narrative(SAVE)


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.touch()
    with MemoryStore.open(path, HashingEmbedder()) as store:
        assert store.list_experiences() == []


# --- locks and a full disk ---


@contextmanager
def write_lock(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("BEGIN IMMEDIATE")
        yield
        raw.execute("ROLLBACK")


def test_a_locked_store_can_be_read_and_writers_get_store_busy(filled: Path) -> None:
    with write_lock(filled), MemoryStore.open(filled, HashingEmbedder(), busy_timeout_s=0.05) as store:
        assert store.search_narrative(SAVE)
        with pytest.raises(StoreBusy, match="another process"):
            narrative(store)
        assert store.stats().narrative == 40
    with MemoryStore.open(filled, HashingEmbedder()) as store:
        narrative(store)


def test_an_exclusively_locked_store_raises_store_busy(filled: Path) -> None:
    with closing(sqlite3.connect(filled, isolation_level=None)) as raw:
        raw.execute("PRAGMA locking_mode = EXCLUSIVE")
        raw.execute("BEGIN EXCLUSIVE")
        raw.execute("UPDATE store_state SET removed = removed")
        raw.execute("COMMIT")
        with pytest.raises(StoreBusy):
            MemoryStore.open(filled, HashingEmbedder(), busy_timeout_s=0.05)


@contextmanager
def on_each_transaction(call: Callable[[sqlite3.Connection], object]) -> Iterator[None]:
    """Call a function with the connection of each transaction before it begins."""

    def called(connection: sqlite3.Connection, *_: object) -> None:
        call(connection)

    event.listen(Pool, "checkout", called)
    try:
        yield
    finally:
        event.remove(Pool, "checkout", called)


def test_a_full_disk_loses_nothing(file_store: MemoryStore, path: Path) -> None:
    made: list[Experience] = []
    with on_each_transaction(lambda connection: connection.execute("PRAGMA max_page_count = 60")):
        with pytest.raises(StoreFull, match="free some space"):
            for number in range(1000):
                made.append(narrative(file_store, f"{SAVE} {number}"))
                made.append(episodic(file_store, f"Save number {number}"))
        assert 4 < len(made) < 1000
        assert {record.id for record in file_store.list_experiences()} == {record.id for record in made}
        assert file_store.search_narrative(f"{SAVE} 0")
    with on_each_transaction(lambda connection: connection.execute("PRAGMA max_page_count = 100000")):
        made.append(narrative(file_store, "there is room again"))
    file_store.close()
    with MemoryStore.open(path, HashingEmbedder()) as again:
        assert {record.id for record in again.list_experiences()} == {record.id for record in made}


def test_a_failed_creation_leaves_a_file_that_can_be_opened_later(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA journal_mode = WAL")
    before = path.read_bytes()
    broken = SCRIPTS.parent / "no such folder"
    with pytest.raises(Exception, match="no such folder"):
        open_database(path, 1.0, scripts=broken)
    assert path.read_bytes() == before
    MemoryStore.open(path, HashingEmbedder()).close()


# --- migrations ---


def test_the_head_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


def test_migrations_create_exactly_the_tables_of_the_schema(file_store: MemoryStore, path: Path) -> None:
    with create_engine(f"sqlite:///{path}").connect() as connection:
        # The tables of the full-text index are SQLite's own.
        opts = {
            "compare_type": True,
            "compare_server_default": True,
            "include_name": lambda name, *_: not str(name).startswith("experience_fts"),
        }
        context = MigrationContext.configure(connection, opts=opts)
        assert compare_metadata(context, metadata) == []
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        (sql,) = raw.execute("SELECT sql FROM sqlite_master WHERE name = 'experience'").fetchone()
        assert "AUTOINCREMENT" in sql
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_durability_settings_hold_on_every_connection(file_store: MemoryStore) -> None:
    found: list[tuple[object, ...]] = []

    def read(connection: sqlite3.Connection) -> None:
        found.extend(connection.execute(f"PRAGMA {name}").fetchone() for name in ("synchronous", "foreign_keys"))

    with on_each_transaction(read), ThreadPoolExecutor(max_workers=2) as threads:
        made = list(threads.map(lambda number: narrative(file_store, f"{SAVE} {number}"), range(4)))
        assert len(file_store.list_experiences()) == len(made)
    assert len(found) >= 2 * (len(made) + 1)
    assert found == [(2,), (1,)] * (len(found) // 2)


@pytest.fixture
def newer_scripts(tmp_path: Path) -> Path:
    folder = tmp_path / "migrations"
    shutil.copytree(SCRIPTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "0007_note.py").write_text(
        "import sqlalchemy as sa\nfrom alembic import op\n"
        "revision = '0007'\ndown_revision = '0006'\nbranch_labels = depends_on = None\n"
        "def upgrade():\n"
        "    op.add_column('experience', sa.Column('note', sa.Text(), server_default='none'))\n"
    )
    return folder


def revision(path: Path) -> str:
    with closing(sqlite3.connect(path)) as raw:
        return str(raw.execute("SELECT version_num FROM alembic_version").fetchone()[0])


def backups(path: Path) -> list[Path]:
    return [file for file in path.parent.iterdir() if "backup" in file.name]


def test_an_older_store_is_copied_then_migrated(filled: Path, newer_scripts: Path) -> None:
    database, version = open_database(filled, 1.0, scripts=newer_scripts, head="0007")
    with database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM experience WHERE note = 'none'").scalar() == 40
    database.close()
    assert version == revision(filled) == "0007"
    (copy,) = backups(filled)
    assert ".backup-0006-" in copy.name
    assert mode(copy) == 0o600
    with MemoryStore.open(copy, HashingEmbedder()) as store:
        assert store.stats().narrative == 40
    with pytest.raises(StoreNewer):
        MemoryStore.open(filled, HashingEmbedder())


def test_a_migration_that_fails_changes_nothing(filled: Path, newer_scripts: Path) -> None:
    script = newer_scripts / "versions" / "0007_note.py"
    script.write_text(script.read_text() + "    raise RuntimeError('half way')\n")
    with pytest.raises(RuntimeError, match="half way"):
        open_database(filled, 1.0, scripts=newer_scripts, head="0007")
    assert revision(filled) == "0006"
    with MemoryStore.open(filled, HashingEmbedder()) as store:
        assert store.stats().narrative == 40
    with closing(sqlite3.connect(filled)) as raw:
        assert "note" not in {row[1] for row in raw.execute("PRAGMA table_info(experience)")}


def test_an_older_store_in_use_is_not_migrated(filled: Path, newer_scripts: Path) -> None:
    with write_lock(filled), pytest.raises(StoreBusy):
        open_database(filled, 0.05, scripts=newer_scripts, head="0007")
    assert revision(filled) == "0006"
    assert backups(filled) == []


# --- the first schema, as it was released ---

FIRST = """
INSERT INTO experience (pk, uid, kind, key_text, key_digest, run_id, task_id, app, platform, model, outcome, verified,
    verified_by, embedder, created_at, version, times_used, times_worked) VALUES
  (3, 'n-00000000000000aa', 'narrative', 'How to save a text file', :digest, 'run-1', 't', 'mousepad', 'linux/x11', 'm',
    'done', 1, 'judge', 'hashing-512', '2026-01-02 03:04:05.000006', '0.1', 4, 3),
  (4, 'e-00000000000000bb', 'episodic', 'How to save a text file
Press ctrl+s', 'x', 'run-1', 't', 'mousepad',
    'linux/x11', 'm', 'done', NULL, '', 'hashing-512', '2026-01-02 03:04:06.000000', '0.1', 2, 0);
INSERT INTO narrative VALUES
  (3, 'How to save a text file', 'Save it', 'y', 'Saved it.', '[{"name": "Save", "info": ""}]', 1);
INSERT INTO episodic VALUES (4, 'How to save a text file', 'Press ctrl+s', '', 'Pressed it.', '[{"action": "hotkey"}]');
"""


def test_a_store_of_the_first_schema_is_upgraded_without_loss(path: Path) -> None:
    path.parent.mkdir()
    database, _ = open_database(path, 1.0, head="0001")
    database.close()
    with closing(sqlite3.connect(path)) as raw:
        raw.executescript(FIRST.replace(":digest", f"'{make_key('How to save a text file').digest}'"))
        raw.commit()
    with MemoryStore.open(path, HashingEmbedder()) as store:
        story = store.get("n-00000000000000aa")
        steps = store.get("e-00000000000000bb")
        assert (story.provenance.times_used, story.provenance.verified, story.provenance.state) == (4, True, "active")
        assert story.provenance.created_at.isoformat() == "2026-01-02T03:04:05.000006+00:00"
        assert (steps.provenance.state, steps.provenance.times_seen) == ("quarantined", 1)
        assert [hit.experience.id for hit in store.search_narrative("save the text file")] == [story.id]
    with closing(sqlite3.connect(path)) as raw:
        found = raw.execute("SELECT rowid FROM experience_fts WHERE experience_fts MATCH 'saved' ORDER BY rowid")
        assert found.fetchall() == [(3,), (4,)]
    (copy,) = backups(path)
    assert ".backup-0001-" in copy.name
    assert revision(copy) == "0001"
    with closing(sqlite3.connect(copy)) as raw:
        assert raw.execute("SELECT count(*) FROM experience").fetchone() == (2,)


# --- the second schema, as it was released ---


def test_a_store_of_the_second_schema_is_upgraded_without_loss(path: Path) -> None:
    path.parent.mkdir()
    database, _ = open_database(path, 1.0, head="0002")
    database.close()
    with closing(sqlite3.connect(path)) as raw:
        raw.executescript(FIRST.replace(":digest", f"'{make_key('How to save a text file').digest}'"))
        raw.commit()
    with MemoryStore.open(path, HashingEmbedder()) as store:
        assert store.get("n-00000000000000aa").provenance.times_used == 4
        assert store.stats().episodic == 1
        store.save_web_answer(WEB_ANSWER)
    with MemoryStore.open(path, HashingEmbedder()) as store:
        assert store.find_web_answer(WEB_ANSWER.engine, WEB_ANSWER.query) == WEB_ANSWER
    (copy,) = backups(path)
    assert ".backup-0002-" in copy.name
