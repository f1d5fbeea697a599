"""The agent in the loop of OSWorld's run script, on a served desktop, and nothing but observations between them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from aci.acting.actions import Click, Done
from aci.remote.desktop import PREFIX
from agent_s.llm.protocol import ActResponse, ModelRequest
from agent_s.llm.scripted import ScriptedModel
from agent_s.loop.agent import AgentS
from agent_s.loop.options import Options
from agent_s.memory import open_memory
from agent_s.records import Status, Task, Verdict
from agent_s.settings import DesktopSettings, load_settings
from evaluation.machine.desktop import DesktopMachine
from evaluation.machine.http import MachineServer
from evaluation.osworld.agent import ObservationType, OSWorldAgent

pytestmark = [pytest.mark.desktop, pytest.mark.slow]
MOST_STEPS, LIMIT_S = 30, 60.0


@pytest.fixture(scope="module")
def machine() -> Iterator[DesktopMachine]:
    with DesktopMachine.start(DesktopSettings(ocr="none")) as started:
        yield started


@pytest.fixture(scope="module")
def client(machine: DesktopMachine) -> Iterator[httpx.Client]:
    with (
        MachineServer(machine.endpoints) as server,
        httpx.Client(base_url=f"http://127.0.0.1:{server.server_port}", timeout=180, trust_env=False) as made,
    ):
        yield made


def look(client: httpx.Client) -> dict[str, Any]:
    tree = client.get("/accessibility").json()["AT"]
    return {"screenshot": client.get("/screenshot").content, "accessibility_tree": tree}


def carry_out(agent: OSWorldAgent, instruction: str, client: httpx.Client) -> list[Any]:
    """Do what OSWorld's run script does; return all actions."""
    done: list[Any] = []
    agent.reset()
    for _ in range(MOST_STEPS):
        _, actions = agent.predict(instruction, look(client))
        done += actions
        if actions[0] in ("DONE", "FAIL"):
            break
        for action in actions:
            if action != "WAIT":
                client.post("/execute", json={"command": ["python", "-c", f"{PREFIX}{action}"], "shell": False})
    agent.close()
    return done


@pytest.mark.parametrize("kind", ["a11y_tree", "screenshot_a11y_tree"])
def test_a_task_is_carried_out_step_by_step(
    kind: ObservationType, machine: DesktopMachine, client: httpx.Client, tmp_path: Path
) -> None:
    machine.desktop.reset()
    machine.desktop.launch(["mousepad"])
    changes = {"memory.path": str(tmp_path / "memory.sqlite"), "runs_dir": str(tmp_path), "desktop.ocr": "none"}
    agent = OSWorldAgent(load_settings(overrides=changes), observation_type=kind, screen_size=machine.desktop.size)
    done = carry_out(agent, "Type 'Bring milk'. Press ctrl+a.", client)

    assert done[-1] == "DONE", done
    assert any("pyautogui.write('Bring milk')" in str(action) for action in done)
    deadline = time.monotonic() + LIMIT_S
    while "Bring milk" not in [element.text for element in machine.desktop.observe().elements]:
        assert time.monotonic() < deadline
    assert any(tmp_path.rglob("events.jsonl"))


def test_what_was_verified_before_is_replayed_without_a_model(
    machine: DesktopMachine, client: httpx.Client, tmp_path: Path
) -> None:
    def opens(request: ModelRequest) -> ActResponse:
        seen = request.context.observation  # type: ignore[attr-defined]
        [menu] = [element for element in seen.elements if element.name == "Document"]
        return ActResponse(action=Click(element_id=menu.id))

    def verified(status: Status) -> Verdict:
        return Verdict(verified=True, reason="it is open", by="test")

    instruction = "Open the Document menu."
    changes = {"memory.path": str(tmp_path / "memory.sqlite"), "runs_dir": str(tmp_path), "desktop.ocr": "none"}
    settings = load_settings(overrides={**changes, "memory.embedder": "hashing", "reflection.enabled": False})
    machine.desktop.reset()
    machine.desktop.launch(["mousepad"])
    model = ScriptedModel({"act": [opens, ActResponse(action=Done())]})
    with open_memory(settings) as memory:
        options = Options.from_settings(settings)
        first = AgentS(model=model, desktop=machine.desktop, memory=memory, options=options)
        assert first.run(Task(instruction=instruction), verified).verified

    machine.desktop.reset()
    machine.desktop.launch(["mousepad"])
    done = carry_out(OSWorldAgent(settings.model_copy(update={"replay": "only"})), instruction, client)
    assert done[-1] == "DONE" and sum("pyautogui.click" in str(action) for action in done) == 1, done
