"""Results on disk: one JSON line per finished episode, and the recordings of failed ones.

```
eval-20260314-093012/
├── results.jsonl    a header line, then one `Result` per line
└── runs/            one folder per recorded run: trajectory, screenshots, report.html
```

An interrupted evaluation resumes: episodes with a result are not run again, except errors. Files with a newer
`SCHEMA_VERSION` are rejected.
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
    """One episode to run."""

    task: str  # name of the task
    seed: int | None = None  # variant of the task; None if it has none


class Ended(Record):
    """Outcome and effort of a run."""

    task: str  # name of the task
    instruction: str = ""  # instruction given to the agent
    status: Status  # status reported by the agent; `error` if the task could not be prepared
    score: float | None = None  # score by the benchmark, 0 to 1; None if it could not judge
    # estimated kind of failure, see `evaluation.harness.failures`; None for a success
    failure: FailureKind | None = None
    reason: str = ""  # human-readable reason
    steps: int = 0  # primitives performed
    model_calls: int = 0
    input_tokens: int = 0  # tokens sent
    output_tokens: int = 0  # tokens received
    dollars: float | None = None  # cost; None if the price is unknown
    seconds: float = 0.0  # wall time of the run without preparing the desktop, s
    run_id: str = ""  # id of the run; empty if none started


class Result(Ended):
    """The result of one episode."""

    seed: int | None = None  # variant of the task; None if it has none
    # `error` if the environment broke, which says nothing about the agent
    outcome: Literal["success", "failure", "error"]
    # labels for grouping results, such as application, level or domain
    labels: dict[str, str] = Field(default_factory=dict)
    trajectory: str = ""  # recording folder relative to the results folder; empty if not kept
    report: str = ""  # HTML report, likewise

    @classmethod
    def broken(cls, job: Job, reason: str) -> Self:
        """Return the result for an episode whose environment failed."""
        return cls(task=job.task, seed=job.seed, outcome="error", status="error", failure="environment", reason=reason)

    @property
    def job(self) -> Job:
        """The episode of this result."""
        return Job(task=self.task, seed=self.seed)


class Header(Record):
    """First line of a results file."""

    benchmark: str  # name of the benchmark, such as "miniwob"
    model: str  # name of the model
    settings: dict[str, Any]  # all settings, as JSON
    version: str  # version of agent-s
    started: datetime  # when the evaluation began
    schema_version: int = SCHEMA_VERSION  # version of the format
    format: Literal["agent-s evaluation"] = FORMAT  # marks the file as results


def effort_of(usage: Usage) -> dict[str, Any]:
    """Return the usage fields of `Ended`."""
    return usage.model_dump(include={"steps", "model_calls", "input_tokens", "output_tokens", "dollars"})


def place_in(folder: Path, path: Path | None) -> str:
    """Return a path relative to the folder of the results; "" for None."""
    return "" if path is None else path.relative_to(folder).as_posix()


class ResultsFile:
    """Appendable results file of one evaluation, including results of earlier sessions.

    Args:
        folder: Results folder, created if missing.
        header: Header of the evaluation; an existing file must have the same benchmark, model and settings.

    Raises:
        ResultsError: The file cannot be read or written, or belongs to another evaluation.
    """

    def __init__(self, folder: Path, header: Header) -> None:
        from agent_s.runs.listing import make_private_folder

        self.folder = folder  # results folder
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
            ResultsError: The file cannot be written.
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
        os.truncate(self._path, content.rfind(b"\n") + 1)  # drop a truncated last line; its episode runs again

    def _write(self, line: Record) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line.model_dump_json() + "\n")


def read_results(folder: Path) -> tuple[Header, dict[Job, Result]]:
    """Read the results of an evaluation; an incomplete last line is ignored.

    Raises:
        ResultsError: The file is missing, damaged, or of a newer version.
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
    """Describe how two values differ; for dictionaries, list the differing keys."""
    if not isinstance(before, Mapping):
        return f"{before}, not {now}"
    return ", ".join(sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name)))


class Work(Record):
    """Base configuration of a worker, extended by evaluations and explorations."""

    settings: Settings  # model, limits, memory and desktop
    folder: Path  # folder for results and recorded runs
