"""What a run makes of the results of its steps: effects, text that was not read back, steps worth learning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from aci.acting.actions import Action, Click, Done, Hotkey, Type
from aci.desktop.desktop import ActionResult
from aci.input.read_back import Delivery, Unread
from aci.observation.observation import Observation
from agent_s import AgentS, Options, Task
from agent_s.events import EffectSeen, Event
from agent_s.llm.prompting.rendering import Renderer
from agent_s.llm.protocol import ActContext, ActResponse
from agent_s.llm.scripted import ScriptedModel
from agent_s.records import Step
from agent_s.replay.grounded_steps import ground_steps
from tests.unit.agent_s.fakes import FakeDesktop, button, screen

SAVE = button(1, "Save")
TYPED = Type(text="ls -l")


class UnreadableDesktop(FakeDesktop):
    """Types into something that cannot be read back; it shows a text, or nothing."""

    def __init__(self, shows: str = "", unread: Unread = "terminal") -> None:
        super().__init__(screen(SAVE))
        self._shows, self._unread = shows, unread

    def perform(self, action: Action, settle: bool = True) -> ActionResult:
        self.performed.append(action)
        if not isinstance(action, Type):
            return ActionResult(ok=True)
        seen = screen(SAVE, button(2, self._shows, "text line"))
        self.screen = replace(seen, screenshot=np.full_like(seen.screenshot, 9))
        return ActionResult(ok=True, delivery=Delivery(state="unread", unread=self._unread))


def run(desktop: FakeDesktop, *actions: Action) -> tuple[list[Event], list[ActContext]]:
    model = ScriptedModel({"act": [ActResponse(action=action) for action in actions]})
    agent = AgentS(model=model, desktop=desktop, options=Options(planner="flat"))
    events = list(agent.stream(Task(instruction="List the files")))
    return events, [one.context for one in model.requests if isinstance(one.context, ActContext)]


def test_done_is_sent_back_once_if_nothing_shows_the_typed_text() -> None:
    _, asked = run(UnreadableDesktop(), TYPED, Done(), Done())
    assert [[str(step.response.action.action) for step in context.unread] for context in asked] == [[], [], ["type"]]
    last = Renderer(b"secret").render(asked[-1]).messages[-1].parts[-1]
    assert "Your done is not accepted yet" in str(last)
    assert "since it is a terminal" in str(last)


def test_typed_text_that_the_screen_shows_needs_no_other_proof() -> None:
    _, asked = run(UnreadableDesktop(shows="$ ls -l"), TYPED, Done())
    assert len(asked) == 2


def test_a_password_that_changed_the_screen_needs_no_other_proof() -> None:
    _, asked = run(UnreadableDesktop(unread="password"), TYPED, Done())
    assert len(asked) == 2


def test_text_can_be_retyped_after_done_was_sent_back() -> None:
    _, asked = run(UnreadableDesktop(), TYPED, Done(), TYPED, Done())
    assert len(asked) == 4


def test_the_effect_of_each_step_is_an_event_and_in_the_history() -> None:
    desktop = FakeDesktop(screen(SAVE), lambda action, seen: screen(SAVE, button(2, "Saved", "label")))
    events, asked = run(desktop, Click(element_id=1), Done())
    seen = [event for event in events if isinstance(event, EffectSeen)]
    assert [(event.step, event.result.effect.kind) for event in seen if event.result.effect] == [(1, "expected")]
    assert str(asked[-1].steps[0]) == 'click push button "Save" -> label "Saved" appeared'


def test_steps_without_effect_are_not_learned() -> None:
    def step(action: Action, before: Observation, after: Observation) -> Step:
        return Step(1, before, ActResponse(action=action), ActionResult(ok=True)).followed_by(after)

    start, saved = screen(SAVE), screen(SAVE, button(2, "Saved", "label"))
    steps = [step(Hotkey(keys=("Return",)), start, start), step(Click(element_id=1), start, saved)]
    assert [one.action for one in ground_steps(steps, saved)] == [Click(element_id=1)]
