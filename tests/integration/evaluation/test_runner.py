from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aci import Done, Fail, VirtualDesktop
from aci.processes import belonging_to
from agent_s import AgentS
from agent_s.events import Event, RunEnded, RunStarted
from agent_s.llm.protocol import ActResponse
from agent_s.llm.scripted import ScriptedModel
from agent_s.runs.reading import read_trajectory
from agent_s.settings import MemorySettings, Settings
from evaluation.osworld.runner import run_task
from evaluation.osworld.task import TaskFile, load_task
from evaluation.state.context import Rights

pytestmark = pytest.mark.desktop

MAY = Rights(commands=True)
WRITE = {"type": "execute", "parameters": {"command": ["sh", "-c", "echo written > Documents/a.txt"]}}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(memory=MemorySettings(enabled=False), runs_dir=tmp_path / "runs")


def a_task(folder: Path, config: list[Any], wanted: str = "written") -> TaskFile:
    path = folder / "task.json"
    evaluator = {
        "func": "exact_match",
        "result": {"type": "vm_file_text", "path": "~/Documents/a.txt"},
        "expected": {"type": "rule", "rules": {"expected": wanted}},
    }
    task = {"id": "written", "instruction": "See to the file.", "config": config, "evaluator": evaluator}
    path.write_text(json.dumps(task))
    return load_task(path)


class Agents:
    """Builds agents that end at their first step, and keeps the ids of their desktops."""

    def __init__(self, action: Done | Fail) -> None:
        self.desktops: list[str] = []
        self._action = action

    def __call__(self, desktop: VirtualDesktop) -> AgentS:
        self.desktops.append(desktop.id)
        model = ScriptedModel({"act": [ActResponse(action=self._action)] * 9})
        return AgentS(model=model, desktop=desktop)


def test_result_of_a_done_task_has_its_recording_and_report(tmp_path: Path, settings: Settings) -> None:
    events: list[Event] = []
    agents = Agents(Done())

    row = run_task(a_task(tmp_path, [WRITE]), settings, rights=MAY, new_agent=agents, on_event=events.append)

    assert (row.task, row.instruction, row.status, row.verified) == ("written", "See to the file.", "done", True)
    assert row.model_calls > 0
    assert row.seconds > 0
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunEnded)
    assert row.run_id == events[0].run_id
    assert row.trajectory is not None
    assert len(read_trajectory(row.trajectory).events) == len(events)
    assert row.report is not None
    assert "See to the file." in row.report.read_text(encoding="utf-8")
    assert row.recording_problem == ""
    assert not belonging_to(agents.desktops[0])


def test_unfounded_claim_of_success_is_not_verified(tmp_path: Path, settings: Settings) -> None:
    row = run_task(a_task(tmp_path, [WRITE], wanted="other"), settings, rights=MAY, new_agent=Agents(Done()))

    assert (row.verified, row.status) != (True, "done")
    assert row.verified is False


def test_failed_preparation_is_an_error_and_not_a_failure_of_the_agent(tmp_path: Path, settings: Settings) -> None:
    agents = Agents(Done())
    broken = {"type": "launch", "parameters": {"command": ["no-such-program"]}}

    row = run_task(a_task(tmp_path, [broken]), settings, rights=MAY, new_agent=agents)

    assert (row.status, row.verified, row.trajectory) == ("error", None, None)
    assert "step 'launch': There is no program 'no-such-program'" in row.reason
    assert agents.desktops == []


def test_ctrl_c_between_two_events_leaves_nothing_behind(tmp_path: Path, settings: Settings) -> None:
    agents = Agents(Done())

    def interrupt(event: Event) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_task(a_task(tmp_path, [WRITE]), settings, rights=MAY, new_agent=agents, on_event=interrupt)

    assert not belonging_to(agents.desktops[0])


def test_watcher_can_stop_a_run(tmp_path: Path, settings: Settings) -> None:
    def watch(items: Iterator[Event], stop: Callable[[], None]) -> Iterator[Event]:
        for event in items:
            stop()
            yield event

    row = run_task(a_task(tmp_path, [WRITE]), settings, rights=MAY, new_agent=Agents(Done()), watch=watch)

    assert row.status == "stopped"


def test_unwritable_recording_loses_only_the_report(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "runs").write_text("a file where the folder should be")

    row = run_task(a_task(tmp_path, [WRITE]), settings, rights=MAY, new_agent=Agents(Done()))

    assert (row.status, row.verified, row.report) == ("done", True, None)
    assert "Cannot record" in row.recording_problem


@pytest.mark.parametrize(
    ("name", "kind", "entry", "title"),
    [
        ("notes.txt", "text/plain", "org.xfce.mousepad", "notes.txt - Mousepad"),
        ("table.csv", "text/csv", "libreoffice-calc", "Text Import"),
    ],
)
@pytest.mark.slow
def test_open_starts_the_application_that_the_user_chose_for_the_kind_of_file(
    tmp_path: Path, name: str, kind: str, entry: str, title: str
) -> None:
    from evaluation.osworld.runner import TaskSession

    choice = f"printf '[Default Applications]\n{kind}={entry}.desktop\n' > .config/mimeapps.list"
    steps = [
        {"type": "execute", "parameters": {"command": ["sh", "-c", f"mkdir -p .config; {choice}; echo 1,2 > {name}"]}},
        {"type": "open", "parameters": {"path": f"/home/user/{name}"}},
        {"type": "activate_window", "parameters": {"window_name": title}},
    ]

    with VirtualDesktop() as desktop, TaskSession.on(a_task(tmp_path, steps), desktop, MAY) as session:
        session.prepare()
        window = desktop.observe().active_window

    assert window is not None
    assert title in window.title
