from __future__ import annotations

from dataclasses import replace

import pytest

from aci.acting.actions import Click
from aci.desktop.desktop import ActionResult
from aci.observation.observation import Observation, Window
from agent_s.llm.conversation import Text
from agent_s.llm.prompting.advice import advice_for, load_advice
from agent_s.llm.prompting.rendering import Renderer
from agent_s.llm.protocol import ActContext, ActResponse
from agent_s.records import Step, Subtask, Task
from tests.unit.agent_s.fakes import EDITOR, button, screen


def topics(seen: Observation) -> set[str]:
    return {advice.topic for advice in advice_for(seen)}


def inside(*path: str) -> Observation:
    return screen(replace(button(1, "A1", role="table cell"), path=path))


def with_window(window: Window) -> Observation:
    return screen(button(1, "OK"), windows=(window, EDITOR))


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (inside("frame:Untitled 1", "document spreadsheet:Untitled 1"), {"spreadsheets", "office files"}),
        (inside("frame:Letter", "document text:Letter"), {"text documents", "office files"}),
        (inside("frame:News", "document web:News"), {"web pages"}),
        (screen(button(1, "Terminal", role="terminal")), {"terminals"}),
        (with_window(replace(EDITOR, app="xterm")), {"terminals"}),
        (with_window(replace(EDITOR, id=2, title="Save As", modal=True)), {"file dialogs"}),
        (screen(button(1, "Name", role="file chooser")), {"file dialogs"}),
        (screen(button(1, "OK")), set()),
        (with_window(replace(EDITOR, title="Open letter to the city")), set()),
    ],
)
def test_advice_is_given_where_it_bears(seen: Observation, expected: set[str]) -> None:
    assert topics(seen) == expected


def test_advice_is_given_once_when_its_screen_comes_up() -> None:
    plain, dialog = screen(button(1, "OK")), screen(button(2, "Name", role="file chooser"))
    step = Step(1, plain, ActResponse(action=Click(element_id=1)), ActionResult(ok=True))
    later = Step(2, dialog, ActResponse(action=Click(element_id=2)), ActionResult(ok=True))
    context = ActContext(Task(instruction="Save"), Subtask(name="save"), dialog, steps=(step, later))
    parts = Renderer(b"secret", max_pictures=0).render(context).messages[0].parts
    texts = [part.text for part in parts if isinstance(part, Text)]
    assert ["About file dialogs" in text for text in texts] == [False, True, False, False]


def test_every_topic_names_where_it_bears() -> None:
    for advice in load_advice():
        assert advice.roles or advice.applications or advice.title, advice.topic
