"""Files that a run writes: finding them by name, and checking that they are complete."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from agent_s.probes.documents import read_document
from agent_s.probes.places import MAX_BYTES, NotReadable, folders_of
from agent_s.records import GroundedStep
from intents.alignment import holds

_MAX_PATH = 400
COMPLETE_S = 0.1  # a file that has not changed for this long is complete
_FILE = re.compile(r"(?:~?/)?[^\n/]+(?:/[^\n/]+)*\.\w{1,5}")


def written_file(text: str, home: Path | None, since: float) -> str:
    """Return the path of a recently written file that a text names, relative to "~" in the home; empty if none.

    Args:
        text: A typed text. A bare name is looked up in the home directory and its folders.
        home: Home directory of the applications; None if its files cannot be read.
        since: Only files that were written after this time count, s since the epoch.
    """
    text = text.strip()
    if home is not None and text.startswith(f"{home}/"):
        text = f"~/{text[len(str(home)) + 1 :]}"
    if home is None or len(text) > _MAX_PATH or not _FILE.fullmatch(text):
        return ""
    if text.startswith(("~/", "/")):
        return text if _is_new(_resolve(text, home), since) else ""
    if "/" in text:
        return ""
    found = [f"~/{(folder / text).relative_to(home)}" for folder in folders_of(home) if _is_new(folder / text, since)]
    return found[0] if len(found) == 1 else ""


def was_written(path: str, home: Path | None, since: float) -> bool:
    """Return whether a file, named from "/" or "~", was written after a time and is complete.

    True if files cannot be read.
    """
    if home is None:
        return True
    place = _resolve(path, home)
    try:
        return _is_new(place, since) and abs(time.time() - place.stat().st_mtime) > COMPLETE_S
    except OSError:  # it has been removed
        return False


def without_files(steps: Sequence[GroundedStep]) -> tuple[GroundedStep, ...]:
    """Return steps that do not expect any file to be written."""
    return tuple(step.model_copy(update={"end": step.end.model_copy(update={"files": ()})}) for step in steps)


def _resolve(path: str, home: Path) -> Path:
    return home / PurePosixPath(path).relative_to("~") if path.startswith("~/") else Path(path)


@dataclass(eq=False, slots=True)
class FileContents:
    """Cached contents of files, read on first use."""

    home: Path | None  # home directory of the applications; None if its files cannot be read
    _texts: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False)

    def show(self, path: str, value: str) -> bool:
        """Return whether a file, named from "/" or "~", contains a value in its text or in a cell."""
        if path not in self._texts:
            self._texts[path] = _texts_of(_resolve(path, self.home)) if self.home is not None else ()
        return any(holds(text, value) for text in self._texts[path])


def _texts_of(place: Path) -> tuple[str, ...]:
    """Return the text of a file and the cells of its sheets in all their formats; () if it cannot be read."""
    try:
        if place.stat().st_size > MAX_BYTES:
            return ()
        document = read_document(place.read_bytes())
    except (OSError, NotReadable):
        return ()
    return (document.text, *(form for several in document.cells.values() for form in several))


def _is_new(path: Path, since: float) -> bool:
    try:
        # File times are coarser than the clock of a process.
        return path.is_file() and path.stat().st_mtime >= since - 0.1
    except OSError:
        return False
