"""Parallel worker processes; one that breaks loses its current episode and is replaced."""

from __future__ import annotations

import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO

from pydantic import ValidationError

from agent_s.records import Record
from evaluation.errors import WorkerLost
from evaluation.harness.results import Job, Result

COMMAND = (sys.executable, "-m", "evaluation.worker")
OVERHEAD_S = 120.0
"""Time an episode may take beyond its own limit, for its desktop to start, s."""
ENDING_S = 10.0
"""Time a worker may take to stop its desktop, s."""
_LAST_WORDS = 2000


class Worker:
    """A worker process that is started when it gets its first job.

    Args:
        assignment: Its work.
        command: The program.
    """

    def __init__(self, assignment: Record, command: Sequence[str] = COMMAND) -> None:
        self._assignment = assignment
        self._command = list(command)
        self._process: subprocess.Popen[str] | None = None
        self._errors: IO[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()
        self._ended = False
        self._starting = threading.Lock()

    def run(self, job: Job, limit_s: float) -> Result:
        """Run one episode.

        Raises:
            WorkerLost: The process ended or did not answer in time; the next call starts another.
        """
        process = self._process or self._start()
        try:
            self._tell(process, job.model_dump_json())
            line = self._answers.get(timeout=limit_s)
        except queue.Empty as error:
            raise self._lost(f"did not answer within {limit_s:g} s") from error
        if not line:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=ENDING_S)
            raise self._lost(f"ended with status {process.poll()}")
        try:
            return Result.model_validate_json(line)
        except ValidationError as error:
            raise self._lost(f"answered {line[:200]!r}") from error

    def end(self) -> None:
        """End the process for good, from any thread; its current job is lost."""
        with self._starting:
            self._ended = True
        self._close()

    def _close(self) -> None:
        """End the process in order, or by force if it takes too long, and remove what it leaves."""
        with self._starting:
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
                with suppress(OSError):  # it still holds a job that nobody will read
                    stream.close()
        if process.returncode not in (0, 128 + 15):
            _remove_leftovers()

    def _start(self) -> subprocess.Popen[str]:
        with self._starting:
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
                start_new_session=True,  # Ctrl-C in the terminal is for the evaluation itself
            )
        threading.Thread(target=_pass_on, args=(process, self._answers), daemon=True).start()
        self._tell(process, self._assignment.model_dump_json())
        return process

    def _tell(self, process: subprocess.Popen[str], line: str) -> None:
        """Write a line; a process that has ended is noticed when it does not answer."""
        assert process.stdin is not None
        with suppress(OSError, ValueError):
            process.stdin.write(line + "\n")
            process.stdin.flush()

    def _lost(self, problem: str) -> WorkerLost:
        words = self._last_words()
        self._close()
        return WorkerLost(f"the worker {problem}.{f' Its last output: {words}' if words else ''}")

    def _last_words(self) -> str:
        if self._errors is None:
            return ""
        try:
            size = self._errors.seek(0, 2)
            self._errors.seek(max(0, size - _LAST_WORDS))
            return self._errors.read().strip()
        except ValueError:  # closed, since it was ended from another thread meanwhile
            return ""


class Pool:
    """Runs jobs on several workers.

    Args:
        assignment: The work of each worker.
        size: Number of workers.
        limit_s: Time limit of an episode, s; a worker that takes much longer is replaced.
        command: The program of a worker.
    """

    def __init__(self, assignment: Record, size: int, limit_s: float, command: Sequence[str] = COMMAND) -> None:
        self._workers = [Worker(assignment, command) for _ in range(size)]
        self._limit_s = limit_s + OVERHEAD_S
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Result, threading.Semaphore] | None] = queue.SimpleQueue()
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Start no further episodes."""
        self._stopping.set()

    def run(self, jobs: Sequence[Job]) -> Iterator[Result]:
        """Run the jobs, and yield their results as they come.

        A worker begins its next job when the caller asks for the next result, so that a caller who calls `stop`
        after a result, for instance at the end of a budget, does not pay for one more job.

        Closing the iterator, or KeyboardInterrupt inside it, ends the workers and their current jobs.
        """
        for job in jobs:
            self._jobs.put(job)
        handled = [threading.Semaphore(0) for _ in self._workers]
        threads = [
            threading.Thread(target=self._serve, args=pair, daemon=True)
            for pair in zip(self._workers, handled, strict=True)
        ]
        for thread in threads:
            thread.start()
        serving = len(threads)
        try:
            while serving:
                answer = self._results.get()
                if answer is None:
                    serving -= 1
                else:
                    result, go_on = answer
                    yield result
                    go_on.release()
        except KeyboardInterrupt:
            return
        finally:
            self.stop()
            for worker, go_on in zip(self._workers, handled, strict=True):
                go_on.release()
                worker.end()
            for thread in threads:
                thread.join()

    def _serve(self, worker: Worker, go_on: threading.Semaphore) -> None:
        try:
            while not self._stopping.is_set():
                try:
                    job = self._jobs.get_nowait()
                except queue.Empty:
                    return
                self._results.put((self._run(worker, job), go_on))
                go_on.acquire()
        finally:
            self._results.put(None)

    def _run(self, worker: Worker, job: Job) -> Result:
        try:
            return worker.run(job, self._limit_s)
        except WorkerLost as error:
            return Result.broken(job, str(error))


def _pass_on(process: subprocess.Popen[str], answers: queue.Queue[str]) -> None:
    """Read answers in their own thread, since a pipe has no time limit; "" marks their end."""
    assert process.stdout is not None
    with suppress(ValueError):  # closed meanwhile
        for line in process.stdout:
            answers.put(line)
    answers.put("")


def _remove_leftovers() -> None:
    from aci.desktop.cleanup import find_abandoned, remove_abandoned

    remove_abandoned(find_abandoned())
