"""Listing of recorded runs, and their sizes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from agent_s.errors import TrajectoryError
from agent_s.events import EVENT_ADAPTER, Event, RunEnded, RunStarted
from agent_s.records import Status
from agent_s.runs.reading import EVENTS_FILE, SCREENS_FOLDER, SENT_FOLDER, TEXTS_FILE, read_version

PRIVATE = 0o700


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line of a list of runs."""

    folder: Path  # its folder
    run_id: str  # its id, or the name of its folder if the id cannot be read
    started: datetime | None = None  # start time; None if it cannot be read
    instruction: str = ""  # instruction of its task
    model: str = ""
    status: Status | None = None  # how it ended; None if it was cut off
    verified: bool | None = None
    replayed: bool = False
    steps: int = 0
    model_calls: int = 0
    seconds: float = 0.0
    problem: str = ""  # why the run cannot be read, or in which way its recording is incomplete


def list_runs(runs_dir: Path) -> list[RunSummary]:
    """List the runs in a folder, newest first; reads the first and last event of each only."""
    if not runs_dir.is_dir():
        return []
    summaries = [_summarize(path.parent) for path in runs_dir.glob(f"*/{EVENTS_FILE}")]
    oldest = datetime.min.replace(tzinfo=UTC)
    return sorted(summaries, key=lambda run: (run.started or oldest, run.folder.name), reverse=True)


def find_run(runs_dir: Path, name: str) -> Path:
    """Return a run's folder by its path, by its id or a prefix of it, or by the word `last`.

    Raises:
        TrajectoryError: There is no such run, or several match.
    """
    if (Path(name) / EVENTS_FILE).is_file():
        return Path(name)
    runs = list_runs(runs_dir)
    if not runs:
        raise TrajectoryError(f'No run is recorded in {runs_dir} yet: start one with agent-s run "TASK".')
    if name == "last":
        return runs[0].folder
    found = [run.folder for run in runs if run.run_id.startswith(name) or run.folder.name.startswith(name)]
    if len(found) == 1:
        return found[0]
    problem = f"{len(found)} runs match {name!r}: give more of the id" if found else f"No run {name!r} in {runs_dir}"
    raise TrajectoryError(f"{problem}. `agent-s runs list` shows them.")


def run_folder(runs_dir: Path, started: RunStarted) -> Path:
    """Return the folder for a run; names sort by local time."""
    return runs_dir / f"{started.at.astimezone():%Y%m%d-%H%M%S}-{started.run_id}"


def make_private_folder(folder: Path) -> None:
    """Create a folder and its missing parents, accessible to their owner only.

    Raises:
        OSError: It cannot be created.
    """
    for path in (*reversed(folder.parents), folder):
        if not path.exists():
            path.mkdir(mode=PRIVATE, exist_ok=True)


def _summarize(folder: Path) -> RunSummary:
    try:
        with (folder / EVENTS_FILE).open("rb") as file:
            read_version(folder, file.readline().decode("utf-8", errors="replace"))
            started = EVENT_ADAPTER.validate_json(file.readline())
            ended = _last_event(file)
    except (OSError, TrajectoryError, ValidationError) as error:
        problem = "its first event cannot be read" if isinstance(error, ValidationError) else str(error)
        return RunSummary(folder=folder, run_id=folder.name, problem=problem)
    if not isinstance(started, RunStarted):
        return RunSummary(folder=folder, run_id=folder.name, problem="its recording lacks the start of the run")
    summary = RunSummary(folder, started.run_id, started.at, started.task.instruction, started.model)
    if not isinstance(ended, RunEnded):
        return replace(summary, problem="its record ends before the run did")
    outcome = ended.outcome
    return replace(
        summary,
        status=outcome.status,
        verified=outcome.verified,
        replayed=outcome.replayed,
        steps=outcome.usage.steps,
        model_calls=outcome.usage.model_calls,
        seconds=(ended.at - started.at).total_seconds(),
    )


def _last_event(file: IO[bytes]) -> Event | None:
    """Read the last line of a file backwards from its end; None if it is incomplete."""
    size, length = file.seek(0, 2), 4096
    while True:
        file.seek(max(0, size - length))
        lines = file.read().rstrip(b"\n").split(b"\n")
        if len(lines) > 1:
            try:
                return EVENT_ADAPTER.validate_json(lines[-1])
            except ValidationError:
                return None
        if length >= size:
            return None
        length *= 8


@dataclass(frozen=True, slots=True)
class RunSize:
    """The size of a run's folder by kind of file, in bytes, without reports written later."""

    events: int  # the events themselves
    texts: int  # their long texts: screens as text, prompts and answers
    screens: int  # screenshots
    sent: int  # pictures sent to a model

    @property
    def total(self) -> int:
        """All bytes."""
        return sum(asdict(self).values())

    def __str__(self) -> str:
        return ", ".join(f"{kind} {format_bytes(number)}" for kind, number in asdict(self).items() if number)


def measure_run(folder: Path) -> RunSize:
    """Return the size of a recorded run; missing files count as 0."""
    parts = (EVENTS_FILE, TEXTS_FILE, SCREENS_FOLDER, SENT_FOLDER)
    return RunSize(*(_bytes_of(folder / part) for part in parts))


def format_bytes(number: float) -> str:
    """Return a number of bytes as "512 B", "3.4 kB" or "1.2 MB"."""
    size = float(number)
    for unit in ("B", "kB"):
        if size < 1000:
            return f"{size:.1f}".removesuffix(".0") + f" {unit}"
        size /= 1000
    return f"{size:.1f} MB"


def _bytes_of(path: Path) -> int:
    files = path.iterdir() if path.is_dir() else [path] if path.is_file() else []
    return sum(file.stat().st_size for file in files)
