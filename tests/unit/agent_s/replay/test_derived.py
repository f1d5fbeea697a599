"""Values that came from the screen: a replay types them only where the screen shows them again, and proves nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from aci.acting.actions import Action, Click, Done, SwitchApplications, Type
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation, Window
from agent_s import AgentS, Options, Task
from agent_s.events import Event, Planned, ReplayStopped
from agent_s.llm.no_model import NoModel
from agent_s.llm.protocol import ActContext, PlannedNode, PlanResponse
from agent_s.llm.scripted import ScriptedModel
from agent_s.replay.derived import not_in_wording
from memory_store import EpisodicExperience, MemoryStore
from tests.unit.agent_s.fakes import FakeDesktop, screen
from tests.unit.agent_s.loop.test_agent import act, of, outcome, passes

CALCULATOR = Window(1, "Calculator", "calculator", Rect(0, 0, 400, 600), active=True)
EDITOR = Window(2, "Notes", "editor", Rect(0, 0, 800, 600), active=True)
BROWSER = Window(3, "Order", "browser", Rect(0, 0, 800, 600), active=True)
SUM, RESULT, NOTE, TITLE = range(1, 5)


def entry(number: int, name: str, window: Window, text: str = "") -> Element:
    return Element(number, "entry", name, Rect(10, 40, 80, 30), None, window.id, app=window.app, text=text)


def label(number: int, text: str, window: Window, role: str = "label") -> Element:
    return Element(number, role, text, Rect(10, 80, 80, 30), None, window.id, app=window.app)


def calculator(typed: str = "", result: str = "0") -> Observation:
    elements = (entry(SUM, "Sum", CALCULATOR, typed), entry(RESULT, "Result", CALCULATOR, result))
    return screen(*elements, windows=(CALCULATOR,))


def editor(text: str = "") -> Observation:
    return screen(entry(NOTE, "Note", EDITOR, text), windows=(EDITOR,))


def page(code: str, last: str = "Q9-77") -> Observation:
    shown = ("Your code:", code, "Your last code:", last)
    elements = (label(TITLE + number, text, BROWSER, "static") for number, text in enumerate(shown))
    return screen(*elements, windows=(BROWSER,))


def work(action: Action, seen: Observation) -> Observation:
    """Compute a product, and take notes."""
    match action:
        case Type(text=text, element_id=1):
            first, second = text.split("*")
            return calculator(text, f"{int(first) * int(second):,}")
        case Type(text=text):
            return editor(text)
        case SwitchApplications(app_code="editor"):
            return editor()
    return seen


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_s.replay.player.PATIENCE_S", 0.0)


def task_of(product: str) -> str:
    return f"Compute {product} and write the result into a note"


Part = tuple[str, tuple[Action, ...]]


def product(wording: str, result: str, info: str = "") -> tuple[Part, Part]:
    return (
        (f"Compute {wording}", (Type(text=wording, element_id=SUM),)),
        (f"Write the result{info}", (SwitchApplications(app_code="editor"), Type(text=result, element_id=NOTE))),
    )


def script(*parts: Part, replayed: int = 0) -> ScriptedModel:
    """Return a model that plans some parts and does all but the first ones, which are replayed."""
    plan = PlanResponse(nodes=tuple(PlannedNode(name=name) for name, _ in parts))
    answers = [act(action) for _, actions in parts[replayed:] for action in (*actions, Done())]
    return ScriptedModel({"plan": [plan], "act": answers})


def learn(memory: MemoryStore, instruction: str, start: Observation, *parts: Part, react: object = work) -> None:
    agent = AgentS(model=script(*parts), desktop=FakeDesktop(start, react), memory=memory)  # type: ignore[arg-type]
    assert outcome(list(agent.stream(Task(instruction=instruction), passes))).verified


def again(
    memory: MemoryStore,
    instruction: str,
    start: Observation,
    model: ScriptedModel | None = None,
    react: Callable[[Action, Observation], Observation] = work,
) -> tuple[list[Event], FakeDesktop]:
    desktop = FakeDesktop(start, react)
    agent = AgentS(
        model=model or NoModel(), desktop=desktop, memory=memory, options=Options(replay=True if model else "only")
    )
    return list(agent.stream(Task(instruction=instruction))), desktop


def texts(desktop: FakeDesktop) -> list[str]:
    return [action.text for action in desktop.performed if isinstance(action, Type)]


class TestOtherValues:
    @pytest.mark.parametrize("info", ["", " 408"])
    def test_new_result_is_typed(self, memory: MemoryStore, info: str) -> None:
        learn(memory, task_of("12*34"), calculator(), *product("12*34", "408", info))
        events, desktop = again(memory, task_of("56*78"), calculator())
        assert texts(desktop) == ["56*78", "4,368"] and outcome(events).replayed
        assert "408" not in str([(part.name, part.info) for part in of(Planned, events)[0].plan.subtasks])
        assert outcome(events).verified is None, "only the note, into which it was typed, shows it"

    def test_worker_takes_over_if_the_result_cannot_be_read(self, memory: MemoryStore) -> None:
        def failing(action: Action, seen: Observation) -> Observation:
            after = work(action, seen)
            return calculator("56*78", "Overflow") if RESULT in after.by_id else after

        learn(memory, task_of("12*34"), calculator(), *product("12*34", "408"))
        model = ScriptedModel({"act": [act(Type(text="no result", element_id=NOTE)), act(Done())]})
        events, desktop = again(memory, task_of("56*78"), calculator(), model, failing)
        assert texts(desktop) == ["56*78", "no result"] and not outcome(events).replayed
        first = next(request.context for request in model.requests if isinstance(request.context, ActContext))
        assert "'408' came from the screen" in first.reflection
        events, desktop = again(memory, task_of("56*78"), calculator(), react=failing)
        assert texts(desktop) == ["56*78"] and outcome(events).status == "failed"

    def test_old_result_is_not_taken_for_a_new_one(self, memory: MemoryStore) -> None:
        def stuck(action: Action, seen: Observation) -> Observation:
            after = work(action, seen)
            return calculator("56*78", "999") if RESULT in after.by_id else after

        learn(memory, task_of("12*34"), calculator(), *product("12*34", "408"))
        _, desktop = again(memory, task_of("56*78"), calculator(result="999"), react=stuck)
        assert texts(desktop) == ["56*78"]

    def test_result_that_equals_a_value_of_the_task_is_not_replaced(self, memory: MemoryStore) -> None:
        learn(memory, task_of("1*5"), calculator(), *product("1*5", "5"))
        events, desktop = again(memory, task_of("3*4"), calculator())
        assert texts(desktop) == ["3*4"] and "came from the screen" in outcome(events).reason
        events, desktop = again(memory, task_of("1*5"), calculator())
        assert texts(desktop) == ["1*5", "5"] and outcome(events).replayed
        events, desktop = again(memory, task_of("1*7"), calculator())
        assert texts(desktop) == ["1*7", "7"] and outcome(events).replayed

    def test_result_in_the_typed_field_is_not_an_echo(self, memory: MemoryStore) -> None:
        def one_line(action: Action, seen: Observation) -> Observation:
            after = work(action, seen)
            if SUM not in after.by_id or not isinstance(action, Type):
                return after
            return screen(entry(SUM, "Sum", CALCULATOR, after.by_id[RESULT].text or ""), windows=(CALCULATOR,))

        def wording(first: int, second: int) -> str:
            return f"Multiply {first} by {second} and write the result into a note"

        start = screen(entry(SUM, "Sum", CALCULATOR, ""), windows=(CALCULATOR,))
        learn(memory, wording(1, 5), start, *product("1*5", "5"), react=one_line)
        assert texts(again(memory, wording(3, 4), start, react=one_line)[1]) == ["3*4"]
        assert texts(again(memory, wording(1, 7), start, react=one_line)[1]) == ["1*7", "7"]

    def test_subtask_does_not_mention_outdated_values(self, memory: MemoryStore) -> None:
        compute, write = product("12*34", "408")
        plan = PlanResponse(
            nodes=(
                PlannedNode(name=compute[0], info="The display shows 77 before."),
                PlannedNode(name=write[0], info="The result is 408."),
            )
        )
        answers = [act(action) for _, actions in (compute, write) for action in (*actions, Done())]
        model = ScriptedModel({"plan": [plan], "act": answers})
        agent = AgentS(model=model, desktop=FakeDesktop(calculator(), work), memory=memory)
        assert outcome(list(agent.stream(Task(instruction=task_of("12*34")), passes))).verified
        events, desktop = again(memory, task_of("56*78"), calculator())
        assert texts(desktop) == ["56*78", "4,368"]
        infos = [part.info for part in of(Planned, events)[0].plan.subtasks]
        assert infos == ["", "The result is (what the entry Result of calculator shows)."]

    @pytest.mark.parametrize("said", ["", ": 4", ", the fourth"])
    def test_number_entered_by_clicks_must_be_in_the_task(self, memory: MemoryStore, said: str) -> None:
        wording = f"Enter the number of rows{said}"
        digit = Element(7, "push button", "4", Rect(10, 80, 80, 30), None, CALCULATOR.id, app="calculator")

        def clicked(action: Action, seen: Observation) -> Observation:
            return screen(entry(SUM, "Sum", CALCULATOR, "4"), digit, windows=(CALCULATOR,))

        start = screen(entry(SUM, "Sum", CALCULATOR, ""), digit, windows=(CALCULATOR,))
        learn(memory, wording, start, ("Enter it", (Click(element_id=7),)), react=clicked)
        events, desktop = again(memory, wording, start, react=clicked)
        assert bool(desktop.performed) is bool(said)
        assert said or "'4' was clicked when learned" in outcome(events).reason

    @pytest.mark.parametrize(
        ("wording", "name", "replayed"),
        [
            ("Open the latest order", "Order 4711", False),
            ("Open the order 4711", "Order 4711", True),
            ("Open the latest order", "Orders of 3 days", True),
        ],
    )
    def test_code_in_the_name_of_a_clicked_element_must_be_in_the_task(
        self, memory: MemoryStore, wording: str, name: str, replayed: bool
    ) -> None:
        def opened(action: Action, seen: Observation) -> Observation:
            return screen(*seen.elements, label(9, "Order", BROWSER, "heading"), windows=(BROWSER,))

        start = screen(label(7, name, BROWSER, "link"), windows=(BROWSER,))
        learn(memory, wording, start, ("Open it", (Click(element_id=7),)), react=opened)
        events, desktop = again(memory, wording, start, react=opened)
        assert bool(desktop.performed) is replayed
        assert replayed or "'4711' was clicked when learned" in outcome(events).reason

    def test_value_that_no_screen_showed_is_not_typed_again(self, memory: MemoryStore) -> None:
        parts = (("Write the product", (Type(text="12*34 is 408", element_id=NOTE),)),)
        learn(memory, "Write 12*34 as '12*34' into a note", editor(), *parts)
        events, desktop = again(memory, "Write 56*78 as '56*78' into a note", editor())
        assert desktop.performed == [] and not outcome(events).verified

    def test_value_computed_from_new_values_proves_nothing(self, memory: MemoryStore) -> None:
        def computing(action: Action, seen: Observation) -> Observation:
            after = work(action, seen)
            only = [replace(after.by_id[RESULT], id=SUM, name="Sum")] if isinstance(action, Type) else after.elements
            return screen(*only, windows=(CALCULATOR,))

        start = screen(entry(SUM, "Sum", CALCULATOR, "0"), windows=(CALCULATOR,))
        learn(memory, "Compute 12*34", start, product("12*34", "")[0], react=computing)
        events, desktop = again(memory, "Compute 56*78", start, react=computing)
        assert texts(desktop) == ["56*78"] and outcome(events).replayed
        assert outcome(events).verified is None

    @pytest.mark.parametrize("planned", [False, True])
    def test_other_subtasks_do_not_prove_new_values(self, memory: MemoryStore, planned: bool) -> None:
        def computing(action: Action, seen: Observation) -> Observation:
            return editor() if isinstance(action, SwitchApplications) else calculator("", "7")

        open_notes: Part = ("Open the notes", (SwitchApplications(app_code="editor"),))
        learn(
            memory, "Compute 12*34, open the notes", calculator(), product("12*34", "")[0], open_notes, react=computing
        )
        model = None
        if planned:
            memory.forget([one.id for one in memory.list_experiences("narrative")])
            model = script(product("56*78", "")[0], open_notes, replayed=2)
        events, desktop = again(memory, "Compute 56*78, open the notes", calculator(), model, computing)
        assert texts(desktop) == ["56*78"] and outcome(events).replayed
        assert outcome(events).verified is None


class TestSameValues:
    WORDING = "Copy the code of the order into a note"

    def copied(self, code: str, name: str = "Write the code") -> Part:
        return name, (SwitchApplications(app_code="editor"), Type(text=code, element_id=NOTE))

    @pytest.mark.parametrize(
        ("now", "code"),
        [(page("X1-408"), "X1-408"), (page("Y2-999"), "Y2-999"), (page("Y2-999", "X1-408"), "Y2-999")],
    )
    def test_current_code_of_the_page_is_typed(self, memory: MemoryStore, now: Observation, code: str) -> None:
        learn(memory, self.WORDING, page("X1-408"), self.copied("X1-408", "Write X1-408"))
        events, desktop = again(memory, self.WORDING, now)
        assert texts(desktop) == [code] and outcome(events).replayed and outcome(events).verified is None

    @pytest.mark.parametrize("now", [page(""), page("none"), page("SALE-2026"), editor()])
    def test_text_in_another_form_than_the_code_is_not_typed(self, memory: MemoryStore, now: Observation) -> None:
        learn(memory, self.WORDING, page("X1-408"), self.copied("X1-408"))
        events, desktop = again(memory, self.WORDING, now)
        assert texts(desktop) == [] and outcome(events).status == "failed"
        assert "'X1-408' came from the screen" in of(ReplayStopped, events)[0].reason

    def test_code_on_a_page_with_another_layout_is_left_to_the_worker(self, memory: MemoryStore) -> None:
        shown = ("Your code:", "Q1-123", "Y2-999", "Your last code:", "Q9-77")
        now = screen(*(label(TITLE + at, text, BROWSER, "static") for at, text in enumerate(shown)), windows=(BROWSER,))
        learn(memory, self.WORDING, page("X1-408"), self.copied("X1-408"))
        model = ScriptedModel({"act": [act(action) for action in (*self.copied("Y2-999")[1], Done())]})
        events, desktop = again(memory, self.WORDING, now, model)
        assert texts(desktop) == ["Y2-999"] and not outcome(events).replayed
        first = next(request.context for request in model.requests if isinstance(request.context, ActContext))
        assert "'X1-408' came from the screen" in first.reflection

    def test_places_that_showed_the_same_value_must_agree(self, memory: MemoryStore) -> None:
        learn(memory, self.WORDING, page("X1-408", "X1-408"), self.copied("X1-408"))
        assert texts(again(memory, self.WORDING, page("Y2-999", "Y2-999"))[1]) == ["Y2-999"]
        assert texts(again(memory, self.WORDING, page("Y2-999", "Z3-111"))[1]) == []

    def test_neighbor_does_not_identify_a_text_with_its_own_context(self, memory: MemoryStore) -> None:
        def days(today: str, changed: str) -> Observation:
            lines = (f"Today: {today}", f"Last change: {changed}")
            labels = (label(TITLE + at, text, BROWSER, "static") for at, text in enumerate(lines))
            return screen(*labels, windows=(BROWSER,))

        wording = "Write the date of today into a note"
        learn(memory, wording, days("2026-11-22", "2026-11-22"), self.copied("2026-11-22"))
        assert texts(again(memory, wording, days("2026-11-23", "2026-11-22"))[1]) == ["2026-11-23"]
        assert texts(again(memory, wording, days("2026-11-22", "2026-11-22"))[1]) == [], "it may be any date"

    def test_coincidental_small_number_is_not_a_source(self, memory: MemoryStore) -> None:
        wording = "Write how many rows there are into a note"
        learn(memory, wording, page("4"), self.copied("4"))
        for now in (page("4"), page("7")):
            events, desktop = again(memory, wording, now)
            assert texts(desktop) == [] and "is not in the task" in outcome(events).reason

    def test_a_value_that_changes_before_it_is_typed_is_not_typed(self, memory: MemoryStore) -> None:
        def staying(action: Action, seen: Observation) -> Observation:
            note = entry(NOTE, "Note", EDITOR, action.text if isinstance(action, Type) else "")
            return screen(note, *seen.elements, windows=(EDITOR, BROWSER))

        def renewing(action: Action, seen: Observation) -> Observation:
            return staying(action, page("Y2-999"))

        learn(memory, self.WORDING, page("X1-408"), self.copied("X1-408"), react=staying)
        assert outcome(again(memory, self.WORDING, page("X1-408"), react=staying)[0]).replayed
        events, desktop = again(memory, self.WORDING, page("X1-408"), react=renewing)
        assert texts(desktop) == [] and "'X1-408'" in of(ReplayStopped, events)[0].reason

    def test_text_made_up_by_the_model_is_not_replayed(self, memory: MemoryStore) -> None:
        parts = (("Write it", (Type(text="five", element_id=NOTE),)),)
        wording = "Write how many rows there are into a note"
        learn(memory, wording, editor(), *parts)
        events, desktop = again(memory, wording, editor())
        assert desktop.performed == [] and "'five' was typed when learned" in outcome(events).reason
        model = ScriptedModel({"act": [act(Type(text="six", element_id=NOTE)), act(Done())]})
        events, desktop = again(memory, wording, editor(), model)
        assert texts(desktop) == ["six"] and not outcome(events).replayed

    def test_steps_without_known_sources_are_not_replayed(self, memory: MemoryStore) -> None:
        learn(memory, self.WORDING, page("X1-408"), self.copied("X1-408"))
        known = [one for one in memory.list_experiences("episodic") if isinstance(one, EpisodicExperience)]
        memory.forget([one.id for one in known])
        for one in known:
            steps = [{key: value for key, value in step.items() if key != "derived"} for step in one.steps]
            memory.add_episodic(
                task_query=self.WORDING, subtask=one.subtask, context=one.context, summary="", steps=steps,
                provenance=one.provenance,
            )  # fmt: skip
        events, desktop = again(memory, self.WORDING, page("X1-408"))
        assert desktop.performed == [] and "'X1-408' was typed when learned" in outcome(events).reason


@pytest.mark.parametrize(
    ("text", "wording", "left"),
    [
        ("~/Documents/draft.txt", "Save it as draft.txt in the Documents folder", []),
        ("draft.txt", "Save it as draft", []),
        ("~/Downloads/draft.txt", "Save it as draft.txt", ["Downloads"]),
        ("14", "on 2026-03-14", []),
        ("4.08", "4 and 08", ["4.08"]),
        ("4,368", "the number 4368", []),
        ("X1-408", "copy X1", ["408"]),
        ("Hello Ada", "greet Ada", ["Hello"]),
        ("\t\n", "anything", []),
        ("?", "anything", ["?"]),
        ("*", "compute 12*34", []),
    ],
)
def test_pieces_that_are_not_in_the_wording(text: str, wording: str, left: list[str]) -> None:
    assert not_in_wording(text, wording) == left
