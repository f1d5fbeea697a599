"""What many desktops at once cost, and whether a cluster loses work or counts it twice.

```
python -m benchmarks.scale --json
```

An episode writes a text into a file with Mousepad on a desktop of its own; its scripted model needs `LATENCY_S` for
each of its 7 answers. `throughput_N`: episodes per minute on N desktops of this machine. `ray_overhead`: the share of
the throughput of 2 desktops that is lost if they are those of a Ray cluster of two nodes on this machine, measured
between two turns without it, each from its second result to its last. `ray_start_s`: how much later its second result
comes.
`attempts_ratio`: time of 3 attempts side by side over that of one. `episode_s`: time of an episode on one desktop.
`desktop_mb`, `desktop_cpu_s`: memory (proportional set size) and processor time of a worker with its desktop, the most
and the sum of an episode.

`lost`, `counted_twice`: of 60 short jobs on such a cluster of which a node is killed in the middle, those without a
result and the results beyond one for each.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from aci.desktop.folders import desktop_folders
from aci.processes import belonging_to
from agent_s.settings import Settings
from benchmarks.support.scale_worker import TASK, command
from evaluation.harness.pools import open_pool
from evaluation.harness.results import Job
from evaluation.worker import Assignment

LATENCY_S = 1.0
LIMIT_S = 300.0
WITHOUT_MEMORY = Settings.model_validate({"memory": {"enabled": False}})
SHORT_JOBS = 60
SHORT = (
    "import sys, json, time\nsys.stdin.readline()\nfor line in sys.stdin:\n    time.sleep(0.2)\n"
    "    print(json.dumps({**json.loads(line), 'outcome': 'success', 'status': 'done'}), flush=True)"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(prog="benchmarks.scale", description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="end with one JSON object")
    parser.add_argument("--quick", action="store_true", help="fewer episodes")
    parser.add_argument("--only", choices=PARTS, help="only this part")
    given = parser.parse_args(arguments)
    figures: dict[str, float] = {}
    for name in [given.only] if given.only else PARTS:
        for figure, value in PARTS[name](1 if given.quick else 2).items():
            figures[figure] = value
            print(f"{figure}: {value}", file=sys.stderr)
    if given.json:
        print(json.dumps(figures))
    return 0


def side_by_side(rounds: int) -> dict[str, float]:
    """Return what an episode uses, and how much longer three at once take than one, measured in turn."""
    one_s, three_s = [], []
    with sampling() as peak:
        one_s.append(episodes(1, 1)[-1])
    three_s.append(episodes(3, 3)[-1])
    for _ in range(rounds - 1):
        one_s.append(episodes(1, 1)[-1])
        three_s.append(episodes(3, 3)[-1])
    return {
        "attempts_ratio": round(statistics.median(three_s) / statistics.median(one_s), 2),
        "desktop_mb": round(peak.most_bytes / 1e6),
        "desktop_cpu_s": round(peak.processor_s, 1),
    }


def on_a_cluster(rounds: int) -> dict[str, float]:
    """Return the throughput of two desktops, what a cluster loses of it, and how much longer its start takes."""
    turns = [episodes(2, 3 * rounds)]
    with two_machines(desktops=1) as (address, _):
        ray = episodes(2, 6 * rounds, address)
    turns.append(episodes(2, 3 * rounds))
    each_s = sum(turn[-1] - turn[1] for turn in turns) / (2 * (3 * rounds - 2))
    return {
        "throughput_2": round(60 / each_s, 2),
        "ray_overhead": round(1 - each_s / ((ray[-1] - ray[1]) / (6 * rounds - 2)), 3),
        "ray_start_s": round(ray[1] - statistics.mean(turn[1] for turn in turns), 1),
    }


def throughput(rounds: int) -> dict[str, float]:
    """Return the throughput of one and of four desktops, without their start, and the time of an episode."""
    one, four = episodes(1, 1 + rounds), episodes(4, 4 + 4 * rounds)
    each_s, of_four_s = (one[-1] - one[0]) / rounds, (four[-1] - four[3]) / (4 * rounds)
    return {
        "throughput_1": round(60 / each_s, 2),
        "episode_s": round(each_s, 1),
        "throughput_4": round(60 / of_four_s, 2),
    }


def episodes(desktops: int, number: int, cluster: str | None = None) -> list[float]:
    """Return the times at which the results of some episodes come, s from their start."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.model_validate({"runs_dir": folder, "memory": {"enabled": False}})
        assignment = Assignment(benchmark="attempts", settings=settings, folder=Path(folder), task=TASK)
        pool = open_pool(assignment, desktops, LIMIT_S, cluster, command(LATENCY_S))
        began, times = time.monotonic(), []
        for result in pool.run([Job(task=TASK.id, seed=seed) for seed in range(number)]):
            times.append(time.monotonic() - began)
            print(f"{desktops} desktops{' of a cluster' if cluster else ''}: {times[-1]:.1f} s", file=sys.stderr)
            if result.status != "done":
                raise RuntimeError(f"an episode failed: {result.reason}")
    return times


def short_jobs(rounds: int) -> dict[str, float]:
    """Return what is lost and counted twice when a node of a cluster is killed in the middle of short jobs."""
    jobs = [Job(task="short", seed=seed) for seed in range(SHORT_JOBS * rounds // 2)]
    counted: list[Job] = []
    with two_machines(desktops=2) as (address, kill), tempfile.TemporaryDirectory() as folder:
        assignment = Assignment(benchmark="attempts", settings=WITHOUT_MEMORY, folder=Path(folder), task=TASK)
        pool = open_pool(assignment, 4, LIMIT_S, address, (sys.executable, "-c", SHORT))
        for result in pool.run(jobs):
            counted += [result.job] if result.outcome == "success" else []
            if len(counted) == len(jobs) // 4:
                kill()
    return {"lost": len(set(jobs) - set(counted)), "counted_twice": len(counted) - len(set(counted))}


@contextmanager
def two_machines(desktops: int) -> Iterator[tuple[str, Any]]:
    """Run a Ray cluster of two nodes with some desktops each; yield its address and what kills the second node."""
    import ray
    from ray.cluster_utils import Cluster

    # Ray gives its workers a low priority, unlike the desktops of this machine, to which they are compared.
    os.environ.update({"PYTHONPATH": str(Path(__file__).parents[1]), "RAY_worker_niceness": "0"})
    cluster = Cluster()
    try:
        nodes = [
            cluster.add_node(
                num_cpus=1, resources={"desktop": desktops}, object_store_memory=80 << 20, include_dashboard=False
            )
            for _ in range(2)
        ]
        cluster.wait_for_nodes()
        yield cluster.address, lambda: cluster.remove_node(nodes[1], allow_graceful=False)
    finally:
        ray.shutdown()
        cluster.shutdown()


PARTS = {"loss": short_jobs, "attempts": side_by_side, "ray": on_a_cluster, "throughput": throughput}


class Peak:
    """What the workers that this process started, and their desktops, use at once and in all."""

    def __init__(self) -> None:
        self.most_bytes = 0
        self._processor_s: dict[tuple[int, float], float] = {}

    @property
    def processor_s(self) -> float:
        """Processor time of all processes so far, s."""
        return sum(self._processor_s.values())

    def sample(self) -> None:
        """Look at all processes once."""
        workers = {child.pid for child in psutil.Process().children()}
        pids = set(workers)
        for place in desktop_folders():
            owner = place.read_owner()
            pids |= set(belonging_to(place.id)) if owner is not None and owner.pid in workers else set()
        used = 0
        for pid in pids:
            try:
                process = psutil.Process(pid)
                used += process.memory_full_info().pss
                times = process.cpu_times()
                self._processor_s[pid, process.create_time()] = times.user + times.system
            except psutil.Error:
                continue
        self.most_bytes = max(self.most_bytes, used)


@contextmanager
def sampling(every_s: float = 0.5) -> Iterator[Peak]:
    """Sample what the workers use within a `with` block."""
    peak, ended = Peak(), threading.Event()

    def run() -> None:
        while not ended.wait(every_s):
            peak.sample()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        ended.set()
        thread.join()


if __name__ == "__main__":
    sys.exit(main())
