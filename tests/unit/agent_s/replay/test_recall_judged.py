"""Experience that is the same in other words: a model judges it once, and rules have the last word."""

from __future__ import annotations

from itertools import repeat

import pytest

from aci.acting.actions import Click, Done, Fail
from agent_s import AgentS, Limits, Options, Outcome, Task
from agent_s.errors import ModelUnavailable
from agent_s.events import ModelCalled
from agent_s.llm.protocol import (
    ActResponse,
    JudgedRequest,
    KnownRequest,
    ModelRequest,
    NewValue,
    SameContext,
    SameResponse,
)
from agent_s.llm.scripted import Answer, ScriptedModel
from agent_s.records import Verdict
from agent_s.replay.recall_judged import parameters_between
from benchmarks.support.labelled_judge import LabelledJudge
from memory_store import MemoryStore, Selection
from tests.unit.agent_s.fakes import FakeDesktop
from tests.unit.agent_s.replay.test_recall import NUMBERS, WINDOW, WRAP, click, learn, switching

SAME = SameResponse(judgements=(JudgedRequest(number=1, same=True),))
DIFFERENT = SameResponse(judgements=(JudgedRequest(number=1, same=False),))
TASK = "I miss the numbers of the rows"
FAIL = ActResponse(action=Fail(reason="the script ends here"))


def carry_out(
    memory: MemoryStore, instruction: str, *answers: Answer, judge: bool = True, calls: int = 50
) -> tuple[Outcome, list[str], list[SameContext]]:
    """Return the outcome, the boxes that were clicked, and what was asked of the judge."""
    model, desktop = ScriptedModel({"act": repeat(FAIL), "same": answers}), FakeDesktop(WINDOW, switching)
    limits = Limits(max_model_calls=calls)
    agent = AgentS(model=model, desktop=desktop, memory=memory, options=Options(judge=judge, limits=limits))
    result = agent.run(Task(instruction=instruction))
    clicked = [WINDOW.by_id[one.element_id].name for one in desktop.performed if isinstance(one, Click)]
    return result, clicked, [one.context for one in model.requests if isinstance(one.context, SameContext)]


def do_once(memory: MemoryStore, instruction: str) -> None:
    """Carry out a task with a model, so that memory holds it as verified."""
    acts = [ActResponse(action=Click(element_id=NUMBERS.id)), ActResponse(action=Done())]
    agent = AgentS(model=ScriptedModel({"act": acts}), desktop=FakeDesktop(WINDOW, switching), memory=memory)
    assert agent.run(Task(instruction=instruction), lambda status: Verdict(verified=True)).status == "done"


def test_skill_in_other_words_is_replayed_if_the_judge_agrees(memory: MemoryStore) -> None:
    learn(memory, "turn on numbers", click(NUMBERS))
    learn(memory, "turn on wrap", click(WRAP))
    judge = LabelledJudge({TASK: "turn on numbers"})

    result, clicked, asked = carry_out(memory, TASK, judge)

    assert (result.status, clicked) == ("done", ["Numbers"])
    assert [one.asked for one in asked] == [TASK]
    assert "turn on numbers" in [one.wording for one in asked[0].known]


def test_skill_that_the_judge_calls_different_is_not_replayed(memory: MemoryStore) -> None:
    learn(memory, "turn on numbers", click(NUMBERS))
    result, clicked, _ = carry_out(memory, TASK, *[DIFFERENT] * 2)
    assert (result.status, clicked) == ("failed", [])


def test_verified_task_in_other_words_is_replayed(memory: MemoryStore) -> None:
    do_once(memory, "Turn on the numbers of the rows")
    result, clicked, asked = carry_out(memory, TASK, SAME)
    assert (result.status, clicked, len(asked)) == ("done", ["Numbers"], 1)


def test_judgements_are_cached(memory: MemoryStore) -> None:
    learn(memory, "turn on numbers", click(NUMBERS))
    carry_out(memory, TASK, SAME)
    result, clicked, asked = carry_out(memory, TASK)
    assert (result.status, clicked, asked) == ("done", ["Numbers"], [])

    memory.forget(Selection(text="miss the numbers"))
    assert len(carry_out(memory, TASK, *[DIFFERENT] * 2)[2]) == 1, "a judgement can be forgotten"


def test_opposite_request_is_not_judged(memory: MemoryStore) -> None:
    learn(memory, "turn on numbers", click(NUMBERS))
    _, clicked, asked = carry_out(memory, "hide the numbers of the rows", SAME)
    assert (clicked, asked) == ([], [])


def test_call_is_metered_and_reported(memory: MemoryStore) -> None:
    learn(memory, "turn on numbers", click(NUMBERS))
    desktop = FakeDesktop(WINDOW, switching)
    agent = AgentS(model=ScriptedModel({"same": [SAME]}), desktop=desktop, memory=memory, judge=True, evaluator=False)
    calls = [event for event in agent.stream(Task(instruction=TASK)) if isinstance(event, ModelCalled)]
    assert [one.call for one in calls] == ["same"]
    assert calls[0].answer["judgements"][0]["same"] is True


@pytest.mark.parametrize(("judge", "calls"), [(False, 50), (True, 0)])
def test_judge_is_not_called_if_disabled_or_over_budget(memory: MemoryStore, judge: bool, calls: int) -> None:
    learn(memory, "turn on numbers", click(NUMBERS))
    _, clicked, asked = carry_out(memory, TASK, SAME, judge=judge, calls=calls)
    assert (clicked, asked) == ([], [])


def test_skill_trusted_by_rules_is_replayed_if_the_model_does_not_answer(memory: MemoryStore) -> None:
    learn(memory, "turn on numbers", click(NUMBERS))
    roughly = "the numbers of the rows should be there"
    assert carry_out(memory, roughly, judge=False)[1] == ["Numbers"]
    assert carry_out(memory, roughly, ModelUnavailable("the server is away"))[1] == ["Numbers"]
    assert carry_out(memory, roughly, *[DIFFERENT] * 2)[1] == [], "the judge has the last word if it answers"


def test_sure_match_costs_no_call(memory: MemoryStore) -> None:
    learn(memory, "turn on numbers", click(NUMBERS))
    _, clicked, asked = carry_out(memory, "please turn on the numbers")
    assert (clicked, asked) == (["Numbers"], [])


@pytest.mark.parametrize(
    ("known", "asked", "values", "expected"),
    [
        ("type 'hello' into Name", "put 'bye' into Name", {"hello": "bye"}, {"hello": "bye"}),
        ("set the layout to German", "use a French layout", {"German": "French"}, {"German": "French"}),
        ("enlarge the text", "bigger letters", {}, {}),
        ("print 3 copies", "three copies on paper, please", {}, {}),
        ("go to page 12", "the twelfth page, please", {}, {}),
        ("set the brightness to 80", "eighty percent brightness", {}, {}),
        ("type 'hello' into Name", "put 'bye' into Name", {}, None),
        ("save it as a.txt", "store it", {}, None),
        ("save it", "store it as a.txt", {}, None),
        ("type 'None' into Name", "put something into Name", {}, None),
        ("type 'hello'", "put 'bye'", {"hello": "good bye"}, None),
        ("type 'hello'", "put 'bye'", {"hullo": "bye"}, None),
    ],
)
def test_judgement_counts_only_if_it_accounts_for_every_value(
    known: str, asked: str, values: dict[str, str], expected: dict[str, str] | None
) -> None:
    found = parameters_between(known, asked, [NewValue(old=old, new=new) for old, new in values.items()])
    assert (found.pairs if found is not None else None) == expected


@pytest.mark.parametrize(
    ("known", "asked", "old", "new", "same"),
    [
        ("give it 4 GB of memory", "4096 MB for the machine", "4 GB", "4096 MB", True),
        ("multiply it by 2", "double it", "by 2", "double", True),
        ("set the volume to 50", "the volume at 60, please", "50", "60", False),
        ("print 3 copies", "four copies, please", "3", "four", False),
        ("go to row 3", "the fourth row, please", "3", "fourth", False),
        ("make it 10 px wide", "15 px of width", "10 px", "15 px", False),
        ("make it 1.50 m high", "1.5 m of height", "1.50 m", "1.5 m", True),
        ("rename it to 'tea'", "call it 'coffee'", "tea", "coffee", False),
        ("close a.txt", "away with b.txt", "a.txt", "b.txt", False),
    ],
)
def test_equal_value_in_another_form_is_not_replaced(known: str, asked: str, old: str, new: str, same: bool) -> None:
    found = parameters_between(known, asked, [NewValue(old=old, new=new, equal=True)])
    assert (found is not None and not found.pairs) == same


def test_scripted_judge_errs_at_the_configured_rate() -> None:
    labels = {f"question {number}": "known" for number in range(1000)}
    judge = LabelledJudge(labels, error_rate=0.05)
    task, known = Task(instruction="any"), (KnownRequest("known"), KnownRequest("other"))
    answers = [judge(ModelRequest(SameContext(task, asked, known))).judgements for asked in labels]
    wrong = sum([one.same for one in answer] != [True, False] for answer in answers)
    assert 25 <= wrong <= 80
