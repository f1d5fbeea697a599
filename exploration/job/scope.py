"""The applications, bounds and settings of an exploration, in its folder (`scope.json`), from which it can resume."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from aci.applications.catalog import Application
from agent_s.records import Record
from agent_s.settings import Settings
from evaluation.errors import ResultsError
from evaluation.harness.results import RESULTS_FILE, Result, read_results
from exploration.errors import ExplorationError
from exploration.job.folders import LOCK_FILE, write_whole
from exploration.search.records import SearchLimits

BENCHMARK = "exploration"
SCOPE_FILE = "scope.json"
SEARCH_SHARE = 0.9  # share of the time of a search for unit skills; the rest is for composite tasks
SEARCH_SHARE_IF_LARGE = 0.93  # the same where much of an application is left to try


class Scope(Record):
    """The latest request for an exploration."""

    applications: tuple[Application, ...]  # the applications to explore
    tasks: int  # number of tasks per application
    search_s: float | None  # time for the search of each application, s; None for the default
    depth: int  # longest path of a search, in steps
    independent: int = 0  # number of environment-independent tasks of the whole exploration
    aware: int = 0  # number of environment-aware tasks of the whole exploration
    settings: Settings  # model, limits, memory and desktop; these stay the same


def write_scope(folder: Path, scope: Scope) -> None:
    """Write the scope of an exploration.

    Raises:
        ExplorationError: It cannot be written.
    """
    write_whole(folder / SCOPE_FILE, scope.model_dump_json())


def read_scope(folder: Path) -> Scope | None:
    """Return the scope of the exploration in a folder; None if there is none.

    Raises:
        ExplorationError: It cannot be read.
        ResultsError: The folder contains something else.
    """
    path = folder / SCOPE_FILE
    try:
        results = folder / RESULTS_FILE
        if results.exists() and results.stat().st_size and (other := read_results(folder)[0].benchmark) != BENCHMARK:
            raise ResultsError(f"{results} belongs to {other}, not to an exploration. Choose another folder.")
        return Scope.model_validate_json(path.read_bytes()) if path.exists() else None
    except OSError as error:
        raise ExplorationError(f"Cannot read {path}: {error.strerror or error}.") from error
    except ValidationError as error:
        problem = error.errors()[0]["msg"]
        raise ExplorationError(f"{path} is damaged: {problem}. Remove it and name the applications again.") from error


def refuse_other_files(folder: Path) -> None:
    """Refuse a folder with other files, before anything is written to it.

    Raises:
        ExplorationError: It contains other files, or is not a folder.
    """
    try:
        others = [path.name for path in folder.iterdir() if path.name != LOCK_FILE]
    except FileNotFoundError:
        return
    except OSError as error:
        raise ExplorationError(f"Cannot explore into {folder}: {error.strerror or error}.") from error
    if others:
        raise ExplorationError(
            f"{folder} holds no exploration, but other files ({min(others)} ...). Choose a new or an empty folder."
        )


def search_limits(seconds: float, depth: int) -> SearchLimits:
    """Return the limits of a search whose time includes that for composite tasks.

    Args:
        seconds: Time limit of both, s.
        depth: Longest path, in steps.
    """
    search_s = SEARCH_SHARE * seconds
    return SearchLimits(seconds=search_s, more_seconds=SEARCH_SHARE_IF_LARGE * seconds - search_s, max_depth=depth)


def search_labels(seconds: float, depth: int, complete: bool) -> dict[str, str]:
    """Return the labels of the result of a search: its bounds, and whether nothing was left to try within them.

    Args:
        seconds: Time limit, s.
        depth: Longest path, in steps.
        complete: Whether nothing was left to try.
    """
    return {"seconds": f"{seconds:g}", "depth": str(depth), "complete": str(complete).lower()}


def practice_labels(wanted: int, made: int) -> dict[str, str]:
    """Return the labels of the result of a proposal: the number of tasks that were wanted, and that are there."""
    return {"wanted": str(wanted), "made": str(made)}


def falls_short(proposal: Result, wanted: int, more: bool) -> bool:
    """Return whether tasks are to be proposed again.

    Args:
        proposal: The earlier proposal.
        wanted: Number of tasks wanted now.
        more: Whether there is more to propose tasks for than there was then.
    """
    asked, made = (int(proposal.labels.get(name, "0")) for name in ("wanted", "made"))
    return made < wanted and (more or asked < wanted)


def is_exhausted(search: Result, seconds: float, depth: int) -> bool:
    """Return whether an earlier search did all that these bounds allow."""
    labels = search.labels
    deep = int(labels.get("depth", "0")) >= depth
    return deep and (labels.get("complete") == "true" or float(labels.get("seconds", "0")) >= seconds)
