"""An exploration whose desktops are on the two machines of a Ray cluster, of which one dies in the middle."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aci.applications.catalog import Application
from agent_s.settings import Settings
from exploration.job.exploration_job import Exploration, Plan
from exploration.search.ledger import Ledger

pytest.importorskip("ray")

pytestmark = pytest.mark.slow

LIMIT_S = 240.0
NOTES = Application("notes", "Notes", ("notes",))
CONTROLS = 20
# The record of the search, its claims and the service are those of a real worker; only the desktop is missing.
PROGRAM = f"""
import contextlib, json, time
from pathlib import Path
from evaluation.harness.results import Result
from evaluation.worker import serve
from exploration.job.folders import LEDGER_FILE, Surveyed, application_folder, write_survey
from exploration.job.worker import Assignment
from exploration.search.ledger import Ledger
from exploration.search.records import Attempt, Attempted, Control
from exploration.tasks.survey import Survey

class Bench:
    def __init__(self, line):
        self.folder = application_folder(Assignment.model_validate_json(line).folder, "notes")

    def run(self, job):
        if job.task.startswith("survey"):
            survey = Surveyed(name="Notes", survey=Survey(affordances=()), wanted=0, tasks=())
            write_survey(self.folder.parent.parent, "notes", survey)
        else:
            with Ledger(self.folder / LEDGER_FILE, "Notes", ("notes",)) as ledger:
                while len(ledger.attempts) < {CONTROLS}:
                    self.try_all(ledger)
        return Result(task=job.task, seed=job.seed, outcome="success", status="done")

    def try_all(self, ledger):
        for key in map(str, range({CONTROLS})):
            if key in ledger.attempts or not ledger.claim(key):
                continue
            if key not in ledger.attempts:
                time.sleep(0.2)
                control = Control(role="menu item", name=key, key=key)
                attempt = Attempt(key=key, control=control, start="", classification="terminal")
                ledger.write(Attempted(attempt=attempt, seconds=0.2))
            ledger.release(key)
        time.sleep(0.05)

serve(lambda line: contextlib.nullcontext(Bench(line)))
"""


def add_machine(cluster: Any) -> Any:
    memory = 80 * 1024 * 1024
    return cluster.add_node(num_cpus=1, resources={"desktop": 1}, object_store_memory=memory, include_dashboard=False)


def test_machine_that_dies_in_a_shared_search_loses_nothing(cluster: Any, tmp_path: Path) -> None:
    add_machine(cluster)
    second = add_machine(cluster)
    cluster.wait_for_nodes()
    settings = Settings.model_validate({"memory": {"enabled": False}})
    record = tmp_path / "applications" / "notes" / "ledger.jsonl"

    def kill_in_the_middle() -> None:
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline and (not record.exists() or record.read_text().count("\n") < 6):
            time.sleep(0.05)
        cluster.remove_node(second, allow_graceful=False)

    plan = Plan(tmp_path, settings, (NOTES,), wanted=0, desktops=2, cluster=cluster.address, seconds=900)
    killing = threading.Thread(target=kill_in_the_middle)
    killing.start()
    done = [(one.result.task, one.result.seed, one.result.outcome) for one in explore(plan)]
    killing.join()

    assert Counter(done) == Counter(
        [("survey notes", None, "success"), ("search notes", None, "success"), ("search notes", 2, "success")]
    )
    assert record.read_text().count('"attempted"') == CONTROLS  # none was lost or done twice
    with Ledger(record, "Notes", ("notes",)) as ledger:
        assert len(ledger.attempts) == CONTROLS


def explore(plan: Plan) -> Iterator[Any]:
    return Exploration(plan, command=(sys.executable, "-c", PROGRAM)).run()
