"""Finding and ending processes, and what they leave."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from aci.desktop.private_session import missing_programs, required_programs
from aci.errors import MissingDependency
from aci.processes import (
    MARK,
    Family,
    Stat,
    belonging_to,
    bound_sockets,
    end,
    is_answered,
    read_stat,
    remove_sockets,
    start_ticks,
)


def test_a_process_and_all_it_started_belong_to_its_desktop() -> None:
    child = subprocess.Popen(
        ["sh", "-c", "env -i sleep 60 & echo $!; wait"],
        env={**os.environ, MARK: "test-family"},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert child.stdout is not None
        unmarked = int(child.stdout.readline())
        assert belonging_to("test-family") == {child.pid, unmarked}
        assert belonging_to("test-famil") == set()
    finally:
        assert end(lambda: belonging_to("test-family") if child.poll() is None else set(), grace_s=1.0) == set()
        child.communicate()


def test_a_family_grows_and_shrinks_with_its_processes() -> None:
    family = Family()
    with subprocess.Popen(["sh", "-c", "read x; sleep 60 & echo $!; read x; kill $!; wait; echo; exec sleep 60"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:  # fmt: skip
        assert parent.stdin is not None
        assert parent.stdout is not None
        try:
            assert family.of({parent.pid}).keys() == {parent.pid}
            print(file=parent.stdin, flush=True)
            child = int(parent.stdout.readline())
            assert family.of({parent.pid}).keys() == {parent.pid, child}
            print(file=parent.stdin, flush=True)
            parent.stdout.readline()
            assert family.of({parent.pid}).keys() == {parent.pid}
        finally:
            parent.kill()
    assert family.of({parent.pid}) == {}


def test_all_processes_are_asked_for_their_parents_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now, read = [0.0], list[int]()

    def counted(pid: int) -> Stat | None:
        read.append(pid)
        return read_stat(pid)

    monkeypatch.setattr("aci.processes.read_stat", counted)
    family = Family(lambda: now[0])
    asked = []
    for now[0] in (0.0, 1.0, 60.0):
        read.clear()
        assert os.getpid() in family.of({os.getpid()})
        asked.append(os.getppid() in read)  # which does not belong to the family
    assert asked == [True, False, True]


def test_children_of_a_process_that_has_ended_do_not_belong_to_its_family() -> None:
    with subprocess.Popen(["sh", "-c", "sleep 60 & echo $!; wait"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:  # fmt: skip
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        family = Family()
        assert child in family.of({os.getpid()})
        parent.kill()
        parent.wait()
        try:
            assert child not in family.of({os.getpid()})
        finally:
            os.kill(child, 9)


def test_process_that_ignores_sigterm_is_killed() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", "import signal; signal.signal(15, signal.SIG_IGN); print(flush=True); signal.pause()"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    child.stdout.readline()
    end(lambda: {child.pid} if child.poll() is None else set(), grace_s=0.1)
    assert child.wait() == -9
    child.stdout.close()


def test_process_that_survives_sigkill_is_returned() -> None:
    now = [0.0]

    def pause(seconds: float) -> None:
        now[0] += seconds

    gone = subprocess.Popen(["true"])
    gone.wait()
    assert end(lambda: {gone.pid}, 0.1, limit_s=1.0, clock=lambda: now[0], pause=pause) == {gone.pid}


def test_reused_process_id_has_another_start_time() -> None:
    assert start_ticks(os.getpid()) == start_ticks(os.getpid())
    assert start_ticks(1) != start_ticks(os.getpid())
    gone = subprocess.Popen(["true"])
    assert gone.wait() == 0
    assert start_ticks(gone.pid) is None


def test_unanswered_sockets_are_removed() -> None:
    with tempfile.TemporaryDirectory(prefix="aci-", dir="/tmp") as folder:
        place = Path(folder) / "socket"
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(place))
            server.listen(1)
            assert bound_sockets([os.getpid()]) >= {place}
            assert is_answered(place)
            remove_sockets([place])
            assert place.exists()
        assert not is_answered(place)
        remove_sockets([place, Path(folder) / "never"])
        assert not place.exists()


def test_missing_programs_are_named_with_the_command_that_installs_them() -> None:
    def find(name: str) -> str | None:
        return None if name in ("Xvfb", "openbox") else f"/usr/bin/{name}"

    assert missing_programs(find) == {"Xvfb": "xvfb", "openbox": "openbox"}
    with pytest.raises(MissingDependency) as caught:
        required_programs(find)
    assert caught.value.hint == "sudo apt-get install -y --no-install-recommends openbox xvfb"
    assert "Xvfb, openbox" in str(caught.value)
