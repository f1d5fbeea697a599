"""The scope of an exploration in its folder."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_s.settings import Settings
from evaluation.errors import ResultsError
from evaluation.harness.results import Header, Result, ResultsFile
from exploration.errors import ExplorationError
from exploration.job.scope import (
    SCOPE_FILE,
    Scope,
    is_exhausted,
    read_scope,
    refuse_other_files,
    search_labels,
    search_limits,
    write_scope,
)

SCOPE = Scope(applications=(), tasks=3, search_s=None, depth=5, settings=Settings())


def test_scope_is_written_atomically(tmp_path: Path) -> None:
    write_scope(tmp_path / "new", SCOPE)
    write_scope(tmp_path / "new", SCOPE.model_copy(update={"tasks": 4}))
    (tmp_path / "new" / "results.jsonl").touch()  # killed before the first line
    assert read_scope(tmp_path / "new") == SCOPE.model_copy(update={"tasks": 4})
    assert [path.name for path in (tmp_path / "new").glob("scope*")] == [SCOPE_FILE]


def test_scope_without_practice_tasks_is_read(tmp_path: Path) -> None:
    earlier = SCOPE.model_dump(mode="json", exclude={"independent", "aware"})
    (tmp_path / SCOPE_FILE).write_text(json.dumps(earlier))
    scope = read_scope(tmp_path)
    assert scope is not None
    assert (scope.tasks, scope.independent, scope.aware) == (3, 0, 0)


def test_a_folder_of_another_job_is_refused(tmp_path: Path) -> None:
    started = datetime.now(UTC)
    ResultsFile(tmp_path, Header(benchmark="miniwob", model="offline", settings={}, version="1", started=started))
    with pytest.raises(ResultsError, match="belongs to miniwob, not to an exploration"):
        read_scope(tmp_path)


def test_damaged_scope_is_reported_with_a_fix(tmp_path: Path) -> None:
    (tmp_path / SCOPE_FILE).write_text('{"tasks": 3}')
    with pytest.raises(ExplorationError, match=r"is damaged: .*Remove it and name the applications again"):
        read_scope(tmp_path)


def test_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    refuse_other_files(tmp_path)
    refuse_other_files(tmp_path / "missing")
    (tmp_path / "letter.txt").touch()
    with pytest.raises(ExplorationError, match=r"other files \(letter\.txt \.\.\.\)"):
        refuse_other_files(tmp_path)
    with pytest.raises(ExplorationError, match="Not a directory"):
        refuse_other_files(tmp_path / "letter.txt")


@pytest.mark.parametrize(
    ("complete", "seconds", "depth", "exhausted"),
    [(True, 900.0, 5, True), (True, 300.0, 6, False), (False, 300.0, 5, True), (False, 301.0, 5, False)],
)
def test_search_resumes_with_larger_bounds(complete: bool, seconds: float, depth: int, exhausted: bool) -> None:
    done = Result(task="search notes", outcome="success", status="done", labels=search_labels(300.0, 5, complete))
    assert is_exhausted(done, seconds, depth) is exhausted


def test_the_time_of_a_search_includes_that_for_composite_tasks() -> None:
    limits = search_limits(600, depth=4)
    assert limits.max_depth == 4
    assert limits.seconds < limits.seconds + limits.more_seconds < 600
