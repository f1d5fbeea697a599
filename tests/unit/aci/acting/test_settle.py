"""When a screen counts as settled, with a clock that the test moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from aci.acting.activity import Activity
from aci.acting.settle import AFTERMATH_S, EFFECT_S, FIRST_CHANGE_S, LIMIT_S, MINOR_QUIET_S, QUIET_S, Settle, is_change
from aci.observation.geometry import Rect


class Stage:
    """A screen that changes, and a bus that sends events, at given seconds."""

    def __init__(self, changes: list[float], events: list[float] | None = None, width: int = 40) -> None:
        self.now = 100.0
        self._changes = [100.0 + at for at in changes]
        self._events = [100.0 + at for at in events or []]
        self._width = width
        self.blinks = False  # each change takes back the one before

    def frame(self) -> np.ndarray:
        picture = np.zeros((60, 200), dtype=np.uint32)
        shows = sum(at <= self.now for at in self._changes)
        picture[10:20, 50 : 50 + self._width] = shows % 2 if self.blinks else shows
        return picture

    def last_event_at(self) -> float:
        return max((at for at in self._events if at <= self.now), default=0.0)

    def pause(self, seconds: float) -> None:
        self.now += seconds

    def settle(self, by_events: bool = False) -> tuple[float, float]:
        """Wait; return what `wait` says and how long it took."""
        settle = Settle(self.frame, self.last_event_at, clock=lambda: self.now, pause=self.pause)
        return settle.wait(settle.look(), self.now, by_events=by_events), self.now - 100.0


def test_nothing_happens_ends_after_the_first_change_wait() -> None:
    settled, took = Stage([]).settle()
    assert settled == 0.0
    assert took == pytest.approx(FIRST_CHANGE_S, abs=0.03)


def test_waits_for_quiet_after_the_last_pixel_change() -> None:
    settled, took = Stage([0.05, 0.12, 0.2]).settle()
    assert settled == pytest.approx(0.2, abs=0.03)
    assert took == pytest.approx(0.2 + QUIET_S, abs=0.05)


def test_events_keep_it_waiting_while_pixels_are_still() -> None:
    settled, took = Stage([0.03], events=[0.1, 0.2, 0.3]).settle()
    assert settled == pytest.approx(0.3, abs=0.03)
    assert took >= 0.3 + QUIET_S - 0.001


def test_pixels_keep_it_waiting_while_events_are_quiet() -> None:
    settled, _ = Stage([0.1, 0.2, 0.3, 0.4], events=[0.02]).settle()
    assert settled == pytest.approx(0.4, abs=0.03)


def test_pixels_need_not_be_waited_for_where_events_tell_enough() -> None:
    settled, _ = Stage([0.01, 0.1, 0.2, 0.3, 0.4], events=[0.02, 0.06]).settle(by_events=True)
    assert settled == pytest.approx(0.06)
    settled, _ = Stage([0.05, 0.12, 0.2]).settle(by_events=True)
    assert settled == pytest.approx(0.2, abs=0.03)


def test_an_event_from_before_the_action_does_not_count() -> None:
    settled, took = Stage([], events=[-0.05]).settle()
    assert (settled, took) == (0.0, pytest.approx(FIRST_CHANGE_S, abs=0.03))


def test_change_seen_by_an_inner_wait_is_not_waited_for_again() -> None:
    stage = Stage([0.05], events=[0.03])
    settle = Settle(stage.frame, stage.last_event_at, clock=lambda: stage.now, pause=stage.pause)
    before, started = settle.look(), stage.now
    settle.wait(settle.look(), stage.now, quiet_s=0.06, first_change_s=0.1)
    assert settle.wait(before, started) == pytest.approx(0.05, abs=0.03)
    assert stage.now - started == pytest.approx(0.05 + QUIET_S, abs=0.03)
    assert stage.now - started >= 0.05 + QUIET_S - 0.001


@pytest.mark.parametrize("at", [0.01, 0.13], ids=["before the wait within", "after it"])
def test_change_unseen_by_inner_waits_is_waited_for(at: float) -> None:
    stage = Stage([at])
    settle = Settle(stage.frame, stage.last_event_at, clock=lambda: stage.now, pause=stage.pause)
    before, started = settle.look(), stage.now
    stage.pause(0.02)
    settle.wait(settle.look(), stage.now, quiet_s=0.06, first_change_s=0.1)
    stage.pause(0.02)
    seen_by = 0.02 if at < 0.02 else stage.now - started
    assert settle.wait(before, started) == pytest.approx(seen_by, abs=0.001)
    assert stage.now - started == pytest.approx(seen_by + QUIET_S, abs=0.001)


def test_change_before_the_action_does_not_count() -> None:
    stage = Stage([0.05])
    settle = Settle(stage.frame, stage.last_event_at, clock=lambda: stage.now, pause=stage.pause)
    settle.look()
    stage.pause(0.1)
    assert settle.wait(settle.look(), stage.now) == 0.0


def test_a_screen_that_never_rests_is_taken_at_the_limit() -> None:
    _, took = Stage([at / 20 for at in range(400)]).settle()
    assert took == pytest.approx(LIMIT_S, abs=0.05)


def test_a_blinking_caret_is_not_waited_for() -> None:
    settled, took = Stage([at / 10 for at in range(1, 100)], width=2).settle()
    assert settled == 0.0
    assert took == pytest.approx(FIRST_CHANGE_S, abs=0.03)


@pytest.mark.parametrize(
    ("columns", "rows", "changed"),
    [
        ((0, 0), (0, 0), False),
        ((50, 52), (10, 30), False),  # a caret
        ((190, 200), (0, 60), False),  # a scroll bar that fades
        ((50, 57), (10, 20), True),  # a digit
        ((50, 90), (10, 11), True),  # an underline
        ((50, 120), (10, 40), True),
    ],
)
def test_changes_wider_than_a_caret_count(columns: tuple[int, int], rows: tuple[int, int], changed: bool) -> None:
    before = np.zeros((60, 200), dtype=np.uint32)
    after = before.copy()
    after[slice(*rows), slice(*columns)] = 7
    assert is_change(before, after) is changed


def test_two_carets_far_apart_are_a_change() -> None:
    before = np.zeros((60, 200), dtype=np.uint32)
    after = before.copy()
    after[10:20, 5] = after[10:20, 150] = 7
    assert is_change(before, after)


def test_a_new_screen_size_is_a_change() -> None:
    assert is_change(np.zeros((60, 200), dtype=np.uint32), np.zeros((60, 100), dtype=np.uint32))


class Work(Activity):
    """Applications that wait for an answer, or compute, until given seconds."""

    def __init__(
        self,
        stage: Stage,
        waits_until: float = 0.0,
        computes_until: float = 0.0,
        asks_at: float = 0.0,
        computes_from: float = 0.0,
    ) -> None:
        super().__init__(set)
        self._stage = stage
        self._waits_from, self._waits_until = 100.0 + asks_at, 100.0 + waits_until
        self._computes_from, self._computes_until = 100.0 + computes_from, 100.0 + computes_until

    def begin(self) -> None:
        pass

    def end(self) -> None:
        pass

    def is_waiting(self) -> bool:
        return self._waits_from <= self._stage.now < self._waits_until

    def is_computing(self) -> bool:
        return self._computes_from <= self._stage.now < self._computes_until


def rest_after(stage: Stage, work: Work, until_idle: bool = True, targets: Sequence[Rect] = ()) -> float:
    """Return how long a wait takes, s."""
    settle = Settle(stage.frame, stage.last_event_at, lambda: stage.now, stage.pause, work)
    settle.wait(settle.look(), stage.now, until_idle=until_idle, targets=targets)
    return stage.now - 100.0


def test_still_screen_is_waited_for_while_an_answer_is_out() -> None:
    stage = Stage([0.05, 1.05])
    assert rest_after(stage, Work(stage, waits_until=1.0)) == pytest.approx(1.05 + QUIET_S, abs=0.06)


def test_what_was_waited_for_may_show_a_little_later() -> None:
    stage = Stage([0.05, 1.2])
    assert rest_after(stage, Work(stage, waits_until=1.0)) == pytest.approx(1.2 + QUIET_S, abs=0.06)


def test_what_was_answered_before_an_effect_is_due_may_show_a_little_later() -> None:
    stage = Stage([])
    button = [Rect(0, 0, 20, 20)]
    assert rest_after(stage, Work(stage), targets=button) == pytest.approx(EFFECT_S, abs=0.06)
    stage = Stage([])
    assert rest_after(stage, Work(stage, waits_until=0.5), targets=button) == pytest.approx(0.5 + AFTERMATH_S, abs=0.11)


def test_still_screen_is_waited_for_while_an_application_computes() -> None:
    stage = Stage([0.05])
    assert rest_after(stage, Work(stage, computes_until=0.9)) == pytest.approx(0.9, abs=0.06)


def test_work_that_never_ends_is_waited_for_no_longer_than_the_limit() -> None:
    stage = Stage([0.05])
    assert rest_after(stage, Work(stage, waits_until=1000.0)) == pytest.approx(LIMIT_S, abs=0.06)


def test_work_does_not_delay_a_caller_who_looks_for_an_effect() -> None:
    stage = Stage([0.05])
    assert rest_after(stage, Work(stage, waits_until=1.0), until_idle=False) < 0.3


@pytest.mark.parametrize(("changes", "late_until"), [([0.05], 0.75), ([0.05, 0.7], 1.4)])
def test_late_updates_are_waited_for_after_the_first_look(changes: list[float], late_until: float) -> None:
    stage = Stage(changes)
    work = Work(stage)
    work.quiet_s = 0.7
    settle = Settle(stage.frame, stage.last_event_at, lambda: stage.now, stage.pause, work)

    settle.wait(settle.look(), stage.now, until_idle=True)
    assert stage.now - 100.0 == pytest.approx(0.05 + QUIET_S, abs=0.06)
    settle.wait_for_late_updates(deadline=110.0)
    assert stage.now - 100.0 == pytest.approx(late_until, abs=0.06)


def test_tooltip_that_is_due_is_waited_for_although_the_application_updates_nothing_late() -> None:
    stage = Stage([0.05])
    settle = Settle(stage.frame, stage.last_event_at, lambda: stage.now, stage.pause, Work(stage))

    settle.wait(settle.look(), stage.now, until_idle=True)
    settle.wait_for_late_updates(deadline=110.0, min_quiet_s=0.7)
    assert stage.now - 100.0 == pytest.approx(0.05 + 0.7, abs=0.06)


def test_late_update_counts_from_when_it_was_seen_during_the_look() -> None:
    stage = Stage([0.05, 0.4])
    work = Work(stage)
    work.quiet_s = 0.7
    settle = Settle(stage.frame, stage.last_event_at, lambda: stage.now, stage.pause, work)

    settle.wait(settle.look(), stage.now, until_idle=True)
    while stage.now < 101.0:
        stage.pause(0.05)
        settle.watch()
    settle.wait_for_late_updates(deadline=110.0)
    assert stage.now - 100.0 == pytest.approx(0.4 + 0.7, abs=0.06)


def test_minor_late_updates_are_waited_for_shorter() -> None:
    stage = Stage([0.05, 0.4], width=10)  # 100 of 12,000 pixels
    work = Work(stage)
    work.quiet_s = 0.7
    settle = Settle(stage.frame, stage.last_event_at, lambda: stage.now, stage.pause, work)

    settle.wait(settle.look(), stage.now, until_idle=True)
    settle.wait_for_late_updates(deadline=110.0)
    assert stage.now - 100.0 == pytest.approx(0.4 + MINOR_QUIET_S, abs=0.06)


@pytest.mark.parametrize(("quiet_s", "until"), [(0.3, 1.5), (0.0, 0.05 + QUIET_S)])
def test_work_that_begins_late_is_waited_for_where_updates_may_follow(quiet_s: float, until: float) -> None:
    stage = Stage([0.05])
    work = Work(stage, computes_from=0.3, computes_until=1.5)
    work.quiet_s = quiet_s
    settle = Settle(stage.frame, stage.last_event_at, lambda: stage.now, stage.pause, work)

    settle.wait(settle.look(), stage.now, until_idle=True)
    settle.wait_for_late_updates(deadline=103.0)
    assert stage.now - 100.0 == pytest.approx(until, abs=0.11)


def watch(stage: Stage, settle: Settle) -> None:
    """Sample the screen for a while, as an action does."""
    settle.look()
    while stage.now < 100.3:
        stage.pause(0.02)
        settle.watch()


@pytest.mark.parametrize(
    ("changes", "until"),
    [
        ([0.05], 0.3),  # reported at once
        ([0.05, 0.1], 0.3),  # one change, drawn in two parts
        ([0.05, 0.25], 0.65),
        ([0.05, 0.25, 0.4], 0.65),  # goes on before the report
        ([0.05, 0.25, 0.6], 1.2),  # goes on after it
        ([-0.6, -0.3, 0.25], 0.85),
        ([-0.4, 0.25], 0.3),
        ([at / 10 for at in range(100)], 1.3),  # a film
    ],
)
def test_report_that_follows_a_series_of_changes_is_waited_for(changes: list[float], until: float) -> None:
    stage = Stage(changes)
    settle = Settle(stage.frame, stage.last_event_at, lambda: stage.now, stage.pause)
    stage.now = 98.0
    watch(stage, settle)
    settle.wait_for_report(deadline=101.3)
    assert stage.now - 100.0 == pytest.approx(until, abs=0.04)


def test_report_is_not_waited_for_after_a_list_has_opened_and_closed() -> None:
    stage = Stage([0.05, 0.25])
    lists: list[Rect] = []
    settle = Settle(stage.frame, stage.last_event_at, lambda: stage.now, stage.pause, popups=lambda: tuple(lists))
    settle.look()
    while stage.now < 100.3:
        lists[:] = [Rect(50, 10, 40, 10)] if 100.05 <= stage.now < 100.25 else []
        stage.pause(0.02)
        settle.watch()
    rested = stage.now
    settle.wait_for_report(deadline=110.0)
    assert stage.now == rested


def test_report_after_minor_changes_is_not_waited_for() -> None:
    stage = Stage([0.05, 0.15, 0.25], width=10)
    settle = Settle(stage.frame, stage.last_event_at, lambda: stage.now, stage.pause)
    watch(stage, settle)
    rested = stage.now
    settle.wait_for_report(deadline=110.0)
    assert stage.now == rested


def test_what_only_blinks_is_not_waited_for() -> None:
    stage = Stage([0.05 + 0.1 * times for times in range(100)])
    stage.blinks = True
    settle = Settle(stage.frame, stage.last_event_at, lambda: stage.now, stage.pause)
    before = settle.look()
    assert settle.wait(before, stage.now) == pytest.approx(0.15, abs=0.03)  # the first return may end a flash
    assert settle.only_blinks(since=before)
    assert not settle.only_blinks(since=before + 5)
    assert not Settle(stage.frame, stage.last_event_at).only_blinks(since=before)


def test_pictures_from_before_the_action_are_news_again() -> None:
    stage = Stage([0.05, 1.05, 2.05, 3.05])
    stage.blinks = True
    settle = Settle(stage.frame, stage.last_event_at, lambda: stage.now, stage.pause)
    for _ in range(4):  # a menu opens and closes
        assert settle.wait(settle.look(), stage.now) == pytest.approx(0.05, abs=0.03)
        stage.now = 100.0 + round(stage.now - 100.0 + 0.5)


def test_updates_that_menus_hold_back_are_not_waited_for_in_a_menu() -> None:
    stage = Stage([0.05])
    work = Work(stage)
    work.quiet_s, work.quiet_in_menu_s = 0.7, 0.0
    settle = Settle(stage.frame, stage.last_event_at, lambda: stage.now, stage.pause, work)

    settle.wait(settle.look(), stage.now, until_idle=True)
    rested = stage.now
    settle.wait_for_late_updates(deadline=110.0, in_menu=True)
    assert stage.now == rested


@pytest.mark.parametrize(("answer_at", "until"), [(1.0, 1.35), (1000.0, 3.0)])
def test_answer_that_a_page_asks_for_late_is_waited_for_until_the_deadline(answer_at: float, until: float) -> None:
    stage = Stage([0.05, answer_at + 0.05])
    work = Work(stage, waits_until=answer_at, asks_at=0.3)
    work.quiet_s = 0.3
    settle = Settle(stage.frame, stage.last_event_at, lambda: stage.now, stage.pause, work)

    settle.wait(settle.look(), stage.now, until_idle=True)
    settle.wait_for_late_updates(deadline=103.0)
    assert stage.now - 100.0 == pytest.approx(until, abs=0.06)


def test_answer_that_was_waited_for_to_the_limit_is_not_waited_for_again() -> None:
    stage = Stage([0.05])
    work = Work(stage, waits_until=1000.0)
    settle = Settle(stage.frame, stage.last_event_at, lambda: stage.now, stage.pause, work)

    settle.wait(settle.look(), stage.now, until_idle=True)
    given_up = stage.now
    settle.wait_for_late_updates(deadline=given_up + 3.0)
    assert stage.now == pytest.approx(given_up, abs=0.06)


def test_late_updates_without_end_are_waited_for_until_the_deadline() -> None:
    stage = Stage([at / 10 for at in range(100)])
    work = Work(stage)
    work.quiet_s = 0.7
    settle = Settle(stage.frame, stage.last_event_at, lambda: stage.now, stage.pause, work)

    settle.wait(settle.look(), stage.now, until_idle=True)
    settle.wait_for_late_updates(deadline=105.0)
    assert stage.now == pytest.approx(105.0, abs=0.06)


def test_change_of_the_target_alone_is_not_its_effect() -> None:
    target = Rect(45, 5, 60, 20)
    stage = Stage([0.05])
    assert rest_after(stage, Work(stage), targets=[target]) == pytest.approx(EFFECT_S, abs=0.06)
    stage = Stage([0.05])
    assert rest_after(stage, Work(stage), targets=[Rect(150, 40, 20, 10)]) == pytest.approx(0.05 + QUIET_S, abs=0.06)


def test_known_effect_ends_the_wait_although_the_screen_goes_on_changing() -> None:
    stage = Stage([0.05 * step for step in range(1, 100)])
    settle = Settle(stage.frame, stage.last_event_at, clock=lambda: stage.now, pause=stage.pause)
    settle.wait(settle.look(), stage.now, until=lambda: stage.now >= 100.3)
    assert stage.now == pytest.approx(100.3, abs=0.03)


def test_effect_that_never_shows_is_not_waited_for_longer_than_rest() -> None:
    stage = Stage([0.05])
    settle = Settle(stage.frame, stage.last_event_at, clock=lambda: stage.now, pause=stage.pause)
    settle.wait(settle.look(), stage.now, until=lambda: False)
    assert stage.now - 100.0 == pytest.approx(0.05 + QUIET_S, abs=0.05)
