from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from evaluation.errors import PreparationFailed
from evaluation.state import steps
from evaluation.state.context import TaskContext
from evaluation.state.parameters import parameters_of
from evaluation.state.steps import STEPS
from tests.unit.evaluation.fakes import FakeDesktop, FakeWindows, a_window
from tests.unit.evaluation.judging import perform


def do(context: TaskContext, kind: str, **parameters: Any) -> None:
    perform(context, kind, **parameters)


def with_windows(context: TaskContext, windows: FakeWindows) -> TaskContext:
    return TaskContext(context.desktop, windows, context.folder)


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "WINDOW_LIMIT_S", 0.2)


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    running = subprocess.Popen(["sleep", "60"])
    yield running
    running.kill()
    running.wait()


def test_launch_starts_the_program_with_the_desktops_home(context: TaskContext, home: Path) -> None:
    do(context, "launch", command=["mousepad", "~/a.txt"])

    assert isinstance(context.desktop, FakeDesktop)
    assert context.desktop.launched == [["mousepad", f"{home}/a.txt"]]


def test_error_of_a_missing_application_names_the_step(context: TaskContext) -> None:
    with pytest.raises(PreparationFailed, match=r"step 'launch': There is no program 'gimp'"):
        do(context, "launch", command=["gimp"])


@pytest.mark.parametrize("kind", ["execute", "command"])
def test_command_runs_to_its_end_and_its_status_does_not_count(context: TaskContext, home: Path, kind: str) -> None:
    do(context, kind, command=["touch", "~/made"])

    assert (home / "made").is_file()
    do(context, kind, command=["ls", "~/absent"], stderr="error.txt")
    assert "absent" in context.cached("error.txt").read_text()
    with pytest.raises(PreparationFailed, match=rf"step '{kind}': there is no program 'gone'"):
        do(context, kind, command=["gone"])


def test_pages_are_opened_in_the_browser(home: Path, folder: Path) -> None:
    desktop = FakeDesktop(home, programs=["chromium"])
    desktop.environment = {"PATH": ""}

    do(
        TaskContext(desktop, FakeWindows(), folder),
        "chrome_open_tabs",
        urls_to_open=["http://a.test/", "http://b.test/"],
    )

    assert desktop.launched == [["chromium", "http://a.test/", "http://b.test/"]]
    with pytest.raises(ValidationError):
        do(TaskContext(desktop, FakeWindows(), folder), "chrome_open_tabs", urls_to_open=["--load-extension=x"])


def test_pages_open_in_a_running_browser_without_waiting_for_a_window(home: Path, folder: Path) -> None:
    desktop = FakeDesktop(home, programs=["chromium"])
    for app, waits in (("Mousepad", True), ("Chromium", False)):
        windows = FakeWindows(replace(a_window(1, "A page"), app=app))
        do(TaskContext(desktop, windows, folder), "chrome_open_tabs", urls_to_open=["http://a.test/"])
        assert desktop.waited_for_window is waits


@pytest.mark.parametrize("kind", ["launch", "execute"])
@pytest.mark.parametrize("command", ["", []])
def test_empty_command_is_refused_by_a_step(kind: str, command: Any) -> None:
    with pytest.raises(ValueError, match="command"):
        parameters_of(STEPS[kind]).model_validate({"command": command})


def test_opening_a_missing_file_is_an_error(context: TaskContext) -> None:
    with pytest.raises(PreparationFailed, match=r"no file ~/gone\.txt"):
        do(context, "open", path="~/gone.txt")


def test_upload_copies_fixtures_into_the_home_only(context: TaskContext, home: Path, folder: Path) -> None:
    (folder / "a.txt").write_text("fixture")

    do(context, "upload_file", files=[{"local_path": "a.txt", "path": "/home/user/new/b.txt"}])

    assert (home / "new/b.txt").read_text() == "fixture"
    with pytest.raises(PreparationFailed, match="not in the desktop's home"):
        do(context, "upload_file", files=[{"local_path": "a.txt", "path": "~/../outside.txt"}])
    with pytest.raises(PreparationFailed, match="cannot copy"):
        do(context, "upload_file", files=[{"local_path": "gone.txt", "path": "~/b.txt"}])


def test_activate_window_matches_a_part_of_the_title_unless_strict(context: TaskContext) -> None:
    windows = FakeWindows(a_window(1, "Notes - Editor"), a_window(2, "Other"))

    do(with_windows(context, windows), "activate_window", window_name="editor")

    assert windows.activated == [1]
    with pytest.raises(PreparationFailed, match=r"no window 'editor' came.*'Notes - Editor', 'Other'"):
        do(with_windows(context, windows), "activate_window", window_name="editor", strict=True)


def test_window_that_does_not_come_to_the_front_is_an_error(context: TaskContext) -> None:
    with pytest.raises(PreparationFailed, match="did not come to the front"):
        do(with_windows(context, FakeWindows(a_window(1, "A"), stubborn=[1])), "activate_window", window_name="A")


def test_close_window_closes_the_dialog_before_the_window_behind_it(context: TaskContext) -> None:
    windows = FakeWindows(a_window(1, "Table - Office"), a_window(2, "Restart Office"))

    do(with_windows(context, windows), "close_window", window_name="Office")

    assert windows.asked_to_close == [2, 1]
    assert windows.open == []


def test_close_window_leaves_other_windows_open(context: TaskContext) -> None:
    windows = FakeWindows(a_window(1, "Other"))

    do(with_windows(context, windows), "close_window", window_name="Office", until_exit=True)

    assert windows.asked_to_close == []


@pytest.mark.parametrize(("until_exit", "asked"), [(True, [3, 1]), (False, [1])])
def test_until_exit_closes_all_windows_of_the_process(
    context: TaskContext, process: subprocess.Popen[bytes], until_exit: bool, asked: list[int]
) -> None:
    process.kill()
    process.wait()
    ours, other = process.pid, 1
    windows = FakeWindows(a_window(2, "Other", pid=other), a_window(1, "Office", pid=ours))
    windows.open += [a_window(3, "Options", pid=ours)] if until_exit else []

    do(with_windows(context, windows), "close_window", window_name="Office", until_exit=until_exit)

    assert windows.asked_to_close == asked
    assert [window.id for window in windows.open] == [2]


def test_window_that_does_not_close_is_an_error(context: TaskContext) -> None:
    windows = FakeWindows(a_window(1, "Office"), stubborn=[1])

    with pytest.raises(PreparationFailed, match="did not close within"):
        do(with_windows(context, windows), "close_window", window_name="Office")
    assert windows.asked_to_close == [1]


def test_until_exit_waits_for_the_process(context: TaskContext, process: subprocess.Popen[bytes]) -> None:
    def windows() -> FakeWindows:
        return FakeWindows(a_window(1, "Office", pid=process.pid))

    with pytest.raises(PreparationFailed, match="did not end after its window closed"):
        do(with_windows(context, windows()), "close_window", window_name="Office", until_exit=True)
    process.kill()
    do(with_windows(context, windows()), "close_window", window_name="Office", until_exit=True)


def test_a_command_waits_for_its_window_and_for_another_command(context: TaskContext) -> None:
    allowed = TaskContext(context.desktop, FakeWindows(a_window(1, "Office")), context.folder, commands=True)
    verification = {"window_exists": "Off", "command_success": "true"}

    do(allowed, "execute_with_verification", command=["true"], verification=verification)
    with pytest.raises(PreparationFailed, match="did not happen within"):
        never = {"window_exists": "Off", "command_success": "false"}
        limits = {"max_wait_time": 0.01, "check_interval": 0.01}
        do(allowed, "execute_with_verification", command=["true"], verification=never, **limits)


def test_served_pages_contain_fresh_codes(context: TaskContext, folder: Path) -> None:
    (folder / "pages").mkdir()
    (folder / "pages/a.html").write_text("{my_code}")
    other = TaskContext(context.desktop, context.windows, folder)

    do(context, "serve", folder="pages", codes=["my_code"])
    with other.resources:
        do(other, "serve", folder="pages", codes=["my_code"])
        assert other.values != context.values

    code = context.values["my_code"]
    assert re.fullmatch(r"[A-Z]{3}-\d{4}", code)
    assert httpx.get(f"{context.values['server']}/a.html").text == code


def test_missing_folder_or_second_server_is_an_error(context: TaskContext, folder: Path) -> None:
    (folder / "pages").mkdir()
    with pytest.raises(PreparationFailed, match=r"no folder .*absent to serve"):
        do(context, "serve", folder="absent")

    do(context, "serve", folder="pages")
    with pytest.raises(PreparationFailed, match="at most one server"):
        do(context, "serve", folder="pages")
