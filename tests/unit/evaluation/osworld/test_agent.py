"""The agent in the loop of OSWorld's harness: what it needs, what it returns, and how episodes end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aci.acting.actions import Action, CallUser, Click, Done, Fail, Hotkey, SaveToBuffer, Type, Zoom
from agent_s.llm.protocol import ActResponse, Kind, ModelRequest
from agent_s.llm.scripted import Answer, ScriptedModel
from agent_s.settings import Settings, load_settings
from evaluation.errors import EvaluationError
from evaluation.osworld.agent import OSWorldAgent
from tests.unit.aci.remote.server import png
from tests.unit.aci.remote.trees import notes

OBS = {"screenshot": png(), "accessibility_tree": notes(), "terminal": None, "instruction": "Save it."}
Make = Callable[..., OSWorldAgent]


def saying(*actions: Action | Callable[[ModelRequest], Action]) -> ScriptedModel:
    def answer(action: Any) -> Answer:
        def given(request: ModelRequest) -> ActResponse:
            chosen = action(request) if callable(action) else action
            return ActResponse(action=chosen, next_action=f"Now {chosen.action}.")

        return given

    script: dict[Kind, list[Answer]] = {"act": [answer(action) for action in actions]}
    return ScriptedModel(script)


def on(name: str) -> Callable[[ModelRequest], Action]:
    """Return what clicks the element of a name on the screen that the model is shown."""

    def click(request: ModelRequest) -> Action:
        [found] = [each for each in request.context.observation.elements if each.name == name]  # type: ignore[attr-defined]
        return Click(element_id=found.id)

    return click


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    changes = {
        "memory.path": str(tmp_path / "memory.sqlite"),
        "memory.embedder": "hashing",
        "desktop.ocr": "none",
        "runs_dir": str(tmp_path / "runs"),
        "reflection.enabled": False,
        "planner": "flat",
        "evaluator": False,
    }
    return load_settings(overrides=changes)


@pytest.fixture
def make(settings: Settings) -> Iterator[Make]:
    made: list[OSWorldAgent] = []

    def new(*actions: Any, **options: Any) -> OSWorldAgent:
        made.append(OSWorldAgent(settings, model=saying(*actions), **options))
        return made[-1]

    yield new
    for agent in made:
        agent.close()


def test_each_call_returns_what_it_says_and_one_action_until_it_is_done(make: Make) -> None:
    agent = make(on("Save"), Type(text="hello"), Done())
    agent.reset()
    response, actions = agent.predict("Save it.", OBS)
    assert actions == ["import pyautogui; pyautogui.click(50, 42, clicks=1, button='left')"]
    assert "Now click." in response
    assert agent.predict("Save it.", {**OBS, "screenshot": png(shade=40)})[1] == [
        "import pyautogui; pyautogui.write('hello')"
    ]
    changed = {**OBS, "screenshot": png(shade=90), "accessibility_tree": notes("hello")}
    assert agent.predict("Save it.", changed)[1] == ["DONE"]
    assert agent.predict("Save it.", changed)[1] == ["DONE"]
    assert agent.run_folder is not None and (agent.run_folder / "events.jsonl").exists()


def test_computer_13_gives_dictionaries(make: Make) -> None:
    agent = make(Hotkey(keys=("ctrl", "s")), action_space="computer_13")
    assert agent.predict("Save it.", OBS)[1] == [{"action_type": "HOTKEY", "parameters": {"keys": ["ctrl", "s"]}}]


@pytest.mark.parametrize("kind", ["a11y_tree", "screenshot_a11y_tree", "som"])
def test_observations_with_a_tree_need_only_their_part(make: Make, kind: str) -> None:
    obs: dict[str, Any] = {**OBS, "screenshot": None} if kind == "a11y_tree" else OBS
    agent = make(on("Save"), observation_type=kind)
    assert "click(50, 42" in str(agent.predict("Save it.", obs)[1][0])


def test_a_screenshot_alone_shows_no_elements(make: Make) -> None:
    agent = make(Click(element_id=1), Click(at=(7, 8)), observation_type="screenshot")
    assert "click(7, 8" in str(agent.predict("Save it.", {"screenshot": png()})[1][0])


def test_an_action_that_is_not_possible_here_is_not_sent(make: Make) -> None:
    agent = make(Zoom(element_id=1), Click(element_id=999), SaveToBuffer(text="x"), Hotkey(keys=("F5",)))
    assert agent.predict("Save it.", OBS)[1] == ["import pyautogui; pyautogui.press('f5')"]


def test_giving_up_is_fail(make: Make) -> None:
    assert make(Fail(reason="there is no such thing")).predict("Save it.", OBS)[1] == ["FAIL"]


def test_a_question_is_asked_only_of_a_harness_that_knows_it(make: Make) -> None:
    question = CallUser(question="Please enter your address.")
    asked = make(question, Done(), action_space="computer_13", call_user=True).predict("Log in.", OBS)[1]
    assert asked == [{"action_type": "CALL_USER", "parameters": {"call_type": "email"}}]
    assert make(question, Fail(), Fail(), Fail()).predict("Log in.", OBS)[1] == ["FAIL"]


def test_a_new_episode_ends_the_one_before(make: Make) -> None:
    agent = make(Hotkey(keys=("F5",)), Hotkey(keys=("F6",)))
    assert "f5" in str(agent.predict("Save it.", OBS)[1])
    agent.reset("logger", folder="ignored")
    assert "f6" in str(agent.predict("Save something else.", OBS)[1])


def test_what_one_episode_did_is_remembered_in_the_next(make: Make, settings: Settings) -> None:
    agent = make(Hotkey(keys=("F5",)), Done())
    agent.predict("Save it.", OBS)
    agent.predict("Save it.", {**OBS, "screenshot": png(shade=90), "accessibility_tree": notes("saved")})
    agent.close()
    from agent_s.memory import open_memory

    with open_memory(settings) as memory:
        assert memory.stats().narrative == 1


def test_a_model_that_breaks_is_an_error_and_not_a_verdict(make: Make) -> None:
    agent = make()
    with pytest.raises(EvaluationError, match="the run broke"):
        agent.predict("Save it.", OBS)


@pytest.mark.parametrize(
    ("kind", "obs", "reason"),
    [
        ("screenshot", {}, r"obs\['screenshot'\] is NoneType"),
        ("som", {"screenshot": b"\x89PNG"}, r"obs\['screenshot'\] is not a picture"),
        ("a11y_tree", {"screenshot": png()}, "require_a11y_tree=True"),
    ],
)
def test_a_missing_part_of_an_observation_is_named(make: Make, kind: str, obs: dict[str, Any], reason: str) -> None:
    with pytest.raises(EvaluationError, match=reason):
        make(Done(), observation_type=kind).predict("Save it.", obs)
