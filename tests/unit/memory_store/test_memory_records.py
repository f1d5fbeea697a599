from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

import memory_store
from memory_store import EpisodicExperience, NarrativeExperience, Provenance

ID = "0123456789abcdef"


def test_times_are_kept_in_utc() -> None:
    east = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    kept = Provenance(run_id="r", created_at=east).created_at
    assert kept == east
    assert kept.tzinfo is UTC


@pytest.mark.parametrize(
    "fields",
    [
        {"created_at": datetime(2026, 1, 1)},  # noqa: DTZ001 - the zone is what is missing
        {"times_used": 1, "times_worked": 2},
        {"times_used": -1},
        {"app": "a\0"},
        {"unknown": 1},
    ],
)
def test_unsound_provenance_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Provenance.model_validate({"run_id": "r", **fields})


@pytest.mark.parametrize(("used", "worked", "expected"), [(0, 0, False), (5, 4, False), (2, 0, True), (9, 7, True)])
def test_two_failed_uses_mean_quarantine(used: int, worked: int, expected: bool) -> None:
    assert Provenance(run_id="r", times_used=used, times_worked=worked).quarantined is expected


def test_records_are_frozen_and_keep_their_kind_of_id() -> None:
    source = Provenance(run_id="r")
    record = NarrativeExperience(id=f"n-{ID}", query="q", instruction="i", summary="s", success=True, provenance=source)
    with pytest.raises(ValidationError):
        record.summary = "other"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        EpisodicExperience(id=f"n-{ID}", task_query="q", subtask="s", summary="s", provenance=source)


def test_every_public_name_can_be_loaded() -> None:
    for name in memory_store.__all__:
        assert getattr(memory_store, name).__name__ == name
    with pytest.raises(AttributeError):
        memory_store.no_such_name  # noqa: B018


@pytest.mark.parametrize("module", ["memory_store", "memory_store.embedding.embedders", "memory_store.errors"])
def test_importing_loads_no_heavy_library(module: str) -> None:
    code = (
        f"import sys, {module};"
        "print(sorted({'numpy', 'faiss', 'sqlalchemy', 'alembic', 'tokenizers', 'safetensors'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_the_store_loads_neither_index_nor_model_nor_orm() -> None:
    code = (
        "import sys, memory_store.store, memory_store.transfer;"
        "print(sorted({'faiss', 'alembic', 'tokenizers', 'safetensors', 'torch', 'sqlalchemy.orm'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
