"""Copies of the files that a run saves on a virtual desktop, kept with the recording of the run."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent_s.terminal.progress import Display

FILES_FOLDER = "files"
_CLOCK_S = 0.05  # file times lag behind the clock by a few milliseconds


@dataclass(frozen=True, slots=True)
class Kept:
    """The files of a run that were copied from its desktop."""

    copies: tuple[Path, ...] = ()
    in_place: bool = True  # whether all of them are in the run's folder; otherwise they are elsewhere or lost


NOTHING_SAVED = Kept()


def keep_files(home: Path, folder: Path | None, display: Display, since: float) -> Kept:
    """Copy the files that a run wrote or renamed from the home of a virtual desktop.

    Hidden files and links are skipped. If the run's folder is not writable, the files go to a new temporary folder.

    Args:
        home: The home directory of the desktop.
        folder: The run's folder; None if it could not be recorded.
        display: Shows each copy.
        since: Start of the run, s since the epoch.
    """
    files = list(_saved_files(home, since))
    if not files:
        return NOTHING_SAVED
    problem = "the run is not recorded"
    if folder is not None:
        try:
            return Kept(_copy(files, home, folder / FILES_FOLDER, display.say))
        except OSError as error:
            problem = error.strerror or str(error)
    display.notice(f"Files saved on the virtual desktop could not be copied to the folder of the run: {problem}.")
    try:
        elsewhere = Path(tempfile.mkdtemp(prefix="agent-s-files-"))
        return Kept(_copy(files, home, elsewhere, display.notice), in_place=False)
    except OSError as error:
        names = ", ".join(str(path.relative_to(home)) for path in files)
        display.notice(f"They are lost ({error.strerror or error}): {names}.")
        return Kept(in_place=False)


def kept_files(folder: Path) -> list[Path]:
    """Return the kept files in a run's folder."""
    return sorted(path for path in (folder / FILES_FOLDER).rglob("*") if path.is_file())


def _saved_files(home: Path, since: float) -> Iterator[Path]:
    for folder, subfolders, names in os.walk(home):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for path in (Path(folder, name) for name in sorted(names) if not name.startswith(".")):
            with suppress(FileNotFoundError):  # a temporary file that has been removed
                state = path.lstat()
                if stat.S_ISREG(state.st_mode) and state.st_ctime >= since - _CLOCK_S:
                    yield path


def _copy(files: list[Path], home: Path, target: Path, say: Callable[[str], None]) -> tuple[Path, ...]:
    """Copy all files that still exist from the home to another folder, or none of them."""
    copies: list[Path] = []
    try:
        for path in filter(Path.exists, files):
            copy = target / path.relative_to(home)
            copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            copies.append(copy)
            shutil.copy2(path, copy)
    except OSError:
        for copy in copies:
            copy.unlink(missing_ok=True)
        raise
    for copy in copies:
        say(f"Copied from the virtual desktop: {copy}")
    return tuple(copies)
