"""Results on disk: a folder with one line of JSON per finished episode, and the recordings of failed ones.

```
eval-20260314-093012/
├── results.jsonl    a header line, then one `Result` per line
└── runs/            one folder per recorded run: trajectory, screenshots, report.html
```

An evaluation that was stopped continues where it was: episodes in the file are not run again, except errors. Files of
a newer `SCHEMA_VERSION` are refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError

from agent_s.records import Record, Status, Usage
from agent_s.settings import Settings
from evaluation.errors import ResultsError

SCHEMA_VERSION = 1
FORMAT: Literal["agent-s evaluation"] = "agent-s evaluation"
RESULTS_FILE = "results.jsonl"
RUNS_FOLDER = "runs"

FailureKind = Literal["planning", "grounding", "execution", "environment"]


class Job(Record):
    """One episode to be run."""

    task: str  # name of the task
    seed: int | None = None  # variant of the task; None if it has none


class Ended(Record):
    """The end of a run, whatever judged it."""

    task: str  # name of the task
    instruction: str = ""  # the instruction of the agent
    status: Status  # how the run ended, by the agent; `error` if the task could not be prepared
    score: float | None = None  # from 0 to 1, as the benchmark judges; None if it could not judge
    # kind of failure, estimated as `evaluation.harness.failures` describes; None for a success
    failure: FailureKind | None = None
    reason: str = ""  # why, for a person
    steps: int = 0  # primitives performed
    model_calls: int = 0
    input_tokens: int = 0  # tokens sent
    output_tokens: int = 0  # tokens received
    dollars: float | None = None  # cost; None if the price is unknown
    seconds: float = 0.0  # wall time of the run, s; preparing the desktop is left out
    run_id: str = ""  # the run; empty if there was none


class Result(Ended):
    """The result of one episode."""

    seed: int | None = None  # variant of the task; None if it has none
    # `error` if the environment broke, which says nothing about the agent
    outcome: Literal["success", "failure", "error"]
    # labels to group results by, such as application, level or domain
    labels: dict[str, str] = Field(default_factory=dict)
    trajectory: str = ""  # folder of the recorded run, relative to that of the results; empty if it was not kept
    report: str = ""  # its page, likewise

    @classmethod
    def broken(cls, job: Job, reason: str) -> Self:
        """Return the result of an episode whose environment broke."""
        return cls(task=job.task, seed=job.seed, outcome="error", status="error", failure="environment", reason=reason)

    @property
    def job(self) -> Job:
        """The episode that this is the result of."""
        return Job(task=self.task, seed=self.seed)


class Header(Record):
    """First line of a file of results."""

    benchmark: str  # the benchmark, such as "miniwob"
    model: str  # name of the model
    settings: dict[str, Any]  # all settings, as JSON
    version: str  # version of this program
    started: datetime  # when the evaluation began
    schema_version: int = SCHEMA_VERSION  # version of the format
    format: Literal["agent-s evaluation"] = FORMAT  # marks the file as results


def effort_of(usage: Usage) -> dict[str, Any]:
    """Return the fields of `Ended` that say what a run used."""
    return usage.model_dump(include={"steps", "model_calls", "input_tokens", "output_tokens", "dollars"})


def place_in(folder: Path, path: Path | None) -> str:
    """Return a path relative to the folder of the results; "" for None."""
    return "" if path is None else path.relative_to(folder).as_posix()


class ResultsFile:
    """The results of one evaluation, old and new.

    Args:
        folder: Their folder, created if missing.
        header: The evaluation; an existing file must have the same benchmark, model and settings.

    Raises:
        ResultsError: The file cannot be read or written, or belongs to another evaluation.
    """

    def __init__(self, folder: Path, header: Header) -> None:
        from agent_s.runs.listing import make_private_folder

        self.folder = folder  # their folder
        self._path = folder / RESULTS_FILE
        self.results: dict[Job, Result] = {}  # the latest result of each episode
        try:
            make_private_folder(folder / RUNS_FOLDER)
            if self._path.exists() and self._path.stat().st_size:
                self._continue(header)
            else:
                self._write(header)
        except OSError as error:
            raise ResultsError(f"The results cannot be kept in {folder}: {error.strerror or error}.") from error

    def add(self, result: Result) -> None:
        """Append one result.

        Raises:
            ResultsError: It cannot be written.
        """
        try:
            self._write(result)
        except OSError as error:
            raise ResultsError(f"Cannot write to {self._path}: {error.strerror or error}.") from error
        self.results[result.job] = result

    def is_done(self, job: Job) -> bool:
        """Return whether an episode has a result other than an error."""
        known = self.results.get(job)
        return known is not None and known.outcome != "error"

    def _continue(self, header: Header) -> None:
        known, self.results = read_results(self.folder)
        before, now = (one.model_dump(include={"benchmark", "model", "settings"}) for one in (known, header))
        for key in before:
            if before[key] != now[key]:
                differing = _difference(before[key], now[key])
                raise ResultsError(f"{self._path} holds results with another {key} ({differing}). Use another folder.")
        content = self._path.read_bytes()
        os.truncate(self._path, content.rfind(b"\n") + 1)  # a last line that was cut short; its episode is run again

    def _write(self, line: Record) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line.model_dump_json() + "\n")


def read_results(folder: Path) -> tuple[Header, dict[Job, Result]]:
    """Read the results of an evaluation; an incomplete last line is ignored.

    Raises:
        ResultsError: There are none, or they are damaged or of a newer version.
    """
    path = folder / RESULTS_FILE
    try:
        lines = path.read_text("utf-8", errors="replace").split("\n")
    except OSError as error:
        raise ResultsError(f"There are no readable results in {folder}: {error.strerror or error}.") from error
    header = _header(path, lines[0])
    results: dict[Job, Result] = {}
    for number, line in enumerate(lines[1:-1], start=2):
        try:
            result = Result.model_validate_json(line)
        except ValidationError as error:
            raise ResultsError(f"{path}, line {number} is damaged: {error.errors()[0]['msg']}.") from error
        results[result.job] = result
    return header, results


def _header(path: Path, line: str) -> Header:
    try:
        content = json.loads(line)
        version = content["schema_version"] if content["format"] == FORMAT else None
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ResultsError(f"{path} is not a file of results: its header is missing.") from error
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise ResultsError(f"{path} has format {version}; this agent-s reads up to {SCHEMA_VERSION}. Update agent-s.")
    try:
        return Header.model_validate(content)
    except ValidationError as error:
        raise ResultsError(f"{path}: the header is damaged: {error.errors()[0]['msg']}.") from error


def _difference(before: Any, now: Any) -> str:
    """Return how two values differ, for dictionaries the names of the differing keys."""
    if not isinstance(before, Mapping):
        return f"{before}, not {now}"
    return ", ".join(sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name)))


class Work(Record):
    """What every worker must know; benchmarks and explorations add to it."""

    settings: Settings  # model, limits, memory and desktop
    folder: Path  # folder of the results and the recorded runs
