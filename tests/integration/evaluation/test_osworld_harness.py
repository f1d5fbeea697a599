"""OSWorld's own, unmodified environment and agent on a served desktop."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import evaluation.machine.provider as provider
from agent_s.settings import DesktopSettings
from benchmarks.support.osworld.agreement import originals_python
from benchmarks.support.osworld.harness import run_tasks, scripted_tasks
from evaluation.machine.desktop import DesktopMachine
from evaluation.machine.http import MachineServer

PYTHON = originals_python()
pytestmark = [
    pytest.mark.desktop,
    pytest.mark.slow,
    pytest.mark.skipif(PYTHON is None, reason="OSWorld's package is not installed: make osworld"),
]
LEAST_TASKS = 20
GROUPS = 4
LIMIT_S = 500
SAVE = """import pathlib
pyautogui.typewrite('Bring milk')
pyautogui.hotkey('ctrl', 's')
while not pathlib.Path('/home/user/note.txt').read_text(): time.sleep(0.2)"""


def test_there_are_enough_tasks_with_different_verdicts() -> None:
    tasks = scripted_tasks()
    assert len({task["id"] for task in tasks}) == len(tasks) >= LEAST_TASKS


@pytest.mark.parametrize("group", range(GROUPS))
def test_osworlds_environment_runs_tasks_to_the_end_and_gives_this_programs_verdict(group: int) -> None:
    assert PYTHON is not None
    tasks = scripted_tasks()[group::GROUPS]
    judged = list(run_tasks(PYTHON, tasks))
    assert [one for one in judged if not (one.ran and one.equal)] == []
    assert len(judged) == len(tasks)
    assert len({one.ours for one in judged}) > 1  # not all of them succeed


class ModelServer(ThreadingHTTPServer):
    """Answers chat completions as a model would that writes a note: by what the latest message shows."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Model)
        self.requests: list[dict[str, Any]] = []
        self._typed = False

    def answer(self, request: dict[str, Any]) -> str:
        """Return the answer to a request."""
        self.requests.append(request)
        shown = json.dumps(request["messages"][-1])
        if "Document" not in shown:  # a menu of the text editor
            return "```WAIT```"
        if self._typed:
            return "```DONE```"
        self._typed = True
        return f"```python\n{SAVE}\n```"


class _Model(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"role": "assistant", "content": self.server.answer(request)}
        body = json.dumps({"choices": [{"message": message}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the output free of requests."""


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield server
        server.shutdown()


def test_osworlds_own_agent_works_on_a_served_desktop(model: ModelServer, tmp_path: Path) -> None:
    assert PYTHON is not None
    [task] = [task for task in scripted_tasks() if task["id"] == "text-typed-and-saved"]
    script = Path(__file__).with_name("prompt_agent.py")
    with (
        DesktopMachine.start(DesktopSettings(ocr="none")) as machine,
        MachineServer(machine.endpoints, token="t0ken") as server,
    ):
        ended = subprocess.run(
            [
                *(str(PYTHON.absolute()), str(script), str(Path(str(provider.__file__)).resolve())),
                *(f"http://t0ken@127.0.0.1:{server.server_port}", str(tmp_path / "cache")),
            ],
            input=json.dumps({key: value for key, value in task.items() if key != "actions"}),
            env={"OPENAI_BASE_URL": f"http://127.0.0.1:{model.server_port}", "OPENAI_API_KEY": "none", "HOME": "/tmp"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
    assert ended.returncode == 0, ended.stderr[-2000:]
    done = json.loads(ended.stdout.splitlines()[-1])
    shown = json.dumps(model.requests[-1]["messages"][-1]["content"])[:3000]
    assert done["score"] == 1.0 and done["actions"][-1] == "DONE", (done, shown)
    shown = json.dumps(model.requests[-1]["messages"])
    assert "Document" in shown and "data:image/png;base64," in shown  # what it was shown of the text editor
