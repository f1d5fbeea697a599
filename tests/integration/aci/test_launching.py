"""Starting real applications, and those that do not start."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from aci.desktop.virtual import VirtualDesktop
from aci.errors import LaunchFailed
from tests.integration.aci.seeing import LIMIT_S

pytestmark = pytest.mark.desktop


def test_a_window_is_there_when_launch_returns(desktop: VirtualDesktop) -> None:
    process = desktop.launch(["xterm", "-title", "here I am"])
    assert process.running
    assert process.returncode is None
    assert process.window_titles == ("here I am",)
    assert [window.title for window in desktop.observe().windows] == ["here I am"]
    process.terminate()
    assert not process.running
    assert process.returncode is not None


def test_a_window_of_a_process_in_a_session_of_its_own_belongs_to_the_program(desktop: VirtualDesktop) -> None:
    process = desktop.launch(["sh", "-c", "setsid --wait xterm -title apart; exit 0"], timeout_s=LIMIT_S)
    try:
        assert process.window_titles == ("apart",)
    finally:
        desktop.reset()


def test_missing_program_suggests_similar_ones(desktop: VirtualDesktop) -> None:
    with pytest.raises(LaunchFailed, match=r"no program 'mousepda'.*Mousepad"):
        desktop.launch(["mousepda"])


def test_a_shell_line_is_refused(desktop: VirtualDesktop) -> None:
    with pytest.raises(LaunchFailed, match="list of program and arguments"):
        desktop.launch("xterm -e ls")  # type: ignore[arg-type]
    with pytest.raises(LaunchFailed, match="no program"):
        desktop.launch(["xterm -e ls"])


def test_program_that_ends_at_once_is_reported_with_its_output(desktop: VirtualDesktop) -> None:
    with pytest.raises(LaunchFailed, match=r"ended with status 3.*cannot open the frobnicator"):
        desktop.launch(["sh", "-c", "echo cannot open the frobnicator >&2; exit 3"])


@pytest.mark.skipif(os.geteuid() != 0, reason="not run by root")
def test_program_that_refuses_root_is_reported_with_a_remedy(desktop: VirtualDesktop) -> None:
    with pytest.raises(LaunchFailed, match=r"not supposed to be run as root.*run agent-s as an ordinary user"):
        desktop.launch(["sh", "-c", "echo This is not supposed to be run as root. Sorry. >&2; exit 1"])


def test_later_crash_is_noted_once(desktop: VirtualDesktop) -> None:
    process = desktop.launch(["sh", "-c", "kill -SEGV $$"], wait_for_window=False)
    assert process.wait(LIMIT_S) == -11
    assert process.crash == "SIGSEGV"
    assert "sh crashed (SIGSEGV)." in desktop.observe().notes
    assert "sh crashed (SIGSEGV)." not in desktop.observe().notes


def test_crash_right_after_the_window_opened_fails_the_launch(desktop: VirtualDesktop) -> None:
    with pytest.raises(LaunchFailed, match="xterm ended with status -11"):
        desktop.launch(["xterm", "-e", "sh", "-c", "kill -SEGV $PPID"])


def test_terminated_program_is_not_reported_as_crashed(desktop: VirtualDesktop) -> None:
    process = desktop.launch(["sleep", "60"], wait_for_window=False)
    process.terminate()
    assert process.crash is None
    assert not any("crashed" in note for note in desktop.observe().notes)


def test_program_without_a_window_is_ended(desktop: VirtualDesktop, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    with pytest.raises(LaunchFailed, match=r"showed no window within 0.3 s.*still thinking"):
        desktop.launch(["sh", "-c", f"echo $$ > {mark}; echo still thinking; exec sleep 60"], timeout_s=0.3)
    deadline = time.monotonic() + LIMIT_S
    while Path(f"/proc/{mark.read_text().strip()}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_program_without_a_window_need_not_be_waited_for(desktop: VirtualDesktop, tmp_path: Path) -> None:
    process = desktop.launch(["sh", "-c", "pwd; exit 7"], cwd=tmp_path, wait_for_window=False)
    assert process.wait(LIMIT_S) == 7
    assert process.last_words == str(tmp_path)


def test_a_program_that_cannot_be_run_is_reported(desktop: VirtualDesktop, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("no program\n")
    broken.chmod(0o755)
    with pytest.raises(LaunchFailed, match="could not be started"):
        desktop.launch([str(broken)])
