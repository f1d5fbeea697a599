"""What an exploration is about, kept in its folder (`scope.json`), so that the folder alone is enough to go on."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from aci.desktop.applications import Application
from agent_s.records import Record
from agent_s.settings import Settings
from evaluation.errors import ResultsError
from evaluation.harness.results import RESULTS_FILE, Result, read_results
from exploration.errors import ExplorationError
from exploration.job.folders import LOCK_FILE, write_whole

BENCHMARK = "exploration"
SCOPE_FILE = "scope.json"
SEARCH_SHARE = 0.8
"""Share of the time of a search in which unit skills are looked for; in the rest they are put together."""


class Scope(Record):
    """What an exploration is about, as it was asked for last.

    Attributes:
        applications: What is explored.
        tasks: For each of them.
        search_s: Time for the search of each, s; None where the usual time is enough.
        depth: Longest path of a search, in steps.
        settings: Model, limits, memory and desktop; these stay the same.
    """

    applications: tuple[Application, ...]
    tasks: int
    search_s: float | None
    depth: int
    settings: Settings


def write_scope(folder: Path, scope: Scope) -> None:
    """Keep what an exploration is about.

    Raises:
        ExplorationError: It cannot be written.
    """
    write_whole(folder / SCOPE_FILE, scope.model_dump_json())


def read_scope(folder: Path) -> Scope | None:
    """Return what the exploration that a folder holds is about; None where it holds none.

    Raises:
        ExplorationError: It cannot be read.
        ResultsError: The folder holds something else.
    """
    path = folder / SCOPE_FILE
    try:
        results = folder / RESULTS_FILE
        if results.exists() and results.stat().st_size and (other := read_results(folder)[0].benchmark) != BENCHMARK:
            raise ResultsError(f"{results} is of {other}, not of an exploration. Use another folder.")
        return Scope.model_validate_json(path.read_bytes()) if path.exists() else None
    except OSError as error:
        raise ExplorationError(f"Cannot read {path}: {error.strerror or error}.") from error
    except ValidationError as error:
        problem = error.errors()[0]["msg"]
        raise ExplorationError(f"{path} is damaged: {problem}. Remove it, and name the applications again.") from error


def refuse_other_files(folder: Path) -> None:
    """Refuse a folder that holds something, and no exploration, before anything is written to it.

    Raises:
        ExplorationError: It does, or is no folder.
    """
    try:
        strange = [path.name for path in folder.iterdir() if path.name != LOCK_FILE]
    except FileNotFoundError:
        return
    except OSError as error:
        raise ExplorationError(f"Cannot explore into {folder}: {error.strerror or error}.") from error
    if strange:
        raise ExplorationError(
            f"{folder} holds no exploration, but other files ({min(strange)} ...). Name a new or an empty folder."
        )


def search_labels(seconds: float, depth: int, complete: bool) -> dict[str, str]:
    """Return the labels of a search's result, which tell whether larger bounds would find more.

    Args:
        seconds: Time it had, s.
        depth: Longest path it could follow, in steps.
        complete: Whether nothing was left to try.
    """
    return {"seconds": f"{seconds:g}", "depth": str(depth), "complete": str(complete).lower()}


def is_exhausted(search: Result, seconds: float, depth: int) -> bool:
    """Tell whether a search of an earlier turn did all that these bounds allow."""
    told = search.labels
    deep = int(told.get("depth", "0")) >= depth
    return deep and (told.get("complete") == "true" or float(told.get("seconds", "0")) >= seconds)
