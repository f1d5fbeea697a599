"""Interface of worker pools, and the factory that chooses between this machine and a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from evaluation.harness.pool import COMMAND, Pool
from evaluation.harness.ray_pool import RayPool
from evaluation.harness.results import Job, Result, Work


class JobPool(Protocol):
    """Runs jobs on parallel workers."""

    def stop(self) -> None:
        """Start no more jobs."""

    def run(self, jobs: Sequence[Job]) -> Iterator[Result]:
        """Run the jobs, and yield one result for each, in order of completion.

        Closing the iterator, or KeyboardInterrupt inside it, stops the workers and their current jobs.
        """


def open_pool(
    assignment: Work, size: int, limit_s: float, cluster: str | None = None, command: Sequence[str] = COMMAND
) -> JobPool:
    """Create a pool on the Ray cluster at an address, or on this machine; see `RayPool` and `Pool`."""
    if cluster is None:
        return Pool(assignment, size, limit_s, command)
    return RayPool(assignment, size, limit_s, cluster, command)
