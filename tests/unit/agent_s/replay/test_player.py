"""Replay without a model: with other values, and with checks of each effect and of the end."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from aci.acting.actions import Action, Click, Done, Fail, Hotkey, Scroll, SwitchApplications, Type, Wait
from aci.desktop.desktop import ActionResult
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation, Window
from aci.observation.snapshot import State
from agent_s import AgentS, Limits, Options, Task
from agent_s.events import Event, Planned, ReplayStarted, ReplayStopped, SubtaskEnded, Verified
from agent_s.llm.no_model import NoModel
from agent_s.llm.protocol import PlanContext, PlannedNode, PlanResponse
from agent_s.llm.scripted import ScriptedModel
from memory_store import MemoryStore, Provenance, SkillExperience
from tests.unit.agent_s.fakes import EDITOR, FakeDesktop, button, screen
from tests.unit.agent_s.loop.test_agent import act, of, outcome, passes, run

FIELD = Element(1, "entry", "Name", Rect(10, 40, 80, 30), None, EDITOR.id, app="editor", text="")
BOX = Element(2, "check box", "Newsletter", Rect(10, 80, 80, 30), None, EDITOR.id, app="editor")
SEND = button(3, "Send")
FORM = screen(FIELD, BOX, SEND)


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_s.replay.player.PATIENCE_S", 0.0)
    monkeypatch.setattr("agent_s.replay.written_files.COMPLETE_S", 0.0)


def form(action: Action, seen: Observation) -> Observation:
    """Behave as a form: a field takes text, a box switches, and sending shows thanks."""
    match action:
        case Type(text=text):
            changes = {1: {"text": text}}
        case Click(element_id=2):
            on = "checked" in seen.by_id[2].states
            changes = {2: {"states": frozenset() if on else frozenset({"checked"})}}
        case Click(element_id=3):
            return screen(
                *seen.elements, button(9, "Thank you", "heading"), button(8, f"Sent by {seen.by_id[1].text}", "label")
            )
        case _:
            return seen
    return screen(*(replace(each, **changes.get(each.id, {})) for each in seen.elements))  # type: ignore[arg-type]


ACTIONS: tuple[Action, ...] = (Type(text="Ada", element_id=1), Click(element_id=2), Click(element_id=3))


def fill_in(name: str) -> str:
    return f"Type '{name}' into Name, check Newsletter, and click Send"


def learn(
    memory: MemoryStore,
    actions: tuple[Action, ...] = ACTIONS,
    wording: str = "",
    start: Observation = FORM,
    react: Callable[[Action, Observation], Observation] = form,
) -> list[Event]:
    wording = wording or fill_in("Ada")
    plan = PlanResponse(nodes=(PlannedNode(name=wording),))
    model = ScriptedModel({"plan": [plan], "act": [*map(act, actions), act(Done())]})
    return list(
        AgentS(model=model, desktop=FakeDesktop(start, react), memory=memory).stream(Task(instruction=wording), passes)
    )


def again(
    memory: MemoryStore,
    instruction: str,
    start: Observation = FORM,
    react: Callable[[Action, Observation], Observation | ActionResult] = form,
    **more: object,
) -> tuple[list[Event], FakeDesktop]:
    desktop = FakeDesktop(start, react)
    agent = AgentS(model=NoModel(), desktop=desktop, memory=memory, options=Options(replay="only", **more))
    return list(agent.stream(Task(instruction=instruction))), desktop


def test_result_within_a_longer_number_is_not_expected(memory: MemoryStore) -> None:
    total = replace(FIELD, id=4, name="Total", role="label")

    def adding(action: Action, seen: Observation) -> Observation:
        if not isinstance(action, Type):
            return form(action, seen)
        number = action.text.split()[-1]
        return screen(*(replace(e, text=action.text if e.id == 1 else number) for e in seen.elements if e.id in (1, 4)))

    start = screen(FIELD, total)
    actions = (Click(element_id=4), Type(text="sum of 42", element_id=1))
    plan = PlanResponse(nodes=(PlannedNode(name="type 'sum of 42' into Name"),))
    model = ScriptedModel({"plan": [plan], "act": [*map(act, actions), act(Done())]})
    agent = AgentS(model=model, desktop=FakeDesktop(start, adding), memory=memory)
    assert outcome(list(agent.stream(Task(instruction="type 'sum of 42' into Name"), passes))).verified
    events, _ = again(memory, "type 'sum of 7142' into Name", start, adding)
    assert outcome(events).replayed


class Menu:
    """A button whose menu opens at the n-th click, and an entry that closes it."""

    def __init__(self, opens_at: int = 1) -> None:
        self._left = opens_at

    def __call__(self, action: Action, seen: Observation) -> Observation:
        match action:
            case Click(element_id=3):
                self._left -= 1
                popup = Window(8, "", "editor", Rect(10, 70, 90, 40), popup=True)
                entry = replace(button(4, "Rotate", "menu item"), window_id=8)
                return seen if self._left else screen(SEND, entry, windows=(popup, EDITOR))
            case Click(element_id=4):
                return screen(SEND, button(5, "Rotated", "label"))
        return seen


@pytest.mark.parametrize(("opens_at", "replayed"), [(1, True), (2, True), (3, False)])
def test_click_that_should_have_opened_a_menu_is_repeated_once(
    memory: MemoryStore, opens_at: int, replayed: bool
) -> None:
    learn(memory, (Click(element_id=3), Click(element_id=4)), "rotate the picture", screen(SEND), Menu())
    events, desktop = again(memory, "rotate the picture", screen(SEND), Menu(opens_at))
    assert outcome(events).replayed is replayed
    assert desktop.performed.count(Click(element_id=3)) == min(opens_at, 2)


def test_other_values_are_replayed_without_a_model(memory: MemoryStore) -> None:
    learn(memory)
    events, desktop = again(memory, fill_in("Grace Hopper"))
    ended = outcome(events)
    assert (ended.status, ended.verified, ended.replayed, ended.usage.model_calls) == ("done", True, True, 0)
    assert desktop.performed == [Type(text="Grace Hopper", element_id=1), *ACTIONS[1:]]
    (verdict,) = [event.verdict for event in of(Verified, events)]
    assert verdict.by == "replay" and any("the end shows 'Grace Hopper'" in one for one in verdict.evidence)
    assert of(Planned, events)[0].plan.source == "memory"


def test_typed_text_that_only_its_own_field_shows_is_not_evidence(memory: MemoryStore) -> None:
    def silent(action: Action, seen: Observation) -> Observation:
        after = form(action, seen)
        return screen(*(each for each in after.elements if each.id != 8))

    learn(memory, react=silent)
    events, _ = again(memory, fill_in("Grace Hopper"), react=silent)
    assert outcome(events).replayed and outcome(events).verified is None


@pytest.mark.parametrize(
    "instruction",
    [
        "Type 'Ada' into Name, uncheck Newsletter, and click Send",
        "Type 'Ada' into Name, check Newsletter, and click Send twice",
        "Type 'Ada' into Email, do not check Newsletter, and click Send",
        "Close the window",
    ],
)
def test_another_task_is_not_replayed_and_the_reason_is_clear(memory: MemoryStore, instruction: str) -> None:
    learn(memory)
    events, desktop = again(memory, instruction)
    assert desktop.performed == [] and outcome(events).status == "failed"
    assert "nothing verified that matches" in outcome(events).reason


def reason_not_replayed(memory: MemoryStore, instruction: str = fill_in("Grace")) -> str:
    return outcome(again(memory, instruction)[0]).reason.partition("matches this task")[2]


def test_reason_says_that_memory_is_empty(memory: MemoryStore) -> None:
    assert reason_not_replayed(memory) == ": it is empty"
    learn(memory)
    assert reason_not_replayed(memory, "Close the window") == ""


def test_reason_names_the_run_that_nothing_verified(memory: MemoryStore) -> None:
    model = ScriptedModel(
        {"plan": [PlanResponse(nodes=(PlannedNode(name=fill_in("Ada")),))], "act": [*map(act, ACTIONS), act(Done())]}
    )
    agent = AgentS(model=model, desktop=FakeDesktop(FORM, form), memory=memory, options=Options(evaluator=False))
    agent.run(Task(instruction=fill_in("Ada")))
    assert re.search(
        r": the run \w+ did it, but was never verified; 'agent-s runs replay \w+'", reason_not_replayed(memory)
    )


def test_reason_names_the_run_that_failed(memory: MemoryStore) -> None:
    give_up = act(Fail(reason="no"))
    model = ScriptedModel({"plan": [PlanResponse(nodes=(PlannedNode(name=fill_in("Ada")),))], "act": [give_up]})
    agent = AgentS(model=model, desktop=FakeDesktop(FORM), memory=memory, options=Options(limits=Limits(max_replans=0)))
    agent.run(Task(instruction=fill_in("Ada")))
    assert re.fullmatch(r": the run \w+ failed to do it", reason_not_replayed(memory))


def test_without_a_memory_the_reason_says_so() -> None:
    agent = AgentS(model=NoModel(), desktop=FakeDesktop(FORM), options=Options(replay="only"))
    assert "there is no memory" in outcome(list(agent.stream(Task(instruction="Do it")))).reason


def stubborn(action: Action, seen: Observation) -> Observation:
    return seen


def forgetful(action: Action, seen: Observation) -> Observation:
    """Take a text, and lose it when the box is checked."""
    after = form(action, seen)
    lost = [replace(each, text="") if each.id == 1 else each for each in after.elements]
    return screen(*lost) if isinstance(action, Click) else after


def emptying(action: Action, seen: Observation) -> Observation:
    """Lose a text in another field when the box is checked, as a page may do that was changed since."""
    after = form(action, seen)
    lost = [replace(each, text="") if each.id == 1 else each for each in after.elements]
    return screen(*lost) if action == Click(element_id=2) else after


def test_lost_text_stops_a_replay_before_the_form_is_sent(memory: MemoryStore) -> None:
    wording = fill_in("Ada")
    plan = PlanResponse(nodes=(PlannedNode(name="type 'Ada' into Name"), PlannedNode(name="check Newsletter, send")))
    model = ScriptedModel({"plan": [plan], "act": [*map(act, (ACTIONS[0], Done(), *ACTIONS[1:], Done()))]})
    agent = AgentS(model=model, desktop=FakeDesktop(FORM, form), memory=memory)
    assert outcome(list(agent.stream(Task(instruction=wording), passes))).verified
    assert outcome(again(memory, wording)[0]).replayed
    events, desktop = again(memory, wording, react=emptying)
    assert "the entry 'Name' is not as it was before" in of(ReplayStopped, events)[0].reason
    assert Click(element_id=3) not in desktop.performed


def sheet(cell_text: str) -> Observation:
    cells = (
        Element(number, "table cell", name, Rect(10, 10 * number, 80, 10), None, EDITOR.id, app="editor", text=text)
        for number, name, text in ((4, "A1", ""), (5, "B2", cell_text))
    )
    return replace(screen(replace(FIELD, name="Input line"), SEND, *cells), focus_id=4)


def selecting(action: Action, seen: Observation) -> Observation:
    """Show in the input line what the selected cell holds."""
    if action != Click(element_id=5):
        return replace(form(action, seen), focus_id=seen.focus_id)
    line = replace(seen.by_id[1], text=seen.by_id[5].text)
    return replace(screen(line, *(each for each in seen.elements if each.id != 1)), focus_id=5)


def test_input_line_follows_the_selected_cell_whatever_that_held_when_it_was_learned(memory: MemoryStore) -> None:
    wording, actions = "Select B2 and click Send", (Click(element_id=5), Click(element_id=3))
    assert outcome(learn(memory, actions, wording, sheet(""), selecting)).verified
    assert outcome(again(memory, wording, sheet("74"), selecting)[0]).replayed


def test_an_unnamed_cell_in_a_sheet_without_labels_can_be_learned(memory: MemoryStore) -> None:
    wording, actions = "Select the cell and click Send", (Click(element_id=5), Click(element_id=3))
    assert outcome(learn(memory, actions, wording, sheet(""), selecting)).verified
    assert outcome(again(memory, wording, sheet(""), selecting)[0]).replayed


def unchecking(action: Action, seen: Observation) -> Observation:
    """Take back a choice that was made before, at the next click."""
    after = form(action, seen)
    back = [replace(each, states=frozenset()) if each.id == 2 else each for each in after.elements]
    return screen(*back) if action == Click(element_id=4) else after


def test_lost_choice_stops_a_replay_before_the_form_is_sent(memory: MemoryStore) -> None:
    start = screen(FIELD, BOX, SEND, button(4, "Next"))
    names = ("check Newsletter", "click Next", "click Send")
    plan = PlanResponse(nodes=tuple(PlannedNode(name=name) for name in names))
    clicks = [Click(element_id=number) for number in (2, 4, 3)]
    model = ScriptedModel({"plan": [plan], "act": [act(each) for click in clicks for each in (click, Done())]})
    agent = AgentS(model=model, desktop=FakeDesktop(start, form), memory=memory)
    assert outcome(list(agent.stream(Task(instruction="Subscribe"), passes))).verified
    events, desktop = again(memory, "Subscribe", start, unchecking)
    assert "the check box 'Newsletter' is not as it was before" in of(ReplayStopped, events)[0].reason
    assert Click(element_id=3) not in desktop.performed
    assert outcome(again(memory, "Subscribe", start)[0]).replayed


def interrupting_without_a_title(action: Action, seen: Observation) -> Observation:
    after = interrupting(action, seen)
    return replace(after, windows=(replace(after.windows[0], title=""), after.windows[1]))


def interrupting(action: Action, seen: Observation) -> Observation:
    after = form(action, seen)
    alert = Window(5, "Warning", "editor", Rect(0, 0, 100, 50), active=True, modal=True)
    return replace(after, windows=(alert, replace(EDITOR, active=False)))


@pytest.mark.parametrize(
    ("start", "react", "reason"),
    [
        (FORM, stubborn, "should read 'Ada'"),
        (FORM, forgetful, "the entry 'Name' is not as it was"),
        (FORM, interrupting, "the window 'Warning' opened"),
        (FORM, lambda a, s: interrupting_without_a_title(a, s), "a window without a title, opened"),
        (screen(FIELD, BOX, button(3, "Delete")), form, "no push button 'Send'"),
        (screen(FIELD, replace(BOX, states=frozenset({"disabled"})), SEND), form, "is disabled"),
        (
            screen(replace(FIELD, text="Bob "), BOX, SEND),
            lambda a, s: appending(a, s),
            "should read 'Ada', not 'Bob Ada'",
        ),
        (screen(FIELD, SEND), form, "no check box"),
    ],
)
def test_replay_stops_at_a_difference(
    memory: MemoryStore, start: Observation, react: Callable[[Action, Observation], Observation], reason: str
) -> None:
    learn(memory)
    events, desktop = again(memory, fill_in("Ada"), start, react)
    assert outcome(events).status == "failed" and reason in of(ReplayStopped, events)[0].reason
    assert Click(element_id=3) not in desktop.performed


def test_disabled_target_does_not_count_against_what_was_learned(memory: MemoryStore) -> None:
    learn(memory)
    [known] = memory.list_experiences("episodic")
    disabled, gone = screen(FIELD, replace(BOX, states=frozenset({"disabled"})), SEND), screen(FIELD, SEND)
    for start, failures in ((disabled, 0), (gone, 1)):
        before = memory.get(known.id).provenance
        again(memory, fill_in("Ada"), start)
        after = memory.get(known.id).provenance
        assert (after.times_used - after.times_worked) - (before.times_used - before.times_worked) == failures


def appending(action: Action, seen: Observation) -> Observation:
    if isinstance(action, Type):
        old = seen.by_id[1].text or ""
        return form(action.model_copy(update={"text": old + action.text}), seen)
    return form(action, seen)


def test_checked_box_stays_checked(memory: MemoryStore) -> None:
    learn(memory)
    checked = replace(BOX, states=frozenset({"checked"}))
    events, desktop = again(memory, fill_in("Ada"), screen(FIELD, checked, SEND))
    assert outcome(events).replayed and desktop.performed == [ACTIONS[0], ACTIONS[2]]


def test_worker_takes_over_after_a_mismatch_and_knows_the_steps(memory: MemoryStore) -> None:
    learn(memory)
    model = ScriptedModel({"act": [act(Fail(reason="no"))], "plan": [PlanResponse(gives_up="no")]})
    agent = AgentS(
        model=model,
        desktop=FakeDesktop(screen(FIELD, BOX), form),
        memory=memory,
        options=Options(limits=Limits(max_replans=1)),
    )
    events = list(agent.stream(Task(instruction=fill_in("Grace"))))
    assert "no push button 'Send'" in of(ReplayStopped, events)[0].reason
    why = of(SubtaskEnded, events)[0].reason  # the Worker had nothing to add
    assert why.startswith("no; the replay of ") and "no push button 'Send'" in why
    contexts = [request.context for request in model.requests if isinstance(request.context, PlanContext)]
    assert [step.response.action for step in contexts[0].failed.steps] == [  # type: ignore[union-attr]
        Type(text="Grace", element_id=1),
        ACTIONS[1],
    ]


def test_replay_and_its_check_run_without_ocr(memory: MemoryStore) -> None:
    learn(memory)
    events, desktop = again(memory, fill_in("Grace"))
    assert outcome(events).verified and set(desktop.read_texts) == {False}


def test_worker_that_takes_over_sees_the_texts_that_ocr_finds(memory: MemoryStore) -> None:
    learn(memory)
    desktop = FakeDesktop(screen(FIELD, BOX), form)
    model = ScriptedModel({"act": [act(Fail(reason="no"))], "plan": [PlanResponse(gives_up="no")]})
    AgentS(model=model, desktop=desktop, memory=memory).run(Task(instruction=fill_in("Grace")))
    assert model.requests[0].kind == "act"
    assert not desktop.read_texts[0] and desktop.read_texts[-1]


DIALOG = Window(id=2, title="Settings", app="editor", rect=Rect(50, 50, 300, 200), active=True, modal=True)


class SlowDialogs(FakeDesktop):
    """A desktop whose dialog opens some time after the click, while its windows are asked for."""

    def __init__(self, start: Observation, opened: Observation) -> None:
        super().__init__(start, lambda action, seen: seen)
        self._opened, self._asked = opened, 0
        self.early = 0  # looks between the click and the dialog

    def observe(self, read_texts: bool = True, check: bool = True) -> Observation:
        self.early += bool(self.performed) and DIALOG not in self.screen.windows
        return super().observe(read_texts, check)

    def windows(self) -> tuple[Window, ...]:
        self._asked += 1
        if self._asked > 3:
            self.screen = self._opened
        return self.screen.windows


def test_screen_is_not_observed_before_the_expected_window_opens(
    memory: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_s.replay.player.PATIENCE_S", 60.0)
    start = screen(button(3, "Settings..."))
    opened = screen(*start.elements, windows=(DIALOG, EDITOR))
    learn(memory, (Click(element_id=3),), "Open the settings", start, lambda action, seen: opened)
    desktop = SlowDialogs(start, opened)
    agent = AgentS(model=NoModel(), desktop=desktop, memory=memory, options=Options(replay="only"))
    assert outcome(list(agent.stream(Task(instruction="Open the settings")))).replayed
    assert desktop.performed == [Click(element_id=3)] and desktop.early == 0


def scrolled_form(action: Action, seen: Observation) -> Observation:
    """Behave as a form whose button is out of sight until it is scrolled to."""
    if isinstance(action, Scroll) and action.clicks is not None:
        return screen(*(one for one in seen.elements if one != SEND), *([SEND] if action.clicks < 0 else []))
    return form(action, seen)


def test_target_out_of_sight_is_brought_into_view(memory: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    learn(memory)
    monkeypatch.setattr("agent_s.replay.player.PATIENCE_S", 60.0)
    monkeypatch.setattr("agent_s.replay.player.SCROLL_AFTER_S", 0.0)
    desktop = FakeDesktop(screen(FIELD, replace(BOX, point=BOX.rect.center)), scrolled_form)
    agent = AgentS(model=NoModel(), desktop=desktop, memory=memory, options=Options(replay="only"))
    assert outcome(list(agent.stream(Task(instruction=fill_in("Grace"))))).replayed
    assert desktop.performed[-1] == ACTIONS[-1]


def test_replay_must_write_the_learned_file_again(memory: MemoryStore, tmp_path: Path) -> None:
    class WithHome(FakeDesktop):
        home = tmp_path

    def saving(action: Action, seen: Observation) -> Observation:
        if isinstance(action, Type):
            (tmp_path / action.text.removeprefix("~/")).write_text("x")
        return form(action, seen)

    def save(name: str, react: Callable[[Action, Observation], Observation], replay: bool | str) -> list[Event]:
        model = ScriptedModel({"act": [act(Type(text=f"~/{name}", element_id=1)), act(Done())]})
        desktop = WithHome(FORM, react)
        agent = AgentS(model=model, desktop=desktop, memory=memory, options=Options(replay=replay))
        return list(agent.stream(Task(instruction=f"Save it as {name}"), passes))

    save("a.txt", saving, True)
    assert outcome(save("b.txt", saving, "only")).replayed and (tmp_path / "b.txt").exists()
    events = save("c.txt", form, "only")
    assert not outcome(events).replayed and "~/c.txt was not written" in of(ReplayStopped, events)[0].reason


def test_unreadable_file_is_not_evidence(memory: MemoryStore, tmp_path: Path) -> None:
    """A machine elsewhere: whether the file was written there is not known here."""

    class WithHome(FakeDesktop):
        home: Path | None = tmp_path

    class Elsewhere(FakeDesktop):
        home = None

    def saving(action: Action, seen: Observation) -> Observation:
        if isinstance(action, Type):
            (tmp_path / action.text.removeprefix("~/")).write_text("x")
        return form(action, seen)

    def save(desktop: FakeDesktop, name: str, replay: bool | str) -> list[Event]:
        model = ScriptedModel({"act": [act(Type(text=f"~/{name}", element_id=1)), act(Done())]})
        agent = AgentS(model=model, desktop=desktop, memory=memory, options=Options(replay=replay))
        return list(agent.stream(Task(instruction=f"Save it as {name}"), passes if replay is True else None))

    save(WithHome(FORM, saving), "a.txt", True)
    for name in ("a.txt", "b.txt"):
        ended = outcome(save(Elsewhere(FORM, form), name, "only"))
        assert ended.replayed and not ended.verified


def test_path_in_the_home_is_typed_with_the_current_home(memory: MemoryStore, tmp_path: Path) -> None:
    def save(home: Path | None, name: str, replay: bool | str) -> tuple[list[Event], list[Action]]:
        class WithHome(FakeDesktop):
            home: Path

        if home is not None:
            home.mkdir()
            WithHome.home = home

        def saving(action: Action, seen: Observation) -> Observation:
            if isinstance(action, Type):
                Path(action.text).write_text("x")
            return form(action, seen)

        plan = PlanResponse(nodes=(PlannedNode(name="Save it", info=f"Type {home}/{name}"),))
        model = ScriptedModel({"plan": [plan], "act": [act(Type(text=f"{home}/{name}", element_id=1)), act(Done())]})
        desktop = WithHome(FORM, saving)
        agent = AgentS(model=model, desktop=desktop, memory=memory, options=Options(replay=replay))
        return list(agent.stream(Task(instruction=f"Save it as {name}"), passes)), desktop.performed

    save(tmp_path / "desktop-0", "a.txt", True)
    events, performed = save(tmp_path / "desktop-1", "b.txt", "only")
    assert outcome(events).replayed
    assert [action.text for action in performed if isinstance(action, Type)] == [f"{tmp_path}/desktop-1/b.txt"]
    events, performed = save(None, "c.txt", "only")
    assert "home folder" in of(ReplayStopped, events)[0].reason
    assert performed == []


def test_saved_file_in_the_title_proves_what_was_typed(memory: MemoryStore, tmp_path: Path) -> None:
    class WithHome(FakeDesktop):
        home = tmp_path

    titled = (replace(EDITOR, title="~/notes.txt - Editor"),)
    start = screen(FIELD, SEND, windows=titled)

    def editing(saves: bool) -> Callable[[Action, Observation], Observation]:
        def react(action: Action, seen: Observation) -> Observation:
            if isinstance(action, Type):
                return screen(replace(FIELD, text=action.text), SEND, windows=titled)
            if saves:
                (tmp_path / "notes.txt").write_text(seen.by_id[1].text or "")
            return seen

        return react

    def save(name: str, saves: bool, replay: bool | str) -> list[Event]:
        model = ScriptedModel({"act": [*map(act, (ACTIONS[0], Click(element_id=3), Done()))]})
        desktop = WithHome(start, editing(saves))
        agent = AgentS(model=model, desktop=desktop, memory=memory, options=Options(replay=replay))
        return list(agent.stream(Task(instruction=f"Type '{name}' and save it"), passes if replay is True else None))

    save("Ada", True, True)
    events = save("Grace", True, "only")
    assert outcome(events).replayed and outcome(events).verified
    (tmp_path / "notes.txt").unlink()
    events = save("Grace", False, "only")
    assert not outcome(events).replayed and "~/notes.txt was not written" in of(ReplayStopped, events)[0].reason


def skill(
    memory: MemoryStore,
    name: str,
    outcome: str = "done",
    app: str = "editor",
    active: bool = True,
    action: Action = Click(element_id=2),  # noqa: B008 - immutable
    start: Observation = FORM,
    react: Callable[[Action, Observation], Observation] = form,
    settings: dict[str, str] | None = None,
) -> str:
    learn(memory, (action,), "learn a step", start, react)
    steps = next(one for one in memory.list_experiences("episodic")).steps  # type: ignore[attr-defined]
    steps[-1]["end"]["settings"] = settings or {}
    memory.forget([one.id for one in memory.list_experiences() if one.provenance.outcome in ("done", "")])
    memory.forget([one.id for one in memory.list_experiences("narrative")])
    source = Provenance(run_id="explored", app=app, platform="linux/x11", outcome=outcome)
    stored = memory.add_skill(name=name, description=f"{name} by its box", steps=steps, provenance=source)
    if active:
        memory.record_uses([stored.id], True, checked_by="a fresh desktop", clean_start=True)
    return stored.id


def again_with_home(
    memory: MemoryStore, home_path: Path, start: Observation, react: Callable[[Action, Observation], Observation]
) -> tuple[list[Event], FakeDesktop]:
    class WithHome(FakeDesktop):
        home = home_path

    desktop = WithHome(start, react)
    agent = AgentS(model=NoModel(), desktop=desktop, memory=memory, options=Options(replay="only"))
    return list(agent.stream(Task(instruction="turn on the news"))), desktop


def test_hidden_switch_is_not_toggled_back(memory: MemoryStore, tmp_path: Path) -> None:
    skill(memory, "turn on the news", action=Click(element_id=3), settings={"org/editor/news": "true"})
    keyfile = tmp_path / ".config/glib-2.0/settings/keyfile"
    keyfile.parent.mkdir(parents=True)

    def switching(action: Action, seen: Observation) -> Observation:
        on = keyfile.exists() and "true" in keyfile.read_text()
        keyfile.write_text(f"[org/editor]\nnews={'false' if on else 'true'}\n")
        return form(action, seen)

    events, _ = again_with_home(memory, tmp_path, FORM, switching)
    assert outcome(events).replayed and "news=true" in keyfile.read_text()
    assert outcome(events).verified and "org/editor/news is true" in str(of(Verified, events)[0])
    events, desktop = again_with_home(memory, tmp_path, FORM, switching)
    assert outcome(events).verified and desktop.performed == [] and "news=true" in keyfile.read_text()
    keyfile.unlink()
    (tmp_path / ".config/dconf").mkdir()
    (tmp_path / ".config/dconf/user").write_bytes(b"GVariant")
    events, desktop = again_with_home(memory, tmp_path, FORM, switching)
    assert desktop.performed == [] and "nothing shows whether" in of(ReplayStopped, events)[0].reason
    keyfile.write_text("")
    events, _ = again_with_home(memory, tmp_path, FORM, form)  # it is clicked, and nothing is set by that
    assert not outcome(events).replayed and "should be true" in of(ReplayStopped, events)[0].reason


def test_menu_entry_that_is_on_is_not_toggled(memory: MemoryStore, tmp_path: Path) -> None:
    entry = Element(3, "check menu item", "Send", Rect(10, 120, 80, 30), None, EDITOR.id, app="editor")
    checked = replace(entry, states=frozenset({"checked"}))

    def closing(action: Action, seen: Observation) -> Observation:
        return screen(FIELD, BOX, button(9, "Thank you", "heading"))

    skill(memory, "turn on the news", action=Click(element_id=3), start=screen(FIELD, BOX, entry), react=closing)
    events, _ = again_with_home(memory, tmp_path, screen(FIELD, BOX, entry), closing)
    assert outcome(events).replayed
    events, desktop = again_with_home(memory, tmp_path, screen(FIELD, BOX, checked), closing)
    assert desktop.performed == [] and "is on already" in of(ReplayStopped, events)[0].reason


@pytest.mark.parametrize(
    "instruction",
    ["turn on the newsletter", "Turn on the newsletter.", "please turn on newsletter", "turn on 'Newsletter'"],
)
def test_skill_is_replayed_for_a_task_in_other_words(memory: MemoryStore, instruction: str) -> None:
    stored = skill(memory, "turn on the newsletter")
    events, desktop = again(memory, instruction)
    assert [event.experience_id for event in of(ReplayStarted, events)] == [stored]
    assert outcome(events).replayed and desktop.performed == [Click(element_id=2)]


@pytest.mark.parametrize(
    "instruction",
    [
        "turn off the newsletter",
        "turn on the lights",
        "print the page",
        "turn on the newsletter for 'Ada'",
        "delete the newsletter",
        "turn on the newsletter and print the page",
        "turn on the newsletter, then close the window",
    ],
)
def test_skill_for_another_purpose_is_not_replayed(memory: MemoryStore, instruction: str) -> None:
    skill(memory, "turn on the newsletter")
    events, desktop = again(memory, instruction)
    assert desktop.performed == [] and outcome(events).status == "failed"


def test_skills_of_other_applications_and_unproven_skills_are_not_replayed(memory: MemoryStore) -> None:
    skill(memory, "turn on the newsletter", app="browser")
    skill(memory, "turn on the newsletter", active=False)
    assert again(memory, "turn on the newsletter")[1].performed == []


def test_an_application_that_the_task_names_is_brought_to_the_front_first(memory: MemoryStore) -> None:
    skill(memory, "turn on the newsletter", app="Mousepad")
    elsewhere = screen(windows=(Window(7, "Files", "Thunar", Rect(0, 0, 80, 60), active=True),))

    def opening(action: Action, seen: Observation) -> Observation:
        return FORM if isinstance(action, SwitchApplications) else form(action, seen)

    events, desktop = again(memory, "turn on the newsletter in Mousepad", elsewhere, opening)
    assert outcome(events).replayed, outcome(events).reason
    assert desktop.performed == [SwitchApplications(app_code="Mousepad"), Click(element_id=2)]


class TestBoundary:
    """What an exploration failed to do is not tried for a whole budget."""

    def ended(
        self,
        memory: MemoryStore,
        instruction: str,
        boundaries: Literal["always", "unattended", "never"] = "unattended",
        ask: Callable[[str], str] | None = None,
    ) -> tuple[str, str, int]:
        model = ScriptedModel({"plan": [PlanResponse(gives_up="planned")]})
        agent = AgentS(
            model=model, desktop=FakeDesktop(FORM), memory=memory, ask=ask, options=Options(boundaries=boundaries)
        )
        ended = outcome(list(agent.stream(Task(instruction=instruction))))
        return ended.status, ended.reason, ended.usage.model_calls

    def test_task_ends_at_once_with_a_reason_that_names_the_boundary(self, memory: MemoryStore) -> None:
        stored = skill(memory, "export as PDF", outcome="boundary", active=False)
        status, reason, calls = self.ended(memory, "Export as PDF")
        assert status == "failed" and "'export as PDF' failed when it was explored" in reason and calls == 0
        known = memory.get(stored)
        assert isinstance(known, SkillExperience) and known.provenance.times_worked == 1

    @pytest.mark.parametrize(
        ("instruction", "more"),
        [
            ("Export as PDF and send it to Ada", {}),
            ("Export as PDF", {"boundaries": "never"}),
            ("Export as PDF", {"ask": lambda question: "yes"}),
            ("Import a PDF", {}),
        ],
    )
    def test_other_tasks_are_attempted(self, memory: MemoryStore, instruction: str, more: dict[str, object]) -> None:
        skill(memory, "export as PDF", outcome="boundary", active=False)
        assert self.ended(memory, instruction, **more)[1] == "planned"  # type: ignore[arg-type]

    def test_successful_run_withdraws_the_boundary(self, memory: MemoryStore) -> None:
        stored = skill(memory, "export as PDF", outcome="boundary", active=False)
        model = ScriptedModel({"act": [act(Click(element_id=2)), act(Done())]})
        agent = AgentS(model=model, desktop=FakeDesktop(FORM, form), memory=memory, options=Options(boundaries="never"))
        assert outcome(list(agent.stream(Task(instruction="Export as PDF"), passes))).verified
        assert memory.get(stored).provenance.state == "quarantined"

    def test_skill_takes_precedence_over_the_boundary(self, memory: MemoryStore) -> None:
        skill(memory, "export as PDF", outcome="boundary", active=False)
        skill(memory, "export as PDF")
        assert outcome(again(memory, "export as PDF")[0]).replayed


def test_done_counts_without_an_evaluator() -> None:
    model = ScriptedModel({"act": [act(Done())]})
    events = run(FakeDesktop(FORM), model, evaluator=False)
    assert outcome(events).status == "done" and outcome(events).verified is None
    assert "verify" not in [request.kind for request in model.requests]


def learn_unverified(memory: MemoryStore) -> str:
    model = ScriptedModel({"act": [*map(act, ACTIONS), act(Done())]})
    events = list(
        AgentS(model=model, desktop=FakeDesktop(FORM, form), memory=memory).stream(Task(instruction=fill_in("Ada")))
    )
    return outcome(events).run_id


def test_trusted_run_is_replayed_without_verification(memory: MemoryStore) -> None:
    run_id = learn_unverified(memory)
    assert outcome(again(memory, fill_in("Ada"))[0]).status == "failed"
    events, desktop = again(memory, fill_in("Grace"), trusted_run=run_id)
    assert outcome(events).replayed and desktop.performed == [Type(text="Grace", element_id=1), *ACTIONS[1:]]
    memory.mark_verified(verified=False, by="a person", run_id=run_id)
    assert outcome(again(memory, fill_in("Ada"), trusted_run=run_id)[0]).status == "failed"


def test_a_counter_that_changes_is_not_expected_to_vanish(memory: MemoryStore) -> None:
    def counting(words: int) -> Callable[[Action, Observation], Observation]:
        def react(action: Action, seen: Observation) -> Observation:
            after = form(action, seen)
            if not isinstance(action, Click) or action.element_id != SEND.id:
                return after
            kept = [one for one in after.elements if one.id != 7]
            return screen(*kept, button(7 if words == 5 else 12, f"{words} words", "label"))

        return react

    learn(memory, start=screen(FIELD, BOX, SEND, button(7, "4 words", "label")), react=counting(6))
    start = screen(FIELD, BOX, SEND, button(7, "5 words", "label"))
    events, _ = again(memory, fill_in("Grace"), start, counting(5))
    assert outcome(events).replayed


def counting_alone(words: int) -> Callable[[Action, Observation], Observation]:
    """Show nothing but another number when the button is clicked."""
    label = button(12, f"{words} words", "label")
    return lambda action, seen: screen(SEND, label) if isinstance(action, Click) else seen


def test_a_counter_that_alone_showed_an_effect_must_change_again(memory: MemoryStore) -> None:
    wording = "Click Send"
    learn(memory, (Click(element_id=3),), wording, screen(SEND, button(7, "4 words", "label")), counting_alone(6))
    start = screen(SEND, button(7, "5 words", "label"))
    assert outcome(again(memory, wording, start, counting_alone(8))[0]).replayed
    events, _ = again(memory, wording, start, counting_alone(5))
    assert of(ReplayStopped, events)[0].reason == "the label '5 words' should have changed"


def focused(role: str, *path: str, states: frozenset[State] = frozenset({"editable", "focused"})) -> Observation:
    """Return the form, with the keyboard in another element."""
    where = Element(
        5, role, "", Rect(10, 300, 80, 30), None, EDITOR.id, states=states, app="editor", text="", path=path
    )
    return replace(screen(FIELD, BOX, SEND, where), focus_id=5)


DOCUMENT = focused("paragraph", "document text:letter")


def greeting(action: Action, seen: Observation) -> Observation:
    return replace(screen(*seen.elements, button(9, "Saved", "heading")), focus_id=seen.focus_id)


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        (DOCUMENT, ""),
        (focused("text", "tool bar:Find"), "the keyboard is in the text 'Find', not in a paragraph"),
        (focused("text", "tool bar:Find", states=frozenset({"focused"})), ""),
    ],
)
def test_keys_are_not_pressed_while_an_unexpected_field_has_the_focus(
    memory: MemoryStore, now: Observation, reason: str
) -> None:
    keys = (Hotkey(keys=("ctrl", "s")),)
    learn(memory, keys, "Save it", DOCUMENT, greeting)
    events, desktop = again(memory, "Save it", now, greeting)
    assert [stop.reason for stop in of(ReplayStopped, events)] == ([reason] if reason else [])
    assert desktop.performed == ([] if reason else [*keys])


def test_nothing_is_done_while_another_cell_is_being_edited(memory: MemoryStore) -> None:
    cell = focused("table cell", "document spreadsheet:stock", states=frozenset({"focused"}))
    learn(memory, (ACTIONS[1],), "Check Newsletter", cell)
    edited = focused("paragraph", "document spreadsheet:stock", "panel:Cell E7")
    events, desktop = again(memory, "Check Newsletter", edited)
    assert "the keyboard is in the paragraph 'Cell E7'" in of(ReplayStopped, events)[0].reason
    assert desktop.performed == []
    assert outcome(again(memory, "Check Newsletter", cell)[0]).replayed


def test_target_that_was_changing_is_located_again(memory: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_s.replay.player.PATIENCE_S", 5.0)
    learn(memory)
    refused = [ActionResult(ok=False, error="covered by the text", refusal="covered")]

    def changing(action: Action, seen: Observation) -> Observation | ActionResult:
        return refused.pop() if refused and action == ACTIONS[1] else form(action, seen)

    events, desktop = again(memory, fill_in("Grace"), react=changing)
    assert outcome(events).replayed
    assert desktop.performed == [Type(text="Grace", element_id=1), ACTIONS[1], *ACTIONS[1:]]


class Waited(FakeDesktop):
    """A desktop on which sending has no effect, as far as a wait can know, or only after some waits."""

    def __init__(self, still: bool, waits: int = 10**6) -> None:
        super().__init__(FORM, self._react_late)
        self._still, self._left = still, waits

    def _react_late(self, action: Action, seen: Observation) -> Observation | ActionResult:
        if isinstance(action, Wait):
            self._left -= 1
            if not self._left:
                self.screen = form(Click(element_id=3), seen)
            return ActionResult(ok=True, still=self._still)
        return seen if action == Click(element_id=3) else form(action, seen)


class Ticking:
    """A clock that goes on by a tenth of a second whenever somebody looks at it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.1
        return self.now


def waits_for_sending(memory: MemoryStore, desktop: Waited) -> tuple[bool, int]:
    """Return whether a replay succeeds, and for how many waits it has looked for the effect of sending."""
    learn(memory)
    agent = AgentS(model=NoModel(), desktop=desktop, memory=memory, options=Options(replay="only"), clock=Ticking())
    events = list(agent.stream(Task(instruction=fill_in("Grace"))))
    return outcome(events).replayed, sum(isinstance(action, Wait) for action in desktop.performed)


def test_replay_waits_longer_for_an_application_that_may_still_work(
    memory: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent_s.replay.player.PATIENCE_S", 60.0)
    still = waits_for_sending(memory, Waited(still=True))
    moving = waits_for_sending(memory, Waited(still=False))
    assert not still[0] and not moving[0]
    assert still[1] < moving[1] / 3


def test_late_effect_is_awaited_while_the_screen_changes(memory: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_s.replay.player.PATIENCE_S", 60.0)
    assert waits_for_sending(memory, Waited(still=False, waits=30)) == (True, 30)


def test_nothing_is_awaited_after_a_known_effect(memory: MemoryStore) -> None:
    learn(memory)
    events, desktop = again(memory, fill_in("Grace"))
    assert outcome(events).replayed and not any(desktop.checked)


def test_end_without_a_known_effect_is_observed_until_no_late_change(memory: MemoryStore) -> None:
    def silent(action: Action, seen: Observation) -> Observation:
        return seen if action == ACTIONS[-1] else form(action, seen)

    learn(memory, react=silent)
    events, desktop = again(memory, fill_in("Grace"), react=silent)
    assert outcome(events).replayed and any(desktop.checked)


@pytest.fixture
def _as_in_a_sheet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the form's field and box keep what they show, as cells do."""
    monkeypatch.setattr("agent_s.replay.effect_signs.is_sheet_cell", lambda element: True)


class GlancingDesktop(FakeDesktop):
    """A desktop whose elements can be asked without a look."""

    def __init__(self, start: Observation, react: Callable[[Action, Observation], Observation | ActionResult]) -> None:
        super().__init__(start, react)
        self.glanced: list[set[int]] = []
        self._looked_at = start.windows

    def observe(self, read_texts: bool = True, check: bool = True) -> Observation:
        self._looked_at = self.screen.windows
        return super().observe(read_texts, check)

    def windows(self) -> tuple[Window, ...]:
        return self.screen.windows

    def element_now(self, element: Element) -> Element | None:
        return self.screen.by_id.get(element.id)

    def glance(self, ids: Collection[int]) -> Observation | None:
        self.glanced.append(set(ids))
        return self.screen if self.screen.windows == self._looked_at else None


def glance_again(
    memory: MemoryStore, react: Callable[[Action, Observation], Observation | ActionResult] = form
) -> tuple[list[Event], GlancingDesktop]:
    desktop = GlancingDesktop(FORM, react)
    agent = AgentS(model=NoModel(), desktop=desktop, memory=memory, options=Options(replay="only"))
    return list(agent.stream(Task(instruction=fill_in("Grace Hopper")))), desktop


@pytest.mark.usefixtures("_as_in_a_sheet")
def test_known_effects_between_inputs_need_no_full_observation(memory: MemoryStore) -> None:
    learn(memory)
    _, looking = again(memory, fill_in("Grace Hopper"))
    events, glancing = glance_again(memory)
    assert outcome(events).replayed and glancing.performed == looking.performed
    assert len(glancing.checked) == len(looking.checked) - 2
    assert glancing.glanced == [{1}, {1, 2}]  # what was acted on, and the field that must not change


@pytest.mark.usefixtures("_as_in_a_sheet")
def test_glance_that_shows_another_field_rewritten_stops_the_replay(memory: MemoryStore) -> None:
    learn(memory)

    def wipes(action: Action, seen: Observation) -> Observation:
        after = form(action, seen)
        if isinstance(action, Click) and action.element_id == 2:
            return screen(*(replace(each, text="") if each.id == 1 else each for each in after.elements))
        return after

    events, desktop = glance_again(memory, wipes)
    assert not outcome(events).replayed and Click(element_id=3) not in desktop.performed
    assert "'Name' is not as it was before" in of(ReplayStopped, events)[0].reason


@pytest.mark.usefixtures("_as_in_a_sheet")
def test_window_that_opens_unexpectedly_stops_the_replay(memory: MemoryStore) -> None:
    learn(memory)
    alert = Window(id=5, title="Alert", app="editor", rect=Rect(0, 0, 300, 200), active=True, modal=True)

    def alerts(action: Action, seen: Observation) -> Observation:
        after = form(action, seen)
        if isinstance(action, Click) and action.element_id == 2:
            return screen(*after.elements, windows=(alert, replace(EDITOR, active=False)))
        return after

    events, desktop = glance_again(memory, alerts)
    assert not outcome(events).replayed and Click(element_id=3) not in desktop.performed
    assert "'Alert' opened" in of(ReplayStopped, events)[0].reason


@pytest.mark.usefixtures("_as_in_a_sheet")
def test_target_missing_from_a_glance_is_searched_by_a_full_observation(memory: MemoryStore) -> None:
    learn(memory)

    class Forgetful(GlancingDesktop):
        def glance(self, ids: Collection[int]) -> Observation | None:
            seen = super().glance(ids)
            return None if seen is None else replace(seen, elements=tuple(e for e in seen.elements if e.id in ids))

    desktop = Forgetful(FORM, form)
    agent = AgentS(model=NoModel(), desktop=desktop, memory=memory, options=Options(replay="only"))
    events = list(agent.stream(Task(instruction=fill_in("Grace Hopper"))))
    assert outcome(events).replayed and len(desktop.glanced) == 2


def test_check_box_that_the_application_may_revert_is_fully_observed(memory: MemoryStore) -> None:
    learn(memory)
    _, looking = again(memory, fill_in("Grace Hopper"))
    events, desktop = glance_again(memory)
    assert outcome(events).replayed and not desktop.glanced
    assert len(desktop.checked) == len(looking.checked)
