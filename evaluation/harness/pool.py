"""Pool of worker processes on this machine; a crashed worker loses its current episode and is replaced.

`evaluation.harness.ray_pool` is the counterpart for a cluster.
"""

from __future__ import annotations

import queue
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import IO

from pydantic import ValidationError

from evaluation.errors import WorkerLost
from evaluation.harness.results import Job, Result, Work

COMMAND = (sys.executable, "-m", "evaluation.worker")
OVERHEAD_S = 120.0  # extra time for starting the desktop, beyond the time limit of the episode, s
ENDING_S = 10.0  # time limit for a worker to stop its desktop, s
_MAX_OUTPUT = 2000  # characters of error output in messages


class Worker:
    """A worker process, started with its first job."""

    def __init__(self, assignment: str, command: Sequence[str] = COMMAND) -> None:
        self._assignment = assignment
        self._command = list(command)
        self._process: subprocess.Popen[str] | None = None
        self._errors: IO[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()
        self._ended = False
        self._lock = threading.Lock()

    def run(self, job: Job, limit_s: float) -> Result:
        """Run one episode.

        Raises:
            WorkerLost: The process exited or did not answer in time; the next call starts a new one.
        """
        process = self._process or self._start()
        _write_line(process, job.model_dump_json())
        try:
            line = self._answers.get(timeout=limit_s)
        except queue.Empty as error:
            raise self._loss(f"did not answer within {limit_s:g} s") from error
        if not line:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=ENDING_S)
            raise self._loss(f"ended with status {process.poll()}")
        try:
            return Result.model_validate_json(line)
        except ValidationError as error:
            raise self._loss(f"answered {line[:200]!r}") from error

    def end(self) -> None:
        """Stop the process for good; the current job is lost. Thread-safe."""
        with self._lock:
            self._ended = True
        self._close()

    def _start(self) -> subprocess.Popen[str]:
        with self._lock:
            if self._ended:
                raise WorkerLost("the worker was ended.")
            self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - see _close
            self._answers = queue.Queue()
            process = self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                encoding="utf-8",
                start_new_session=True,  # keeps Ctrl-C in the terminal from reaching the worker
            )
        threading.Thread(target=_read_answers, args=(process, self._answers), daemon=True).start()
        _write_line(process, self._assignment)
        return process

    def _close(self) -> None:
        """Terminate the process, and kill it if that takes too long."""
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(timeout=ENDING_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, self._errors):
            if stream is not None:
                with suppress(OSError):  # flushing an unread job fails
                    stream.close()

    def _loss(self, problem: str) -> WorkerLost:
        output = ""
        if self._errors is not None:
            with suppress(ValueError):  # closed by `end` in another thread
                size = self._errors.seek(0, 2)
                self._errors.seek(max(0, size - _MAX_OUTPUT))
                output = self._errors.read().strip()
        self._close()
        return WorkerLost(f"the worker {problem}.{f' Its last output: {output}' if output else ''}")


def _write_line(process: subprocess.Popen[str], line: str) -> None:
    """Write a line; a dead process is detected later, by its missing answer."""
    assert process.stdin is not None
    with suppress(OSError, ValueError):
        process.stdin.write(line + "\n")
        process.stdin.flush()


def _read_answers(process: subprocess.Popen[str], answers: queue.Queue[str]) -> None:
    """Move answers from the pipe to a queue, which supports timeouts; "" marks the end."""
    assert process.stdout is not None
    with suppress(ValueError):  # closed by another thread
        for line in process.stdout:
            answers.put(line)
    answers.put("")


class Pool:
    """A `evaluation.harness.pools.JobPool` of worker processes on this machine.

    Args:
        assignment: Configuration of the workers.
        size: Number of workers.
        limit_s: Time limit of an episode, s; a worker that exceeds it by far is replaced.
        command: Command line of a worker.
    """

    def __init__(self, assignment: Work, size: int, limit_s: float, command: Sequence[str] = COMMAND) -> None:
        self._workers = [Worker(assignment.model_dump_json(), command) for _ in range(size)]
        self._limit_s = limit_s + OVERHEAD_S
        self._stopping = False

    def stop(self) -> None:
        """Start no more jobs."""
        self._stopping = True

    def run(self, jobs: Sequence[Job]) -> Iterator[Result]:
        """Run the jobs, and yield results in order of completion.

        A worker starts its next job only when the caller asks for the next result: a caller that calls `stop` after a
        result, for instance because a budget is used up, does not pay for another job.

        Closing the iterator, or KeyboardInterrupt inside it, stops the workers and their current jobs.
        """
        left = deque(jobs)
        running: dict[Future[Result], Worker] = {}
        with ThreadPoolExecutor(len(self._workers) or 1) as threads:

            def start_next(worker: Worker) -> None:
                if left and not self._stopping:
                    running[threads.submit(self._run, worker, left.popleft())] = worker

            try:
                for worker in self._workers:
                    start_next(worker)
                while running:
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        worker = running.pop(future)
                        yield future.result()
                        start_next(worker)
            except KeyboardInterrupt:
                return
            finally:
                self.stop()
                for worker in self._workers:
                    worker.end()

    def _run(self, worker: Worker, job: Job) -> Result:
        try:
            return worker.run(job, self._limit_s)
        except WorkerLost as error:
            return Result.broken(job, str(error))
