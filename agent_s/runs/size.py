"""The size of a recorded run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from agent_s.runs.reading import EVENTS_FILE, SCREENS_FOLDER, SENT_FOLDER, TEXTS_FILE


@dataclass(frozen=True, slots=True)
class RunSize:
    """The bytes of a run's folder by kind, without pages written later."""

    events: int  # the events themselves
    texts: int  # their long texts: screens as text, prompts and answers
    screens: int  # screenshots
    sent: int  # pictures that a model was sent

    @property
    def total(self) -> int:
        """All bytes."""
        return sum(asdict(self).values())

    def __str__(self) -> str:
        return ", ".join(f"{kind} {in_units(number)}" for kind, number in asdict(self).items() if number)


def measure_run(folder: Path) -> RunSize:
    """Return the size of a recorded run; what is missing counts as 0."""
    parts = (EVENTS_FILE, TEXTS_FILE, SCREENS_FOLDER, SENT_FOLDER)
    return RunSize(*(_bytes_of(folder / part) for part in parts))


def in_units(number: float) -> str:
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
