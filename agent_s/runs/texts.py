"""Deduplicated storage of the long texts of a run.

Consecutive screens and prompts share most of their lines. Therefore every distinct line is stored once in a file, as
JSON, and an event refers to its text by ranges of lines: `{"$lines": [[0, 41], [57, 58]]}`, with exclusive ends.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LONG = 200  # minimum number of characters of a text that is stored as ranges of lines
KEY = "$lines"


class TextWriter:
    """Writes the distinct lines of texts to a file that does not exist yet.

    Raises:
        OSError: It cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("x", encoding="utf-8")
        self._numbers: dict[str, int] = {}

    def without_long_texts(self, value: Any) -> Any:
        """Return a JSON value with long texts replaced by ranges of lines, which are written to disk."""
        shortened = self._shortened(value)
        self._file.flush()
        return shortened

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _shortened(self, value: Any) -> Any:
        match value:
            case str() if len(value) >= LONG:
                return {KEY: self._ranges(value)}
            case dict():
                return {name: self._shortened(part) for name, part in value.items()}
            case list():
                return [self._shortened(part) for part in value]
        return value

    def _ranges(self, text: str) -> list[list[int]]:
        ranges: list[list[int]] = []
        for line in text.split("\n"):  # not splitlines, which loses the kind of line break
            number = self._numbers.get(line)
            if number is None:
                number = self._numbers[line] = len(self._numbers)
                self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
            if ranges and ranges[-1][1] == number:
                ranges[-1][1] += 1
            else:
                ranges.append([number, number + 1])
        return ranges


class TextReader:
    """Restores texts written by a `TextWriter`; the file is read on first use."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: list[str] | None = None

    def with_long_texts(self, line: str) -> str:
        """Parse a line of JSON and restore its long texts.

        Raises:
            ValueError: It is no JSON, or names a line that does not exist.
            OSError: The file cannot be read.
        """
        if f'"{KEY}"' not in line:
            return line
        return json.dumps(self._restored(json.loads(line)), ensure_ascii=False)

    def _restored(self, value: Any) -> Any:
        match value:
            case {"$lines": list(ranges), **rest} if not rest:
                return "\n".join(self._line(number) for first, end in ranges for number in range(first, end))
            case dict():
                return {name: self._restored(part) for name, part in value.items()}
            case list():
                return [self._restored(part) for part in value]
        return value

    def _line(self, number: int) -> str:
        if self._lines is None or number >= len(self._lines):  # a current run still adds lines
            content = self._path.read_text("utf-8", errors="replace")
            self._lines = content.split("\n")[:-1]
        try:
            return str(json.loads(self._lines[number]))
        except IndexError:
            raise ValueError(f"{self._path.name} has no line {number + 1}") from None
