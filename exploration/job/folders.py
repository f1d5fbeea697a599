"""The files of an exploration.

```
explore-20260314-093012/
├── scope.json             its applications, bounds and settings (`exploration.job.scope`)
├── results.jsonl          finished jobs (`evaluation.harness.results`), one line each
├── independent.json, aware.json   tasks for the whole exploration (`exploration.tasks.practice`)
├── applications/ID/       survey.json, start.png, ledger.jsonl and pictures of the search
├── runs/                  recorded runs
└── report.html
```
"""

from __future__ import annotations

import fcntl
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from agent_s.runs.listing import make_private_folder
from exploration.errors import ExplorationError
from exploration.tasks.practice import Practice, PracticeTasks
from exploration.tasks.proposals import ExplorationTask
from exploration.tasks.survey import Survey

if TYPE_CHECKING:
    from typing import IO

APPLICATIONS_FOLDER = "applications"
SURVEY_FILE = "survey.json"
PICTURE_FILE = "start.png"
LEDGER_FILE = "ledger.jsonl"
LOCK_FILE = ".lock"
_LOCK_POLL_S = 0.2
File = TypeVar("File", bound=BaseModel)

_UNFIT = re.compile(r"[^\w.-]+")


class Surveyed(BaseModel):
    """The file `survey.json` of an application."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str  # name of the application
    survey: Survey  # its controls
    wanted: int = 0  # number of tasks that were asked for
    tasks: tuple[ExplorationTask, ...] = ()  # the proposed tasks, earlier ones first


def application_folder(folder: Path, app: str) -> Path:
    """Return the folder of an application, which need not exist, in the folder of an exploration."""
    return folder / APPLICATIONS_FOLDER / (_UNFIT.sub("_", app).strip(".") or "_")


def write_survey(folder: Path, app: str, surveyed: Surveyed) -> None:
    """Write a survey.

    Raises:
        ExplorationError: It cannot be written.
    """
    write_whole(application_folder(folder, app) / SURVEY_FILE, surveyed.model_dump_json())


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically, and make its folder.

    Raises:
        ExplorationError: It cannot be written.
    """
    draft = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise ExplorationError(f"Cannot write {path}: {error.strerror or error}.") from error


def read_survey(folder: Path, app: str) -> Surveyed | None:
    """Return the survey of an application; None if there is none.

    Raises:
        ExplorationError: It cannot be read.
    """
    return _read(application_folder(folder, app) / SURVEY_FILE, Surveyed, "Remove it to repeat the survey.")


def write_practice(folder: Path, practice: Practice, tasks: PracticeTasks) -> None:
    """Write the tasks of one kind for the whole exploration.

    Raises:
        ExplorationError: They cannot be written.
    """
    write_whole(folder / f"{practice}.json", tasks.model_dump_json())


def read_practice(folder: Path, practice: Practice) -> PracticeTasks:
    """Return the tasks of one kind for the whole exploration; none if none were proposed.

    Raises:
        ExplorationError: They cannot be read.
    """
    found = _read(folder / f"{practice}.json", PracticeTasks, "Remove it to have tasks proposed again.")
    return found or PracticeTasks()


def _read(path: Path, form: type[File], hint: str) -> File | None:
    try:
        return form.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ExplorationError(f"Cannot read {path}: {error.strerror or error}.") from error
    except ValidationError as error:
        raise ExplorationError(f"{path} is damaged: {error.errors()[0]['msg']}. {hint}") from error


@contextmanager
def locked(folder: Path, wait_s: float = 0.0, file_name: str = LOCK_FILE) -> Iterator[None]:
    """Lock a folder for this process.

    Args:
        folder: The folder; it is made if it is missing.
        wait_s: Longest wait for another process that has locked it, s.
        file_name: The file that is locked; several processes may use the folder, each with its own.

    Raises:
        ExplorationError: Another process has locked it, or it cannot be written.
    """
    try:
        make_private_folder(folder)
        file = (folder / file_name).open("ab")
    except OSError as error:
        raise ExplorationError(f"Cannot write to {folder}: {error.strerror or error}.") from error
    with file:
        if not _take(file, wait_s):
            raise ExplorationError(f"Another process explores into {folder}. Wait for it, or choose another folder.")
        yield


def _take(file: IO[bytes], wait_s: float) -> bool:
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_LOCK_POLL_S)
        else:
            return True
