"""Options of the commands about recorded runs."""

from __future__ import annotations

import click
import pytest

from aci.acting.actions import Hotkey
from aci.desktop.desktop import ActionResult
from agent_s.events import ActionPerformed, Event, RunEnded, RunStarted
from agent_s.records import Limits, Outcome, Status, Task
from agent_s.terminal.repeating import repeatable, values_given, with_values


def again(instruction: str, *pairs: str) -> str:
    return with_values(instruction, values_given(instruction, pairs))


def test_values_of_a_task_are_replaced() -> None:
    assert again("Save it as draft.txt", "draft.txt=a=b.txt") == "Save it as a=b.txt"
    assert again("Save it as a=b.txt", "a=b.txt=draft.txt") == "Save it as draft.txt"
    assert again("Save it") == "Save it"
    assert again("Put 1 into A1 and 12 into B1", "1=7") == "Put 7 into A1 and 12 into B1"
    assert again("type 'one' into A and two into B", "one=two", "two=it's") == "type 'two' into A and it's into B"
    assert again("type 'one'", "one=it's") == 'type "it\'s"'


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("draft.txt", "takes OLD=NEW"),
        ("=x", "takes OLD=NEW"),
        ("a.txt=b", "Its values: 'draft.txt'"),
        ("raft=x", "is not a value in the task"),
        ("draft.txt=", "is empty"),
    ],
)
def test_other_values_are_refused(value: str, problem: str) -> None:
    with pytest.raises(click.UsageError, match=problem):
        again("Save it as draft.txt", value)


def test_a_value_is_replaced_once() -> None:
    with pytest.raises(click.UsageError, match="two new values, 'a' and 'b'"):
        again("Save it as draft.txt", "draft.txt=a", "draft.txt=b")


def record(status: Status = "done", acted: bool = True, verified: bool | None = None) -> list[Event]:
    action = Hotkey(keys=("Down",))
    started = RunStarted(run_id="1f0c9a", task=Task(instruction="Go down"), model="offline", limits=Limits())
    performed = ActionPerformed(step=1, action=action, result=ActionResult(ok=True), seconds=0.1)
    ended = RunEnded(outcome=Outcome(status=status, verified=verified, run_id="1f0c9a"))
    return [started, *([performed] if acted else []), ended]


def test_done_run_can_be_replayed() -> None:
    assert repeatable("last", record()).run_id == "1f0c9a"


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ([], "lacks its task"),
        (record()[:-1], "was cut off"),
        (record("failed"), "ended as failed"),
        (record(acted=False), "did nothing on the screen"),
        (record(verified=False), "did not do its task"),
    ],
)
def test_run_without_actions_is_not_replayed(events: list[Event], problem: str) -> None:
    with pytest.raises(click.UsageError, match=problem):
        repeatable("last", events)
