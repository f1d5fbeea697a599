"""Following of runs that are still being recorded, from this or another process."""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from aci.remote.addresses import is_address
from agent_s.errors import TrajectoryError
from agent_s.events import EVENT_ADAPTER, Event
from agent_s.records import Record
from agent_s.runs.reading import EVENTS_FILE, TEXTS_FILE, read_version
from agent_s.runs.texts import TextReader

LIVE_FILE = "live.json"

logger = logging.getLogger(__name__)


class LiveInfo(Record):
    """Where a current run can be watched; stored in its folder while the run lasts."""

    display: str = ""  # the X display that it works on; empty if that is on another machine
    view: str = ""  # address of its own view; empty if it has none


class RunFollower:
    """Reads the events of a run as they are recorded."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / EVENTS_FILE
        self._texts = TextReader(folder / TEXTS_FILE)
        self._read = 0
        self._number = 0

    def new_events(self) -> list[Event]:
        """Return the events that were recorded since the last call, in order.

        Raises:
            TrajectoryError: There is no run, a newer version wrote it, or an event is damaged.
        """
        try:
            with self._path.open("rb") as file:
                file.seek(self._read)
                whole, newline, _ = file.read().rpartition(b"\n")
        except OSError as error:
            raise TrajectoryError(f"There is no readable run in {self._path.parent}: {error.strerror}.") from error
        self._read += len(whole) + len(newline)
        events = []
        for line in whole.decode("utf-8", errors="replace").split("\n") if newline else ():
            self._number += 1
            if self._number == 1:
                read_version(self._path.parent, line)
                continue
            try:
                events.append(EVENT_ADAPTER.validate_json(self._texts.with_long_texts(line)))
            except (ValueError, OSError) as error:
                why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
                raise TrajectoryError(f"{self._path}, line {self._number} is damaged: {why}") from error
        return events


def is_being_recorded(folder: Path) -> bool:
    """Return whether a run is being recorded: its recorder holds a lock until the run ends or is killed."""
    try:
        with (folder / EVENTS_FILE).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def read_live_info(folder: Path) -> LiveInfo | None:
    """Return where a run can be watched; None if it is over or there is no such information."""
    if not is_being_recorded(folder):
        return None
    try:
        return LiveInfo.model_validate_json((folder / LIVE_FILE).read_bytes())
    except (OSError, ValidationError):
        return None


@contextmanager
def publish_live_info(folder: Path, display: str, view: str = "") -> Iterator[None]:
    """Publish within a `with` block where a run can be watched, readable by its owner only.

    Args:
        folder: Folder of the run.
        display: The X display that it works on, or the address of a machine, which cannot be watched.
        view: Address of its own view, if it has one.
    """
    info = LiveInfo(display="" if is_address(display) else display, view=view)
    partial = folder / f"{LIVE_FILE}.partial"
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(info.model_dump_json().encode())
        partial.replace(folder / LIVE_FILE)
    except OSError as error:  # the run matters more
        logger.warning("%s does not say where its run can be watched: %s", folder, error)
    try:
        yield
    finally:
        (folder / LIVE_FILE).unlink(missing_ok=True)
