"""Pools of workers: the interface, and the choice between this machine and a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from evaluation.harness.pool import COMMAND, Pool
from evaluation.harness.ray_pool import RayPool
from evaluation.harness.results import Job, Result, Work


class JobPool(Protocol):
    """Runs jobs on several workers, wherever these are."""

    def stop(self) -> None:
        """Start no further jobs."""

    def run(self, jobs: Sequence[Job]) -> Iterator[Result]:
        """Run the jobs, and yield one result for each, as they come.

        Closing the iterator, or KeyboardInterrupt inside it, ends the workers and their current jobs.
        """


def open_pool(
    assignment: Work, size: int, limit_s: float, cluster: str | None = None, command: Sequence[str] = COMMAND
) -> JobPool:
    """Return a pool on this machine, or on the Ray cluster with an address; see `Pool` and `RayPool`."""
    if cluster is None:
        return Pool(assignment, size, limit_s, command)
    return RayPool(assignment, size, limit_s, cluster, command)
