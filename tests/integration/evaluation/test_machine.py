"""A served desktop: OSWorld's protocol on it, and this program's own client against it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from aci.acting.actions import Click, Hotkey, SwitchApplications, Type
from aci.observation.observation import Element, Observation
from aci.remote.desktop import OSWorldDesktop
from agent_s.settings import DesktopSettings
from evaluation.errors import EvaluationError
from evaluation.machine.desktop import DesktopMachine
from evaluation.machine.http import MachineServer

pytestmark = pytest.mark.desktop
LIMIT_S = 60.0


@pytest.fixture(scope="module")
def machine() -> Iterator[DesktopMachine]:
    with DesktopMachine.start(DesktopSettings(ocr="none")) as started:
        yield started


@pytest.fixture(scope="module")
def server(machine: DesktopMachine) -> Iterator[MachineServer]:
    with MachineServer(machine.endpoints, token="s3cret") as running:
        yield running


@pytest.fixture(scope="module")
def address(server: MachineServer) -> str:
    return f"http://s3cret@127.0.0.1:{server.server_port}"


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=180, trust_env=False) as made:
        yield made


@pytest.fixture
def desktop(address: str, machine: DesktopMachine) -> Iterator[OSWorldDesktop]:
    machine.desktop.reset()
    with OSWorldDesktop(address, ocr=None) as made:
        yield made


def until(look: Callable[[], Any], holds: Callable[[Any], object]) -> Any:
    deadline = time.monotonic() + LIMIT_S
    while not holds(found := look()):
        assert time.monotonic() < deadline, f"it did not come about: {found}"
        time.sleep(0.1)
    return found


def known(observation: Observation) -> set[tuple[object, ...]]:
    return {(each.role, each.name, each.rect, each.text, each.states) for each in observation.elements}


def field(observation: Observation) -> Element:
    return next(element for element in observation.elements if element.role == "text")


def test_the_machine_is_seen_as_from_inside(desktop: OSWorldDesktop, machine: DesktopMachine) -> None:
    machine.desktop.launch(["mousepad"])
    until(lambda: known(desktop.observe()) ^ known(machine.desktop.observe()), lambda differing: not differing)
    inside, outside = machine.desktop.observe(), desktop.observe()
    assert [(one.id, one.title, one.active, one.rect) for one in outside.windows] == [
        (one.id, one.title, one.active, one.rect) for one in inside.windows
    ]


def test_an_application_is_started_and_typed_into(desktop: OSWorldDesktop) -> None:
    started = desktop.perform(SwitchApplications(app_code="mousepad"))
    assert started.started == "Mousepad"
    seen = until(desktop.observe, lambda seen: any(element.role == "text" for element in seen.elements))
    assert desktop.perform(Type(text="plain, größer", element_id=field(seen).id)).ok
    until(lambda: field(desktop.observe()).text, lambda text: text == "plain, größer")
    assert desktop.perform(Hotkey(keys=("ctrl", "a"))).ok
    assert desktop.perform(Type(text="gone")).ok
    until(lambda: field(desktop.observe()).text, lambda text: text == "gone")
    menu = next(element for element in desktop.observe().elements if element.name == "File")
    assert desktop.perform(Click(element_id=menu.id)).ok
    until(desktop.observe, lambda seen: any(element.role == "menu item" for element in seen.elements))


def test_commands_run_on_the_desktop_and_in_its_home(client: httpx.Client, machine: DesktopMachine) -> None:
    machine.desktop.reset()
    code = "import os; print(os.environ['DISPLAY']); open('/home/user/made.txt', 'w').write('x')"
    answer = client.post("/execute", json={"command": ["python", "-c", code], "shell": False}).json()
    assert answer == {"status": "success", "output": f"{machine.desktop.display}\n", "error": "", "returncode": 0}
    assert (machine.desktop.home / "made.txt").read_text() == "x"
    shell = client.post("/setup/execute", json={"command": "ls ~ | grep made; exit 3", "shell": True}).json()
    assert (shell["output"], shell["returncode"]) == ("made.txt\n", 3)
    assert client.post("/execute", json={"command": "echo /home/user"}).json()["output"] == "/home/user\n"
    missing = client.post("/execute", json={"command": ["no-such-program"]})
    assert missing.status_code == 500 and "no-such-program" in missing.json()["message"]


def test_a_command_waits_for_what_it_brings_about(client: httpx.Client, machine: DesktopMachine) -> None:
    machine.desktop.reset()

    def run(command: str, limit_s: float, **verification: str) -> httpx.Response:
        asked = {"command": command, "shell": True, "verification": verification}
        limits = {"max_wait_time": limit_s, "check_interval": 0.1}
        return client.post("/setup/execute_with_verification", json={**asked, **limits})

    later = "(sleep 1; touch ~/later) > /dev/null 2>&1 & echo begun"
    assert run(later, LIMIT_S, command_success="test -e ~/later").json()["output"] == "begun\n"
    assert (machine.desktop.home / "later").exists()
    assert run("xterm -title 'The window' > /dev/null 2>&1 &", LIMIT_S, window_exists="The win").status_code == 200
    failed = run("true", 0.1, window_exists="no such window")
    assert failed.status_code == 500 and "no such window" in failed.json()["message"]


def test_scripts_run_as_on_newer_servers(client: httpx.Client) -> None:
    script = client.post("/run_python", json={"code": "print(6 * 7)"}).json()
    assert (script["status"], script["output"], script["return_code"]) == ("success", "42\n", 0)
    shell = client.post("/run_bash_script", json={"script": "pwd", "working_dir": "/home/user"}).json()
    assert (shell["output"], shell["returncode"]) == ("/home/user\n", 0)
    assert client.post("/run_bash_script", json={"script": "pwd", "working_dir": "/nowhere"}).status_code == 400


def test_files_go_there_and_back(client: httpx.Client) -> None:
    content = bytes(range(256))
    sent = client.post(
        "/setup/upload", data={"file_path": "/home/user/a/b.bin"}, files={"file_data": ("b.bin", content)}
    )
    assert (sent.status_code, sent.text) == (200, "File Uploaded")
    assert client.post("/file", data={"file_path": "/home/user/a/b.bin"}).content == content
    assert client.post("/file", data={"file_path": "/home/user/none"}).status_code == 404
    tree = client.post("/list_directory", json={"path": "/home/user/a"}).json()["directory_tree"]
    assert tree == {"type": "directory", "name": "a", "children": [{"type": "file", "name": "b.bin"}]}
    assert client.post("/list_directory", json={"path": "/home/user/none"}).status_code == 400


def test_windows_are_measured_and_closed(client: httpx.Client, machine: DesktopMachine) -> None:
    machine.desktop.reset()
    assert client.post("/setup/launch", json={"command": ["mousepad"]}).status_code == 200
    assert client.post("/setup/activate_window", json={"window_name": "mousepad"}).status_code == 200
    [window] = machine.desktop.x11.screen.managed_windows()
    size = client.post("/window_size", data={"app_class_name": "Mousepad"}).json()
    assert size == {"width": window.rect.width, "height": window.rect.height}
    assert client.post("/setup/close_window", json={"window_name": "Mousepad"}).status_code == 200
    assert not machine.desktop.x11.screen.managed_windows()
    assert client.post("/window_size", data={"app_class_name": "mousepad"}).status_code == 500
    assert client.post("/screen_size").json() == dict(zip(("width", "height"), machine.desktop.size, strict=True))
    assert client.get("/terminal").json() == {"output": None, "status": "success"}


def test_a_reset_brings_a_fresh_home(client: httpx.Client, machine: DesktopMachine) -> None:
    (machine.desktop.home / "left.txt").write_text("x")
    assert client.post("/reset").json() == {"status": "success"}
    assert not (machine.desktop.home / "left.txt").exists()
    assert client.get("/screenshot").content.startswith(b"\x89PNG")


def test_without_the_token_nothing_is_served(server: MachineServer) -> None:
    answer = httpx.post(f"http://127.0.0.1:{server.server_port}/execute", json={"command": ["true"]}, trust_env=False)
    assert answer.status_code == 401 and "token" in json.loads(answer.text)["message"]


def test_a_persons_own_screen_is_not_served() -> None:
    own: Any = SimpleNamespace(private=False)
    with pytest.raises(EvaluationError, match="person's own screen"):
        DesktopMachine(own)
