"""Several attempts at one task on real desktops, with scripted models that do it in different ways."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_s.llm.protocol import CitedFact, CompareContext, CompareResponse, ModelRequest
from agent_s.llm.scripted import ScriptedModel
from agent_s.runs.reading import TEXTS_FILE
from agent_s.settings import Settings
from agent_s.terminal.kept_files import FILES_FOLDER, kept_files
from benchmarks.support.scale_worker import TASK, command
from evaluation.attempts import choose_attempt
from evaluation.harness.pool import Pool
from evaluation.harness.results import Job, Result
from evaluation.worker import Assignment

pytestmark = [pytest.mark.desktop, pytest.mark.slow]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[int, Result]]:
    folder = tmp_path_factory.mktemp("attempts")
    (folder / "given").mkdir()
    (folder / "given" / "shopping.txt").write_text("milk")
    settings = Settings.model_validate({"runs_dir": folder / "runs", "memory": {"enabled": False}})
    assignment = Assignment(
        benchmark="attempts", settings=settings, folder=folder / "runs", task=TASK, files=folder / "given"
    )
    pool = Pool(assignment, 2, 300, command(0))
    results = {result.seed or 0: result for result in pool.run([Job(task=TASK.id, seed=seed) for seed in (1, 2, 3)])}
    return folder / "runs", results


def file_of(runs: Path, result: Result, name: str) -> str:
    return (runs / result.trajectory / FILES_FOLDER / name).read_text()


def cites_what_was_typed(request: ModelRequest) -> CompareResponse:
    assert isinstance(request.context, CompareContext)
    for number, attempt in request.context.attempts.items():
        for place, fact in enumerate(attempt.facts, start=1):
            if 'type "hello world"' in fact:
                cited = CitedFact(attempt=number, fact=place, quote='type "hello world"')
                return CompareResponse(best=number, citations=(cited,), reason="it typed the text")
    raise AssertionError("no attempt typed the text")


def test_attempts_begin_in_the_same_state_and_keep_to_their_own_desktop(made: tuple[Path, dict[int, Result]]) -> None:
    runs, results = made

    assert {number: result.status for number, result in results.items()} == dict.fromkeys((1, 2, 3), "done"), results
    for result in results.values():
        assert "shopping.txt" in (runs / result.trajectory / TEXTS_FILE).read_text(), "the dialog lists no such file"
    kept = {path.name for result in results.values() for path in kept_files(runs / result.trajectory)}
    assert kept == {"greeting.txt"}, "what an attempt left as it was given is copied, too"
    written = {number: file_of(runs, result, "greeting.txt") for number, result in results.items()}
    assert written == {1: "hello world", 2: "hello", 3: "hello wrold"}


def test_model_chooses_by_facts_that_the_recordings_hold(made: tuple[Path, dict[int, Result]]) -> None:
    runs, results = made
    folders = {number: runs / result.trajectory for number, result in results.items()}

    choice = choose_attempt(ScriptedModel({"compare": [cites_what_was_typed]}), TASK, folders)
    invented = CompareResponse(best=2, citations=(CitedFact(attempt=2, fact=1, quote="closed every window"),))
    ruled = choose_attempt(ScriptedModel({"compare": [invented]}), TASK, folders)

    assert choice is not None
    assert (choice.number, choice.by) == (1, "model")
    assert ruled is not None
    assert ruled.by == "rule"


def test_lost_recording_leaves_the_choice_among_the_others(made: tuple[Path, dict[int, Result]]) -> None:
    runs, results = made

    choice = choose_attempt(ScriptedModel({}), TASK, {1: runs / "gone", 3: runs / results[3].trajectory})

    assert choice is not None
    assert choice.number == 3
    assert choose_attempt(ScriptedModel({}), TASK, {1: runs / "gone"}) is None
