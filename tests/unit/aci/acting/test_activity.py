"""Signs of work, shown by real processes, connections and terminals."""

from __future__ import annotations

import os
import pty
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from aci.acting.activity import Activity

PATIENCE_S = 20.0


@contextmanager
def program(source: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run Python source in a process of its own; it and what it started end with the test."""
    process = subprocess.Popen([sys.executable, "-c", source], stdin=subprocess.PIPE, start_new_session=True)
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not (held := holds()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return held


def busy(activity: Activity) -> bool:
    return activity.is_waiting() or activity.is_computing()


def test_a_process_that_computes_is_busy() -> None:
    with program("input()\nwhile True: pass") as process:
        activity = Activity(lambda: {process.pid})
        activity.begin()
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert eventually(lambda: busy(activity))


def test_a_process_that_waits_is_not_busy() -> None:
    with program("input()") as process:
        activity = Activity(lambda: {process.pid})
        activity.begin()
        assert eventually(lambda: not busy(activity))


def test_work_of_a_child_process_counts() -> None:
    source = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'], timeout=30)"
    with program(source) as process:
        activity = Activity(lambda: {process.pid})
        activity.begin()
        assert eventually(lambda: busy(activity))


def test_work_counts_although_processes_come_and_go() -> None:
    source = (
        "import subprocess, threading, time\n"
        "def others():\n"
        "    while True: subprocess.run(['sleep', '0.04'])\n"
        "threading.Thread(target=others, daemon=True).start()\n"
        "while True: pass"
    )
    with program(source) as process:
        activity = Activity(lambda: {process.pid})
        activity.begin()
        assert eventually(activity.is_computing)
        time.sleep(0.2)
        for _ in range(20):
            activity.is_waiting()  # looks which processes there are
            assert activity.is_computing()
            time.sleep(0.11)


def test_what_an_application_does_all_the_time_is_not_work_on_the_action() -> None:
    with program("while True: pass") as process:
        activity = Activity(lambda: {process.pid})
        activity.begin()
        assert eventually(lambda: busy(activity))
        activity.end()
        time.sleep(1.0)
        activity.begin()
        assert eventually(lambda: not busy(activity))


@contextmanager
def asker(times: int) -> Iterator[tuple[socket.socket, Activity]]:
    """Yield the server's end of the connection of a program that asks, and what watches the program."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        source = (
            f"import socket; s = socket.create_connection(('127.0.0.1', {port})); input()\n"
            f"for _ in range({times}): s.send(b'question'); s.recv(9)\ninput()"
        )
        with program(source) as process:
            connection, _ = server.accept()
            with connection:
                activity = Activity(lambda: {process.pid})
                activity.begin()
                assert eventually(lambda: not busy(activity))
                time.sleep(0.05)
                assert process.stdin is not None
                process.stdin.write(b"\n")
                process.stdin.flush()
                assert connection.recv(9) == b"question"
                yield connection, activity


def test_a_request_without_an_answer_is_work_until_the_answer_comes() -> None:
    with asker(times=1) as (connection, activity):
        time.sleep(0.3)
        assert busy(activity)
        connection.send(b"answer")
        assert eventually(lambda: not busy(activity))


def test_a_request_that_follows_an_answer_at_once_is_work() -> None:
    with asker(times=2) as (connection, activity):
        assert eventually(activity.is_waiting)
        connection.send(b"answer")
        assert connection.recv(9) == b"question"
        time.sleep(0.1)
        assert activity.is_waiting()
        connection.send(b"answer")
        assert eventually(lambda: not activity.is_waiting())


def test_a_command_that_a_terminal_runs_is_work_until_it_ends() -> None:
    shell, terminal = pty.fork()
    if shell == 0:
        os.execv("/bin/bash", ["bash", "--norc", "-i"])
    try:
        assert eventually(lambda: b"$" in os.read(terminal, 1000) or True)
        time.sleep(0.5)
        activity = Activity(lambda: {shell})
        activity.begin()
        assert not busy(activity)
        os.write(terminal, b"sleep 2\n")
        assert eventually(lambda: busy(activity))
        assert eventually(lambda: not busy(activity))
    finally:
        os.kill(shell, 9)
        os.waitpid(shell, 0)
        os.close(terminal)


def test_a_program_that_was_started_since_counts_as_long_as_it_runs() -> None:
    activity = Activity(set)
    time.sleep(0.05)  # the kernel rounds starts
    activity.begin()
    with program("input()"):
        assert activity.has_started()
    time.sleep(0.05)
    activity.begin()
    assert eventually(lambda: not activity.has_started())


def test_kernel_that_lists_no_connections_costs_this_sign_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Iterator[tuple[int, float, float]]:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("aci.acting.activity._connections", refuse)
    with program("input()\nwhile True: pass") as process:
        activity = Activity(lambda: {process.pid})
        activity.begin()
        assert not activity.is_waiting()
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert eventually(activity.is_computing)
