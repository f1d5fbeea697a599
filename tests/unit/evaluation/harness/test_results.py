from __future__ import annotations

import json
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evaluation.errors import ResultsError
from evaluation.harness.results import RESULTS_FILE, Header, Job, Result, ResultsFile, read_results

JOB = Job(task="press", seed=3)
DONE = Result(task="press", seed=3, outcome="success", score=1.0, status="done")


def a_header(**changed: object) -> Header:
    values = {"benchmark": "miniwob", "model": "offline", "settings": {"replay": True}, "version": "1"}
    return Header.model_validate({**values, "started": datetime.now(UTC), **changed})


def test_continued_evaluation_knows_finished_episodes(tmp_path: Path) -> None:
    ResultsFile(tmp_path / "out", a_header()).add(DONE)

    again = ResultsFile(tmp_path / "out", a_header())

    assert again.results == {JOB: DONE}
    assert again.is_done(JOB)
    assert not again.is_done(Job(task="press", seed=4))
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700


def test_error_is_retried_and_replaced(tmp_path: Path) -> None:
    kept = ResultsFile(tmp_path, a_header())
    kept.add(DONE.model_copy(update={"outcome": "error", "status": "error"}))
    assert not kept.is_done(JOB)

    kept.add(DONE)

    assert read_results(tmp_path)[1] == {JOB: DONE}


def test_incomplete_last_line_is_run_again(tmp_path: Path) -> None:
    kept = ResultsFile(tmp_path, a_header())
    kept.add(DONE)
    other = DONE.model_copy(update={"seed": 4})
    with (tmp_path / RESULTS_FILE).open("a") as file:
        file.write(other.model_dump_json()[:40])

    again = ResultsFile(tmp_path, a_header())
    assert not again.is_done(other.job)
    again.add(other)

    assert set(read_results(tmp_path)[1]) == {JOB, other.job}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"model": "openai:x"}, r"another model \(offline, not openai:x\)"),
        ({"settings": {"replay": False}}, r"another settings \(replay\)"),
        ({"benchmark": "tasks"}, "another benchmark"),
    ],
)
def test_results_of_another_evaluation_are_not_mixed_in(tmp_path: Path, changed: dict[str, object], told: str) -> None:
    ResultsFile(tmp_path, a_header()).add(DONE)
    before = (tmp_path / RESULTS_FILE).read_bytes()

    with pytest.raises(ResultsError, match=told):
        ResultsFile(tmp_path, a_header(**changed))

    assert (tmp_path / RESULTS_FILE).read_bytes() == before


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("hello\n", "its header is missing"),
        (json.dumps({"format": "agent-s evaluation", "schema_version": 99}) + "\n", "format 99"),
    ],
)
def test_other_files_are_refused_and_left_as_they_are(tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / RESULTS_FILE).write_text(content)

    with pytest.raises(ResultsError, match=told):
        ResultsFile(tmp_path, a_header())

    assert (tmp_path / RESULTS_FILE).read_text() == content


def test_error_names_the_damaged_line(tmp_path: Path) -> None:
    kept = ResultsFile(tmp_path, a_header())
    with (tmp_path / RESULTS_FILE).open("a") as file:
        file.write('{"task": 1}\n')
    kept.add(DONE)

    with pytest.raises(ResultsError, match="line 2 is damaged"):
        read_results(tmp_path)


def test_error_names_the_folder_that_cannot_be_created(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ResultsError, match="cannot be kept in"):
        ResultsFile(tmp_path / "file", a_header())
