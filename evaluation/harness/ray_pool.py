"""Pool of workers on a Ray cluster, with one actor per desktop.

Every job yields exactly one result, even if actors or machines fail. The job of a lost actor is retried on another one;
Ray restarts lost actors on machines with a free desktop.
"""

from __future__ import annotations

import logging
import secrets
import socket
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_s.errors import install_command
from evaluation.errors import ClusterError, WorkerLost
from evaluation.harness.pool import COMMAND, ENDING_S, OVERHEAD_S, Worker
from evaluation.harness.results import Job, Result, Work

if TYPE_CHECKING:
    from types import ModuleType

RESOURCE = "desktop"  # Ray resource; its amount is the number of desktops that a machine can run
MAX_LOSSES = 3  # lost actors after which a job counts as broken, since it may be the cause
CONNECT_S = 10.0  # time limit for connecting to a cluster, s
LOST_S = 300.0  # time limit for having no live actor, s
_POLL_S = 1.0


class DesktopActor:
    """Ray actor that owns a worker process on its machine; arguments and results are JSON.

    Args:
        assignment: The assignment line of the worker.
        command: Command line of the worker; its interpreter is replaced with that of the actor.
    """

    def __init__(self, assignment: str, command: Sequence[str]) -> None:
        self._worker = Worker(assignment, (sys.executable, *command[1:]))

    def ready(self, mark: str) -> str:
        """Return "" if this machine sees a file of the caller, and its host name otherwise."""
        return "" if Path(mark).exists() else socket.gethostname()

    def run(self, job: str, limit_s: float) -> str:
        """Run a job; a lost worker is returned as a broken result."""
        wanted = Job.model_validate_json(job)
        try:
            return self._worker.run(wanted, limit_s).model_dump_json()
        except WorkerLost as error:
            return Result.broken(wanted, str(error)).model_dump_json()

    def end(self) -> None:
        """Stop the worker and its desktop."""
        self._worker.end()


class RayPool:
    """A `evaluation.harness.pools.JobPool` on the desktops of a Ray cluster.

    Args:
        assignment: Configuration of the workers; all machines must share its folders and its memory.
        size: Maximum number of desktops.
        limit_s: Time limit of a job, s; a worker that exceeds it by far is replaced.
        address: Address of the cluster, or "auto" for the one that this machine belongs to.
        command: Command line of a worker.
    """

    def __init__(
        self, assignment: Work, size: int, limit_s: float, address: str, command: Sequence[str] = COMMAND
    ) -> None:
        self._assignment = assignment.model_dump_json()
        self._folder = assignment.folder
        self._size = size
        self._limit_s = limit_s + OVERHEAD_S
        self._address = address
        self._command = tuple(command)
        self._stopping = False

    def stop(self) -> None:
        """Start no more jobs."""
        self._stopping = True

    def run(self, jobs: Sequence[Job]) -> Iterator[Result]:
        """Run the jobs, and yield one result for each, in order of completion.

        Closing the iterator, or KeyboardInterrupt inside it, stops the actors and their current jobs.

        Raises:
            ClusterError: Ray is not installed, the cluster cannot be reached or offers no desktops, or one of its
                machines does not have the folder of the results.
        """
        with _connection(self._address) as ray, _marker_file(self._folder) as mark:
            kind = ray.remote(num_cpus=0, resources={RESOURCE: 1}, max_restarts=-1, max_concurrency=2)(DesktopActor)
            actors = [kind.remote(self._assignment, self._command) for _ in range(min(self._size, len(jobs)))]
            try:
                yield from self._work(ray, actors, deque(jobs), mark)
            except KeyboardInterrupt:
                return
            finally:
                self.stop()
                ray.wait([actor.end.remote() for actor in actors], num_returns=len(actors), timeout=ENDING_S)
                for actor in actors:
                    ray.kill(actor)

    def _work(self, ray: ModuleType, actors: Sequence[Any], left: deque[Job], mark: str) -> Iterator[Result]:
        """Assign the next job to each actor that reports ready; a lost actor does so again after its restart.

        Idle actors are polled again when a job is requeued, since their own machine may have failed as well.
        """
        asked = {actor.ready.remote(mark): actor for actor in actors}
        running: dict[Any, tuple[Any, Job]] = {}
        losses: Counter[Job] = Counter()
        idle: list[Any] = []
        why, answered_at, asked_at = "none started", time.monotonic(), time.monotonic()
        while running or (left and not self._stopping):
            for reference in ray.wait([*running, *asked], num_returns=1, timeout=_POLL_S)[0]:
                actor, job = running.pop(reference, None) or (asked.pop(reference), None)
                try:
                    answer = ray.get(reference)
                except ray.exceptions.RayActorError as error:
                    why = str(error)
                    idle.append(actor)
                    if job is not None:
                        losses[job] += 1
                        if losses[job] < MAX_LOSSES:
                            left.appendleft(job)
                        else:
                            yield Result.broken(job, f"{MAX_LOSSES} actors were lost in the middle of it: {why}")
                    continue
                answered_at = time.monotonic()
                if job is not None:
                    yield Result.model_validate_json(answer)
                else:
                    self._require_folder(answer)
                if left and not self._stopping:
                    wanted = left.popleft()
                    running[actor.run.remote(wanted.model_dump_json(), self._limit_s)] = actor, wanted
                else:
                    idle.append(actor)
            now = time.monotonic()
            if left and idle and now - asked_at > _POLL_S:
                asked_at = now
                asked |= {actor.ready.remote(mark): actor for actor in idle}
                idle.clear()
            if not running and now - answered_at > LOST_S:
                raise ClusterError(f"No machine of the cluster has had a free {RESOURCE} for {LOST_S:g} s: {why}")

    def _require_folder(self, lacking: str) -> None:
        """Raise if `lacking` names a machine without the results folder; "" means that it has the folder."""
        if lacking:
            share = "Put it on a disk that all machines share, such as NFS"
            raise ClusterError(f"{lacking} does not have the folder {self._folder} of this machine. {share}.")


@contextmanager
def _connection(address: str) -> Iterator[ModuleType]:
    """Connect to a cluster, unless this process is already connected."""
    try:
        import ray
    except ImportError as error:
        raise ClusterError(f"--cluster needs Ray: {install_command('ray')} ({error}).") from error
    connects = not ray.is_initialized()
    if connects:
        _require_listener(address)
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise ClusterError(f"There is no Ray cluster at {address}: {error}") from error
    try:
        if not ray.cluster_resources().get(RESOURCE):
            offer = f"ray start --address={address} --resources='{{\"{RESOURCE}\": 4}}'"
            raise ClusterError(f"No machine of the cluster at {address} offers desktops. Start each with: {offer}")
        yield ray
    finally:
        if connects:
            ray.shutdown()


def _require_listener(address: str) -> None:
    """Fail fast if nothing listens at an address; Ray itself would retry for minutes."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    try:
        if not host or not port.isdecimal():
            raise OSError("an address is HOST:PORT, or auto")
        socket.create_connection((host.removeprefix("ray://").strip("[]"), int(port)), CONNECT_S).close()
    except (OSError, OverflowError, UnicodeError) as error:
        raise ClusterError(f"There is no Ray cluster at {address!r}: {error}") from error


@contextmanager
def _marker_file(folder: Path) -> Iterator[str]:
    """Create a marker file in a folder, so that other machines can check that they share it, and yield its path."""
    from agent_s.runs.listing import make_private_folder

    mark = folder / f".cluster-{secrets.token_hex(8)}"
    try:
        make_private_folder(folder)
        mark.touch()
    except OSError as error:
        raise ClusterError(f"Cannot write to {folder}: {error.strerror or error}.") from error
    try:
        yield str(mark)
    finally:
        mark.unlink(missing_ok=True)
