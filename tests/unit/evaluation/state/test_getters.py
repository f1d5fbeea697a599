from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import CheckFailed, NotAllowed
from evaluation.state.context import TaskContext
from tests.unit.evaluation.fakes import FakeDesktop, FakeWindows, a_window
from tests.unit.evaluation.judging import read


def test_vm_file_is_the_path_and_absent_if_missing(context: TaskContext, home: Path) -> None:
    (home / "Documents/a.txt").write_text("x")

    assert read(context, "vm_file", path="/home/user/Documents/a.txt", dest="a.txt").value == home / "Documents/a.txt"
    absent = read(context, "vm_file", path="~/Documents/b.txt")
    assert (absent.value, absent.evidence) == (None, "~/Documents/b.txt does not exist")
    assert read(context, "vm_file", path="~/Documents").value is None


def test_vm_file_text_leaves_out_the_last_line_end_only(context: TaskContext, home: Path) -> None:
    (home / "a.txt").write_text(" first\n\nsecond \n", encoding="utf-8")

    reading = read(context, "vm_file_text", path="~/a.txt")

    assert reading.value == " first\n\nsecond "
    assert reading.evidence == "~/a.txt: ' first\\n\\nsecond '"
    assert read(context, "vm_file_text", path="~/b.txt").value is None


def test_missing_fixture_is_an_error(context: TaskContext, folder: Path) -> None:
    (folder / "expected.txt").write_text("x")

    assert read(context, "local_file", path="expected.txt").value == folder / "expected.txt"
    with pytest.raises(CheckFailed, match=r"fixture gone\.txt is missing"):
        read(context, "local_file", path="gone.txt")


def test_vm_command_line_is_the_output_whatever_the_status(context: TaskContext, home: Path) -> None:
    (home / "a.txt").write_text("four\n")

    assert read(context, "vm_command_line", command=["cat", "~/a.txt"]).value == "four\n"
    assert read(context, "vm_command_line", command=["cat", "~/gone.txt"]).value == ""
    assert "No such file" in read(context, "vm_command_error", command=["cat", "~/gone.txt"]).value


@pytest.mark.parametrize(
    ("command", "shell", "output"),
    [
        ("echo 'a b' | wc -w", True, "2\n"),
        ("echo 'a b' | wc -w", False, "a b | wc -w\n"),
        (["echo $0 $1", "x", "y"], True, "x y\n"),
        (["echo", "/home/user/a", "$HOME"], False, "HOME/a $HOME\n"),
        ("cd /home/user && pwd", "true", "HOME\n"),
    ],
)
def test_text_is_for_the_shell_only_where_the_file_says_so(
    context: TaskContext, home: Path, command: Any, shell: Any, output: str
) -> None:
    expected = output.replace("HOME", str(home)).replace(f"${home}", "$HOME")

    assert read(context, "vm_command_line", command=command, shell=shell).value == expected


def test_command_is_refused_unless_it_is_allowed(context: TaskContext) -> None:
    context.commands = False

    with pytest.raises(NotAllowed, match="--allow-commands"):
        read(context, "vm_command_line", command=["id"])


def test_server_submissions_are_the_posted_forms(context: TaskContext, folder: Path) -> None:
    server = context.start_server(folder, {})
    assert read(context, "server_submissions").value is None

    server.keep("/received.html", "name=Ada&tag=a&tag=b")

    reading = read(context, "server_submissions")
    assert reading.value == [{"path": "/received.html", "fields": {"name": "Ada", "tag": ["a", "b"]}}]
    assert '"name": "Ada"' in reading.evidence


def test_server_submissions_without_a_server_is_an_error(context: TaskContext) -> None:
    with pytest.raises(CheckFailed, match="`serve` step"):
        read(context, "server_submissions")


def test_active_window_title_is_absent_without_an_active_window(context: TaskContext, home: Path, folder: Path) -> None:
    windows = [a_window(1, "Front", active=True), a_window(2, "Back")]
    with_windows = TaskContext(FakeDesktop(home, windows), FakeWindows(), folder)

    assert read(with_windows, "active_window_title").value == "Front"
    assert read(context, "active_window_title").value is None


def test_unreadable_file_is_an_error_and_not_an_empty_text(context: TaskContext, home: Path) -> None:
    (home / "huge.txt").touch()
    with (home / "huge.txt").open("wb") as file:
        file.truncate(20_000_000)

    with pytest.raises(CheckFailed, match="more than"):
        read(context, "vm_file_text", path="~/huge.txt")
