"""Workers on a Ray cluster of two machines: machines and actors that die lose no job, and none is counted twice."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aci.processes import start_ticks
from agent_s.settings import Settings
from evaluation.errors import EvaluationError
from evaluation.harness.pools import open_pool
from evaluation.harness.results import Job
from evaluation.worker import Assignment

pytest.importorskip("ray")

pytestmark = pytest.mark.slow

LIMIT_S = 240.0
WITHOUT_MEMORY = Settings.model_validate({"memory": {"enabled": False}})
PROGRAM = """
import json, os, signal, sys, time
sys.stdin.readline()
folder, parent = sys.argv[1], os.getppid()
for line in sys.stdin:
    job = json.loads(line)
    print(job["task"], os.getpid(), file=open(folder + "/begun", "a"), flush=True)
    if job["task"] == "wait":
        while not os.path.exists(folder + "/go"):
            if os.getppid() != parent:
                sys.exit()
            time.sleep(0.05)
    begun = [line.split()[0] for line in open(folder + "/begun")]
    if job["task"] == "poison" or (job["task"] == "unlucky" and begun.count("unlucky") == 1):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)
    print(json.dumps({**job, "outcome": "success", "status": "done"}), flush=True)
"""


def add_machine(cluster: Any, desktops: int) -> Any:
    memory = 80 * 1024 * 1024
    return cluster.add_node(
        num_cpus=1, resources={"desktop": desktops}, object_store_memory=memory, include_dashboard=False
    )


def results_of(cluster: Any, folder: Path, size: int, *tasks: str) -> list[tuple[str, int | None, str]]:
    assignment = Assignment(benchmark="miniwob", settings=WITHOUT_MEMORY, folder=folder)
    command = (sys.executable, "-c", PROGRAM, str(folder))
    pool = open_pool(assignment, size, 60, cluster.address, command)
    jobs = [Job(task=task, seed=number) for number, task in enumerate(tasks)]
    return sorted((result.task, result.seed, result.outcome) for result in pool.run(jobs))


def begun(folder: Path) -> list[str]:
    file = folder / "begun"
    return [line.split()[0] for line in file.read_text().splitlines()] if file.exists() else []


def workers(folder: Path) -> list[int]:
    file = folder / "begun"
    return [int(line.split()[1]) for line in file.read_text().splitlines()] if file.exists() else []


def when(holds: Callable[[], bool], then: Callable[[], None]) -> threading.Thread:
    """Do something as soon as something holds."""

    def run() -> None:
        deadline = time.monotonic() + LIMIT_S
        while not holds() and time.monotonic() < deadline:
            time.sleep(0.05)
        then()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_machine_that_dies_in_the_middle_loses_no_job_and_counts_none_twice(cluster: Any, tmp_path: Path) -> None:
    add_machine(cluster, 1)
    second = add_machine(cluster, 1)
    cluster.wait_for_nodes()

    def is_one_gone() -> bool:
        return any(start_ticks(pid) is None for pid in workers(tmp_path))

    killing = when(lambda: len(begun(tmp_path)) == 2, lambda: cluster.remove_node(second, allow_graceful=False))
    going_on = when(is_one_gone, (tmp_path / "go").touch)
    results = results_of(cluster, tmp_path, 2, *["wait"] * 6)
    killing.join()
    going_on.join()

    assert results == [("wait", number, "success") for number in range(6)]
    assert len(begun(tmp_path)) == 7  # the job on the machine that died was begun again


def test_dead_actor_is_started_again_and_a_job_that_always_kills_it_is_an_error(cluster: Any, tmp_path: Path) -> None:
    add_machine(cluster, 1)

    results = results_of(cluster, tmp_path, 1, "unlucky", "poison", "a")

    assert results == [("a", 2, "success"), ("poison", 1, "error"), ("unlucky", 0, "success")]
    assert begun(tmp_path).count("unlucky") == 2


def test_cluster_without_desktops_is_refused_with_the_command_that_offers_some(cluster: Any, tmp_path: Path) -> None:
    cluster.add_node(num_cpus=1, object_store_memory=80 * 1024 * 1024, include_dashboard=False)

    with pytest.raises(EvaluationError, match=r"ray start .*desktop"):
        results_of(cluster, tmp_path, 1, "a")


def test_machine_without_the_folder_of_the_results_is_refused(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_machine(cluster, 1)
    monkeypatch.chdir(tmp_path)

    with pytest.raises(EvaluationError, match="does not have the folder /proc/self/cwd"):
        results_of(cluster, Path("/proc/self/cwd"), 1, "a")  # another folder in each process
    assert list(tmp_path.iterdir()) == []
