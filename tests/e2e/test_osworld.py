"""`agent-s osworld serve`, and `agent-s run --osworld` on what it serves."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_s.runs.reading import read_trajectory
from tests.e2e.command_line import LIMIT_S, User, recording

pytestmark = [pytest.mark.desktop, pytest.mark.slow]


@pytest.fixture
def address(user: User) -> Iterator[str]:
    process = user.start("osworld", "serve", "--port", "0", "--token", "--json", "-c", "desktop.ocr=none")
    try:
        assert process.stdout is not None
        [found] = json.loads(process.stdout.readline())["machines"]
        yield found
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0
    assert user.desktops() == []


def test_a_task_is_carried_out_on_a_machine(user: User, tmp_path: Path, address: str) -> None:
    steps = [{"action": "switch_applications", "app_code": "mousepad"}, {"action": "type", "text": "hello"}]
    model = recording(tmp_path / "model", "Write hello", steps)
    plain = ("-c", "memory.enabled=false", "-c", "reflection.enabled=false", "-c", "desktop.ocr=none")
    done = user.agent_s("run", "Write hello", "--osworld", address, "--model", model, "--json", *plain)

    outcome = json.loads(done.stdout)
    assert (done.returncode, outcome["status"]) == (0, "done"), done.stderr
    token, _, host = address.removeprefix("http://").partition("@")
    assert outcome["display"] == f"http://{host}"
    assert f"on the machine http://{host}." in done.stderr and token not in done.stdout + done.stderr
    run = Path(outcome["run"])
    last = [event for event in read_trajectory(run).events if event.kind == "observed"][-1]
    assert "hello" in last.text
    assert token not in "".join(path.read_text(errors="replace") for path in run.glob("*.jsonl"))


def test_a_machine_that_does_not_answer_is_named(user: User) -> None:
    plain = ("-c", "memory.enabled=false", "--model", "offline")
    done = user.agent_s("run", "Click 'Save'.", "--osworld", "ftp://nowhere", *plain)
    assert done.returncode == 3 and "'ftp://nowhere' is not the address of a machine" in done.stderr
