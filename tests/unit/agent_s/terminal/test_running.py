"""Runs from the command line: the choice of the desktop, the exit status, and what is written."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click
import pytest

from aci.acting.actions import Action, Click
from aci.observation.observation import Observation
from aci.screen.emergency_stop import Halt
from agent_s.errors import TrajectoryError
from agent_s.runs.listing import find_run
from agent_s.runs.reading import read_trajectory
from agent_s.settings import Settings, load_settings
from agent_s.terminal.desktop_choice import DesktopChoice, choose_desktop, with_files
from agent_s.terminal.running import make_task, run_once
from tests.unit.agent_s.fakes import FakeDesktop, button, screen


@pytest.fixture(autouse=True)
def no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE"):
        monkeypatch.delenv(name, raising=False)


def test_own_screen_is_used_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_desktop(None, virtual=False).display is None
    monkeypatch.setenv("DISPLAY", ":7")
    assert choose_desktop(None, virtual=False).display == ":7"
    assert choose_desktop(None, virtual=True).display is None
    with pytest.raises(click.UsageError):
        choose_desktop(":7", virtual=True)


def test_wayland_session_is_used_only_where_it_is_asked_for_and_says_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    left = choose_desktop(None, virtual=False)
    assert left.display is None
    assert "--display :7" in left.words
    asked = choose_desktop(":7", virtual=False)
    assert asked.display == ":7"
    assert "only XWayland windows" in asked.words
    assert "--virtual" in asked.words
    assert choose_desktop(":9", virtual=False).words == "the screen :9"  # another server, such as Xvfb
    monkeypatch.delenv("DISPLAY")
    assert "Wayland" in choose_desktop(None, virtual=False).words


def test_files_are_for_virtual_desktops(tmp_path: Path) -> None:
    assert with_files(choose_desktop(None, virtual=True), tmp_path).files == tmp_path
    with pytest.raises(click.UsageError, match="--virtual"):
        with_files(choose_desktop(":7", virtual=False), tmp_path)
    assert with_files(choose_desktop(":7", virtual=False), None).display == ":7"


class PrivateDesktop(FakeDesktop):
    """A desktop with a home of its own, whose button OK opens another screen."""

    def __init__(self, home: Path) -> None:
        super().__init__(screen(button(1, "OK")), self._click)
        self._home = home

    @property
    def private(self) -> bool:
        return True

    @property
    def home(self) -> Path:
        return self._home

    def _click(self, action: Action, seen: Observation) -> Observation:
        if isinstance(action, Click):
            (self._home / "note.txt").write_text("saved")
            (self._home / ".hidden").write_text("a setting")
            return screen(button(2, "Saved"))
        return seen


class FakeChoice(DesktopChoice):
    def open(self, settings: Settings) -> Any:
        home = settings.runs_folder.parent / "home"
        home.mkdir(exist_ok=True)
        return nullcontext(PrivateDesktop(home))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    folders = {"runs_dir": str(tmp_path / "runs"), "memory.path": str(tmp_path / "memory.sqlite")}
    return load_settings(overrides={**folders, "memory.embedder": "hashing"})


def run(instruction: str, settings: Settings, as_json: bool = False, record: Path | None = None) -> int:
    choice = FakeChoice(None, "a fake desktop")
    return run_once(make_task(instruction), settings, choice, as_json=as_json, quiet=True, record=record)


def test_a_task_that_is_done_is_status_0_and_recorded_with_its_files(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("Click 'OK'.", settings, as_json=True) == 0
    values = json.loads(capsys.readouterr().out)
    folder = find_run(settings.runs_folder, "last")
    assert (values["task"], values["status"], values["model"]) == ("Click 'OK'.", "done", "offline")
    assert (values["display"], values["run"], values["report"]) == (None, str(folder), str(folder / "report.html"))
    assert values["files"] == [str(folder / "files" / "note.txt")]
    assert read_trajectory(folder).problem == ""


def test_files_that_the_folder_of_the_run_does_not_take_are_kept_elsewhere_and_are_status_3(
    settings: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)  # which Python remembers
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "files").write_text("in the way")
    assert run("Click 'OK'.", settings, as_json=True, record=tmp_path / "mine") == 3
    told = capsys.readouterr()
    (kept,) = json.loads(told.out)["files"]
    assert Path(kept).read_text() == "saved"
    assert kept in told.err
    assert (tmp_path / "mine" / "files").read_text() == "in the way"


def test_files_of_a_run_that_is_not_recorded_are_kept_elsewhere(
    settings: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "no folder").write_text("")
    assert run("Click 'OK'.", settings, as_json=True, record=tmp_path / "no folder" / "run") == 3
    (kept,) = json.loads(capsys.readouterr().out)["files"]
    assert Path(kept).read_text() == "saved"


def test_files_that_can_be_kept_nowhere_are_named_as_lost(
    settings: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    (tmp_path / "no folder").write_text("")
    assert run("Click 'OK'.", settings, as_json=True, record=tmp_path / "no folder" / "run") == 3
    told = capsys.readouterr()
    assert json.loads(told.out)["files"] == []
    assert "lost" in told.err
    assert "note.txt" in told.err


def test_a_stop_while_the_desktop_is_being_opened_holds(settings: Settings) -> None:
    class Stopped(FakeChoice):
        def open(self, settings: Settings) -> Any:
            opened = super().open(settings)
            opened.enter_result.emergency_stop = Halt()
            opened.enter_result.emergency_stop.call("the stop key was pressed")
            return opened

    with pytest.raises(KeyboardInterrupt):
        run_once(make_task("Click 'OK'."), settings, Stopped(None, "a fake desktop"), as_json=False, quiet=True)
    assert not (settings.runs_folder.parent / "home" / "note.txt").exists()


def test_files_are_kept_from_a_run_that_breaks_off(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    class Breaking(PrivateDesktop):
        def _click(self, action: Action, seen: Observation) -> Observation:
            if seen.by_id.get(2) is not None:
                raise RuntimeError("a fault of this program")
            return super()._click(action, seen)

    monkeypatch.setattr(f"{__name__}.PrivateDesktop", Breaking)
    with pytest.raises(RuntimeError, match="a fault"):
        run("Click 'OK'. Click 'Saved'.", settings)
    assert (find_run(settings.runs_folder, "last") / "files" / "note.txt").read_text() == "saved"


def test_files_that_a_run_left_alone_are_not_copied(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    given = settings.runs_folder.parent / "home" / "given.txt"
    given.parent.mkdir()
    given.write_text("as it was")
    time.sleep(0.1)  # a file counts as written up to 0.1 s before the run, since the times of files are coarse
    assert run("Click 'OK'.", settings, as_json=True) == 0
    assert [Path(file).name for file in json.loads(capsys.readouterr().out)["files"]] == ["note.txt"]


def test_a_task_that_fails_is_status_1_with_the_reason(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("Click 'Cancel'.", settings) == 1
    out = capsys.readouterr().out
    assert "Cancel" in out
    assert "Report: " in out


def test_the_way_out_is_named_where_the_offline_model_does_not_understand(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("Bitte schreibe einen Brief.", settings) == 1
    assert "--model" in capsys.readouterr().out
    assert run("Click 'Cancel'.", settings) == 1
    told = capsys.readouterr().out
    assert "Cancel" in told


def test_a_run_can_be_recorded_in_a_folder_of_ones_own(settings: Settings, tmp_path: Path) -> None:
    assert run("Click 'OK'.", settings, record=tmp_path / "mine") == 0
    assert read_trajectory(tmp_path / "mine").events
    with pytest.raises(TrajectoryError):
        find_run(settings.runs_folder, "last")


@pytest.mark.parametrize("instruction", ["  ", "x" * 30_000])
def test_an_empty_or_endless_instruction_is_wrong_usage(instruction: str) -> None:
    with pytest.raises(click.UsageError, match="TASK: "):
        make_task(instruction)
