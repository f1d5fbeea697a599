"""Files that a task names and its run wrote."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

_LONGEST = 400
_FILE = re.compile(r"(?:~?/)?[^\n/]+(?:/[^\n/]+)*\.\w{1,5}")


def written_file(text: str, home: Path | None, since: float) -> str:
    """Return the path of a recently written file that a text names, from "~" in the home; empty if there is none.

    Args:
        text: A typed text. A bare name is looked up in the home and its folders.
        home: Home of the applications; None if its files cannot be read.
        since: Only files that changed after this time count, s since the epoch.
    """
    text = text.strip()
    if home is None or len(text) > _LONGEST or not _FILE.fullmatch(text):
        return ""
    if text.startswith(("~/", "/")):
        return text if was_written(text, home, since) else ""
    if "/" in text:
        return ""
    folders = (home, *(path for path in _folders(home)))
    found = [f"~/{(folder / text).relative_to(home)}" for folder in folders if _is_new(folder / text, since)]
    return found[0] if len(found) == 1 else ""


def was_written(path: str, home: Path | None, since: float) -> bool:
    """Return whether a file, named from "/" or "~", was written after a time; True if files cannot be read."""
    if home is None:
        return True
    place = home / PurePosixPath(path).relative_to("~") if path.startswith("~/") else Path(path)
    return _is_new(place, since)


def _folders(home: Path) -> list[Path]:
    try:
        return [path for path in home.iterdir() if path.is_dir() and not path.name.startswith(".")]
    except OSError:
        return []


def _is_new(path: Path, since: float) -> bool:
    try:
        # File times are coarser than the clock of a process.
        return path.is_file() and path.stat().st_mtime >= since - 0.1
    except OSError:
        return False
