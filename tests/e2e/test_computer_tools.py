"""A model that operates the screen by pixels does a task on a canvas that nothing names, through `agent-s run`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from aci.desktop.virtual import VirtualDesktop
from agent_s.runs.reading import read_trajectory
from tests.e2e.command_line import User
from tests.integration.aci.seeing import wait_until
from tests.wire.computer_tools import Strict, StrictComputer, StrictToolset, computer_call, function, own, use
from tests.wire.formats import KEY
from tests.wire.server import WireServer

pytestmark = [pytest.mark.desktop, pytest.mark.slow]

PROGRAM = Path(__file__).parents[1] / "data" / "gtk3_canvas.py"
RED, ORANGE, PURPLE, GREEN = (255, 0, 0), (255, 153, 0), (128, 0, 128), (0, 153, 0)
Point = tuple[int, int]


def find(shown: Image.Image, color: tuple[int, int, int]) -> Point:
    """Return the middle of what has a color in a picture, as a model sees it."""
    rows, columns = np.nonzero(np.abs(np.asarray(shown).astype(int) - color).sum(axis=2) < 30)
    assert rows.size, f"nothing on the picture is {color}"
    return int(columns.mean()), int(rows.mean())


def anthropic() -> tuple[Strict, list[Callable[[Image.Image], list[dict[str, Any]]]]]:
    def drag(shown: Image.Image) -> list[dict[str, Any]]:
        start, end = find(shown, ORANGE), find(shown, PURPLE)
        return [use("left_click_drag", start_coordinate=start, coordinate=end)]

    return StrictToolset(), [
        lambda shown: [use("screenshot")],
        lambda shown: [use("left_click", coordinate=find(shown, RED))],
        drag,
        lambda shown: [own("done")] if find(shown, GREEN) else [],
    ]


def openai() -> tuple[Strict, list[Callable[[Image.Image], list[dict[str, Any]]]]]:
    def at(point: Point) -> dict[str, int]:
        return {"x": point[0], "y": point[1]}

    def drag(shown: Image.Image) -> list[dict[str, Any]]:
        start, end = find(shown, ORANGE), find(shown, PURPLE)
        path = [start, (start[0], end[1]), end]
        return [computer_call({"type": "move", **at(start)}, {"type": "drag", "path": list(map(at, path))})]

    return StrictComputer(), [
        lambda shown: [computer_call({"type": "screenshot"})],
        lambda shown: [computer_call({"type": "click", "button": "left", **at(find(shown, RED))})],
        drag,
        lambda shown: [function("done")] if find(shown, GREEN) else [],
    ]


@pytest.mark.parametrize(("name", "simulated"), [("anthropic:claude-opus-5-5", anthropic), ("openai:gpt-5.5", openai)])
def test_a_task_on_a_canvas_is_carried_out(name: str, simulated: Callable[[], Any], user: User, tmp_path: Path) -> None:
    service, turns = simulated()
    written = tmp_path / "strokes.txt"
    server = WireServer(service.answering(*turns))
    with VirtualDesktop(size=(1600, 1000)) as desktop, server.running():
        desktop.launch(["/usr/bin/python3", str(PROGRAM), str(written)])
        wait_until(lambda: any(window.title == "Canvas" for window in desktop.observe().windows))
        done = user.agent_s(
            *("run", "Click the red square, then drag the orange one onto the purple one", "--json"),
            *("--model", name, "--display", desktop.display, "-c", "provider.computer_tool=native"),
            *(
                "-c",
                "provider.longest_edge=1024",
                "-c",
                "provider.retries=0",
                "-c",
                "planner=flat",
                "-c",
                "evaluator=false",
            ),
            *("-c", "memory.enabled=false", "-c", "reflection.enabled=false"),
            env={
                **{"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url},
                **{"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{server.url}/v1"},
                "DBUS_SESSION_BUS_ADDRESS": desktop.environment["DBUS_SESSION_BUS_ADDRESS"],
            },
        )
    assert service.refused == []
    assert done.returncode == 0, done.stdout + done.stderr
    outcome = json.loads(done.stdout)
    assert outcome["status"] == "done"
    assert outcome["usage"]["model_calls"] == 4
    assert [line.split()[0] for line in written.read_text().splitlines()] == ["click", "drag"]
    assert {picture.size for picture in service.pictures} == {(1024, 640)}
    trajectory = read_trajectory(Path(outcome["run"]))
    assert trajectory.problem == "" and KEY not in str(trajectory)
