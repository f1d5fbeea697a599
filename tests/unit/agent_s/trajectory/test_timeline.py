"""Events are grouped into what belongs together."""

from __future__ import annotations

from aci.acting.actions import Click, Done, Fail, Type
from agent_s.events import Observed
from agent_s.trajectory.timeline import build_timeline
from tests.unit.agent_s.a_run import events_of_a_run


def test_steps_belong_to_their_subtask() -> None:
    story = build_timeline(events_of_a_run())
    first, second = story.subtasks
    assert [type(step.chosen.action) for step in first.steps] == [Click, Type, Done]
    assert [type(step.chosen.action) for step in second.steps] == [Fail]
    assert first.ended is not None and first.ended.ok
    assert second.ended is not None and not second.ended.ok


def test_a_step_has_its_observation_and_result() -> None:
    click, type_, done = build_timeline(events_of_a_run()).subtasks[0].steps
    assert click.before is not None and click.before.text == "7 push button Save"
    assert type_.before is not None and type_.before.text == "7 push button"
    assert done.before is not None and done.before.text == "again"
    assert click.performed is not None and not click.performed.result.ok
    assert type_.performed is not None and type_.performed.result.ok


def test_events_of_the_whole_run_are_grouped() -> None:
    story = build_timeline(events_of_a_run())
    assert [call.call for call in story.calls] == ["query", "plan", "act"]
    assert story.seconds == 13.5
    assert story.outcome is not None and story.outcome.status == "done"
    assert len(story.plans) == 1
    assert isinstance(story.last_seen, Observed)


def test_a_run_that_was_cut_off_anywhere_has_a_timeline() -> None:
    events = events_of_a_run()
    for length in range(len(events)):
        story = build_timeline(events[:length])
        assert story.outcome is None
    assert build_timeline(events[8:10]).subtasks[0].subtask is None
