"""Tasks for an exploration, proposed by each kind of provider: common tasks, then tasks for the current screen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aci.applications.catalog import Application
from agent_s.llm.build import build_model
from agent_s.llm.protocol import Affordance
from agent_s.settings import Settings
from evaluation.harness.results import Job
from exploration.job.folders import LEDGER_FILE, Surveyed, application_folder, read_practice, write_survey
from exploration.job.worker import Assignment, ExplorationBench
from exploration.search.ledger import Ledger
from exploration.search.records import ScreenState, StateFound
from exploration.tasks.proposals import propose_tasks
from exploration.tasks.survey import Survey
from memory_store import MemoryStore, Provenance
from memory_store.embedding.embedders import HashingEmbedder
from tests.unit.agent_s.fakes import button, screen
from tests.wire.formats import FORMATS, Format
from tests.wire.server import WireServer

NOTES = Application("org.notes", "Notes", ("notes",), generic_name="Text Editor")
OFFERED = (Affordance("menu item", "Line Numbers", ("View",)), Affordance("push button", "Bold", ()))


def proposals(*tasks: tuple[str, int]) -> str:
    return json.dumps({"tasks": [{"instruction": instruction, "difficulty": number} for instruction, number in tasks]})


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS, ids=[form.name for form in FORMATS])
def test_proposals_are_deduplicated_and_sorted_by_difficulty(form: Format) -> None:
    common = proposals(
        ("Write a shopping list in Notes and save it as 'list.txt'.", 3),
        ("Turn on the line numbers in Notes.", 2),
        ("Delete everything in Notes.", 1),
    )
    aware = proposals(
        ("Write a shopping list in Notes and save it as 'other.txt'.", 3),  # differs only in a name
        ("Make the text bold with 'Bold'.", 1),
    )
    server = WireServer([form.answer(common), form.answer(aware)])
    with server.running():
        model = build_model(form.model(server.url), form.environment(server.url))
        made = propose_tasks(model, HashingEmbedder(), NOTES, OFFERED, screen(button(1, "Bold")), 5)
    assert [(one.instruction, one.kind) for one in made.tasks] == [
        ("Make the text bold with 'Bold'.", "screen"),
        ("Turn on the line numbers in Notes.", "common"),
        ("Write a shopping list in Notes and save it as 'list.txt'.", "common"),
    ]
    assert len(made.usage) == 2
    first, second = server.asked
    assert all(form.problems(seen) == [] for seen in server.seen)
    assert [form.pictures(body) for body in (first, second)] == [0, 1], "only the second request shows the screen"
    prompt = "\n".join(form.texts(second))
    assert "Bold" in prompt
    assert "Turn on the line numbers in Notes." in prompt, "existing tasks"


PAINT = Application("org.paint", "Paint", ("paint",))


def practice(*tasks: tuple[str, str]) -> str:
    return json.dumps({"tasks": [{"instruction": text, "application": name, "difficulty": 1} for text, name in tasks]})


@pytest.mark.parametrize("form", FORMATS, ids=[form.name for form in FORMATS])
def test_tasks_for_a_whole_exploration_are_kept_when_the_provider_fails(
    form: Format, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "exploration"
    for application in (NOTES, PAINT):
        write_survey(folder, application.id, Surveyed(name=application.name, survey=Survey(affordances=OFFERED)))
    refused = form.error(400, "this cannot be answered")
    server = WireServer(
        [
            form.answer(practice(("Write a shopping list in Notes.", "Notes"))),
            refused,
            form.answer(practice(("Write a shopping list in Notes.", "Notes"), ("Draw a circle in Paint.", "Paint"))),
            form.answer(practice(("Turn on the line numbers in Notes.", "Notes"))),
            form.answer(practice(("Make a text bold in Paint.", "Paint"))),
        ]
    )
    with server.running():
        for name, value in form.environment(server.url).items():
            monkeypatch.setenv(name, value)
        settings = Settings.model_validate(
            {"model": form.model(server.url), "memory": {"path": tmp_path / "m.sqlite", "embedder": "hashing"}}
        )
        assignment = Assignment(
            settings=settings, folder=folder, applications=(NOTES, PAINT), wanted=0, independent=2, aware=2, search_s=0
        )
        with ExplorationBench(assignment) as bench:
            failed = bench.run(Job(task="propose independent"))
            assert failed.outcome == "error"
            assert len(read_practice(folder, "independent").tasks) == 1
            done = bench.run(Job(task="propose independent"))
            aware = bench.run(Job(task="propose aware"))
    assert (done.outcome, done.model_calls, done.labels) == ("success", 2, {"wanted": "2", "made": "2"})
    assert [task.app for task in read_practice(folder, "independent").tasks] == ["org.notes", "org.paint"]
    assert (aware.outcome, aware.model_calls) == ("success", 2), aware.reason
    assert [task.kind for task in read_practice(folder, "aware").tasks] == ["screen", "screen"]
    assert all(form.problems(seen) == [] for seen in server.seen)
    assert not (tmp_path / "m.sqlite").exists()
    first, *_, last = server.asked
    assert "Bold" not in "\n".join(form.texts(first)), "the list of applications alone"
    assert all(text in "\n".join(form.texts(last)) for text in ("Bold", "Line Numbers", "Draw a circle in Paint."))
    assert "shopping list" not in "\n".join(form.texts(last)), "a task of another application"


@pytest.mark.desktop
def test_cost_of_answers_that_cannot_be_used_is_in_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    form, editor = FORMATS[0], Application("mousepad", "Mousepad", ("mousepad",))
    server = WireServer([form.answer("nonsense")] * 3)
    with server.running():
        for name, value in form.environment(server.url).items():
            monkeypatch.setenv(name, value)
        settings = Settings.model_validate({"model": form.model(server.url), "memory": {"embedder": "hashing"}})
        assignment = Assignment(settings=settings, folder=tmp_path, applications=(editor,), wanted=2, search_s=0)
        with ExplorationBench(assignment) as bench:
            result = bench.run(Job(task="survey mousepad"))
    assert (result.outcome, result.model_calls, result.input_tokens) == ("error", 1, 3000), result.reason


def test_recorded_screens_are_shown_and_tasks_in_memory_are_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    form, folder, done = FORMATS[0], tmp_path / "exploration", "Turn on the line numbers in Notes."
    write_survey(folder, NOTES.id, Surveyed(name=NOTES.name, survey=Survey(affordances=OFFERED)))
    with Ledger(application_folder(folder, NOTES.id) / LEDGER_FILE, NOTES.name, NOTES.argv) as ledger:
        ledger.write(StateFound(state=ScreenState(fingerprint="a", title="Preferences", words=("Tab width", "Quit"))))
    with MemoryStore.open(tmp_path / "m.sqlite", embedder=HashingEmbedder()) as memory:
        memory.add_narrative(
            query=done, instruction=done, summary="Done.", success=True, provenance=Provenance(run_id="earlier")
        )
    again = form.answer(practice((done, "Notes"), ("Set the tab width in Notes to 3.", "Notes")))
    server = WireServer([again])
    with server.running():
        for name, value in form.environment(server.url).items():
            monkeypatch.setenv(name, value)
        settings = Settings.model_validate(
            {"model": form.model(server.url), "memory": {"path": tmp_path / "m.sqlite", "embedder": "hashing"}}
        )
        assignment = Assignment(settings=settings, folder=folder, applications=(NOTES,), wanted=0, aware=1, search_s=0)
        with ExplorationBench(assignment) as bench:
            result = bench.run(Job(task="propose aware"))
    assert result.outcome == "success", result.reason
    assert [task.instruction for task in read_practice(folder, "aware").tasks] == ["Set the tab width in Notes to 3."]
    prompt = "\n".join(form.texts(server.asked[0]))
    assert all(text in prompt for text in ("Preferences", "Tab width", done))
    assert not any(text in prompt for text in ("Quit", "Bold"))
