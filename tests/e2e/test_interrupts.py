"""Signals at any moment: the program ends in order, leaves nothing behind and loses nothing."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aci.desktop.virtual import VirtualDesktop
from agent_s.runs.listing import list_runs
from tests.e2e.command_line import AGENT_S, User, processes_of, recording

pytestmark = pytest.mark.desktop

PLAIN = ("-c", "memory.enabled=false", "-c", "reflection.enabled=false")
LONG = {"action": "wait", "time": 60}
END_LIMIT_S = 50.0
"""Shorter than the action, yet long enough on a busy machine."""
INTERRUPTED = (130, -signal.SIGINT)
"""Shells show both as 130; Python ends with the second if Ctrl-C arrives while it imports or exits."""


def read_until(process: subprocess.Popen[str], words: str) -> str:
    """Read the output of a process up to the line that contains these words."""
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        if words in line:
            return "".join(seen)
    raise AssertionError(f"the process ended without {words!r}: {''.join(seen)}")


def end(process: subprocess.Popen[str]) -> str:
    """Wait until a process ends, for less time than its action takes, and return the rest of its output."""
    try:
        return process.communicate(timeout=END_LIMIT_S)[0]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signal_during_an_action_ends_the_run_in_order(user: User, tmp_path: Path, number: int, status: int) -> None:
    model = recording(tmp_path / "model", "Wait", [LONG])
    process = user.start("run", "Wait", "--virtual", "--model", model, *PLAIN)
    read_until(process, "wait 60 s")
    os.killpg(process.pid, number)  # a terminal sends Ctrl-C to all processes in the foreground
    output = end(process)
    assert process.returncode == status
    assert "Stopped" in output
    assert f'To start it again: agent-s run --virtual --model "{model}" "Wait"' in output
    assert user.desktops() == []
    (run,) = list_runs(user.runs)
    assert run.status == "stopped"


def test_finished_subtasks_stay_in_memory(user: User, tmp_path: Path) -> None:
    model = recording(tmp_path / "model", "Wait", [{"action": "wait", "time": 0}], [LONG])
    process = user.start("run", "Wait", "--virtual", "--model", model)
    read_until(process, "wait 60 s")
    os.killpg(process.pid, signal.SIGINT)
    end(process)
    assert process.returncode == 130
    learned = json.loads(user.call("memory", "list", "--kind", "episodic", "--json").stdout)
    assert [experience["subtask"] for experience in learned] == ["part 1"]


def test_interrupted_run_releases_its_keys(user: User, tmp_path: Path) -> None:
    press = {"action": "hold_and_press", "hold_keys": ["ctrl", "shift"], "press_keys": ["F12"] * 60}
    model = recording(tmp_path / "model", "Press", [press, LONG])
    with VirtualDesktop(size=(640, 480)) as desktop:
        own = {"DISPLAY": desktop.display, "DBUS_SESSION_BUS_ADDRESS": desktop.environment["DBUS_SESSION_BUS_ADDRESS"]}
        process = user.start("run", "Press", "--model", model, *PLAIN, "-c", "policy.confirm=never", env=own)
        read_until(process, 'press "F12 F12')
        os.killpg(process.pid, signal.SIGINT)
        end(process)
        assert process.returncode == 130
        assert keys_down(desktop.display) == []


def test_mouse_in_a_corner_stops_a_run_on_the_users_screen(user: User, tmp_path: Path) -> None:
    model = recording(tmp_path / "model", "Wait", [LONG])
    with VirtualDesktop(size=(640, 480), ocr=None) as desktop:
        own = {"DISPLAY": desktop.display, "DBUS_SESSION_BUS_ADDRESS": desktop.environment["DBUS_SESSION_BUS_ADDRESS"]}
        process = user.start("run", "Wait", "--model", model, *PLAIN, env=own)
        read_until(process, "wait 60 s")
        push_the_mouse(desktop.display, 0, 479)
        output = end(process)
        assert process.returncode == 130
        assert "mouse was pushed into a corner" in output
        (run,) = list_runs(user.runs)
        assert run.status == "stopped"


def push_the_mouse(display_name: str, x: int, y: int) -> None:
    from aci.screen.screen import open_display

    display = open_display(display_name)
    try:
        display.screen().root.warp_pointer(x, y)
        display.sync()
    finally:
        display.close()


def keys_down(display_name: str) -> list[int]:
    from aci.screen.screen import open_display

    display = open_display(display_name)
    try:
        keymap = display.query_keymap()
    finally:
        display.close()
    return [8 * byte + bit for byte, bits in enumerate(keymap) for bit in range(8) if bits >> bit & 1]


@pytest.mark.slow
def test_ctrl_c_at_any_moment_of_the_start_leaves_nothing(user: User, tmp_path: Path) -> None:
    model = recording(tmp_path / "model", "Wait", [LONG])
    started = "print('Python runs', flush=True); import sys; from agent_s.cli import main; sys.exit(main())"
    for moment in (0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9, 1.2):
        program = (sys.executable, "-c", started)
        process = user.start("run", "Wait", "--virtual", "--model", model, *PLAIN, program=program)
        read_until(process, "Python runs")  # until then Python itself reports Ctrl-C as an error
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(moment)
        os.killpg(process.pid, signal.SIGINT)
        output = end(process)
        assert process.returncode in INTERRUPTED, output
        assert process.returncode < 0 or "Traceback" not in output, output
        assert user.desktops() == []


def test_second_ctrl_c_ends_the_program(user: User, tmp_path: Path) -> None:
    model = recording(tmp_path / "model", "Wait", [LONG])
    process = user.start("run", "Wait", "--virtual", "--model", model, *PLAIN)
    read_until(process, "wait 60 s")
    os.killpg(process.pid, signal.SIGINT)
    os.killpg(process.pid, signal.SIGINT)
    end(process)
    assert process.returncode in INTERRUPTED
    assert user.desktops() == []


def test_a_second_run_is_kept_off_the_screen_until_the_first_has_ended(user: User, tmp_path: Path) -> None:
    model = recording(tmp_path / "model", "Wait", [LONG])
    with VirtualDesktop(size=(800, 600), ocr=None) as desktop:
        bus = {"DBUS_SESSION_BUS_ADDRESS": desktop.environment["DBUS_SESSION_BUS_ADDRESS"]}
        process = user.start("run", "Wait", "--display", desktop.display, "--model", model, *PLAIN, env=bus)
        read_until(process, "wait 60 s")
        second = user.agent_s("run", "Wait 0 seconds", "--display", f"{desktop.display}.0", env=bus)
        assert second.returncode == 3
        assert "Another run is using the screen" in second.stderr
        prompted = user.agent_s("--display", desktop.display, input="Wait 0 seconds\nhelp\n", env=bus)
        assert "Another run is using the screen" in prompted.stdout + prompted.stderr
        assert "restore the desktop" in prompted.stdout
        os.killpg(process.pid, signal.SIGKILL)
        end(process)
        third = user.agent_s("run", "Wait 0 seconds", "--display", desktop.display, env=bus)
        assert third.returncode == 0, third.stderr


def test_ctrl_c_ends_the_demo_in_order(user: User) -> None:
    process = user.start("demo", "--only", "1")
    read_until(process, "1. ")
    os.killpg(process.pid, signal.SIGINT)
    output = end(process)
    assert process.returncode == 130
    assert "replayed" not in output
    assert user.desktops() == []
    (run,) = list_runs(user.runs)
    assert run.status == "stopped"


def test_desktop_of_a_killed_run_ends_and_the_record_stays_readable(user: User, tmp_path: Path) -> None:
    open_it = {"action": "switch_applications", "app_code": "mousepad"}
    model = recording(tmp_path / "model", "Wait", [open_it, LONG])
    process = user.start("run", "Wait", "--virtual", "--model", model, *PLAIN)
    read_until(process, "wait 60 s")
    left = user.desktops()
    assert len(left) == 1
    assert processes_of(left)
    process.kill()
    end(process)
    deadline = time.monotonic() + END_LIMIT_S
    while user.desktops() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert user.desktops() == []
    assert processes_of(left) == []

    shown = user.call("runs", "show", "last")
    assert "Cut off" in shown.stdout
    assert "2. wait 60 s" in shown.stdout
    assert user.agent_s("runs", "report", "last").returncode == 0


def on_a_terminal(user: User, *words: str) -> tuple[subprocess.Popen[bytes], int]:
    """Start a command on a terminal of its own; return the process and the other end of the terminal."""
    main_end, terminal = pty.openpty()
    process = subprocess.Popen(
        [*AGENT_S, *words],
        env=user.environment(COLUMNS="100", LINES="30"),
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    os.close(terminal)
    return process, main_end


@pytest.mark.slow
def test_ctrl_z_hands_the_screen_to_the_user_until_enter(user: User, tmp_path: Path) -> None:
    model = recording(tmp_path / "model", "Wait for it", [{"action": "wait", "time": 5}, LONG])
    process, main_end = on_a_terminal(user, "run", "Wait for it", "--virtual", "--model", model, *PLAIN)
    try:
        read_terminal(main_end, "wait 5 s")
        os.write(main_end, b"\x1a")
        seen = read_terminal(main_end, "Press Enter to hand it back")
        assert "wait 60 s" not in seen
        assert process.poll() is None
        os.write(main_end, b"\r")
        read_terminal(main_end, "wait 60 s")
        os.write(main_end, b"\x03")
        read_terminal(main_end, "To start it again")
        assert process.wait(END_LIMIT_S) == 130
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(main_end)


def test_live_display_on_a_terminal_ends_with_ctrl_c(user: User, tmp_path: Path) -> None:
    model = recording(tmp_path / "model", "Wait for it", [LONG])
    process, main_end = on_a_terminal(user, "run", "Wait for it", "--virtual", "--model", model, *PLAIN)
    try:
        seen = read_terminal(main_end, "wait 60 s")
        assert "Wait for it" in seen
        assert "Ctrl-C stops" in seen
        os.write(main_end, b"\x03")
        seen = read_terminal(main_end, "To start it again")
        assert "\x1b[?25h" in seen, "the cursor stays hidden"
        assert process.wait(END_LIMIT_S) == 130
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(main_end)


def test_ctrl_c_at_the_prompt_drops_the_line_and_keeps_the_desktop(user: User) -> None:
    process, main_end = on_a_terminal(user, "--virtual", "--model", "offline")
    try:
        read_terminal(main_end, "Ctrl-D leaves.", "> ")
        for _ in range(3):
            os.write(main_end, b"Click 'OK")
            read_terminal(main_end, "'OK")
            time.sleep(0.3)  # Python sees a signal right behind a key, before it waits again, only at the next key
            os.write(main_end, b"\x03")
            read_terminal(main_end, "Ctrl-D leaves.", "> ")
        os.write(main_end, b"Wait 0 seconds\r")
        read_terminal(main_end, "'details' shows every step")
        assert process.poll() is None
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(main_end)


def take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def read_terminal(descriptor: int, *texts: str) -> str:
    """Read from a terminal until these texts have appeared, one after the other."""
    expected = re.compile(".*".join(map(re.escape, texts)), re.DOTALL)
    seen = b""
    while not expected.search(seen.decode(errors="replace")):
        ready, _, _ = select.select([descriptor], [], [], END_LIMIT_S)
        assert ready, f"{texts} never came: {seen.decode(errors='replace')}"
        seen += os.read(descriptor, 65536)
    return seen.decode(errors="replace")
