from __future__ import annotations

from pathlib import Path

import pytest

from aci.acting.actions import Click, Done
from agent_s import AgentS, Task
from agent_s.errors import ModelError
from agent_s.llm.protocol import ActResponse, ModelRequest, QueryContext
from agent_s.llm.recorded import RecordedModel, RecordingModel
from agent_s.llm.scripted import ScriptedModel
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
        model.complete(ModelRequest(QueryContext(Task(instruction="Press Cancel"), SCREEN)))


def test_a_recording_that_ends_early_says_so(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    record(path)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    outcome = AgentS(model=RecordedModel(path), desktop=FakeDesktop(SCREEN)).run(TASK)
    assert outcome.status == "error" and "ends after 1 calls" in outcome.reason


@pytest.mark.parametrize("text", ["", "[]\n", "nonsense\n", '{"schema_version": 99}\n'])
def test_files_that_are_no_recording_are_refused(tmp_path: Path, text: str) -> None:
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
