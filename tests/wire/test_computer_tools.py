"""Computer tools against simulated services in their strict form, through the whole loop with a desktop of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

from aci.acting.actions import (
    Action,
    Click,
    Done,
    DragAndDrop,
    HoldAndPress,
    Hotkey,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
    Move,
    Scroll,
    SwitchApplications,
    Type,
    Wait,
    Zoom,
)
from aci.desktop.desktop import ActionResult
from aci.observation.observation import Observation
from aci.safety.policy import VIRTUAL, Policy
from agent_s import AgentS, Limits, Options, Task, load_settings
from agent_s.errors import SettingsError
from agent_s.events import Event, RunEnded
from agent_s.llm.build import build_models
from agent_s.llm.computer_use.inputs import act
from agent_s.llm.computer_use.languages import ACTIONS
from agent_s.llm.providers.structured import Unreadable
from agent_s.records import Outcome
from agent_s.safety.confirmation import Consent
from tests.unit.agent_s.fakes import EDITOR, FakeDesktop
from tests.wire.computer_tools import (
    HALTED,
    Strict,
    StrictChat,
    StrictComputer,
    StrictToolset,
    computer_call,
    function,
    own,
    says,
    use,
)
from tests.wire.formats import KEY
from tests.wire.server import Turn, WireServer

TASK = Task(instruction="Draw a house")


def screen(width: int = 800, height: int = 600, shade: int = 0) -> Observation:
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[-20:, -20:] = shade
    return Observation(screenshot=pixels, elements=(), windows=(EDITOR,))


def repaint() -> Callable[[Action, Observation], Observation]:
    """Return a reaction that changes the lower right corner of the picture with every action."""
    shades = iter(range(20, 250))
    return lambda action, seen: screen(seen.screenshot.shape[1], seen.screenshot.shape[0], next(shades))


class Run:
    """One task, run with a simulated service."""

    def __init__(
        self,
        service: Strict,
        model: str,
        turns: list[Turn],
        desktop: FakeDesktop | None = None,
        settings: dict[str, object] | None = None,
        confirm: Callable[[Consent], bool] | None = None,
    ) -> None:
        self.service, self.desktop = service, desktop or FakeDesktop(screen(), repaint())
        self.events: list[Event] = []
        self.server = WireServer(turns)
        with self.server.running():
            url = self.server.url
            overrides: dict[str, object] = {
                "model": model.format(url=url),
                "provider.computer_tool": "native",
                "provider.retries": 0,
                **(settings or {}),
            }
            chosen = load_settings(overrides=overrides)
            environment = {
                **{"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url},
                **{"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{url}/v1"},
            }
            agent = AgentS(
                model=build_models(chosen, environment),
                desktop=self.desktop,
                policy=Policy(VIRTUAL),
                confirm=confirm,
                options=Options(
                    planner="flat", evaluator=False, reflect=False, max_actions=chosen.max_actions, limits=Limits()
                ),
            )
            for event in agent.stream(TASK):
                self.events.append(event)
        assert self.service.refused == []

    @property
    def outcome(self) -> Outcome:
        ended = self.events[-1]
        assert isinstance(ended, RunEnded)
        return ended.outcome

    @property
    def performed(self) -> list[Action]:
        return self.desktop.performed


def with_toolset(*turns: Any, **more: Any) -> Run:
    service = StrictToolset()
    return Run(service, "anthropic:claude-opus-5-5", service.answering(*turns), **more)


def with_computer(*turns: Any, **more: Any) -> Run:
    service = StrictComputer()
    return Run(service, "openai:gpt-5.5", service.answering(*turns), **more)


DONE = [own("done")]

# Anthropic's toolset


@pytest.mark.parametrize(
    ("call", "actions"),
    [
        (use("left_click", coordinate=[10, 20]), [Click(at=(10, 20))]),
        (use("left_click", coordinate=[10, 20], text="ctrl+shift"), [Click(at=(10, 20), hold_keys=("ctrl", "shift"))]),
        (use("right_click", coordinate=[1, 2]), [Click(at=(1, 2), button_type="right")]),
        (use("middle_click", coordinate=[1, 2]), [Click(at=(1, 2), button_type="middle")]),
        (use("double_click", coordinate=[1, 2]), [Click(at=(1, 2), num_clicks=2)]),
        (use("triple_click", coordinate=[1, 2]), [Click(at=(1, 2), num_clicks=3)]),
        (use("left_click"), [MouseDown(), MouseUp()]),
        (
            use("left_click_drag", start_coordinate=[1, 2], coordinate=[30, 40]),
            [DragAndDrop(from_at=(1, 2), drop_at=(30, 40))],
        ),
        (use("mouse_move", coordinate=[799, 599]), [Move(at=(799, 599))]),
        (use("left_mouse_down"), [MouseDown()]),
        (use("left_mouse_up"), [MouseUp()]),
        (
            use("scroll", coordinate=[5, 6], scroll_direction="down", scroll_amount=3),
            [Scroll(at=(5, 6), clicks=-3)],
        ),
        (
            use("scroll", coordinate=[5, 6], scroll_direction="right", scroll_amount=2, text="shift"),
            [Scroll(at=(5, 6), clicks=2, horizontal=True, hold_keys=("shift",))],
        ),
        (use("type", text="héllo\n"), [Type(text="héllo\n")]),
        (use("key", text="ctrl+s"), [Hotkey(keys=("ctrl", "s"))]),
        (use("key", text="Page_Down", repeat=3), [HoldAndPress(hold_keys=(), press_keys=("Page_Down",) * 3)]),
        (use("hold_key", text="shift", duration=2), [KeyDown(keys=("shift",)), Wait(time=2), KeyUp(keys=("shift",))]),
        (use("wait", duration=90), [Wait(time=60), Wait(time=30)]),
        (use("screenshot"), [Wait(time=0)]),
        (use("zoom", region=[10, 20, 110, 70]), [Zoom(region=(10, 20, 110, 70))]),
        (own("switch_applications", app_code="gimp"), [SwitchApplications(app_code="gimp")]),
    ],
    ids=lambda value: value["name"] if isinstance(value, dict) else "",
)
def test_each_action_of_the_toolset_is_a_primitive(call: dict[str, Any], actions: list[Action]) -> None:
    run = with_toolset([call], DONE)
    assert run.performed == actions
    assert run.outcome.status == "done"


def test_a_batch_is_carried_out_in_order_and_its_last_result_shows_the_screen() -> None:
    batch = [use("left_click", coordinate=[10, 20]), use("type", text="a"), use("key", text="Return")]
    run = with_toolset(batch, DONE)
    assert run.performed == [Click(at=(10, 20)), Type(text="a"), Hotkey(keys=("Return",))]
    results = run.service.seen[1]["messages"][2]["content"]
    assert [part["type"] for part in results[-1]["content"]] == ["text", "image"]
    assert run.service.pictures[1].getpixel((799, 599)) == (22, 22, 22)
    assert run.outcome.usage.model_calls == 2


def test_nothing_is_executed_after_a_failed_action() -> None:
    def react(action: Action, seen: Observation) -> Observation | ActionResult:
        if isinstance(action, Type):
            return ActionResult(ok=False, error="nothing has the keyboard")
        return screen(shade=9)

    batch = [use("left_click", coordinate=[1, 2]), use("type", text="a"), use("key", text="a"), use("key", text="b")]
    run = with_toolset(batch, DONE, desktop=FakeDesktop(screen(), react))
    assert run.performed == [Click(at=(1, 2)), Type(text="a")]
    told = [result["content"][0]["text"] for result in run.service.seen[1]["messages"][2]["content"][:4]]
    assert "nothing has the keyboard" in told[1]
    assert told[2:] == [HALTED, HALTED]


def test_what_cannot_be_read_is_sent_back_once_and_nothing_is_touched() -> None:
    wrong = [use("left_click", coordinate=[900, 20]), use("type", text="a")]
    run = with_toolset(wrong, DONE)
    assert run.performed == []
    assert "outside of the picture" in run.service.seen[1]["messages"][2]["content"][0]["content"][0]["text"]
    assert run.outcome.status == "done"
    twice = with_toolset(wrong, wrong)
    assert twice.outcome.status == "error" and "cannot be carried out" in twice.outcome.reason


def test_an_answer_without_a_call_is_asked_to_go_on() -> None:
    run = with_toolset([says("I have drawn it.")], DONE)
    assert run.outcome.status == "done"
    assert "calls no tool" in str(run.service.seen[1]["messages"][2]["content"])


def test_the_good_part_of_a_batch_is_carried_out() -> None:
    run = with_toolset([use("left_click", coordinate=[1, 2]), use("key", text="frobnicate")], DONE)
    assert run.performed == [Click(at=(1, 2))]
    assert "frobnicate" in run.service.seen[1]["messages"][2]["content"][1]["content"][0]["text"]


def test_the_position_of_the_pointer_is_what_the_model_made_it() -> None:
    run = with_toolset([use("mouse_move", coordinate=[30, 40]), use("cursor_position")], DONE)
    assert run.service.seen[1]["messages"][2]["content"][1]["content"][0]["text"] == "X=30,Y=40"


def test_a_drag_and_a_scroll_without_a_place_begin_where_the_pointer_is() -> None:
    run = with_toolset(
        [
            use("mouse_move", coordinate=[30, 40]),
            use("left_mouse_down"),
            use("mouse_move", coordinate=[50, 60]),
            use("left_mouse_up"),
            use("scroll", scroll_direction="up", scroll_amount=1),
        ],
        DONE,
    )
    assert run.performed == [
        *(Move(at=(30, 40)), MouseDown(at=(30, 40)), Move(at=(50, 60)), MouseUp(at=(50, 60))),
        Scroll(at=(50, 60), clicks=1),
    ]


def test_a_move_that_was_not_carried_out_leaves_the_pointer_where_it_was() -> None:
    def react(action: Action, seen: Observation) -> Observation | ActionResult:
        if isinstance(action, Type):
            return ActionResult(ok=False, error="nothing has the keyboard")
        return screen(shade=9)

    batch = [use("mouse_move", coordinate=[30, 40]), use("type", text="a"), use("mouse_move", coordinate=[500, 60])]
    run = with_toolset(batch, [use("left_mouse_down"), use("cursor_position")], DONE,
                       desktop=FakeDesktop(screen(), react))  # fmt: skip
    assert run.performed[-1] == MouseDown(at=(30, 40))
    assert "X=30,Y=40" in str(run.service.seen[2]["messages"][4]["content"])


def test_an_amount_that_is_no_number_is_told_to_the_model() -> None:
    run = with_toolset([use("scroll", coordinate=[5, 6], scroll_direction="up", scroll_amount="3")], DONE)
    assert run.performed == []
    assert "a scroll takes a number" in str(run.service.seen[1]["messages"][2]["content"])


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080), (2560, 1600), (3840, 2160), (1366, 768)])
def test_coordinates_are_those_of_the_picture_that_was_sent(width: int, height: int) -> None:
    at: list[tuple[int, int]] = []

    def click_the_corner(shown: Image.Image) -> list[dict[str, Any]]:
        at.append(shown.size)
        return [use("left_click", coordinate=[shown.width - 1, shown.height // 2])]

    run = with_toolset(click_the_corner, DONE, desktop=FakeDesktop(screen(width, height), repaint()))
    (click,) = run.performed
    assert isinstance(click, Click) and isinstance(click.at, tuple)
    step = width / at[0][0]
    assert width - step <= click.at[0] <= width - 1
    assert abs(click.at[1] - height / 2) <= step


def test_zooming_shows_the_region_in_full_resolution() -> None:
    pixels = np.zeros((1600, 2560, 3), np.uint8)
    pixels[800:840, 1200:1240] = (200, 0, 0)
    start = Observation(screenshot=pixels, elements=(), windows=(EDITOR,))

    def zoom(shown: Image.Image) -> list[dict[str, Any]]:
        x, y = 1200 * shown.width // 2560, 800 * shown.height // 1600
        return [use("zoom", region=[x, y, x + 25, y + 25])]

    run = with_toolset(zoom, DONE, desktop=FakeDesktop(start))
    (result, *_) = run.service.seen[1]["messages"][2]["content"]
    images = [part for part in result["content"] if part["type"] == "image"]
    from tests.wire.computer_tools import picture

    shown = picture(images[0]["source"]["data"])
    assert shown.width >= 4 * 25 and shown.getpixel((shown.width // 2, shown.height // 2)) == (200, 0, 0)


@pytest.mark.slow
def test_old_pictures_are_left_out_in_steps_and_thinking_with_them() -> None:
    turns = [[use("left_click", coordinate=[1, number])] for number in range(22)]
    run = with_toolset(*turns, DONE)
    counts = [len(run.service.sent_pictures(body)) for body in run.service.seen]
    assert counts[:20] == list(range(1, 21))
    assert counts[20:] == [3, 4, 5]
    assert run.outcome.status == "done"


def test_the_provider_keeps_what_it_has_read() -> None:
    run = with_toolset(*[[use("key", text="a")]] * 3, DONE)
    first, second = run.service.seen[1], run.service.seen[2]
    assert _bare(second["messages"])[: len(first["messages"])] == _bare(first["messages"])
    assert first["system"] == second["system"] and first["tools"] == second["tools"]


def _bare(node: Any) -> Any:
    if isinstance(node, list):
        return [_bare(item) for item in node]
    if isinstance(node, dict):
        return {name: _bare(value) for name, value in node.items() if name != "cache_control"}
    return node


# OpenAI's tool


@pytest.mark.parametrize(
    ("action", "actions"),
    [
        ({"type": "click", "button": "left", "x": 10, "y": 20}, [Click(at=(10, 20))]),
        ({"type": "click", "button": "right", "x": 10, "y": 20}, [Click(at=(10, 20), button_type="right")]),
        ({"type": "click", "button": "wheel", "x": 10, "y": 20}, [Click(at=(10, 20), button_type="middle")]),
        ({"type": "click", "button": "back", "x": 10, "y": 20}, [Move(at=(10, 20)), Hotkey(keys=("alt", "Left"))]),
        (
            {"type": "click", "button": "left", "x": 1, "y": 2, "keys": ["SHIFT"]},
            [Click(at=(1, 2), hold_keys=("SHIFT",))],
        ),
        ({"type": "double_click", "x": 1, "y": 2}, [Click(at=(1, 2), num_clicks=2)]),
        (
            {"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}, {"x": 5, "y": 6}]},
            [DragAndDrop(from_at=(1, 2), drop_at=(5, 6), path=((3, 4),))],
        ),
        ({"type": "keypress", "keys": ["CTRL", "A"]}, [Hotkey(keys=("CTRL", "A"))]),
        ({"type": "move", "x": 1, "y": 2}, [Move(at=(1, 2))]),
        ({"type": "screenshot"}, [Wait(time=0)]),
        ({"type": "scroll", "x": 1, "y": 2, "scroll_x": 0, "scroll_y": 300}, [Scroll(at=(1, 2), clicks=-3)]),
        (
            {"type": "scroll", "x": 1, "y": 2, "scroll_x": -40, "scroll_y": 0},
            [Scroll(at=(1, 2), clicks=-1, horizontal=True)],
        ),
        ({"type": "type", "text": "héllo"}, [Type(text="héllo")]),
        ({"type": "wait"}, [Wait(time=1)]),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
def test_each_action_of_the_computer_tool_is_a_primitive(action: dict[str, Any], actions: list[Action]) -> None:
    run = with_computer([computer_call(action)], [function("done")])
    assert run.performed == actions
    assert run.outcome.status == "done"


@pytest.mark.parametrize("name", ["", "x" * 300])
def test_an_application_without_a_usable_name_is_told_to_the_model(name: str) -> None:
    with pytest.raises(Unreadable, match="open_app: app_code: "):
        act("open_app", {"app_name": name}, None, ACTIONS["ui_tars"])  # type: ignore[arg-type]


def test_a_batch_has_one_picture_as_its_output_and_errors_follow_as_text() -> None:
    def react(action: Action, seen: Observation) -> Observation | ActionResult:
        if isinstance(action, Type):
            return ActionResult(ok=False, error="nothing has the keyboard")
        return screen(shade=9)

    batch = computer_call(
        {"type": "click", "button": "left", "x": 1, "y": 2}, {"type": "type", "text": "a"}, {"type": "wait"}
    )
    run = with_computer([batch], [function("done")], desktop=FakeDesktop(screen(), react))
    assert run.performed == [Click(at=(1, 2)), Type(text="a")]
    items = run.service.seen[1]["input"]
    assert [item.get("type", "message") for item in items] == [
        *("message", "message", "reasoning", "computer_call", "computer_call_output", "message")
    ]
    told = items[-1]["content"][0]["text"]
    assert "nothing has the keyboard" in told
    assert told.endswith("- wait: not executed either")


CHECK = {"id": "sc_1", "code": "malicious_instructions", "message": "The page tells the agent what to do."}
RISKY = computer_call({"type": "click", "button": "left", "x": 1, "y": 2}, checks=[CHECK])


def test_a_safety_check_is_shown_to_the_person_and_acknowledged() -> None:
    asked: list[str] = []

    def agree(consent: Consent) -> bool:
        asked.append(consent.reason)
        return True

    run = with_computer([RISKY], [function("done")], confirm=agree)
    assert len(asked) == 1 and "The page tells the agent what to do." in asked[0]
    assert run.performed == [Click(at=(1, 2))]
    output = run.service.seen[1]["input"][-1]
    assert output["acknowledged_safety_checks"] == [CHECK]


@pytest.mark.parametrize("confirm", [None, lambda consent: False])
def test_a_safety_check_that_nobody_confirms_stops_the_action(confirm: Callable[[Consent], bool] | None) -> None:
    run = with_computer([RISKY], [function("fail", reason="not allowed")], confirm=confirm)
    assert run.performed == []
    items = run.service.seen[1]["input"]
    assert all(item.get("type") not in ("computer_call", "reasoning") for item in items)
    assert "nobody has given" in str(items[-1]["content"][0])


def test_a_safety_check_that_nobody_was_asked_about_is_not_acknowledged() -> None:
    unreadable = computer_call({"type": "click", "button": "left", "x": 9000, "y": 2}, checks=[CHECK])
    run = with_computer([unreadable], [function("fail", reason="not allowed")], confirm=lambda consent: True)
    assert run.performed == []
    told = str(run.service.seen[1]["input"])
    assert "acknowledged_safety_checks" not in told and "outside of the picture" in told


@pytest.mark.slow
def test_turns_are_left_out_as_a_whole() -> None:
    turns = [[computer_call({"type": "click", "button": "left", "x": 1, "y": number})] for number in range(22)]
    run = with_computer(*turns, [function("done")])
    counts = [len(run.service.sent_pictures(body)) for body in run.service.seen]
    assert max(counts) == 20 and counts[20] == 3
    assert run.outcome.status == "done"


# Both


@pytest.mark.parametrize("native", [with_toolset, with_computer])
def test_a_refusal_of_the_policy_is_the_result_of_the_action(native: Callable[..., Run]) -> None:
    switch = own("switch_applications", app_code="calculator")
    if native is with_computer:
        switch = function("switch_applications", app_code="calculator")
    turn = [switch]
    run = native(turn, [own("done") if native is with_toolset else function("done")])
    assert run.performed == [SwitchApplications(app_code="calculator")]


def test_only_models_with_a_tool_can_be_used_as_one() -> None:
    with pytest.raises(SettingsError, match="no computer tool"):
        build_models(load_settings(overrides={"provider.computer_tool": "native"}), {})


# Open models behind a server


def with_served(name: str, *turns: Any, service: StrictChat | None = None, **more: Any) -> Run:
    service = service or StrictChat()
    answers = [[says(turn)] if isinstance(turn, str) else turn for turn in turns]
    return Run(service, f"{{url}}/v1#{name}", service.answering(*answers), **more)


def qwen(**arguments: Any) -> str:
    import json

    return f"Next.\n<tool_call>\n{json.dumps({'name': 'computer_use', 'arguments': arguments})}\n</tool_call>"


FINISHED = {
    "qwen": qwen(action="terminate", status="success"),
    "ui_tars": "Thought: ready\nAction: finished(content='ready')",
    "seed": "<seed:tool_call><function=finished></function></seed:tool_call>",
    "pyautogui": "Ready.\n```python\ncomputer.terminate(status='success')\n```",
}


@pytest.mark.parametrize(
    ("name", "language", "answer", "action"),
    [
        # 1280x800 becomes 1288x812 in multiples of 28, and 1280x800 in multiples of 32
        ("Qwen2.5-VL-72B", "qwen", qwen(action="left_click", coordinate=[644, 406]), Click(at=(640, 400))),
        ("Qwen3-VL-32B", "qwen", qwen(action="left_click", coordinate=[500, 500]), Click(at=(640, 400))),
        (
            "qwen3.5-122b",
            "qwen",
            "<tool_call><function=computer_use><parameter=action>\ndouble_click\n</parameter>"
            "<parameter=coordinate>\n[250, 500]\n</parameter></function></tool_call>",
            Click(at=(320, 400), num_clicks=2),
        ),
        ("Qwen3-VL-32B", "qwen", qwen(action="open", text="Mousepad"), SwitchApplications(app_code="Mousepad")),
        (
            "UI-TARS-1.5-7B",
            "ui_tars",
            "Thought: nothing is open\nAction: open_app(app_name='Mousepad')",
            SwitchApplications(app_code="Mousepad"),
        ),
        (
            "OpenCUA-7B",
            "pyautogui",
            "Nothing is open.\n```python\ncomputer.open_app(name='Mousepad')\n```",
            SwitchApplications(app_code="Mousepad"),
        ),
        (
            "UI-TARS-1.5-7B",
            "ui_tars",
            "Thought: here\nAction: click(point='<point>644 406</point>')",
            Click(at=(640, 400)),
        ),
        (
            "UI-TARS-1.5-7B",
            "ui_tars",
            "Thought: here\nAction: right_single(start_box='<|box_start|>(644,406)<|box_end|>')",
            Click(at=(640, 400), button_type="right"),
        ),
        ("UI-TARS-72B", "ui_tars", "Action: left_double(start_box='(500,500)')", Click(at=(640, 400), num_clicks=2)),
        (
            "seed-1.8",
            "seed",
            "<seed:tool_call><function=click><parameter=point><point>500 500</point></parameter></function>"
            "</seed:tool_call>",
            Click(at=(640, 400)),
        ),
        ("OpenCUA-32B", "pyautogui", "Go.\n```python\npyautogui.click(x=644, y=406)\n```", Click(at=(640, 400))),
    ],
)
def test_open_models_act_in_their_own_format(name: str, language: str, answer: str, action: Action) -> None:
    factor = 32 if "qwen3" in name.lower() else 28
    service = StrictChat(factor=factor)
    desktop = FakeDesktop(screen(1280, 800), repaint())
    run = with_served(name, answer, FINISHED[language], service=service, desktop=desktop)
    assert run.performed == [action]
    assert run.outcome.status == "done"


def test_code_that_is_more_than_calls_with_plain_values_is_refused() -> None:
    evil = "```python\n__import__('os').system('true')\n```"
    run = with_served("OpenCUA-32B", evil, FINISHED["pyautogui"])
    assert run.performed == [] and run.outcome.status == "done"


CLICKED = "```python\npyautogui.click(644, 406)\n```"


@pytest.mark.parametrize(
    ("name", "answer", "problem"),
    [
        ("Qwen3-VL-32B", qwen(action="left_click", coordinate=[500]), "no place"),
        ("Qwen3-VL-32B", qwen(action="left_click", coordinate="the button"), "no place"),
        ("Qwen3-VL-32B", qwen(action="scroll", coordinate=[500, 500], pixels=float("inf")), "a scroll takes"),
        ("Qwen3-VL-32B", qwen(action="scroll", coordinate=[500, 500], pixels=float("nan")), "a scroll takes"),
        ("Qwen3-VL-32B", qwen(action="scroll", coordinate=[500, 500], pixels=10**12), "a scroll takes"),
        ("UI-TARS-1.5-7B", "Action: scroll(point='the list', direction='down')", "no place"),
        ("OpenCUA-32B", "pyautogui.click('ok.png')", "no place"),
        ("OpenCUA-32B", "pyautogui.click(x=644)", "no place"),
        ("OpenCUA-32B", "pyautogui.click(644, 406, clicks='two')", "two"),
        ("OpenCUA-32B", "pyautogui.press('tab', presses=10**9)", "plain values"),
        ("OpenCUA-32B", "pyautogui.press('tab', presses=1000000000)", "1 to 100 times"),
        ("OpenCUA-32B", "pyautogui.dragTo(644, 406, button='right')", "only the left button"),
    ],
)
def test_an_argument_that_makes_no_sense_is_told_to_the_model(name: str, answer: str, problem: str) -> None:
    language = {"Q": "qwen", "U": "ui_tars", "O": "pyautogui"}[name[0]]
    at = {"qwen": qwen(action="mouse_move", coordinate=[100, 100]), "pyautogui": "pyautogui.moveTo(100, 100)",
          "ui_tars": "Action: click(point='<point>100 100</point>')"}[language]  # fmt: skip
    service, desktop = StrictChat(factor=32 if language == "qwen" else 28), FakeDesktop(screen(1280, 800), repaint())
    run = with_served(name, at, answer, FINISHED[language], service=service, desktop=desktop)
    assert len(run.performed) == 1
    assert run.outcome.status == "done"
    assert problem in str(run.service.seen[2]["messages"])


@pytest.mark.parametrize(
    ("call", "action"),
    [
        ("pyautogui.click(644, 406, 2)", Click(at=(640, 400), num_clicks=2)),
        ("pyautogui.click(644, 406, 1, 0.0, 'right')", Click(at=(640, 400), button_type="right")),
        ("pyautogui.scroll(-5, x=644, y=406)", Scroll(at=(640, 400), clicks=-5)),
        ("pyautogui.hscroll(5, 644, 406)", Scroll(at=(640, 400), clicks=5, horizontal=True)),
        ("pyautogui.mouseDown(x=644, y=406)", MouseDown(at=(640, 400))),
        ("pyautogui.mouseUp(644, 406, 'right')", MouseUp(at=(640, 400), button_type="right")),
    ],
)
def test_a_place_in_code_counts_wherever_python_takes_it(call: str, action: Action) -> None:
    desktop = FakeDesktop(screen(1280, 800), repaint())
    run = with_served("OpenCUA-32B", f"pyautogui.moveTo(9, 9)\n{call}", FINISHED["pyautogui"], desktop=desktop)
    assert run.performed[-1] == action


@pytest.mark.parametrize("text", ["<think>hm</think> ok", "Action: call Bob", "Thought: Action: x"])
def test_a_typed_text_may_hold_marks_of_the_format(text: str) -> None:
    run = with_served("UI-TARS-1.5-7B", f"Thought: now\nAction: type(content='{text}')", FINISHED["ui_tars"])
    assert run.performed == [Type(text=text)]


def test_a_server_gets_the_last_pictures_only() -> None:
    run = with_served("UI-TARS-1.5-7B", *["Action: wait()"] * 6, FINISHED["ui_tars"])
    assert [len(run.service.sent_pictures(body)) for body in run.service.seen] == [1, 2, 3, 3, 3, 3, 3]


def test_an_unknown_model_needs_the_name_of_its_format() -> None:
    with pytest.raises(SettingsError, match=r"format of the model .* one of: .*qwen3-vl"):
        build_models(load_settings(overrides={"model": "http://h:1#llama", "provider.computer_tool": "native"}), {})
    named = {"model": "http://h:1#llama", "provider.computer_tool": "qwen3-vl"}
    build_models(load_settings(overrides=named), {})


def test_done_ends_the_task() -> None:
    assert with_toolset(DONE).performed == []
    assert Done() not in with_computer([function("done")]).performed
