"""The whole loop with a provider's model, against a server that speaks its wire format."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from aci.acting.actions import Action, Click, Type
from aci.desktop.desktop import ActionResult
from aci.observation.observation import Observation
from agent_s import AgentS, Limits, Options, Task, load_settings
from agent_s.events import ModelCalled, RunEnded, SentPicture
from agent_s.llm.build import build_models
from agent_s.llm.protocol import Model
from agent_s.llm.recorded import RecordedModel
from agent_s.records import Outcome
from agent_s.runs.reading import read_trajectory
from agent_s.trajectory.recorder import Recorder
from tests.unit.agent_s.fakes import FakeDesktop, button, screen
from tests.wire.formats import KEY, AnthropicFormat
from tests.wire.server import Http, Seen, Stall, Turn, WireServer

FORM = AnthropicFormat()
TASK = Task(instruction="Write hello and press OK")
START = screen(button(1, "Text", role="entry"), button(2, "OK"))
WRITTEN = screen(button(1, "Text: hello", role="entry"), button(2, "OK"))
CLOSED = screen(button(3, "Saved", role="label"))


def react(action: Action, seen: Observation) -> Observation | ActionResult:
    match action:
        case Type():
            return WRITTEN
        case Click(element_id=2):
            return CLOSED
        case Click(element_id=identity):
            return ActionResult(ok=False, error=f"there is no element {identity} on the screen")
    return seen


def act(action: dict[str, Any], **parts: str) -> Http:
    turn = {"previous_action_check": "", "observation_analysis": "", "next_action": "", **parts, "action": action}
    return FORM.answer(json.dumps(turn))


PLAN = FORM.answer(
    '{"nodes": [{"name": "write hello", "info": "into Text"}, {"name": "press OK", "info": ""}],'
    ' "edges": [["write hello", "press OK"]], "not_understood": [], "criteria": ["The form says \'Saved\'"]}'
)
DONE = act({"action": "done"})
SUMMARY = FORM.answer('{"summary": "Typed into the entry, pressed OK."}')
VERIFIED = FORM.answer(
    '{"verified": true, "reason": "It says Saved",'
    ' "judgements": [{"point": 1, "met": true,'
    ' "citations": [{"of": "element", "number": 3, "quote": "Saved"}]}]}'
)
UNCITED = FORM.answer('{"verified": true, "reason": "It says Saved", "evidence": ["3 label Saved"]}')
NORMAL: list[Turn] = [
    PLAN,
    act({"action": "type", "text": "hello", "element_id": 1}),
    DONE,
    act({"action": "click", "element_id": 2}),
    DONE,
    VERIFIED,
]


def run(
    turns: list[Turn],
    record: Path | None = None,
    limits: Limits | None = None,
    overrides: dict[str, object] | None = None,
) -> tuple[Outcome, WireServer, FakeDesktop]:
    """Run the task; without memory, so that nothing is summarized."""
    server, desktop = WireServer(list(turns)), FakeDesktop(START, react)
    settings = load_settings(
        overrides={"model": "anthropic:claude-opus-5-5", "provider.timeout_s": 2, **(overrides or {})}
    )
    with server.running():
        agent = AgentS(
            model=build_models(settings, FORM.environment(server.url)),
            desktop=desktop,
            options=Options(limits=limits or Limits()),
        )
        recorder = Recorder(record) if record else None
        for event in agent.stream(TASK):
            if recorder is not None:
                recorder(event)
            if isinstance(event, RunEnded):
                outcome = event.outcome
        if recorder is not None:
            recorder.close()
    return outcome, server, desktop


def test_a_task_is_planned_done_and_verified_by_a_provider() -> None:
    outcome, server, desktop = run(NORMAL)
    assert (outcome.status, outcome.verified) == ("done", True)
    assert desktop.performed == [Type(text="hello", element_id=1), Click(element_id=2)]
    assert [FORM.problems(seen) for seen in server.seen] == [[]] * 6
    assert outcome.usage.model_calls == 6
    assert (outcome.usage.input_tokens, outcome.usage.cached_tokens, outcome.usage.output_tokens) == (6000, 5160, 300)
    assert outcome.usage.dollars == pytest.approx(6 * (100 * 4 + 860 * 0.2 + 40 * 5 + 50 * 20) / 1e6)


def test_a_judge_that_cites_nothing_may_correct_its_judgement_once() -> None:
    outcome, server, _ = run([*NORMAL[:-1], UNCITED, VERIFIED])
    assert (outcome.status, outcome.verified) == ("done", True)
    assert "point 1: it was not judged" in json.dumps(server.asked[-1])


def test_each_turn_of_a_subtask_continues_where_the_last_one_ended() -> None:
    _, server, _ = run(NORMAL)
    first, second = (FORM.texts(body) for body in server.asked[1:3])
    assert second[: len(first) - 1] == first[:-1]
    assert 'Step 1: type "hello" into entry "Text" -> ' in second[-2]


def test_an_unknown_element_is_an_error_that_the_worker_reads() -> None:
    wrong = act({"action": "click", "element_id": 99})
    seen: list[Seen] = []

    def then_right(request: Seen) -> Http:
        seen.append(request)
        return act({"action": "click", "element_id": 2})

    outcome, _, _ = run([*NORMAL[:3], wrong, then_right, DONE, VERIFIED])
    assert outcome.status == "done"
    text = "\n".join(FORM.texts(seen[0].body))
    assert 'refused: "there is no element 99 on the screen"' in text


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        ([FORM.error(401, "expired")], "ANTHROPIC_API_KEY"),
        ([FORM.error(404, "no such model")], "no model"),
        ([Stall(), Stall()], "provider.timeout_s"),
        ([FORM.answer("", stop="refusal", refusal="no")], "refuses"),
    ],
)
def test_a_model_that_is_not_there_ends_the_run_before_anything_is_touched(turns: list[Turn], reason: str) -> None:
    outcome, _, desktop = run(turns, overrides={"provider.timeout_s": 0.3, "provider.retries": 1})
    assert outcome.status == "error"
    assert reason in outcome.reason
    assert desktop.performed == []


def test_the_key_is_in_nothing_that_a_run_leaves(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    outcome, _, _ = run([*NORMAL[:2], FORM.error(403, f"{KEY} may not")], record=folder)
    assert outcome.status == "error" and "refuses the key" in outcome.reason
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if KEY.encode() in path.read_bytes()]


def test_every_prompt_and_answer_is_in_the_record(tmp_path: Path) -> None:
    invalid = FORM.answer("I would click OK.")
    _, server, _ = run([*NORMAL[:2], invalid, *NORMAL[2:]], record=tmp_path / "run")
    calls = [event for event in read_trajectory(tmp_path / "run").events if isinstance(event, ModelCalled)]
    exchanges = [exchange for call in calls for exchange in call.exchanges]
    assert [len(call.exchanges) for call in calls] == [1, 1, 2, 1, 1, 1]
    assert "I would click OK." in exchanges[2].reply
    for exchange, body in zip(exchanges, server.asked, strict=True):
        parts = [part for turn in exchange.turns for part in turn.parts]
        assert [exchange.system, *(part for part in parts if isinstance(part, str))] == FORM.texts(body)
        pictures = [part for part in parts if isinstance(part, SentPicture)]
        sent = [base64.b64encode((tmp_path / "run" / one.file).read_bytes()).decode() for one in pictures]
        assert sent and all(data in json.dumps(body) for data in sent)


def test_a_call_that_fails_is_in_the_record_with_its_prompt(tmp_path: Path) -> None:
    run([PLAN, FORM.answer("", stop="refusal", refusal="not that")], record=tmp_path / "run")
    calls = [event for event in read_trajectory(tmp_path / "run").events if isinstance(event, ModelCalled)]
    assert calls[-1].error.startswith("ModelRefused: ")
    assert TASK.instruction in str(calls[-1].exchanges[0].turns)


def test_a_recorded_run_is_played_again_without_the_provider(tmp_path: Path) -> None:
    run(NORMAL, record=tmp_path / "run")
    desktop = FakeDesktop(START, react)
    outcome = AgentS(model=RecordedModel(tmp_path / "run"), desktop=desktop).run(TASK)
    assert (outcome.status, outcome.verified) == ("done", True)
    assert desktop.performed == [Type(text="hello", element_id=1), Click(element_id=2)]


@pytest.mark.parametrize(
    ("limits", "calls", "setting"),
    [
        (Limits(max_tokens=3000), 3, "limits.max_tokens"),
        (Limits(max_dollars=0.003), 2, "limits.max_dollars"),
        (Limits(max_model_calls=3), 3, "limits.max_model_calls"),
    ],
)
def test_a_budget_that_is_used_up_ends_the_run(limits: Limits, calls: int, setting: str) -> None:
    outcome, server, _ = run(NORMAL, limits=limits)
    assert outcome.status == "out_of_budget"
    assert setting in outcome.reason
    assert len(server.asked) == outcome.usage.model_calls == calls


def test_roles_ask_their_own_models_and_a_wrong_key_is_found_first() -> None:
    catalogue = Http(200, {"id": "m", "type": "model"})
    outcome, server, _ = run([catalogue, catalogue, *NORMAL], overrides={"roles.act": "anthropic:claude-sonnet-5"})
    assert outcome.status == "done"
    asked = [body["model"] for body in server.asked]
    assert asked == ["claude-opus-5-5"] + ["claude-sonnet-5"] * 4 + ["claude-opus-5-5"]
    outcome, server, desktop = run(
        [catalogue, FORM.error(404, "no such model"), *NORMAL], overrides={"roles.act": "anthropic:no-such"}
    )
    assert outcome.status == "error" and "no-such" in outcome.reason
    assert server.asked == [] and desktop.performed == []


def test_every_call_is_an_event_with_its_tokens() -> None:
    server = WireServer(list(NORMAL))
    with server.running():
        model: Model = build_models(load_settings(overrides={"model": "anthropic:x"}), FORM.environment(server.url))
        events = list(AgentS(model=model, desktop=FakeDesktop(START, react)).stream(TASK))
    calls = [event for event in events if isinstance(event, ModelCalled)]
    assert [call.call for call in calls] == ["plan", "act", "act", "act", "act", "verify"]
    assert {(call.model, call.usage.input_tokens, call.usage.cached_tokens, call.usage.dollars) for call in calls} == {
        ("anthropic:x", 1000, 860, None)
    }
