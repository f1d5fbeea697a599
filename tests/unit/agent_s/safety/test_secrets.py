from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aci.acting.actions import Action, Click, Done, SaveToBuffer, Type
from aci.desktop.desktop import ActionResult
from aci.observation.observation import Element, Observation
from agent_s import AgentS, Options, Task
from agent_s.llm.conversation import as_exchange
from agent_s.llm.protocol import ActResponse, ModelRequest, Response
from agent_s.llm.scripted import ScriptedModel
from agent_s.runs.reading import read_trajectory
from agent_s.safety.secrets import SecretDesktop, Secrets, find_in, named_in
from agent_s.trajectory.recorder import Recorder
from agent_s.trajectory.report import write_report
from memory_store import MemoryStore
from tests.unit.agent_s.fakes import EDITOR, FakeDesktop, button, screen
from tests.unit.agent_s.prompts.contexts import as_text, renderer

VALUE = "hunter2-öl"
START = replace(
    screen(button(1, "Password", role="entry"), button(2, "OK")), screenshot=np.full((600, 800, 3), 200, np.uint8)
)


def shown(seen: Observation, text: str) -> Observation:
    """Return a screen whose field, title and message show what was typed."""
    field = replace(button(1, "Password", role="entry"), text=text)
    echo = button(3, f"You typed {text}!", role="label")
    return replace(seen, elements=(field, button(2, "OK"), echo), windows=(replace(EDITOR, title=f"{text} - Editor"),))


def react(action: Action, seen: Observation) -> Observation:
    return shown(seen, action.text) if isinstance(action, Type) else seen


def desktop_with(*allowed: str, inner: FakeDesktop | None = None) -> tuple[SecretDesktop, FakeDesktop]:
    fake = inner or FakeDesktop(START, react)
    return SecretDesktop(fake, Secrets({"MAIL": VALUE, "PIN": "12"}.get), frozenset(allowed)), fake


def test_a_secret_is_typed_and_observed_as_its_placeholder() -> None:
    desktop, fake = desktop_with("MAIL")
    assert desktop.perform(Type(text="x{{secret:MAIL}}", element_id=1, enter=True)).ok
    assert fake.performed == [Type(text=f"x{VALUE}", element_id=1, enter=True)]
    seen = desktop.observe()
    assert VALUE not in seen.to_text()
    assert seen.by_id[1].text == "x{{secret:MAIL}}"
    assert seen.by_id[2] is fake.screen.by_id[2]


def test_only_elements_that_show_a_secret_are_blackened() -> None:
    desktop, fake = desktop_with("MAIL")
    desktop.perform(Type(text="{{secret:MAIL}}"))
    seen = desktop.observe()
    black = (seen.screenshot == 0).all(axis=2)
    for element in seen.elements:
        rect = element.rect
        assert black[rect.y : rect.bottom, rect.x : rect.right].all() == (element.id in (1, 3))
    assert black.sum() == sum(seen.by_id[identity].rect.area for identity in (1, 3))
    assert not (fake.screen.screenshot == 0).any()


def test_secrets_are_hidden_in_errors_and_notes() -> None:
    refusing = FakeDesktop(START, lambda action, seen: ActionResult(ok=False, error=f"cannot type {VALUE}", note=VALUE))
    desktop, _ = desktop_with("MAIL", inner=refusing)
    result = desktop.perform(Type(text="{{secret:MAIL}}"))
    assert result.error == "cannot type {{secret:MAIL}}" and result.note == "{{secret:MAIL}}"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{{secret:BANK}}", "the task does not name the secret BANK"),
        ("{{secret:MAIL}} {{secret:BANK}}", "BANK"),
        ("{{secret:GONE}}", "AGENT_S_SECRET_GONE"),
        ("{{secret:PIN}}", "at least 4 characters"),
    ],
)
def test_an_unavailable_secret_is_an_error_and_nothing_is_typed(text: str, error: str) -> None:
    desktop, fake = desktop_with("MAIL", "GONE", "PIN")
    result = desktop.perform(Type(text=text))
    assert not result.ok and error in str(result.error)
    assert fake.performed == []


def test_only_typing_resolves_a_placeholder() -> None:
    desktop, fake = desktop_with("MAIL")
    desktop.perform(SaveToBuffer(text="{{secret:MAIL}}"))
    assert fake.screen.buffer == ("{{secret:MAIL}}",)


def test_a_secret_desktop_passes_other_members_on() -> None:
    desktop, fake = desktop_with()
    desktop.release_all()
    assert fake.released == 1
    assert desktop.home is None
    assert desktop.observe() is START


def test_secrets_are_found_by_name_in_the_environment() -> None:
    assert named_in("Log in with {{secret:MAIL}} and {{secret:A-1}}, not {{secret:a b}}") == {"MAIL", "A-1"}
    assert find_in({"AGENT_S_SECRET_MAIL": VALUE})("MAIL") == VALUE
    assert find_in({"MAIL": VALUE})("MAIL") is None
    secrets = Secrets(lambda name: VALUE)
    assert secrets.value("MAIL") == VALUE
    assert VALUE not in repr(secrets)


def test_a_secret_is_in_nothing_that_a_run_sends_or_leaves(tmp_path: Path) -> None:
    """Every request as a provider would get it, every file of the record, the report, and the memory."""
    task = Task(instruction="Log in with {{secret:MAIL}} and press OK")
    sent: list[str] = []

    def act(request: ModelRequest) -> Response:
        prompt = renderer().render(request.context)
        sent.append(as_text(prompt))
        request.on_exchange(as_exchange(prompt, "", None))
        steps: list[Action] = [Type(text="{{secret:MAIL}}", element_id=1), Click(element_id=2), Done()]
        return ActResponse(action=steps[len(sent) - 1], next_action="go on")

    model = ScriptedModel({"act": [act, act, act]})
    desktop = FakeDesktop(START, react)
    recorder = Recorder(tmp_path / "run")
    with MemoryStore.open(tmp_path / "memory.sqlite") as memory:
        agent = AgentS(
            model=model, desktop=desktop, memory=memory, options=Options(reflect=False), secret={"MAIL": VALUE}.get
        )
        for event in agent.stream(task):
            recorder(event)
    recorder.close()
    write_report(read_trajectory(tmp_path / "run"))
    assert desktop.performed[0] == Type(text=VALUE, element_id=1)
    sent += [as_text(renderer().render(request.context)) for request in model.requests]
    assert len(sent) > 5 and not [text for text in sent if VALUE in text or "hunter2" in text]
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"memory.sqlite", "events.jsonl"} <= {path.name for path in left}
    assert not [path for path in left if b"hunter2" in path.read_bytes()]


class Glancing(FakeDesktop):
    def element_now(self, element: Element) -> Element | None:
        return self.screen.by_id.get(element.id)

    def glance(self, ids: Collection[int]) -> Observation | None:
        return self.screen


def test_secret_is_hidden_in_an_element_that_is_asked_and_needs_a_look_besides() -> None:
    desktop, fake = desktop_with("MAIL", inner=Glancing(START, react))
    field = START.by_id[1]
    assert desktop.glance({1}) is fake.screen
    desktop.perform(Type(text="{{secret:MAIL}}", element_id=1))
    now = desktop.element_now(field)
    assert now is not None and now.text == "{{secret:MAIL}}"
    assert desktop.element_now(replace(field, id=77)) is None
    assert desktop.glance({1}) is None
