"""A worker process: reads what to run, a line of JSON each, and answers each with a line of its result.

Every desktop of an evaluation has a worker of its own, so that whatever breaks one takes no other down. The first line
is an `Assignment`, each further one a `Job`; the end of the input ends the worker.

    python -m evaluation.harness.worker
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Literal, NoReturn, Protocol, Self, TextIO

from agent_s.records import Record
from agent_s.settings import Settings
from evaluation.harness.results import Job, Result

if TYPE_CHECKING:
    from types import TracebackType


PARENT_POLL_S = 0.5
"""How often a worker looks whether its parent still lives, s."""


class Assignment(Record):
    """What a worker is for.

    Attributes:
        benchmark: What it runs.
        settings: Model, limits, memory and desktop.
        folder: Folder of the results, in which runs are recorded.
        tasks: Folder of the task files, where the benchmark has some.
        keep_all: Whether records of successes stay.
    """

    benchmark: Literal["miniwob", "tasks", "conformance"]
    settings: Settings
    folder: Path
    tasks: Path | None = None
    keep_all: bool = False


class Bench(Protocol):
    """Runs the episodes of one benchmark on one desktop, within a `with` block."""

    def __enter__(self) -> Self:
        """Begin."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop all that was started."""
        ...

    def run(self, job: Job) -> Result:
        """Run one episode; what breaks is its result."""
        ...


def open_bench(assignment: Assignment) -> AbstractContextManager[Bench]:
    """Return what runs the episodes of an assignment."""
    settings, folder, keep_all = assignment.settings, assignment.folder, assignment.keep_all
    if assignment.benchmark == "miniwob":
        from evaluation.miniwob.suite import MiniwobBench

        return MiniwobBench(settings, folder, keep_all)
    from evaluation.harness.bench import ConformanceBench, TaskBench

    if assignment.tasks is None:
        raise ValueError(f"{assignment.benchmark} needs a folder of tasks")
    kind = TaskBench if assignment.benchmark == "tasks" else ConformanceBench
    return kind(settings, folder, assignment.tasks, keep_all)


def work(lines: TextIO, answers: TextIO, open_for: Callable[[str], AbstractContextManager[Bench]]) -> None:
    """Run what the lines ask for, until they end.

    Args:
        lines: An assignment, then jobs.
        answers: Gets the results.
        open_for: Returns what runs the jobs of an assignment, which is given as its line.
    """
    with open_for(lines.readline()) as bench:
        for line in lines:
            answers.write(bench.run(Job.model_validate_json(line)).model_dump_json() + "\n")
            answers.flush()


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def _end_with(parent: int) -> None:
    """End this process in order once its parent was killed, since nobody would read what it still does."""
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_S)
    os.kill(os.getpid(), signal.SIGTERM)


def serve(open_for: Callable[[str], AbstractContextManager[Bench]]) -> None:
    """Work on standard input and output; at SIGTERM, and when the parent is gone, desktops are stopped in order.

    Args:
        open_for: Returns what runs the jobs of an assignment, which is given as a line of JSON.
    """
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the evaluation itself decides what Ctrl-C means
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    # What a library prints must not come between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    work(sys.stdin, answers, open_for)


def main() -> None:
    """Work as an evaluation's worker."""
    serve(lambda line: open_bench(Assignment.model_validate_json(line)))


if __name__ == "__main__":
    main()
