"""Worker process: reads jobs as JSON lines on standard input, and writes one result line for each.

Each desktop of an evaluation has its own worker process, so a crash does not affect the others. The first line is an
`Assignment`, and every further line is a `Job`; the worker exits at the end of its input.

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
    """Configuration of a worker, sent as its first line of input."""

    benchmark: Literal["miniwob", "tasks", "conformance", "attempts"]
    tasks: Path | None = None  # folder of task files, for benchmarks that have them
    keep_all: bool = False  # whether to keep recordings of successes
    rights: Rights = Rights()  # permissions of the tasks
    # whether the best of several episodes of a task is chosen later: verdicts of state checks then stay out of the
    # recordings, and learned experience stays out of the memory
    as_attempts: bool = False
    task: Task | None = None  # task to attempt; None for benchmarks that define their own tasks
    files: Path | None = None  # folder copied to the home of each attempt; None for an empty home


class Bench(Protocol):
    """Runs episodes of a benchmark on one desktop."""

    def run(self, job: Job) -> Result:
        """Run one episode; errors are returned as results."""


def open_bench(assignment: Assignment) -> AbstractContextManager[Bench]:
    """Create the bench for an assignment."""
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
    """Process jobs until the end of the input.

    Args:
        lines: Input stream: an assignment, then jobs.
        answers: Output stream for results.
        open_for: Creates the bench from the assignment line.
    """
    with open_for(lines.readline()) as bench:
        for line in lines:
            answers.write(bench.run(Job.model_validate_json(line)).model_dump_json() + "\n")
            answers.flush()


def serve(open_for: Callable[[str], AbstractContextManager[Bench]]) -> None:
    """Serve on standard input and output until the input ends, SIGTERM arrives, or the parent process exits.

    Args:
        open_for: Creates the bench from the assignment line.
    """
    ended: list[int] = []

    def on_signal(number: int, _frame: FrameType | None) -> NoReturn:
        ended.append(number)
        raise SystemExit(128 + number)

    def exit_with_parent(parent: int) -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_POLL_S)
        os.kill(os.getpid(), signal.SIGTERM)

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    threading.Thread(target=exit_with_parent, args=(os.getppid(),), daemon=True).start()
    # Redirect stdout to stderr, so that library output cannot corrupt the protocol.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        work(sys.stdin, answers, open_for)
    except Exception:
        if ended:  # a library replaced SystemExit with another exception
            raise SystemExit(128 + ended[0]) from None
        raise


def main() -> None:
    """Run a worker of an evaluation."""
    serve(lambda line: open_bench(Assignment.model_validate_json(line)))


if __name__ == "__main__":
    main()
