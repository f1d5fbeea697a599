"""Summaries of an exploration, read from its folder."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from aci.acting.actions import Click
from aci.applications.catalog import Application
from aci.observation.identity import ElementDescription
from agent_s.llm.protocol import Affordance
from agent_s.records import GroundedStep
from evaluation.harness.results import Header, Result, ResultsFile
from exploration.job.folders import LEDGER_FILE, Surveyed, application_folder, write_survey
from exploration.job.scope import search_labels
from exploration.report.page import write_report
from exploration.report.summary import summarize
from exploration.search.ledger import Ledger
from exploration.search.records import Attempt, Attempted, Control, Offer, SearchEnded
from exploration.tasks.survey import Survey

NOTES = Application("notes", "Notes", ("notes",))


@pytest.mark.parametrize(
    ("used_s", "complete", "cut"), [(300.4, False, True), (20.0, True, False), (20.0, False, False)]
)
def test_search_that_ran_out_of_time_is_cut_short(tmp_path: Path, used_s: float, complete: bool, cut: bool) -> None:
    kept = ResultsFile(
        tmp_path,
        Header(benchmark="exploration", model="offline", settings={}, version="1", started=datetime.now(UTC)),
    )
    known = {"dollars": 0.25} if complete else {}
    kept.add(Result(task="survey notes", outcome="success", status="done", input_tokens=900, seconds=2, **known))
    labels = search_labels(300.0, 5, complete)
    kept.add(Result(task="search notes", outcome="success", status="done", reason="it ended", labels=labels, seconds=9))
    write_survey(tmp_path, "notes", Surveyed(name="Notes", survey=Survey()))
    with Ledger(application_folder(tmp_path, "notes") / LEDGER_FILE, "Notes", ("notes",)) as ledger:
        ledger.write(SearchEnded(seconds=used_s, complete=complete))
    (found,) = summarize(tmp_path, [NOTES])
    assert (found.cut_short, found.searched) == (cut, "it ended")
    assert found.seconds == 2 + used_s  # and not the 9 s of the last turn alone
    assert found.dollars == (0.25 if complete else None)
    assert ("$0.25" if complete else "not known") in write_report(tmp_path, [found]).read_text()


def offered(role: str, name: str, place: str = "", unsafe: str = "") -> Offer:
    control = Control(role=role, name=name, key=f"{role}:{name}", place=place)
    target = ElementDescription(role=role, name=name, path=(place,) if place else ())
    step = GroundedStep(action=Click(element_id=1), targets={"element_id": target})
    return Offer(control=control, step=step, unsafe=unsafe)


def test_coverage_counts_what_only_the_search_came_to(tmp_path: Path) -> None:
    kept = ResultsFile(
        tmp_path,
        Header(benchmark="exploration", model="offline", settings={}, version="1", started=datetime.now(UTC)),
    )
    kept.add(Result(task="survey notes", outcome="success", status="done"))
    shown = Survey(affordances=(Affordance("push button", "Menu"), Affordance("push button", "Undo")))
    write_survey(tmp_path, "notes", Surveyed(name="Notes", survey=shown))
    menu = offered("push button", "Menu")
    inside = [
        offered("menu item", "Preferences", "menu:Menu"),
        offered("check box", "Dark", "menu:Menu"),
        offered("menu item", "Quit", "menu:Menu", unsafe="it only closes"),
        offered("list item", "a row of data", "menu:Menu"),
    ]
    opened = Attempt(
        key=menu.control.key, control=menu.control, start="", path=(menu.step,), classification="continue",
        offers=tuple(inside),
    )  # fmt: skip
    switched = Attempt(
        key="dark", control=inside[1].control, start="", path=(menu.step, inside[1].step), classification="terminal"
    )
    with Ledger(application_folder(tmp_path, "notes") / LEDGER_FILE, "Notes", ("notes",)) as ledger:
        for attempt in (opened, switched):
            ledger.write(Attempted(attempt=attempt))
    (found,) = summarize(tmp_path, [NOTES])
    assert (found.coverage.used, found.coverage.found) == (2, 4)
    assert found.unused == ("Undo", "Menu > Preferences")
