from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from aci.acting.actions import Click, Done
from agent_s import AgentS, Task
from agent_s.errors import ModelError, ModelRefused
from agent_s.llm.build import build_model
from agent_s.llm.protocol import (
    ActContext,
    ActResponse,
    Kind,
    ModelRequest,
    PlanContext,
    PlannedNode,
    PlanResponse,
    QueryContext,
)
from agent_s.llm.recorded import RecordedModel, RecordingModel
from agent_s.llm.scripted import Answer, ScriptedModel
from agent_s.records import Subtask
from agent_s.runs.listing import list_runs
from agent_s.trajectory.recorder import Recorder
from tests.unit.agent_s.fakes import FakeDesktop, button, screen

TASK = Task(instruction="Press OK")
SCREEN = screen(button(1, "OK"))


def record(path: Path) -> None:
    script = ScriptedModel({"act": [ActResponse(action=Click(element_id=1)), ActResponse(action=Done())]})
    assert AgentS(model=RecordingModel(script, path), desktop=FakeDesktop(SCREEN)).run(TASK).status == "done"


def test_a_recorded_run_runs_again_without_the_model(tmp_path: Path) -> None:
    record(tmp_path / "calls.jsonl")
    desktop = FakeDesktop(SCREEN)
    outcome = AgentS(model=RecordedModel(tmp_path / "calls.jsonl"), desktop=desktop).run(TASK)
    assert outcome.status == "done"
    assert desktop.performed == [Click(element_id=1)]


def test_a_recording_is_never_overwritten(tmp_path: Path) -> None:
    record(tmp_path / "calls.jsonl")
    with pytest.raises(FileExistsError):
        RecordingModel(ScriptedModel({}), tmp_path / "calls.jsonl")


def test_a_recording_of_another_task_is_refused(tmp_path: Path) -> None:
    record(tmp_path / "calls.jsonl")
    model = RecordedModel(tmp_path / "calls.jsonl")
    with pytest.raises(ModelError, match="another task"):
        model.complete(ModelRequest(PlanContext(Task(instruction="Press Cancel"), SCREEN)))


def test_a_recording_that_ends_early_says_so(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    record(path)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    outcome = AgentS(model=RecordedModel(path), desktop=FakeDesktop(SCREEN)).run(TASK)
    assert outcome.status == "error" and "ends after 1 calls" in outcome.reason


@pytest.mark.parametrize("text", ["", "[]\n", "nonsense\n", '{"schema_version": 99}\n'])
def test_files_that_are_not_recordings_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "calls.jsonl").write_text(text)
    with pytest.raises(ModelError, match=r"calls\.jsonl"):
        RecordedModel(tmp_path / "calls.jsonl")


def test_line_separators_in_texts_do_not_split_the_recording(tmp_path: Path) -> None:
    words = "Press\u2028OK\u0085"
    script = ScriptedModel({"act": [ActResponse(next_action=words, action=Done())]})
    task, path = Task(instruction=f"Now {words} now"), tmp_path / "calls.jsonl"
    first = AgentS(model=RecordingModel(script, path), desktop=FakeDesktop(SCREEN)).run(task)
    again = AgentS(model=RecordedModel(path), desktop=FakeDesktop(SCREEN)).run(task)
    assert (first.status, again.status) == ("done", "done")


def record_run(folder: Path, script: Mapping[Kind, Iterable[Answer]] | None = None) -> Path:
    acts = [ActResponse(action=Click(element_id=1)), ActResponse(action=Done())]
    recorder = Recorder(folder)
    agent = AgentS(model=ScriptedModel({"act": acts, **(script or {})}), desktop=FakeDesktop(SCREEN))
    for event in agent.stream(TASK):
        recorder(event)
    recorder.close()
    return folder


class TestRecordedRuns:
    def test_a_run_is_played_again_by_the_start_of_its_id(self, tmp_path: Path) -> None:
        folder = record_run(tmp_path / "run")
        desktop = FakeDesktop(SCREEN)
        run_id = list_runs(tmp_path)[0].run_id
        for name, runs_folder in ((str(folder), None), (run_id[:6], tmp_path), ("last", tmp_path)):
            model = build_model(f"recorded:{name}", runs_folder=runs_folder)
            assert AgentS(model=model, desktop=desktop).run(TASK).status == "done"
        assert desktop.performed == [Click(element_id=1)] * 3

    def test_an_answer_for_another_element_is_a_difference(self, tmp_path: Path) -> None:
        folder = record_run(tmp_path / "run")
        desktop = FakeDesktop(screen(button(1, "Cancel")))
        outcome = AgentS(model=RecordedModel(folder), desktop=desktop).run(TASK)
        assert desktop.performed == []
        assert "Call 2 differs from the record" in outcome.reason
        assert "-c memory.enabled=false" in outcome.reason
        assert 'is for push button "OK", here push button "Cancel"' in outcome.reason

    def test_another_subtask_is_a_difference(self, tmp_path: Path) -> None:
        plan = PlanResponse(nodes=(PlannedNode(name="Press it"),))
        model = RecordedModel(record_run(tmp_path / "run", {"plan": [plan]}))
        model.complete(ModelRequest(PlanContext(TASK, SCREEN)))
        with pytest.raises(ModelError, match="the subtask 'Press it', here it is 'Press Cancel'"):
            model.complete(ModelRequest(ActContext(TASK, Subtask(name="Press Cancel"), SCREEN)))

    def test_another_kind_of_request_is_a_difference(self, tmp_path: Path) -> None:
        model = RecordedModel(record_run(tmp_path / "run"))
        with pytest.raises(ModelError, match="Call 1 differs from the record: the record has 'plan', and 'query'"):
            model.complete(ModelRequest(QueryContext(TASK, SCREEN)))

    def test_a_recorded_refusal_is_a_refusal_again(self, tmp_path: Path) -> None:
        folder = record_run(tmp_path / "run", {"plan": [ModelRefused("the model refuses")]})
        with pytest.raises(ModelRefused, match="the model refuses"):
            RecordedModel(folder).complete(ModelRequest(PlanContext(TASK, SCREEN)))

    def test_a_run_of_version_2_is_played_again(self) -> None:
        desktop = FakeDesktop(screen(button(1, "OK"), button(2, "Cancel"), button(3, "Help")))
        model = RecordedModel(Path(__file__).parents[3] / "data" / "run_2")
        assert AgentS(model=model, desktop=desktop).run(Task(instruction="Press OK")).status == "done"
        assert desktop.performed == [Click(element_id=1)]

    def test_a_run_that_does_not_exist_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match="is not a recording"):
            RecordedModel("nothing", tmp_path)
