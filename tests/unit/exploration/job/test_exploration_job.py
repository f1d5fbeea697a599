"""The exploration job with fake workers: order, budgets, skipped applications, and resuming after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aci.applications.catalog import Application
from agent_s.settings import Settings
from evaluation.errors import ResultsError
from evaluation.harness.results import read_results
from exploration.errors import ExplorationError
from exploration.job.exploration_job import Exploration, Plan
from exploration.job.folders import locked
from exploration.job.scope import read_scope
from exploration.report.page import write_report
from exploration.report.summary import proposal_dollars, summarize

NOTES, PAINT, GONE = (Application(name.lower(), name, (name.lower(),)) for name in ("Notes", "Paint", "Gone"))
ROOT = Path(__file__).parents[4]
WORKER = """
import json, os, sys, time
from pathlib import Path
given = json.loads(sys.stdin.readline())
folder = Path(given["folder"])
for line in sys.stdin:
    job = json.loads(line)
    kind, _, about = job["task"].partition(" ")
    answer = {**job, "outcome": "success", "status": "done", "dollars": 0.5, "labels": {}}
    with open(folder / "asked", "a") as log:
        print(job["task"], file=log)
    if (folder / "dies at").exists() and (folder / "dies at").read_text() == kind:
        (folder / "dies at").unlink()
        os.kill(os.getpid(), 9)
    if kind == "survey" and about == "gone" and not (folder / "installed").exists():
        answer.update(outcome="failure", status="infeasible", reason="Gone cannot be started")
    elif kind == "survey":
        place = folder / "applications" / about
        place.mkdir(parents=True, exist_ok=True)
        numbers = range(1, given["wanted"] + 1)
        tasks = [dict(id=f"{about}{n}", app=about, instruction=f"Do {n}", difficulty=n) for n in numbers]
        offered = [dict(role="menu item", name="Ruler", within=["View"]), dict(role="push button", name="Undo")]
        survey = dict(name=about, survey=dict(affordances=offered), wanted=given["wanted"], tasks=tasks)
        (place / "survey.json").write_text(json.dumps(survey))
    elif kind == "task":
        time.sleep(float(sys.argv[1]))
        answer.update(instruction="Do", labels=dict(app=about[:-1], used="View\\tRuler", learned="2"))
    elif kind == "propose":
        made = min(given[about], 4 if (folder / "has no more").exists() else 99)
        tasks = [dict(id=f"{about[0]}{n}", app="notes", instruction=f"Try {n}", difficulty=1) for n in range(made)]
        usage = [dict(input_tokens=9, dollars=0.5)]
        (folder / f"{about}.json").write_text(json.dumps(dict(tasks=tasks, usage=usage)))
        answer["labels"] = dict(wanted=str(given[about]), made=str(made))
    elif kind == "search":
        answer["labels"] = dict(seconds=str(given["search_s"]), depth=str(given["depth"]), complete="false")
    print(json.dumps(answer), flush=True)
"""


def plan(folder: Path, *applications: Application, **more: Any) -> Plan:
    values = {"search_s": 0.0, "wanted": 3, **more}
    return Plan(folder=folder, settings=Settings(), applications=applications or (NOTES,), **values)


def exploration(wanted: Plan, slow_s: float = 0.0) -> Exploration:
    return Exploration(wanted, command=(sys.executable, "-c", WORKER, str(slow_s)))


def asked(folder: Path) -> list[str]:
    return (folder / "asked").read_text().splitlines()


def test_surveys_come_first_then_searches_then_tasks_from_easy_to_hard(tmp_path: Path) -> None:
    progress = list(exploration(plan(tmp_path, NOTES, PAINT, search_s=9.0)).run())
    assert asked(tmp_path) == [
        *("survey notes", "survey paint", "search notes", "search paint"),
        *("task notes1", "task paint1", "task notes2", "task paint2", "task notes3", "task paint3"),
    ]
    last = progress[-1].standing
    assert (last.done, last.total, last.left_s) == (10, 10, 0.0)
    assert progress[0].standing.total == 10  # what is to come counts from the beginning


def test_common_tasks_come_after_surveys_and_those_for_screens_after_searches(tmp_path: Path) -> None:
    wanted = plan(tmp_path, NOTES, PAINT, search_s=9.0, wanted=1, independent=2, aware=2)
    progress = list(exploration(wanted).run())
    assert asked(tmp_path) == [
        *("survey notes", "survey paint", "propose independent", "search notes", "search paint", "propose aware"),
        *("task notes1", "task paint1", "task i0", "task i1", "task a0", "task a1"),
    ]
    assert {each.standing.total for each in progress} == {12}
    notes, paint = summarize(tmp_path, (NOTES, PAINT))
    assert (notes.done, paint.done) == (5, 1)
    assert proposal_dollars(tmp_path) == 1.0
    assert list(exploration(wanted).run()) == []


def test_independent_tasks_do_not_wait_for_searches(tmp_path: Path) -> None:
    list(exploration(plan(tmp_path, search_s=9.0, wanted=0, independent=1)).run())
    assert asked(tmp_path) == ["survey notes", "propose independent", "search notes", "task i0"]


def test_a_dry_run_proposes_without_trying_anything(tmp_path: Path) -> None:
    dry = plan(tmp_path, search_s=9.0, wanted=1, independent=1, aware=1, survey_only=True)
    list(exploration(dry).run())
    assert asked(tmp_path) == ["survey notes", "propose independent", "propose aware"]


def test_no_tasks_are_proposed_if_no_application_can_be_explored(tmp_path: Path) -> None:
    list(exploration(plan(tmp_path, GONE, wanted=1, independent=5, aware=5)).run())
    assert asked(tmp_path) == ["survey gone"]


def test_cost_of_proposals_counts_in_the_budget(tmp_path: Path) -> None:
    job = exploration(plan(tmp_path, wanted=0, independent=9, dollars=1.0))
    list(job.run())
    assert asked(tmp_path) == ["survey notes", "propose independent"]
    assert "--dollars" in job.stopped_by


@pytest.mark.parametrize(
    ("more", "done"),
    [
        ({"independent": 3}, ["propose independent", "task i2"]),
        ({"independent": 1, "aware": 1}, []),
        ({"aware": 3}, ["propose aware", "task a2"]),
        ({"search_s": 20.0}, ["search notes"]),
    ],
)
def test_larger_number_of_practice_tasks_adds_to_the_earlier_ones(
    tmp_path: Path, more: dict[str, Any], done: list[str]
) -> None:
    first = plan(tmp_path, search_s=9.0, wanted=0, independent=2, aware=2)
    list(exploration(first).run())
    before = len(asked(tmp_path))
    list(exploration(replace(first, **more)).run())
    assert asked(tmp_path)[before:] == done


def test_missing_tasks_for_screens_are_proposed_when_a_search_reached_more(tmp_path: Path) -> None:
    (tmp_path / "has no more").touch()
    first = plan(tmp_path, search_s=9.0, wanted=0, aware=5)
    list(exploration(first).run())
    assert list(exploration(first).run()) == []
    (tmp_path / "has no more").unlink()
    before = len(asked(tmp_path))
    list(exploration(replace(first, search_s=20.0)).run())
    assert asked(tmp_path)[before:] == ["search notes", "propose aware", "task a4"]


def test_unusable_application_is_skipped_with_a_reason(tmp_path: Path) -> None:
    list(exploration(plan(tmp_path, GONE, NOTES)).run())
    assert asked(tmp_path) == ["survey gone", "survey notes", *(f"task notes{n}" for n in (1, 2, 3))]
    gone, notes = summarize(tmp_path, (GONE, NOTES))
    assert gone.problem == "Gone cannot be started"
    assert (notes.problem, notes.verified, notes.stored) == ("", 3, 6)
    assert notes.coverage.share == 0.5
    assert notes.unused == ("Undo",)
    page = write_report(tmp_path, [gone, notes]).read_text()
    assert "Gone cannot be started" in page
    assert "1 of 2 menu items and buttons used" in page
    assert "://" not in page


def test_resumed_job_does_only_what_is_left(tmp_path: Path) -> None:
    run = exploration(plan(tmp_path)).run()
    for _ in range(3):
        next(run)
    run.close()
    finished = {row.task for row in read_results(tmp_path)[1]}
    list(exploration(plan(tmp_path)).run())
    assert finished
    assert [asked(tmp_path).count(task) for task in finished] == [1] * len(finished)
    assert len(read_results(tmp_path)[1]) == 4
    assert list(exploration(plan(tmp_path)).run()) == []


def test_cost_budget_stops_new_jobs(tmp_path: Path) -> None:
    job = exploration(plan(tmp_path, dollars=1.0))
    list(job.run())
    assert asked(tmp_path) == ["survey notes", "task notes1"]
    assert "--dollars" in job.stopped_by


def test_time_budget_stops_new_jobs(tmp_path: Path) -> None:
    job = exploration(plan(tmp_path, NOTES, PAINT, seconds=1.5), slow_s=1.0)
    progress = list(job.run())
    assert "--seconds" in job.stopped_by
    assert len(asked(tmp_path)) < 8
    assert all(each.standing.left_s <= 1.5 for each in progress)


def test_only_one_process_explores_into_a_folder(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(ExplorationError, match="Another process"):
        list(exploration(plan(tmp_path)).run())


@pytest.mark.parametrize(
    ("more", "done"),
    [
        ({"wanted": 4}, ["survey notes", "task notes4"]),
        ({"wanted": 1}, []),
        ({"search_s": 20.0}, ["search notes"]),
        ({"search_s": 5.0}, []),
        ({"depth": 6}, ["search notes"]),
        ({"desktops": 2}, ["search notes"]),  # of the second desktop, which finds nothing left
        ({"applications": (NOTES, PAINT), "wanted": 0}, ["survey paint", "search paint"]),
    ],
)
def test_larger_request_does_only_what_is_new(tmp_path: Path, more: dict[str, Any], done: list[str]) -> None:
    first = replace(plan(tmp_path, search_s=9.0), depth=5)
    list(exploration(first).run())
    before = len(asked(tmp_path))
    list(exploration(replace(first, **more)).run())
    assert asked(tmp_path)[before:] == done
    scope = read_scope(tmp_path)
    assert scope is not None
    assert (scope.applications, scope.tasks) == (more.get("applications", (NOTES,)), more.get("wanted", 3))


def test_unusable_application_is_tried_again_on_resume(tmp_path: Path) -> None:
    list(exploration(plan(tmp_path, GONE, wanted=1)).run())
    (tmp_path / "installed").touch()
    list(exploration(plan(tmp_path, GONE, wanted=1)).run())
    assert asked(tmp_path) == ["survey gone", "survey gone", "task gone1"]


@pytest.mark.parametrize("kind", ["survey", "search", "propose"])
def test_survey_is_repeated_after_its_worker_was_killed(tmp_path: Path, kind: str) -> None:
    (tmp_path / "dies at").write_text(kind)
    outcomes = [
        each.result.outcome for each in exploration(plan(tmp_path, search_s=9.0, wanted=1, independent=1)).run()
    ]
    assert outcomes.count("error") == 1
    assert [job.partition(" ")[0] for job in asked(tmp_path)].count(kind) == 2
    assert {result.outcome for result in read_results(tmp_path)[1].values()} == {"success"}


def test_other_settings_need_another_folder(tmp_path: Path) -> None:
    list(exploration(plan(tmp_path)).run())
    with pytest.raises(ResultsError, match=r"another settings \(planner\). Use another folder"):
        list(exploration(replace(plan(tmp_path), settings=Settings(planner="flat"))).run())
    scope = read_scope(tmp_path)
    assert scope is not None
    assert scope.settings == Settings()
    assert read_scope(tmp_path / "elsewhere") is None


def test_search_time_is_a_share_of_the_time_budget(tmp_path: Path) -> None:
    two = replace(plan(tmp_path, NOTES, PAINT), search_s=None)
    assert two.longest_search_s == 300.0
    assert replace(two, seconds=160.0).longest_search_s == 30.0  # of 160 s, surveys take 60; 60% of the rest for two
    assert replace(two, seconds=100.0, wanted=0, desktops=2).longest_search_s == 70.0
    assert replace(two, seconds=100.0, search_s=70.0).longest_search_s == 70.0


KILLED = """
import sys
from pathlib import Path
from tests.unit.exploration.job.test_exploration_job import NOTES, PAINT, exploration, plan
for each in exploration(plan(Path(sys.argv[1]), NOTES, PAINT), slow_s=0.2).run():
    print(each.result.task, flush=True)
"""


@pytest.mark.parametrize("moment", [1, 3, 6])
def test_killed_job_resumes_with_the_same_result(tmp_path: Path, moment: int) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT) as process:
        assert process.stdout is not None
        for _ in range(moment):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write('{"task": "torn')
    list(_once_free(tmp_path))
    results = read_results(tmp_path)[1]
    assert {job.task for job in results} == {
        *(f"survey {app}" for app in ("notes", "paint")),
        *(f"task {app}{n}" for app in ("notes", "paint") for n in (1, 2, 3)),
    }
    lines = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()[1:]]
    assert len(lines) == len(results)


def _once_free(folder: Path) -> list[Any]:
    """Go on as soon as what was killed has let go of the folder."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return list(exploration(plan(folder, NOTES, PAINT)).run())
        except ExplorationError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
