"""A worker process: reads jobs as lines of JSON, and answers each with its result on a line.

Each desktop of an evaluation has its own worker, so that one that breaks does not affect the others. The first line
is an `Assignment`, each further one a `Job`; the worker ends with its input.

    python -m evaluation.worker
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Literal, NoReturn, Protocol, TextIO

from agent_s.records import Task
from evaluation.harness.results import Job, Result, Work
from evaluation.state.context import Rights

PARENT_POLL_S = 0.5


class Assignment(Work):
    """The work of a worker."""

    benchmark: Literal["miniwob", "tasks", "conformance", "attempts"]
    tasks: Path | None = None  # folder of the task files, if the benchmark has any
    keep_all: bool = False  # whether to keep recordings of successes
    rights: Rights = Rights()  # what tasks may do
    # whether the best of several episodes of a task will be chosen: the verdicts of state checks are kept out of the
    # recordings, and what is learned out of memory
    as_attempts: bool = False
    task: Task | None = None  # the task of attempts; None for a benchmark with tasks of its own
    files: Path | None = None  # folder whose content the home of each attempt begins with; None for an empty home


class Bench(Protocol):
    """Runs the episodes of a benchmark on one desktop."""

    def run(self, job: Job) -> Result:
        """Run one episode; an error is its result."""


def open_bench(assignment: Assignment) -> AbstractContextManager[Bench]:
    """Return the bench of an assignment."""
    settings, folder, keep_all = assignment.settings, assignment.folder, assignment.keep_all
    if assignment.benchmark == "miniwob":
        from evaluation.miniwob.suite import MiniwobBench

        return MiniwobBench(settings, folder, keep_all)
    if assignment.benchmark == "attempts":
        from evaluation.attempts import AttemptBench

        if assignment.task is None:
            raise ValueError("attempts need a task")
        return nullcontext(AttemptBench(settings, assignment.task, assignment.files))
    from evaluation.osworld.bench import ConformanceBench, TaskBench

    if assignment.tasks is None:
        raise ValueError(f"{assignment.benchmark} needs a folder of tasks")
    if assignment.benchmark == "conformance":
        return nullcontext(ConformanceBench(settings, folder, assignment.tasks, keep_all, assignment.rights))
    as_attempts = assignment.as_attempts
    return nullcontext(TaskBench(settings, folder, assignment.tasks, keep_all, assignment.rights, as_attempts))


def work(lines: TextIO, answers: TextIO, open_for: Callable[[str], AbstractContextManager[Bench]]) -> None:
    """Run jobs until the input ends.

    Args:
        lines: An assignment, then jobs.
        answers: Receives the results.
        open_for: Returns the bench for the line of an assignment.
    """
    with open_for(lines.readline()) as bench:
        for line in lines:
            answers.write(bench.run(Job.model_validate_json(line)).model_dump_json() + "\n")
            answers.flush()


def serve(open_for: Callable[[str], AbstractContextManager[Bench]]) -> None:
    """Work on standard input and output until the input ends, SIGTERM comes, or the parent is gone.

    Args:
        open_for: Returns the bench for the line of an assignment.
    """
    ended: list[int] = []

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        ended.append(number)
        raise SystemExit(128 + number)

    def end_with(parent: int) -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_POLL_S)
        os.kill(os.getpid(), signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the evaluation itself decides what Ctrl-C means
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    # What a library prints must not come between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        work(sys.stdin, answers, open_for)
    except Exception:
        if ended:  # a library made another error of SystemExit
            raise SystemExit(128 + ended[0]) from None
        raise


def main() -> None:
    """Run as the worker of an evaluation."""
    serve(lambda line: open_bench(Assignment.model_validate_json(line)))


if __name__ == "__main__":
    main()
