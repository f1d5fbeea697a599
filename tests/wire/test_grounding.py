"""A model that finds what the Worker describes, in each format, against a server that sees the picture."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from PIL import Image

from aci.acting.actions import Action, Click, DragAndDrop
from aci.desktop.desktop import ActionResult
from aci.observation.observation import Observation
from agent_s import AgentS, Options, Task, load_settings
from agent_s.errors import SettingsError
from agent_s.events import Event, ModelCalled, RunEnded
from agent_s.llm.build import build_models
from agent_s.llm.computer_use.formats import formats
from tests.unit.agent_s.fakes import EDITOR, FakeDesktop
from tests.wire.computer_tools import StrictChat, says
from tests.wire.formats import KEY, AnthropicFormat
from tests.wire.server import Http, Turn, WireServer

FORM = AnthropicFormat()
RED, BLUE = (220, 0, 0), (0, 0, 220)
NAMES = {
    "jedi": "Jedi-7B-1080p", "gta1": "GTA1-32B", "ui-ins": "UI-Ins-7B", "uground": "UGround-V1-7B",
    "holo1": "Holo1.5-72B", "holo2": "Holo2-8B", "opencua": "OpenCUA-32B", "ui-tars-1.5": "UI-TARS-1.5-7B",
    "ui-tars-2": "UI-TARS-2", "ui-tars-1": "UI-TARS-72B-DPO", "qwen2.5-vl": "Qwen2.5-VL-7B-Instruct",
    "qwen3-vl": "Qwen3-VL-8B-Instruct",
}  # fmt: skip
WRITTEN = {
    "qwen": '<tool_call>\n{{"name": "computer_use", "arguments": '
    '{{"action": "left_click", "coordinate": [{x}, {y}]}}}}\n</tool_call>',
    "ui_tars": "Thought: there\nAction: click(start_box='({x},{y})')",
    "seed": "<seed:tool_call><function=click><parameter=point><point>{x} {y}</point></parameter></function>"
    "</seed:tool_call>",
    "pyautogui": "```python\npyautogui.click(x={x}, y={y})\n```",
    "pair": "({x}, {y})",
    "json": '{{"x": {x}, "y": {y}}}',
}


def canvas(width: int, height: int) -> Observation:
    """Return a screen with two small shapes that nothing names."""
    pixels = np.full((height, width, 3), 255, np.uint8)
    pixels[300:309, 1011:1021] = RED
    pixels[500:512, 100:112] = BLUE
    return Observation(screenshot=pixels, elements=(), windows=(EDITOR,))


def act(action: dict[str, Any]) -> Http:
    return FORM.answer(json.dumps({"action": action}))


def middle(shown: Image.Image, color: tuple[int, int, int]) -> tuple[float, float]:
    """Return where a shape is in a picture, as a share of its sides."""
    pixels = np.asarray(shown).astype(int)
    rows, columns = np.nonzero(np.abs(pixels - color).sum(axis=2) < 120)
    return (columns.mean() + 0.5) / shown.width, (rows.mean() + 0.5) / shown.height


def finder(name: str) -> Any:
    """Return a simulated model that answers in a format where the described shape is."""
    form = formats()[name]

    def find(shown: Image.Image, color: tuple[int, int, int]) -> list[dict[str, Any]]:
        across, down = middle(shown, color)
        x, y = (across * form.units, down * form.units) if form.units else (across * shown.width, down * shown.height)
        return [says(WRITTEN[form.points].format(x=int(x), y=int(y)))]

    return find


def run(
    service: StrictChat,
    found: list[Any],
    acts: list[Turn],
    model: str,
    size: tuple[int, int] = (1280, 800),
    **settings: object,
) -> tuple[list[Event], FakeDesktop, WireServer]:
    worker, grounding = WireServer(acts), WireServer([Http(body={"data": [{"id": model}]}), *service.answering(*found)])

    def react(action: Action, seen: Observation) -> Observation | ActionResult:
        if isinstance(action, Click) and not isinstance(action.at, tuple):
            return ActionResult(ok=False, error="it was not found")
        return seen

    desktop = FakeDesktop(canvas(*size), react)
    check = Http(200, {"id": "m", "type": "model"})
    worker.turns.insert(0, check)
    with worker.running(), grounding.running():
        chosen = load_settings(
            overrides={
                "model": "anthropic:claude-opus-5-5",
                "grounding.model": f"{grounding.url}/v1#{model}",
                "provider.retries": 0,
                **settings,
            }
        )
        agent = AgentS(
            model=build_models(chosen, {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": worker.url}),
            desktop=desktop,
            options=Options(planner="flat", evaluator=False, reflect=False, grounding_zooms=chosen.grounding.zooms),
        )
        events = list(agent.stream(Task(instruction="Click the red square")))
    assert service.refused == []
    return events, desktop, worker


DONE = act({"action": "done"})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [(1280, 800), (2560, 1440)])
def test_what_is_described_is_found_in_each_format(name: str, size: tuple[int, int]) -> None:
    form = formats()[name]
    service = StrictChat(factor=form.factor, least_pixels=form.min_pixels, most_pixels=form.max_pixels, most_images=1)
    find = finder(name)

    def look(shown: Image.Image) -> list[dict[str, Any]]:
        return find(shown, RED)

    click = act({"action": "click", "at": "the small red square"})
    events, desktop, worker = run(service, [look, look], [click, DONE], NAMES[name], size)
    (clicked,) = desktop.performed
    assert isinstance(clicked, Click) and isinstance(clicked.at, tuple)
    assert abs(clicked.at[0] - 1015) <= 2 and abs(clicked.at[1] - 304) <= 2
    assert [event.call for event in events if isinstance(event, ModelCalled)] == ["act", "ground", "ground", "act"]
    assert "can be described" in str(worker.asked[0]["messages"])


def test_both_ends_of_a_drag_may_be_described() -> None:
    find, service = finder("qwen3-vl"), StrictChat(factor=32)
    drag = act({"action": "drag_and_drop", "from_at": "the red square", "drop_at": "the blue square"})
    found = [lambda shown: find(shown, RED), lambda shown: find(shown, BLUE)]
    _, desktop, _ = run(service, found, [drag, DONE], NAMES["qwen3-vl"], **{"grounding.zooms": 0})
    (dragged,) = desktop.performed
    assert (
        isinstance(dragged, DragAndDrop) and isinstance(dragged.from_at, tuple) and isinstance(dragged.drop_at, tuple)
    )
    assert abs(dragged.from_at[0] - 1015) <= 2 and abs(dragged.drop_at[0] - 106) <= 2


def test_looking_again_corrects_a_rough_answer() -> None:
    find, service = finder("uground"), StrictChat()
    rough = [says("(800, 390)")]
    click = act({"action": "click", "at": "the red square"})
    _, desktop, _ = run(service, [rough, lambda shown: find(shown, RED)], [click, DONE], NAMES["uground"])
    (clicked,) = desktop.performed
    assert isinstance(clicked, Click) and isinstance(clicked.at, tuple)
    assert abs(clicked.at[0] - 1015) <= 2 and abs(clicked.at[1] - 304) <= 2


def test_an_answer_without_a_place_is_sent_back_once_and_then_the_worker_is_told() -> None:
    service = StrictChat()
    vague = [says("Between 3 and 4 o'clock, at 17 or 18.")]
    click = act({"action": "click", "at": "the green square"})
    events, _, worker = run(service, [vague, vague], [click, DONE], NAMES["uground"])
    assert len(service.seen) == 2
    assert "it was not found" in str(worker.asked[1]["messages"])
    ended = events[-1]
    assert isinstance(ended, RunEnded) and ended.outcome.status == "done"


def test_a_place_outside_of_the_picture_is_sent_back() -> None:
    find, service = finder("uground"), StrictChat()
    click = act({"action": "click", "at": "the red square"})
    found = [[says("(1800, 390)")], lambda shown: find(shown, RED)]
    _, desktop, _ = run(service, found, [click, DONE], NAMES["uground"], **{"grounding.zooms": 0})
    assert len(desktop.performed) == 1
    assert "outside of the picture" in str(service.seen[1]["messages"])


def test_a_model_that_only_finds_places_cannot_be_the_worker() -> None:
    chosen = load_settings(overrides={"model": "http://h:1#UGround-V1-7B", "provider.computer_tool": "native"})
    with pytest.raises(SettingsError, match=r"only finds places.*grounding.format"):
        build_models(chosen, {})


def test_a_grounding_model_needs_a_server() -> None:
    with pytest.raises(SettingsError, match=r"behind a server"):
        build_models(load_settings(overrides={"grounding.model": "anthropic:claude-opus-5-5"}), {})
