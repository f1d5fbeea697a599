"""Files that a replay wrote, and what they contain."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from openpyxl import Workbook

from agent_s.replay.written_files import FileContents, was_written, written_file


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "note.txt").write_text("The sum is 4368.", encoding="utf-8")
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet["A1"], sheet["B1"] = "Ink & paper", 4368
    sheet.column_dimensions["A"].width = 77
    book.save(tmp_path / "sheet.xlsx")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "value", "shown"),
    [
        ("~/note.txt", "4368", True),
        ("~/note.txt", "436", False),
        ("~/sheet.xlsx", "4368", True),
        ("~/sheet.xlsx", "Ink & paper", True),
        ("~/sheet.xlsx", "408", False),
        ("~/sheet.xlsx", "77", False),  # a width, which is no content
        ("~/missing.txt", "4368", False),
    ],
)
def test_value_in_a_file(home: Path, path: str, value: str, shown: bool) -> None:
    assert FileContents(home).show(path, value) is shown


def test_file_that_cannot_be_read_shows_nothing() -> None:
    assert not FileContents(None).show("~/note.txt", "4368")


def test_path_in_the_home_is_named_from_there(home: Path) -> None:
    assert written_file(f"{home}/note.txt", home, 0.0) == "~/note.txt"
    assert written_file("note.txt", home, 0.0) == "~/note.txt"


def test_file_counts_as_written_once_it_is_complete(home: Path) -> None:
    note, began = home / "note.txt", time.time() - 60
    assert not was_written("~/note.txt", home, began)
    os.utime(note, (began + 30, began + 30))
    assert was_written("~/note.txt", home, began)
    assert not was_written("~/note.txt", home, time.time())
    assert not was_written("~/missing.txt", home, began)
    assert was_written("~/missing.txt", None, began)


def test_file_is_read_once_for_all_values(home: Path) -> None:
    contents = FileContents(home)
    assert contents.show("~/note.txt", "4368")
    (home / "note.txt").unlink()
    assert contents.show("~/note.txt", "sum") and not FileContents(home).show("~/note.txt", "sum")
