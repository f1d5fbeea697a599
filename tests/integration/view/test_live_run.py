"""A run that is watched in a browser: questions, consent, steps, and stopping, over real HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from aci.acting.actions import Action, CallUser, Click, Done, Type
from aci.safety.policy import Policy
from agent_s.llm.scripted import ScriptedModel
from agent_s.loop.agent import AgentS
from agent_s.records import ActResponse, Outcome, Task
from agent_s.runs.reading import read_trajectory
from agent_s.trajectory.recorder import Recorder
from agent_s.view.live import LiveRun
from tests.integration.view.serving import LIMIT_S, messages
from tests.unit.agent_s.fakes import FakeDesktop, button, screen


def act(action: Action) -> ActResponse:
    return ActResponse(next_action=f"do {action.action}", action=action)


def outcome_of(folder: Path) -> Outcome:
    (ended,) = [event for event in read_trajectory(folder).events if event.kind == "run_ended"]
    return ended.outcome


@contextmanager
def watched(folder: Path, desktop: FakeDesktop, *actions: Action) -> Iterator[httpx.Client]:
    """Carry out actions in a thread, shown in a view; the client's addresses are relative to that of the run."""
    announced = threading.Event()
    addresses: list[str] = []

    def announce(text: str) -> None:
        addresses.append(text.split()[-1])
        announced.set()

    live = LiveRun(announce)
    model = ScriptedModel({"act": [act(action) for action in actions]})
    agent = AgentS(
        model=model, desktop=desktop, policy=Policy(), ask=live.ask, confirm=live.confirm, take_over=live.take_over
    )

    def carry_out() -> None:
        recorder = Recorder(folder)
        with live.shown(agent, folder, agent.stop):
            for event in agent.stream(Task(instruction="Delete the file")):
                recorder(event)
                live(event)
            recorder.close()

    thread = threading.Thread(target=carry_out)
    thread.start()
    try:
        assert announced.wait(LIMIT_S)
        with httpx.Client(base_url=f"{addresses[0]}run/{folder.name}/", timeout=LIMIT_S) as client:
            yield client
    finally:
        agent.stop()
        thread.join(LIMIT_S)
        assert not thread.is_alive()


def questions(client: httpx.Client) -> Iterator[dict[str, Any]]:
    """Yield each question of the run once."""
    last = 0
    for kind, content in messages(client, ""):
        question = content.get("question") if kind == "state" else None
        if question is not None and question["number"] != last:
            last = question["number"]
            yield question


def order(client: httpx.Client, question: dict[str, Any], **fields: Any) -> None:
    answer = client.post("do", json={"number": question["number"], **fields})
    assert answer.status_code == 200, answer.text


def test_questions_are_answered_and_steps_are_allowed_one_by_one(tmp_path: Path) -> None:
    desktop = FakeDesktop(screen(button(1, "Delete")))
    actions = [CallUser(question="Which <b>file</b>?"), Click(element_id=1), Done()]
    asked = []
    with watched(tmp_path / "run", desktop, *actions) as client:
        for question in questions(client):
            asked.append(question["kind"])
            if question["kind"] == "ask":
                assert question["text"] == "Which <b>file</b>?"
                order(client, question, do="step")
                order(client, question, do="answer", value="notes.txt")
            elif question["kind"] == "confirm":
                assert 'click push button "Delete"' in question["text"]
                assert question["picture"].startswith("data:image/png;base64,")
                order(client, question, do="answer", value=True)
            else:
                order(client, question, do="answer", value="continue" if "confirm" in asked else "step")
    assert asked == ["ask", "pause", "confirm", "pause"]
    assert desktop.performed == [Click(element_id=1)]
    assert outcome_of(tmp_path / "run").status == "done"


def test_an_action_that_is_refused_is_not_performed(tmp_path: Path) -> None:
    desktop = FakeDesktop(screen(button(1, "Delete")))
    with watched(tmp_path / "run", desktop, Click(element_id=1), Done()) as client:
        for question in questions(client):
            order(client, question, do="answer", value="yes" if question["kind"] == "ask" else False)
    assert desktop.performed == []


def test_the_person_acts_on_the_screen_while_the_run_is_paused(tmp_path: Path) -> None:
    desktop = FakeDesktop(screen(button(1, "Open")))
    with watched(tmp_path / "run", desktop, CallUser(question="Ready?"), Done()) as client:
        for question in questions(client):
            if question["kind"] == "ask":
                order(client, question, do="pause")
                order(client, question, do="answer", value="yes")
            elif not desktop.performed:
                order(client, question, do="act", action={"action": "click", "at": [5, 6]})
            elif len(desktop.performed) == 1:
                order(client, question, do="act", action={"action": "type", "text": "by hand"})
            else:
                order(client, question, do="answer", value="continue")
    assert desktop.performed == [Click(at=(5, 6)), Type(text="by hand")]


def test_the_stop_button_ends_a_run_that_waits_for_an_answer(tmp_path: Path) -> None:
    desktop = FakeDesktop(screen(button(1, "Delete")))
    with watched(tmp_path / "run", desktop, CallUser(question="Which file?"), Click(element_id=1), Done()) as client:
        for question in questions(client):
            order(client, question, do="stop")
    assert outcome_of(tmp_path / "run").status == "stopped"
    assert desktop.performed == []
    assert desktop.released


def test_what_is_not_an_order_is_an_error_that_changes_nothing(tmp_path: Path) -> None:
    desktop = FakeDesktop(screen(button(1, "Open")))
    with watched(tmp_path / "run", desktop, CallUser(question="Which file?"), Done()) as client:
        for question in questions(client):
            for wrong in ({"do": "dance"}, {"do": "act", "action": {"action": "launch", "argv": ["xterm"]}}):
                assert client.post("do", json=wrong).status_code == 400
            assert (
                client.post("do", content=b'{"do": "stop"}', headers={"Content-Type": "text/plain"}).status_code == 415
            )
            order(client, {"number": question["number"] + 1}, do="answer", value="for another question")
            order(client, question, do="answer", value="notes.txt")
    assert outcome_of(tmp_path / "run").status == "done"
