"""The demo tasks on real applications: untouched they score 0, done by a scripted hand they score 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from aci import VirtualDesktop
from agent_s.settings import configs_folder
from evaluation.runner import TaskSession
from evaluation.task import TaskFile, load_tasks
from tests.integration.evaluation.hand import Hand

pytestmark = [pytest.mark.desktop, pytest.mark.slow]

TASKS = {task.id: task for task in load_tasks(configs_folder() / "demo")}


@contextmanager
def prepared(task: TaskFile) -> Iterator[tuple[TaskSession, Hand]]:
    with VirtualDesktop() as desktop, TaskSession.on(task, desktop) as session:
        assert "{" not in session.prepare().instruction
        yield session, Hand(desktop)


def save_as(hand: Hand, path: str) -> None:
    """Save with ctrl+s in the application's own dialog."""
    hand.press("ctrl", "s")
    hand.window("Save")
    hand.fill("text", "Name:", str(hand.desktop.home / path))
    hand.click("push button", "Save", window="Save")


def write_draft(hand: Hand) -> None:
    hand.desktop.launch(["mousepad"])
    hand.type("This is a draft.")
    save_as(hand, "Documents/draft.txt")
    hand.window("draft.txt - Mousepad")


def sum_up(hand: Hand) -> None:
    for line in ("Item\tPrice", "Paper\t12", "Ink\t30", "Total\t=SUM(B2:B3)"):
        hand.type(line, enter=True)
    save_as(hand, "Documents/costs.xlsx")
    hand.click("push button", "Use Excel 2007\N{EN DASH}365 Format")
    hand.window("costs.xlsx")


def save_automatically(hand: Hand) -> None:
    hand.click("menu", "Tools")
    hand.click("menu item", "Options...")
    hand.click("table cell", "Load/Save", times=2)
    hand.find("table cell", "VBA Properties")
    hand.click("table cell", "General", nth=1)
    hand.click("check box", "Save AutoRecovery information every:")
    hand.fill("spin button", "Specifies the time interval in minutes for the automatic recovery option.", "3")
    hand.click("push button", "OK")
    hand.click("push button", "Restart Later")


def register(hand: Hand) -> None:
    hand.fill("entry", "Name", "Ada Lovelace")
    hand.click("combo box", "Workshop")
    hand.click("menu item", "Pottery")
    hand.click("radio button", "Afternoon")
    hand.click("check box", "Vegetarian lunch")
    hand.click("spin button", "Month Date")
    hand.press_each("03142026")
    hand.click("push button", "Register")
    hand.find("heading", "Registration received")


def copy_the_code(hand: Hand) -> None:
    code = hand.find("entry", "Confirmation code").text
    hand.desktop.launch(["mousepad"])
    hand.type(code or "")
    save_as(hand, "Documents/code.txt")
    hand.window("code.txt - Mousepad")


SOLUTIONS: dict[str, Callable[[Hand], None]] = {
    "mousepad-draft": write_draft,
    "calc-sum": sum_up,
    "libreoffice-autosave": save_automatically,
    "chromium-form": register,
    "copy-confirmation-code": copy_the_code,
}


def test_every_task_that_can_be_done_has_a_solution() -> None:
    assert set(SOLUTIONS) == {task.id for task in TASKS.values() if not task.evaluator.infeasible}


@pytest.mark.parametrize("name", SOLUTIONS)
def test_the_untouched_state_scores_0(name: str) -> None:
    with prepared(TASKS[name]) as (session, _):
        verdict = session.state_check("done")

    assert verdict.verified is False, verdict.reason


@pytest.mark.parametrize("name", SOLUTIONS)
def test_the_scripted_solution_scores_1(name: str) -> None:
    with prepared(TASKS[name]) as (session, hand):
        SOLUTIONS[name](hand)
        verdict = session.state_check("done")

    assert verdict.verified is True, verdict.reason


def test_the_infeasible_task_is_right_only_when_the_agent_gives_up() -> None:
    with prepared(TASKS["infeasible-button"]) as (session, hand):
        assert "Frobnicate" not in hand.desktop.observe().to_text()
        assert session.state_check("done").verified is False
        assert session.state_check("failed").verified is True


def test_a_form_filled_in_wrongly_scores_0_and_the_field_is_named() -> None:
    with prepared(TASKS["chromium-form"]) as (session, hand):
        hand.fill("entry", "Name", "Ada")
        hand.click("push button", "Register")
        hand.find("heading", "Registration received")
        verdict = session.state_check("done")

    assert verdict.verified is False
    assert "fields.name should be eq 'Ada Lovelace'" in verdict.reason
    assert '"name": "Ada"' in verdict.evidence[0]


def test_a_dialog_that_was_left_open_does_not_hinder_the_check() -> None:
    with prepared(TASKS["libreoffice-autosave"]) as (session, hand):
        hand.click("menu", "Tools")
        hand.click("menu item", "Options...")
        hand.window("Options")
        verdict = session.state_check("out_of_budget")

    assert verdict.verified is False, verdict.reason


def test_codes_of_two_runs_differ() -> None:
    task = TASKS["copy-confirmation-code"]
    with prepared(task) as (first, hand):
        shown = hand.find("entry", "Confirmation code").text
        assert shown == first.context.values["confirmation_code"]
    with prepared(task) as (second, hand):
        assert hand.find("entry", "Confirmation code").text == second.context.values["confirmation_code"] != shown
