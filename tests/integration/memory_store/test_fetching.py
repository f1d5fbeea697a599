"""What the driver is asked directly is what SQLAlchemy would have returned."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_store import HashingEmbedder, MemoryStore
from memory_store.records.experience import KINDS
from memory_store.storage.fetching import fetch
from memory_store.storage.statements import STATE, VECTORS, statements
from tests.integration.memory_store.samples import SAVE, SUM, episodic, narrative


@pytest.mark.parametrize("filtered", [False, True])
def test_rows_are_those_of_sqlalchemy(path: Path, filtered: bool) -> None:
    with MemoryStore.open(path, HashingEmbedder()) as store:
        made = [narrative(store, SAVE), narrative(store, SUM), episodic(store)]
        store.mark_verified(verified=True, by="a test", ids=[made[0].id])
        store.record_use(made[0].id, worked=True)
        scope = {"app": "mousepad", "platform": "linux/x11"} if filtered else {}
        values = {"states": ["active", "candidate"], **scope}
        with store._database.read() as connection:
            wanted = [(STATE, {}), (VECTORS, {"pks": [3, 1], "embedder": "hashing-512"})]
            for kind in KINDS:
                of_kind = statements(kind, filtered, filtered)
                wanted += [(of_kind.light, {"pks": [1, 2, 3], **values}), (of_kind.heavy, {"pks": [1, 3], **values})]
                wanted += [(of_kind.same, {"digest": made[0].key.digest, **values}), (of_kind.whole, {"pks": [1, 2]})]
            for statement, given in wanted:
                expected = connection.execute(statement, given).mappings().all()
                assert [row._asdict() for row in fetch(connection, statement, given)] == [dict(row) for row in expected]
            assert len(fetch(connection, statements("narrative", False, False).whole, {"pks": [1, 2]})) == 2
