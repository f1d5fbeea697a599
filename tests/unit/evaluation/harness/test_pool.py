"""Pools of workers that answer, die, fall silent or write nonsense, depending on the name of the job."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aci.processes import start_ticks
from agent_s.settings import Settings
from evaluation.errors import WorkerLost
from evaluation.harness.pool import Pool, Worker
from evaluation.harness.results import Job, Result
from evaluation.worker import Assignment

PROGRAM = """
import json, os, sys, time
assert json.loads(sys.stdin.readline())["benchmark"] == "miniwob"
print(os.getpid(), file=open(sys.argv[1], "a"), flush=True)
for line in sys.stdin:
    job = json.loads(line)
    if job["task"] == "die":
        print("my last words", file=sys.stderr, flush=True)
        os.kill(os.getpid(), 9)
    if job["task"] == "sleep":
        time.sleep(60)
    if job["task"] == "babble":
        print("hello", flush=True)
    print(json.dumps({**job, "outcome": "success", "status": "done", "run_id": str(os.getpid())}), flush=True)
"""


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    return Assignment(benchmark="miniwob", settings=Settings(), folder=tmp_path)


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    return [sys.executable, "-c", PROGRAM, str(tmp_path / "pids")]


@pytest.fixture
def worker(assignment: Assignment, command: list[str]) -> Iterator[Worker]:
    worker = Worker(assignment.model_dump_json(), command)
    yield worker
    worker.end()


def all_pids(folder: Path) -> list[int]:
    return [int(line) for line in (folder / "pids").read_text().split()]


def run_all(pool: Pool, *tasks: str) -> dict[str, Result]:
    jobs = [Job(task=task, seed=number) for number, task in enumerate(tasks)]
    return {f"{result.task}{result.seed}": result for result in pool.run(jobs)}


def test_every_job_has_a_result_and_no_process_stays(
    assignment: Assignment, command: list[str], tmp_path: Path
) -> None:
    results = run_all(Pool(assignment, 2, 60, command), *"abcdef")

    assert sorted(results) == ["a0", "b1", "c2", "d3", "e4", "f5"]
    assert all(result.outcome == "success" for result in results.values())
    assert [start_ticks(pid) for pid in all_pids(tmp_path)] == [None] * len(all_pids(tmp_path))


def test_dead_worker_loses_only_its_own_job(assignment: Assignment, command: list[str]) -> None:
    results = run_all(Pool(assignment, 2, 60, command), "a", "die", "b", "c", "d")

    lost = results.pop("die1")
    assert (lost.outcome, lost.failure) == ("error", "environment")
    assert "status -9" in lost.reason
    assert "my last words" in lost.reason
    assert [result.outcome for result in results.values()] == ["success"] * 4


def test_silent_worker_is_replaced(worker: Worker, tmp_path: Path) -> None:
    first = worker.run(Job(task="a"), 60)
    with pytest.raises(WorkerLost, match=r"did not answer within 0\.2 s"):
        worker.run(Job(task="sleep"), 0.2)

    assert start_ticks(int(first.run_id)) is None
    assert worker.run(Job(task="b"), 60).run_id != first.run_id


def test_invalid_answer_is_an_error(worker: Worker) -> None:
    with pytest.raises(WorkerLost, match="answered 'hello"):
        worker.run(Job(task="babble"), 60)


def test_program_that_ends_at_once_is_an_error(assignment: Assignment) -> None:
    worker = Worker(assignment.model_dump_json(), [sys.executable, "-c", "raise SystemExit('no such module')"])

    with pytest.raises(WorkerLost, match=r"ended with status 1.*no such module"):
        worker.run(Job(task="a"), 60)


def test_closing_the_results_ends_the_workers(assignment: Assignment, command: list[str], tmp_path: Path) -> None:
    results = Pool(assignment, 2, 60, command).run([Job(task="a"), Job(task="b"), Job(task="sleep")])
    next(results)
    results.close()  # type: ignore[attr-defined]

    assert all(start_ticks(pid) is None for pid in all_pids(tmp_path))


@pytest.mark.parametrize("delay_s", [0.0, 0.01, 0.2], ids=["starting", "asking", "waiting"])
def test_ended_worker_loses_its_job_and_leaves_no_process(
    assignment: Assignment, command: list[str], tmp_path: Path, delay_s: float
) -> None:
    worker = Worker(assignment.model_dump_json(), command)
    (tmp_path / "pids").touch()
    with ThreadPoolExecutor() as threads:
        lost = threads.submit(worker.run, Job(task="sleep"), 10)
        time.sleep(delay_s)
        worker.end()
        assert isinstance(lost.exception(), WorkerLost)
    assert [start_ticks(pid) for pid in all_pids(tmp_path)] == [None] * len(all_pids(tmp_path))


def test_no_job_starts_after_the_caller_stops_the_pool(
    assignment: Assignment, command: list[str], tmp_path: Path
) -> None:
    pool = Pool(assignment, 1, 60, command)
    results = []
    for result in pool.run([Job(task=task) for task in "abc"]):
        results.append(result.task)
        pool.stop()

    assert results == ["a"]
    assert len(all_pids(tmp_path)) == 1
