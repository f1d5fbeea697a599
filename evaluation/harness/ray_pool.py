"""Workers on the machines of a Ray cluster: one actor for each desktop.

The caller counts one result for each job, whatever becomes of actors and machines. A job whose actor is lost is done
again by another one; Ray restarts lost actors on machines with a free desktop.
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

RESOURCE = "desktop"  # what a machine of the cluster offers as often as it can hold a desktop
MOST_LOSSES = 3  # of actors in the middle of the same job, which may be its fault
CONNECT_S = 10.0  # longest wait for a cluster to accept a connection, s
LOST_S = 300.0  # longest time without any actor, s
_POLL_S = 1.0


class DesktopActor:
    """Holds a worker process on its machine; what it takes and gives is JSON.

    Args:
        assignment: The line with the work of the worker.
        command: Its program; the interpreter is that of the actor.
    """

    def __init__(self, assignment: str, command: Sequence[str]) -> None:
        self._worker = Worker(assignment, (sys.executable, *command[1:]))

    def ready(self, mark: str) -> str:
        """Return the name of this machine if a file of the caller is not to be found here, else ""."""
        return "" if Path(mark).exists() else socket.gethostname()

    def run(self, job: str, limit_s: float) -> str:
        """Run a job, and return its result."""
        wanted = Job.model_validate_json(job)
        try:
            return self._worker.run(wanted, limit_s).model_dump_json()
        except WorkerLost as error:
            return Result.broken(wanted, str(error)).model_dump_json()

    def end(self) -> None:
        """End the worker with its desktop."""
        self._worker.end()


class RayPool:
    """Runs jobs on the desktops of a cluster; a `evaluation.harness.pools.JobPool`.

    Args:
        assignment: The work of each worker; its folders, and its memory, must be the same on all machines.
        size: Maximum number of desktops.
        limit_s: Time limit of a job, s; a worker that takes much longer is replaced.
        address: Address of the cluster, or "auto" for the one that this machine belongs to.
        command: The program of a worker.
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
        """Start no further job."""
        self._stopping = True

    def run(self, jobs: Sequence[Job]) -> Iterator[Result]:
        """Run the jobs, and yield their results as they come, one for each job.

        Closing the iterator, or KeyboardInterrupt inside it, ends the actors and their current jobs.

        Raises:
            ClusterError: Ray is not installed, the cluster cannot be reached or offers no desktops, or one of its
                machines does not have the folder of the results.
        """
        with _connected(self._address) as ray, _marked(self._folder) as mark:
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
        """Give each actor that answers the next job; the actor of a lost job answers again once it has been restarted.

        An actor without a job is asked again when a job comes back, since its own machine may be gone as well.
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
                        if losses[job] < MOST_LOSSES:
                            left.appendleft(job)
                        else:
                            yield Result.broken(job, f"{MOST_LOSSES} actors were lost in the middle of it: {why}")
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
        """Refuse a machine, by its name, that does not have the folder; "" is one that has it."""
        if lacking:
            share = "Put it on a disk that all machines share, such as NFS"
            raise ClusterError(f"{lacking} does not have the folder {self._folder} of this machine. {share}.")


@contextmanager
def _connected(address: str) -> Iterator[ModuleType]:
    """Connect to a cluster, unless this process is connected already."""
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
    """Refuse an address where nothing listens, which Ray would try again and again for minutes."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    try:
        if not host or not port.isdecimal():
            raise OSError("an address is HOST:PORT, or auto")
        socket.create_connection((host.removeprefix("ray://").strip("[]"), int(port)), CONNECT_S).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(f"There is no Ray cluster at {address!r}: {error}") from error


@contextmanager
def _marked(folder: Path) -> Iterator[str]:
    """Put a file into a folder by which other machines are known to have the same one, and yield its path."""
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
