"""Skills of an exploration, found by their effect and replayed without a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aci.acting.actions import Action, Click, SwitchApplications
from aci.desktop.machine import Machine
from aci.observation.geometry import Rect
from aci.observation.identity import describe as describe_element
from aci.observation.observation import Element, Observation, Window
from agent_s import AgentS, Options, Task
from agent_s.events import Event, Planned, ReplayStarted
from agent_s.llm.no_model import NoModel
from agent_s.records import Change, ElementState, EndState, GroundedStep
from agent_s.replay.effect_checks import is_done_already
from agent_s.replay.skill_matching import THEN, UNVERIFIED
from memory_store import HashingEmbedder, MemoryStore, Provenance
from tests.unit.agent_s.fakes import FakeDesktop, button, screen
from tests.unit.agent_s.loop.test_agent import of, outcome

OFF, ON = ElementState(), ElementState(states=("checked",))
NUMBERS, WRAP, BARS = (button(number, name, "check box") for number, name in ((1, "Numbers"), (2, "Wrap"), (3, "Bars")))
WINDOW = screen(NUMBERS, WRAP, BARS)


def switching(action: Action, seen: Observation) -> Observation:
    """Switch the box that is clicked."""
    assert isinstance(action, Click)
    box = seen.by_id[action.element_id]
    other = replace(box, states=box.states ^ {"checked"})
    return screen(*(other if each.id == box.id else each for each in seen.elements))


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_s.replay.player.PATIENCE_S", 0.0)


def click(box: Element, before: ElementState | None = OFF, after: ElementState | None = ON) -> GroundedStep:
    return GroundedStep(
        action=Click(element_id=box.id),
        targets={"element_id": describe_element(box, WINDOW)},
        intent=f"click {box.name}",
        state_before=before,
        state_after=after,
    )


def learn(
    memory: MemoryStore, name: str, *steps: GroundedStep, others: tuple[str, ...] = (), app: str = "editor"
) -> str:
    stored = memory.add_skill(
        name=name,
        aliases=others,
        description=f"{name.capitalize()}, by Box in Editor.",
        steps=[step.model_dump(mode="json") for step in steps],
        provenance=Provenance(run_id="explore", app=app, platform="linux/x11"),
    )
    memory.record_uses([stored.id], True, checked_by="a fresh desktop", clean_start=True)
    return stored.id


def carry_out(memory: MemoryStore, instruction: str, start: Observation = WINDOW) -> tuple[list[Event], list[str]]:
    desktop = FakeDesktop(start, switching)
    agent = AgentS(model=NoModel(), desktop=desktop, memory=memory, options=Options(replay="only"))
    events = list(agent.stream(Task(instruction=instruction)))
    return events, [start.by_id[one.element_id].name for one in desktop.performed if isinstance(one, Click)]


def test_skill_is_found_by_its_effect(memory: MemoryStore) -> None:
    learn(memory, "turn on numbers", click(NUMBERS), others=("show line numbers",))
    learn(memory, "turn on wrap", click(WRAP), others=("break long lines",))
    events, clicked = carry_out(memory, "please make the line numbers visible")
    assert (outcome(events).status, clicked) == ("done", ["Numbers"])


def test_skill_that_is_called_so_comes_before_one_with_an_alias(memory: MemoryStore) -> None:
    learn(memory, "open preferences", click(WRAP), others=("open options", "open settings"))
    learn(memory, "open options", click(NUMBERS), others=("open preferences", "open settings"))
    events, clicked = carry_out(memory, "change the preferences")
    assert (outcome(events).status, clicked) == ("done", ["Wrap"])


def test_each_part_of_an_instruction_is_done_by_a_skill(memory: MemoryStore) -> None:
    learn(memory, "turn on numbers", click(NUMBERS), others=("show line numbers",))
    learn(memory, "turn on wrap", click(WRAP))
    events, clicked = carry_out(memory, "show the line numbers and then turn on wrap")
    assert (outcome(events).status, clicked) == ("done", ["Numbers", "Wrap"])
    assert [part.name for part in of(Planned, events)[0].plan.subtasks] == ["show the line numbers", "turn on wrap"]


class Installed(FakeDesktop):
    def machine(self) -> Machine:
        return Machine(display_names={"characters": "Characters", "gnome-control-center": "Settings"})


@pytest.mark.parametrize("beginning", ["In {}, ", "Open {}, ", "Please launch {} and "])
@pytest.mark.parametrize("app", ["Mousepad", "Characters"])  # one that is known, and one by the name in menus
def test_an_application_that_the_first_part_names_is_that_of_the_others(
    memory: MemoryStore, app: str, beginning: str
) -> None:
    learn(memory, "turn on numbers", click(NUMBERS), app=app)
    learn(memory, "turn on wrap", click(WRAP), app=app)

    def opening(action: Action, seen: Observation) -> Observation:
        return WINDOW if isinstance(action, SwitchApplications) else switching(action, seen)

    desktop = Installed(screen(windows=()), opening)
    agent = AgentS(model=NoModel(), desktop=desktop, memory=memory, options=Options(replay="only"))
    assert agent.run(Task(instruction=f"{beginning.format(app)}turn on numbers, then turn on wrap")).status == "done"
    assert desktop.performed == [SwitchApplications(app_code=app), *(Click(element_id=one) for one in (1, 2))]


@pytest.mark.parametrize("dialog", ["the preferences", "Settings", "the editor preferences"])
def test_what_opens_a_dialog_opens_no_application(memory: MemoryStore, dialog: str) -> None:
    learn(memory, f"open {dialog}", click(NUMBERS))
    learn(memory, "turn on wrap", click(WRAP))
    desktop = Installed(WINDOW, switching)
    agent = AgentS(model=NoModel(), desktop=desktop, memory=memory, options=Options(replay="only"))
    assert agent.run(Task(instruction=f"Open {dialog} and turn on wrap")).status == "done"
    assert desktop.performed == [Click(element_id=1), Click(element_id=2)]


@pytest.mark.parametrize("rest", ["open Characters and turn on wrap", "turn on wrap in Characters"])
def test_application_opened_for_its_own_sake_is_not_left_out(memory: MemoryStore, rest: str) -> None:
    for app in ("Mousepad", "Characters"):
        learn(memory, "turn on wrap", click(WRAP), app=app)
    desktop = Installed(screen(windows=()), switching)
    agent = AgentS(model=NoModel(), desktop=desktop, memory=memory, options=Options(replay="only"))
    assert agent.run(Task(instruction=f"Open Mousepad, {rest}")).status == "failed"
    assert not desktop.performed


def test_composite_skill_is_used_only_for_all_of_its_parts(memory: MemoryStore) -> None:
    both = learn(memory, f"turn on numbers{THEN}turn on wrap", click(NUMBERS), click(WRAP))
    events, clicked = carry_out(memory, "turn on numbers and wrap")
    assert (of(ReplayStarted, events)[0].experience_id, clicked) == (both, ["Numbers", "Wrap"])
    events, clicked = carry_out(memory, "turn on numbers")
    assert (outcome(events).status, clicked) == ("failed", [])


@pytest.mark.parametrize(
    "instruction",
    [
        "turn off numbers",
        "don't turn on numbers",
        "turn on bars",
        "turn on numbers and delete the text",
        "turn on numbers in Firefox",
        "are numbers turned on?",
    ],
)
def test_nothing_is_replayed_if_a_part_is_unknown(memory: MemoryStore, instruction: str) -> None:
    learn(memory, "turn on numbers", click(NUMBERS))
    events, clicked = carry_out(memory, instruction)
    assert (outcome(events).status, clicked) == ("failed", [])


@pytest.mark.parametrize(
    ("app", "display", "instruction"),
    [
        ("L3afpad", "L3afpad", "Turn on numbers in l3afpad"),
        ("L3afpad", "", "In L3afpad, turn on numbers"),
        ("baobab", "Disk Usage Analyzer", "turn on numbers in Disk Usage Analyzer"),
        ("org.gnome.Characters", "Characters", "Turn on numbers in Characters"),
    ],
)
def test_application_that_the_task_names_is_started(
    memory: MemoryStore, app: str, display: str, instruction: str
) -> None:
    learn(memory, "turn on numbers", click(NUMBERS), app=app)
    names = {app.casefold(): display} if display else {}

    def starting(action: Action, seen: Observation) -> Observation:
        return switching(action, seen) if isinstance(action, Click) else seen

    class Installed(FakeDesktop):
        def machine(self) -> Machine:
            return Machine(display_names=names)

    def performed(asked: str) -> list[Action]:
        desktop = Installed(WINDOW, starting)
        agent = AgentS(model=NoModel(), desktop=desktop, memory=memory, options=Options(replay="only"))
        list(agent.stream(Task(instruction=asked)))
        return desktop.performed

    assert performed(instruction) == [SwitchApplications(app_code=app), Click(element_id=NUMBERS.id)]
    assert performed("turn on numbers") == []


def test_skill_of_the_active_application_is_not_used_where_another_one_is_named(memory: MemoryStore) -> None:
    learn(memory, "turn on numbers", click(NUMBERS))

    class Installed(FakeDesktop):
        def machine(self) -> Machine:
            return Machine(display_names={"baobab": "Disk Usage Analyzer"})

    desktop = Installed(WINDOW, switching)
    agent = AgentS(model=NoModel(), desktop=desktop, memory=memory, options=Options(replay="only"))
    list(agent.stream(Task(instruction="Turn on numbers in Disk Usage Analyzer")))
    assert desktop.performed == []


def test_setting_that_is_on_stays_on(memory: MemoryStore) -> None:
    learn(memory, "turn on numbers", click(NUMBERS))
    on = screen(replace(NUMBERS, states=NUMBERS.states | {"checked"}), WRAP, BARS)
    events, clicked = carry_out(memory, "turn on numbers", on)
    assert (outcome(events).status, clicked) == ("done", [])


def test_skill_that_detects_the_state_is_preferred(memory: MemoryStore) -> None:
    learn(memory, "turn on numbers", click(BARS, before=OFF, after=None))
    seeing = learn(memory, "show numbers", click(NUMBERS))
    events, _ = carry_out(memory, "turn on numbers please")
    assert of(ReplayStarted, events)[0].experience_id == seeing


def test_skill_that_leaves_no_window_open_is_preferred(memory: MemoryStore) -> None:
    opening = click(NUMBERS)
    opening = opening.model_copy(update={"effect": (Change(kind="opened", what="Preferences"),)})
    learn(memory, "show numbers", opening)
    hidden = click(BARS, after=None)
    tidy = learn(
        memory, "turn on numbers", hidden.model_copy(update={"end": EndState(settings={"org/numbers": "true"})})
    )
    events, _ = carry_out(memory, "turn on numbers please")
    assert of(ReplayStarted, events)[0].experience_id == tidy


def test_no_skill_is_chosen_between_two_equal_matches(memory: MemoryStore) -> None:
    learn(memory, "open red bars", click(BARS))
    learn(memory, "open blue bars", click(WRAP))
    events, clicked = carry_out(memory, "open bars")
    assert (outcome(events).status, clicked) == ("failed", [])


def test_its_own_name_decides_between_two_equal_matches(memory: MemoryStore) -> None:
    learn(memory, "save as", click(WRAP), others=("open bars",))
    own = learn(memory, "open bars", click(BARS))
    events, _ = carry_out(memory, "open the bars")
    assert of(ReplayStarted, events)[0].experience_id == own


def test_visible_bars_show_that_a_switch_is_already_on() -> None:
    marks = ("check box:Numbers", "check box:Wrap")
    shows, hides = (
        GroundedStep(action=Click(element_id=3), effect=tuple(Change(kind=kind, what=mark) for mark in marks))
        for kind in ("appeared", "vanished")
    )
    assert is_done_already([shows], "show the bars", WINDOW)
    assert not is_done_already([shows], "show the bars", screen(BARS))
    assert is_done_already([hides], "hide the bars", screen(BARS))
    assert not is_done_already([hides], "hide the bars", WINDOW)
    assert not is_done_already([shows], "cut the text", WINDOW), "what is no switch is done again"
    assert not is_done_already([hides], "show the bars", screen(BARS)), "what it hides does not tell that it shows"
    opens = shows.model_copy(update={"effect": (Change(kind="opened", what="Preferences"),)})
    assert not is_done_already([opens, hides], "hide the bars", screen(BARS)), "they are in a window that is closed"


def test_steps_of_earlier_versions_are_read() -> None:
    earlier = {
        "action": {"action": "click", "element_id": 3},
        "effect": {"opened": ["Find"], "before": {"states": ["checked"]}, "appeared": ["entry:Find"]},
        "left": {"title": "Find", "settings": {"org/numbers": "true"}},
    }
    step = GroundedStep.model_validate(earlier)
    assert (step.names_of("opened"), step.names_of("appeared", "vanished")) == (("Find",), ("entry:Find",))
    assert (step.state_before, step.state_after) == (ElementState(states=("checked",)), None)
    assert step.end == EndState(title="Find", settings={"org/numbers": "true"})
    assert GroundedStep.model_validate_json(step.model_dump_json()) == step


@pytest.mark.parametrize(
    ("trusted", "answer", "clicked"),
    [((), "yes", True), ((), "no", False), ((), None, False), (("ben",), None, True), (None, None, True)],
)
def test_skill_of_an_untrusted_user_is_replayed_only_after_asking(
    memory: MemoryStore, tmp_path: Path, trusted: tuple[str, ...] | None, answer: str | None, clicked: bool
) -> None:
    own = memory.get(learn(memory, "turn on numbers", click(NUMBERS)))
    theirs = own.model_copy(update={"provenance": own.provenance.model_copy(update={"author": "ben"})})
    questions: list[str] = []

    def reply(question: str) -> str:
        questions.append(question)
        return answer or ""

    with MemoryStore.open(tmp_path / "other.sqlite", HashingEmbedder(), trusted=trusted) as shared:
        shared.add_records([theirs])
        desktop = FakeDesktop(WINDOW, switching)
        ask = reply if answer is not None else None
        agent = AgentS(model=NoModel(), desktop=desktop, memory=shared, options=Options(replay="only"), ask=ask)
        result = agent.run(Task(instruction="turn on numbers"))
    assert bool(desktop.performed) is clicked
    assert len(questions) == (answer is not None)
    assert all("ben" in question for question in questions)
    if not clicked:
        assert "stored by ben" in result.reason


def learn_unverified(memory: MemoryStore, name: str, *steps: GroundedStep) -> str:
    return memory.add_skill(
        name=name,
        steps=[step.model_dump(mode="json") for step in steps],
        provenance=Provenance(run_id="explore", app="editor", platform="linux/x11", outcome=UNVERIFIED),
    ).id


def test_unverified_skill_is_replayed_without_evidence(memory: MemoryStore) -> None:
    learn_unverified(memory, "turn on numbers", click(NUMBERS).model_copy(update={"untried": True}))
    events, clicked = carry_out(memory, "turn on the numbers")
    assert (outcome(events).status, outcome(events).verified, clicked) == ("done", None, ["Numbers"])
    on = replace(NUMBERS, states=frozenset({"checked"}))
    assert carry_out(memory, "turn on the numbers", screen(on, WRAP, BARS))[1] == []  # what is on stays on


def test_steps_before_an_untried_one_are_not_evidence(memory: MemoryStore) -> None:
    way, last = click(BARS), click(NUMBERS, None, None)
    learn_unverified(memory, "number lines", way, last.model_copy(update={"untried": True}))
    events, clicked = carry_out(memory, "number the lines")
    assert (outcome(events).status, outcome(events).verified) == ("done", None)
    assert clicked == ["Bars", "Numbers"]


def test_menu_on_the_way_is_not_evidence_of_the_end(memory: MemoryStore) -> None:
    menu = click(BARS, None, None).model_copy(update={"effect": (Change(kind="opened", what=""),)})
    learn(memory, "number lines", menu, click(NUMBERS, None, None))
    popup = Window(7, "", "editor", Rect(0, 0, 90, 90))

    def opening(action: Action, seen: Observation) -> Observation:
        assert isinstance(action, Click)
        return replace(seen, windows=(popup, *seen.windows)) if action.element_id == BARS.id else WINDOW

    desktop = FakeDesktop(WINDOW, opening)
    agent = AgentS(model=NoModel(), desktop=desktop, memory=memory, options=Options(replay="only"))
    ended = outcome(list(agent.stream(Task(instruction="number the lines"))))
    assert (ended.status, ended.verified, len(desktop.performed)) == ("done", None, 2)


def test_verified_skill_precedes_an_unverified_one(memory: MemoryStore) -> None:
    learn(memory, "turn on wrap", click(WRAP), others=("wrap lines",))
    learn_unverified(memory, "wrap lines", click(BARS).model_copy(update={"untried": True}))
    assert carry_out(memory, "wrap the lines")[1] == ["Wrap"]


def test_a_name_with_another_particle_is_not_chosen(memory: MemoryStore) -> None:
    learn(memory, "zoom to", click(WRAP))
    learn_unverified(memory, "zoom in", click(BARS).model_copy(update={"untried": True}))
    assert carry_out(memory, "zoom in")[1] == ["Bars"]


def test_verified_skill_precedes_an_unverified_one_of_exactly_that_name(memory: MemoryStore) -> None:
    learn(memory, "document chooser", click(WRAP), others=("open file",))
    learn_unverified(memory, "open file", click(BARS).model_copy(update={"untried": True}))
    assert carry_out(memory, "open a file")[1] == ["Wrap"]


def test_untried_step_may_open_any_window(memory: MemoryStore) -> None:
    dialog = Window(7, "Numbering", "editor", Rect(0, 0, 90, 90), active=True, modal=True)
    step = click(NUMBERS, None, None)

    def opening(action: Action, seen: Observation) -> Observation:
        return replace(seen, windows=(dialog, *seen.windows))

    def done(*steps: GroundedStep) -> str:
        learn_unverified(memory, "number lines", *steps)
        desktop = FakeDesktop(WINDOW, opening)
        agent = AgentS(model=NoModel(), desktop=desktop, memory=memory, options=Options(replay="only"))
        return outcome(list(agent.stream(Task(instruction="number the lines")))).status

    assert done(step.model_copy(update={"untried": True})) == "done"
    memory.forget([one.id for one in memory.list_experiences("skill")])
    assert done(step) == "failed"  # nobody has seen that it opens one
