"""Plans, new plans after a failure, verification and what the model says about a task."""

from __future__ import annotations

from dataclasses import replace

from aci.acting.actions import Click, Done, Hotkey, Type
from aci.desktop.desktop import ActionResult
from aci.input.read_back import Delivery
from aci.observation.observation import Observation
from agent_s.llm.protocol import (
    ActContext,
    ActResponse,
    Context,
    Draft,
    FailedSubtask,
    ModelRequest,
    PlanContext,
    PlanResponse,
    QueryContext,
    QueryResponse,
    ReflectContext,
    ReflectResponse,
    SummariesResponse,
    SummarizeContext,
    VerifyContext,
    VerifyResponse,
    WebResult,
)
from agent_s.offline import OfflineModel
from agent_s.records import Step, Subtask, Task
from agent_s.roles.manager import order_plan
from tests.unit.agent_s.offline.screens import element, field, seen, window

EMPTY = seen(element(1, "label", "Nothing"))


def answer(context: Context) -> object:
    return OfflineModel().complete(ModelRequest(context)).output


def plan(instruction: str) -> PlanResponse:
    response = answer(PlanContext(Task(instruction=instruction), EMPTY))
    assert isinstance(response, PlanResponse)
    return response


def step(action: Click | Type | Hotkey, screen: object, typed: Delivery | None = None, intent: str = "do it") -> Step:
    return Step(1, screen, ActResponse(action=action, next_action=intent), ActionResult(ok=True, delivery=typed))  # type: ignore[arg-type]


def test_plans_one_subtask_for_each_clause_in_order() -> None:
    response = plan("Open the text editor, type 'This is a draft.', and save it as draft.txt in the Documents folder.")
    ordered = order_plan(response, 40)
    assert [subtask.name for subtask in ordered.subtasks] == [
        "Open the text editor",
        "Type 'This is a draft.'",
        "Save it as draft.txt in the Documents folder",
    ]
    assert "application: text editor" in ordered.subtasks[1].info
    assert response.not_understood == ()


def test_subtask_names_are_unique() -> None:
    names = [node.name for node in plan("press Enter, then press Enter, then press Enter").nodes]
    assert len(set(names)) == 3


def test_a_long_instruction_fits_into_a_plan() -> None:
    response = plan(", ".join(f"click 'Button {number}'" for number in range(130)))
    ordered = order_plan(response, 40)
    assert sum(subtask.info.count("click 'Button") for subtask in ordered.subtasks) == 130


def test_a_task_that_is_not_understood_gives_up_with_the_words() -> None:
    response = plan("Open Mousepad, then blorp the flurb")
    assert response.not_understood == ("blorp the flurb",)
    assert "'blorp the flurb'" in response.gives_up
    assert response.nodes == ()


def test_a_task_that_asks_for_nothing_is_done_at_once() -> None:
    subtask = order_plan(plan("Do not touch anything."), 40).subtasks[0]
    act = answer(ActContext(Task(instruction="x"), subtask, EMPTY))
    assert isinstance(act, ActResponse)
    assert isinstance(act.action, Done)


def test_words_that_are_a_button_on_the_screen_are_understood() -> None:
    screen = seen(element(1, "push button", "Frobnicate"))
    response = answer(PlanContext(Task(instruction="Frobnicate"), screen))
    assert isinstance(response, PlanResponse)
    assert response.not_understood == ()


def plan_again(failed: Subtask, reason: str, *left: Subtask, screen: Observation = EMPTY) -> PlanResponse:
    response = answer(PlanContext(Task(instruction="x"), screen, failed=FailedSubtask(failed, reason), left=left))
    assert isinstance(response, PlanResponse)
    return response


def test_a_failure_without_another_way_ends_with_its_reason() -> None:
    left = Subtask(name="Click 'B'", info="click 'B'")
    again = plan_again(Subtask(name="Click 'A'", info="click 'A'"), "there is no 'A'", left)
    assert again.nodes == ()
    assert again.gives_up == "there is no 'A'"


def test_another_way_is_tried_once_and_the_rest_follows() -> None:
    left = Subtask(name="Close", info="close the window")
    again = order_plan(
        plan_again(Subtask(name="Save", info="save"), "the title still says that there are changes", left), 40
    )
    assert again.subtasks[0].info == "choose File > Save"
    assert again.subtasks[1:] == (left,)
    assert plan_again(again.subtasks[0], "there is no menu 'File'", left).gives_up == "there is no menu 'File'"


def test_a_refusal_of_the_application_is_final() -> None:
    button, off = element(1, "push button", "Reports"), element(1, "push button", "Reports", states=("disabled",))
    subtask = Subtask(name="Open 'Reports'", info="open 'Reports'")
    assert plan_again(subtask, "it did not open", screen=seen(button)).nodes
    assert plan_again(subtask, "it is disabled", screen=seen(off)).gives_up == "it is disabled"


# Verification


def verify(done: list[tuple[Subtask, tuple[Step, ...]]], last: object, instruction: str = "x") -> VerifyResponse:
    response = answer(VerifyContext(Task(instruction=instruction), last, tuple(done)))  # type: ignore[arg-type]
    assert isinstance(response, VerifyResponse)
    return response


def test_visible_text_proves_typing() -> None:
    subtask = Subtask(name="Type 'hello'", info="type 'hello' into Name")
    before, after = seen(field(1, "Name")), seen(field(1, "Name", text="hello"))
    verdict = verify([(subtask, (step(Type(text="hello", element_id=1), before),))], after)
    assert verdict.verified is True
    assert "'hello'" in verdict.evidence[0]


def test_a_click_alone_proves_nothing() -> None:
    subtask = Subtask(name="Click", info="click 'Submit'")
    verdict = verify([(subtask, (step(Click(element_id=1), EMPTY),))], EMPTY)
    assert verdict.verified is None


def test_a_title_that_still_shows_changes_refutes_saving() -> None:
    screen = seen(element(1, "text"), windows=[window(title="*a.txt - Editor")])
    verdict = verify([(Subtask(name="Save", info="save"), (step(Hotkey(keys=("ctrl", "s")), EMPTY),))], screen)
    assert verdict.verified is False
    assert "*a.txt" in verdict.reason


def test_a_box_in_the_other_state_refutes_checking() -> None:
    off = seen(element(1, "check box", "News", states=("checkable",)))
    on = seen(element(1, "check box", "News", states=("checkable", "checked")))
    done = [(Subtask(name="Check", info="check 'News'"), (step(Click(element_id=1), off),))]
    assert verify(done, off).verified is False
    assert verify(done, on).verified is True


def test_a_formula_with_an_error_refutes_the_cells() -> None:
    done = [(Subtask(name="Cells", info="type =A1/0 in B1"), (step(Type(text="=A1/0"), EMPTY),))]
    assert verify(done, seen(element(1, "table cell", "B1", text="#DIV/0!"))).verified is False


def test_a_task_without_steps_is_not_verified() -> None:
    assert verify([], EMPTY).verified is None


# Words


def test_asks_how_to_do_the_task_in_the_application_in_front() -> None:
    context = QueryContext(Task(instruction="Insert a table."), seen(windows=[window(app="LibreOffice Writer")]))
    response = answer(context)
    assert isinstance(response, QueryResponse)
    assert response.query == "How to insert a table in LibreOffice Writer?"


def test_plans_with_a_guideline_that_names_its_sources() -> None:
    web = (WebResult("Tables", "https://example.org/t", "Use the Table menu."),)
    response = answer(PlanContext(Task(instruction="Choose Table > Insert."), EMPTY, web))
    assert isinstance(response, PlanResponse)
    assert "https://example.org/t" in response.guideline
    assert "Use the Table menu." in response.guideline


def test_reflects_on_the_trouble() -> None:
    context = ReflectContext(
        Task(instruction="x"), Subtask(name="Click A"), EMPTY, (), "the last action changed nothing"
    )
    response = answer(context)
    assert isinstance(response, ReflectResponse)
    assert "changed nothing" in response.reflection


def test_what_was_done_is_its_own_summary() -> None:
    drafts = (Draft("x", "1. press ctrl+s", "Save the file"), Draft("x", "Ended as done."))
    response = answer(SummarizeContext(Task(instruction="x"), drafts))
    assert isinstance(response, SummariesResponse)
    assert response.summaries == ("1. press ctrl+s", "Ended as done.")


def test_replaced_screens_do_not_confuse_the_verdict() -> None:
    subtask = Subtask(name="Close", info="close the window")
    gone = replace(EMPTY, windows=(), elements=())
    verdict = verify([(subtask, (step(Hotkey(keys=("alt", "F4")), EMPTY),))], gone)
    assert verdict.verified is True
