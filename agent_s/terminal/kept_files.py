"""A person's files from the home of a virtual desktop, which are kept beside the record of the run."""

from __future__ import annotations

import shutil
from pathlib import Path

from agent_s.terminal.progress import Display

FILES_FOLDER = "files"
MAX_KEPT_BYTES = 200_000_000
_CLOCK_S = 0.05  # the times of files lag behind the clock by a few milliseconds


def keep_files(home: Path, folder: Path, display: Display, since: float) -> None:
    """Copy the files that a run wrote or renamed from the home of a virtual desktop.

    Hidden files and links are left out; nothing is copied if the rest is larger than `MAX_KEPT_BYTES`.

    Args:
        home: The home.
        folder: The folder of the run.
        display: Is told of each copy.
        since: When the run began, s since 1970.
    """
    try:
        own = (path for path in sorted(home.rglob("*")) if _is_own_work(path, home))
        files = [path for path in own if path.stat().st_ctime >= since - _CLOCK_S]
        size = sum(path.stat().st_size for path in files)
        if size > MAX_KEPT_BYTES:
            display.notice(
                f"Files saved on the virtual desktop were not copied: {size / 1e6:.0f} MB, and at most"
                f" {MAX_KEPT_BYTES / 1e6:.0f} are."
            )
            return
        for path in files:
            copy = folder / FILES_FOLDER / path.relative_to(home)
            copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.copy2(path, copy)
            display.say(f"Copied from the virtual desktop: {copy}")
    except OSError as error:
        display.notice(f"Files saved on the virtual desktop could not be copied: {error.strerror or error}.")


def kept_files(folder: Path) -> list[Path]:
    """Return the files that were kept in the folder of a run."""
    return sorted(path for path in (folder / FILES_FOLDER).rglob("*") if path.is_file())


def _is_own_work(path: Path, home: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(home).parts)
    return not hidden and path.is_file() and not path.is_symlink()
