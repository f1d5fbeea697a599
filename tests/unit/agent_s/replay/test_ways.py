"""Skills of one dialog, done one after another: the dialog that the first has opened is not opened again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from aci.acting.actions import Action, Click, Hotkey, Wait
from aci.observation.geometry import Rect
from aci.observation.identity import describe
from aci.observation.observation import Element, Observation, Window
from agent_s import AgentS, Options, Task
from agent_s.events import Event, ReplayStopped
from agent_s.llm.no_model import NoModel
from agent_s.llm.protocol import PlannedNode, PlanResponse
from agent_s.llm.scripted import ScriptedModel
from agent_s.records import Change, ElementState, GroundedStep
from exploration.search.first_dialogs import answer_step
from exploration.skills.skill_keeper import SkillKeeper
from memory_store import MemoryStore, Provenance
from tests.unit.agent_s.fakes import EDITOR, FakeDesktop, button, screen
from tests.unit.agent_s.loop.test_agent import of, outcome, passes

DIALOG = Window(2, "Preferences", "editor", Rect(100, 100, 300, 300), active=True, modal=True)
PREFERENCES, FIND = button(1, "Preferences"), button(2, "Find")
NUMBERS, WRAP = (
    Element(number, "check box", name, Rect(120, 40 * number, 80, 30), None, DIALOG.id, app="editor")
    for number, name in ((5, "Numbers"), (6, "Wrap"))
)
CANCEL = replace(button(7, "Cancel"), window_id=DIALOG.id)
WINDOW = screen(PREFERENCES, FIND)
WINDOWS = (DIALOG, replace(EDITOR, active=False))
OPENED = screen(PREFERENCES, FIND, NUMBERS, WRAP, windows=WINDOWS)
ASKING = screen(PREFERENCES, FIND, NUMBERS, WRAP, CANCEL, windows=WINDOWS)
PATHS = ((PREFERENCES, NUMBERS), (FIND, WRAP))
OFF, ON = ElementState(), ElementState(states=("checked",))


class AtHome(FakeDesktop):
    home = Path("/home/ada")


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_s.replay.player.PATIENCE_S", 0.0)


def reacting(opened: Observation) -> Callable[[Action, Observation], Observation]:
    """Return an editor that opens a dialog, closes it, or switches one of its boxes."""

    def react(action: Action, seen: Observation) -> Observation:
        if isinstance(action, Hotkey):
            return WINDOW
        assert isinstance(action, Click) and action.element_id is not None
        if action.element_id in (PREFERENCES.id, FIND.id):
            return opened
        box = seen.by_id[action.element_id]
        switched = replace(box, states=box.states ^ {"checked"})
        return screen(*(switched if one.id == box.id else one for one in seen.elements), windows=seen.windows)

    return react


def learn(memory: MemoryStore, name: str, box: Element, way: Element = PREFERENCES) -> str:
    """Store a skill that opens the dialog and switches a box on."""
    steps = (
        GroundedStep(
            action=Click(element_id=way.id),
            targets={"element_id": describe(way, WINDOW)},
            effect=(Change(kind="opened", what=DIALOG.title, before="", after="open"),),
            state_before=OFF,
            state_after=OFF,
        ),
        GroundedStep(
            action=Click(element_id=box.id),
            targets={"element_id": describe(box, OPENED)},
            state_before=OFF,
            state_after=ON,
        ),
    )
    stored = memory.add_skill(
        name=name,
        steps=[step.model_dump(mode="json") for step in steps],
        provenance=Provenance(run_id="explore", app="editor", platform="linux/x11"),
    )
    memory.record_uses([stored.id], worked=True, checked_by="a fresh desktop", clean_start=True)
    return stored.id


def carry_out(memory: MemoryStore, opened: Observation = OPENED) -> tuple[list[Event], list[Action]]:
    desktop = FakeDesktop(WINDOW, reacting(opened))
    agent = AgentS(model=NoModel(), desktop=desktop, memory=memory, options=Options(replay="only"))
    events = list(agent.stream(Task(instruction="turn on numbers, then turn on wrap")))
    return events, desktop.performed


def test_a_dialog_that_the_skill_before_has_opened_is_not_opened_again(memory: MemoryStore) -> None:
    learn(memory, "turn on numbers", NUMBERS)
    learn(memory, "turn on wrap", WRAP)
    events, performed = carry_out(memory)
    assert outcome(events).status == "done"
    assert performed == [Click(element_id=one) for one in (PREFERENCES.id, NUMBERS.id, WRAP.id)]


def test_a_dialog_where_changes_hold_at_once_is_closed_if_it_is_in_the_way(memory: MemoryStore) -> None:
    learn(memory, "turn on numbers", NUMBERS)
    learn(memory, "turn on wrap", WRAP, way=FIND)
    events, performed = carry_out(memory)
    assert outcome(events).status == "done"
    first, second = ([Click(element_id=one) for one in (way.id, box.id)] for way, box in PATHS)
    assert performed == [*first, Hotkey(keys=("escape",)), *second]


def test_what_an_application_shows_first_is_answered_as_its_exploration_did(
    memory: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    hello = replace(DIALOG, id=3, title="Welcome")
    okay = replace(button(8, "OK"), window_id=hello.id)

    def greeting(home: str) -> Observation:
        folder = replace(button(10, f"Notes go to {home}/notes", "label"), window_id=hello.id)
        return screen(PREFERENCES, FIND, okay, folder, windows=(hello, WINDOWS[1]))

    welcome = greeting("/home/ada")
    answer = answer_step(Click(element_id=okay.id), greeting("/tmp/explored"), "/tmp/explored")
    assert answer is not None
    keeper = SkillKeeper(memory, "explore")
    for _ in range(2):
        keeper.keep_first_answers((answer,), "editor")
    assert len([one for one in memory.list_experiences("skill") if "first dialogs" in str(one)]) == 1
    learn(memory, "turn on numbers", NUMBERS)

    splash = screen(windows=(replace(EDITOR, title=""),))

    def react(action: Action, seen: Observation) -> Observation:
        if isinstance(action, Wait):
            return welcome if seen is splash else seen
        return WINDOW if action == Click(element_id=okay.id) else reacting(OPENED)(action, seen)

    def performed(shown: Observation) -> list[Action]:
        desktop = AtHome(shown, react)
        agent = AgentS(model=NoModel(), desktop=desktop, memory=memory, options=Options(replay="only"))
        list(agent.stream(Task(instruction="turn on numbers")))
        return [action for action in desktop.performed if not isinstance(action, Wait)]

    usual: list[Action] = [Click(element_id=one) for one in (PREFERENCES.id, NUMBERS.id)]
    assert performed(WINDOW) == usual
    assert performed(welcome) == [Click(element_id=okay.id), *usual]
    with monkeypatch.context() as patient:
        patient.setattr("agent_s.replay.player.PATIENCE_S", 0.1)
        assert performed(splash) == [Click(element_id=okay.id), *usual]
    recovery = replace(hello, title="Recover the document?")
    assert performed(replace(welcome, windows=(recovery, WINDOWS[1]))) == []
    question = replace(button(9, "The file has changed. Reload it?", "label"), window_id=hello.id)
    assert performed(replace(welcome, elements=(*welcome.elements, question))) == []


def test_a_dialog_that_can_be_cancelled_stays_open(memory: MemoryStore) -> None:
    learn(memory, "turn on numbers", NUMBERS)
    learn(memory, "turn on wrap", WRAP, way=FIND)
    events, performed = carry_out(memory, ASKING)
    assert outcome(events).status == "failed"
    assert performed == [Click(element_id=one) for one in (PREFERENCES.id, NUMBERS.id)]


def test_a_chosen_skill_that_could_not_begin_is_not_to_blame(memory: MemoryStore) -> None:
    learn(memory, "turn on numbers", NUMBERS)
    blocked = learn(memory, "turn on wrap", WRAP, way=FIND)
    names = ("turn on numbers", "turn on wrap")

    def plan(request: object) -> PlanResponse:
        offered = [one.name for one in request.context.skills]  # type: ignore[attr-defined]
        return PlanResponse(nodes=tuple(PlannedNode(name=f"{n}!", skill=offered.index(n) + 1) for n in names))

    for _ in range(2):
        agent = AgentS(
            model=ScriptedModel({"plan": [plan]}), desktop=FakeDesktop(WINDOW, reacting(ASKING)), memory=memory,
            options=Options(summaries=False),
        )  # fmt: skip
        events = list(agent.stream(Task(instruction="numbers and wrapping, both please"), passes))
        assert [event.experience_id for event in of(ReplayStopped, events)] == [blocked]
    assert memory.get(blocked).provenance.state == "active"
