"""Starting and stopping private desktops for real."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import stat
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from aci.applications.catalog import sockets_elsewhere
from aci.desktop.folders import common_folder
from aci.desktop.virtual import VirtualDesktop
from aci.errors import ConnectionLost, DesktopError, StartFailed
from aci.observation.geometry import Point, Rect
from aci.processes import belonging_to
from aci.screen.screen import open_display
from tests.integration.aci.seeing import LIMIT_S, until

pytestmark = pytest.mark.desktop


def traces(desktop_id: str, display: str, parent: Path | None = None) -> list[str]:
    """Return what is left of a desktop."""
    number = display.removeprefix(":")
    folder = common_folder(parent) / f"desktop-{desktop_id}"
    paths = [folder, Path(f"/tmp/.X11-unix/X{number}"), Path(f"/tmp/.X{number}-lock")]
    return [str(path) for path in paths if path.exists()] + [str(pid) for pid in belonging_to(desktop_id)]


def test_it_leaves_nothing_behind() -> None:
    for _ in range(3):
        desktop = VirtualDesktop()
        desktop.start()
        named = desktop.id, desktop.display
        assert traces(*named)
        desktop.stop()
        # Another desktop may take the number at once, so only what carries the id counts there.
        assert [trace for trace in traces(*named) if not trace.startswith("/tmp/.X")] == []


def test_a_desktop_describes_its_machine() -> None:
    with VirtualDesktop(size=(640, 480), environment={"LANG": "C.UTF-8"}) as desktop:
        machine = desktop.machine()
        assert (machine.size, machine.home, machine.language) == ((640, 480), str(desktop.home), "C.UTF-8")
        assert machine.desktop and machine.keyboard
        assert desktop.observe().pointer == Point(639, 479)  # where it points at nothing
        assert "~/Documents" in machine.folders
        for name in machine.applications[:5]:
            assert desktop.x11.applications.find(name).name == name


def test_a_daemon_that_left_its_session_and_parent_is_ended_too() -> None:
    with VirtualDesktop() as desktop:
        desktop.launch(["sh", "-c", "setsid sleep 1000 & setsid env -i sleep 1001 & exit 0"], wait_for_window=False)
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline and len(_sleepers()) < 2:
            time.sleep(0.01)
        assert len(_sleepers()) == 2
    # The one that also wiped its environment is out of reach once its parent has gone; only the marked one must end.
    left = _sleepers()
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert "sleep\x001000" not in [_command(pid) for pid in left]


def _sleepers() -> list[int]:
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [pid for pid in pids if _command(pid) in ("sleep\x001000", "sleep\x001001")]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode().rstrip("\0")
    except OSError:
        return ""


def test_two_side_by_side_do_not_see_each_other() -> None:
    with VirtualDesktop() as one, VirtualDesktop(size=(640, 480)) as other:
        assert one.display != other.display
        assert one.home != other.home
        assert one.environment["DBUS_SESSION_BUS_ADDRESS"] != other.environment["DBUS_SESSION_BUS_ADDRESS"]
        one.launch(["xterm", "-title", "only here"])
        assert [window.title for window in one.observe().windows] == ["only here"]
        assert other.observe().windows == ()
        assert one.observe().screenshot.shape == (800, 1280, 3)
        assert other.observe().screenshot.shape == (480, 640, 3)


def test_applications_get_a_private_home_and_only_the_given_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    with VirtualDesktop(environment={"EXTRA": "yes"}) as desktop:
        folders = {path.name for path in desktop.home.iterdir() if path.is_dir()}
        assert folders >= {"Desktop", "Documents", "Downloads", "Music", "Pictures", "Videos"}
        assert stat.S_IMODE(desktop.home.stat().st_mode) == 0o700
        assert 'XDG_DOWNLOAD_DIR="$HOME/Downloads"' in (desktop.home / ".config/user-dirs.dirs").read_text()
        assert stat.S_IMODE(Path(desktop.environment["XDG_RUNTIME_DIR"]).stat().st_mode) == 0o700
        seen = subprocess.run(["env"], env=desktop.environment, capture_output=True, text=True, check=True).stdout
        assert "EXTRA=yes" in seen
        assert "SOME_API_KEY" not in seen


def test_user_of_a_desktop_exists_though_the_environment_names_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("USER", raising=False)
    with VirtualDesktop() as desktop:
        assert pwd.getpwnam(desktop.environment["USER"]).pw_uid == os.getuid()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is the application that does this")
def test_a_socket_that_an_application_left_outside_is_removed() -> None:
    with VirtualDesktop() as desktop:
        home = desktop.home
        office = desktop.launch(["soffice", "--calc"], timeout_s=60)
        assert sockets_elsewhere(home) & set(Path("/tmp").iterdir())
        for pid in {window.pid for window in office.windows if window.pid}:
            os.kill(pid, signal.SIGKILL)
    assert not sockets_elsewhere(home) & set(Path("/tmp").iterdir())


def test_only_programs_of_this_user_are_admitted() -> None:
    with VirtualDesktop() as desktop:
        display = open_display(desktop.display)
        told = display.list_hosts()
        display.close()
    assert told.mode == 1  # the list is held to
    assert [bytes(host.name) for host in told.hosts] == [f"localuser\0#{os.getuid()}".encode()]


def test_a_home_that_is_to_be_kept_stays(parent: Path) -> None:
    with VirtualDesktop(keep_home=True, parent=parent) as desktop:
        home = desktop.home
        (home / "Documents/note.txt").write_text("kept")
    assert (home / "Documents/note.txt").read_text() == "kept"


def test_a_given_home_is_used_and_stays(tmp_path: Path) -> None:
    given = tmp_path / "mine"
    with VirtualDesktop(home=given) as desktop:
        assert desktop.environment["HOME"] == str(given)
        (given / "note.txt").write_text("mine")
    assert (given / "note.txt").read_text() == "mine"


def test_a_start_that_fails_half_way_leaves_nothing(tmp_path: Path, parent: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StartFailed, match="file"):
        VirtualDesktop(home=tmp_path / "file" / "home", parent=parent).start()
    assert list(common_folder(parent).iterdir()) == []


def test_a_folder_that_others_may_enter_is_refused(parent: Path) -> None:
    folder = common_folder(parent)
    folder.mkdir()
    folder.chmod(0o755)
    with pytest.raises(StartFailed, match="only you can access"):
        VirtualDesktop(parent=parent).start()


def test_a_path_too_long_for_sockets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match="too long"):
        VirtualDesktop(parent=tmp_path / ("x" * 60)).start()


def test_stop_may_be_called_twice_and_start_only_once() -> None:
    desktop = VirtualDesktop()
    desktop.start()
    try:
        with pytest.raises(DesktopError, match="already running"):
            desktop.start()
    finally:
        desktop.stop()
        desktop.stop()
    with pytest.raises(DesktopError, match="not running"):
        desktop.observe()


@pytest.mark.parametrize("size", [(10, 800), (1280, 100_000), (0, 0)])
def test_an_impossible_size_is_refused(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="px wide and high"):
        VirtualDesktop(size=size)


def test_windows_that_are_made_larger_than_the_screen_are_fitted_into_it() -> None:
    with VirtualDesktop(size=(800, 600)) as desktop, closing(open_display(desktop.display)) as display:
        window = display.screen().root.create_window(10, 10, 1500, 300, 0, 0)
        window.map()
        display.flush()
        until(
            desktop,
            lambda seen: [(each.frame.x, each.frame.width) for each in seen.windows if each.frame] == [(0, 800)],
        )
        window.configure(height=900)
        display.flush()
        until(desktop, lambda seen: seen.windows[0].frame == Rect(0, 0, 800, 600))


def test_a_screen_that_goes_away_is_reported() -> None:
    with VirtualDesktop() as desktop:
        desktop.observe()
        server = next(pid for pid in belonging_to(desktop.id) if _command(pid).startswith("/usr/bin/Xvfb"))
        os.kill(server, signal.SIGKILL)
        with pytest.raises(ConnectionLost):
            desktop.observe()
        named = desktop.id, desktop.display
    assert [trace for trace in traces(*named) if not trace.startswith("/tmp/.X")] == []


def test_a_reset_puts_everything_back() -> None:
    with VirtualDesktop((640, 480), keep_home=True) as desktop:
        first = sorted(path.relative_to(desktop.home) for path in desktop.home.rglob("*"))
        old = desktop.home
        (desktop.home / "left.txt").write_text("left")
        process = desktop.launch(["xterm"])
        desktop.reset()
        assert not process.running
        assert not old.exists()
        assert sorted(path.relative_to(desktop.home) for path in desktop.home.rglob("*")) == first
        assert desktop.observe().windows == ()
        kept = desktop.home
    assert kept.exists()  # what was asked for holds for the end, not for a reset
    shutil.rmtree(kept.parent)


def test_reset_of_an_existing_screen_ends_the_started_programs() -> None:
    with VirtualDesktop((640, 480)) as desktop:
        other = subprocess.Popen(["xterm"], env=desktop.environment)
        process = desktop.launch(["xterm"])
        assert desktop.x11.started == (process,)
        desktop.x11.reset()
        assert not process.running and not desktop.x11.started
        assert other.poll() is None
        other.kill()
        other.wait()


def test_a_given_home_is_not_put_back(tmp_path: Path) -> None:
    with VirtualDesktop((640, 480), home=tmp_path) as desktop, pytest.raises(DesktopError, match="cannot be restored"):
        desktop.reset()


def test_home_begins_with_a_copy_of_files_and_is_put_back_by_a_reset(parent: Path, tmp_path: Path) -> None:
    (tmp_path / "given" / "Documents").mkdir(parents=True)
    (tmp_path / "given" / "Documents" / "list.txt").write_text("milk")
    with VirtualDesktop(files=tmp_path / "given", parent=parent) as desktop:
        (desktop.home / "Documents" / "list.txt").write_text("bread")
        desktop.reset()
        assert (desktop.home / "Documents" / "list.txt").read_text() == "milk"
    assert (tmp_path / "given" / "Documents" / "list.txt").read_text() == "milk"


def test_missing_files_stop_the_desktop_again(parent: Path, tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match="could not be copied to the home"):
        VirtualDesktop(files=tmp_path / "missing", parent=parent).start()
    assert list(common_folder(parent).iterdir()) == []
