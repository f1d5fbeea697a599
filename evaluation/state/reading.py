"""Reading of applications' files and texts, and the errors it can meet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError
from zipfile import BadZipFile

from evaluation.errors import CheckFailed

MAX_EXCERPT = 300
MAX_TEXT_BYTES = 10_000_000


@dataclass(frozen=True, slots=True)
class Reading:
    """What a getter found."""

    value: Any  # what metrics judge; None if it is absent
    evidence: str  # what was found and where, for a report


class WrongFormat(Exception):
    """A file is not of the format that a metric judges: a result scores 0, an expected file is an error."""

    def __init__(self, path: Path, kind: str) -> None:
        super().__init__(f"{path.name} is not {kind}")
        self.path = path


@contextmanager
def as_format(path: Path, kind: str, *errors: type[Exception]) -> Iterator[None]:
    """Raise `WrongFormat` if the body cannot read a file.

    Args:
        path: The file.
        kind: Its format with an article, such as "a docx document".
        errors: Errors of the reader, besides those of zip files, XML and Python.
    """
    unreadable: tuple[type[Exception], ...] = (BadZipFile, ParseError, KeyError, ValueError, *errors)
    try:
        yield
    except unreadable as error:
        raise WrongFormat(path, kind) from error


def read_text(path: Path) -> str:
    """Read a text file.

    Raises:
        CheckFailed: It cannot be read, or is too large to be what an application saved in a task.
    """
    try:
        if path.stat().st_size > MAX_TEXT_BYTES:
            raise CheckFailed(f"{path.name} has more than {MAX_TEXT_BYTES} bytes")
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise CheckFailed(f"{path.name} cannot be read: {error.strerror or error}") from error


def excerpt(text: str) -> str:
    """Return a text in quotes, cut where it is long."""
    return repr(text if len(text) <= MAX_EXCERPT else text[:MAX_EXCERPT] + "…")
