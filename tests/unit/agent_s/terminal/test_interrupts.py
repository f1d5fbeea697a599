"""Ctrl-C ends a run in order, loses no event, and never loses the terminal's own handling."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from agent_s.terminal import interrupts as interrupts_module
from agent_s.terminal.interrupts import PATIENCE_S, SIGNALS, Interrupts


class FakeRun:
    """Yields numbers; ends in order when it is asked to stop, or interrupted during the long action."""

    def __init__(self, long_at: int | None = None, signal_at: int | None = None, number: int = signal.SIGINT) -> None:
        self.stopped = False
        self.interrupted = False
        self._long_at = long_at
        self._signal_at = signal_at
        self._number = number

    def stop(self) -> None:
        self.stopped = True

    def events(self) -> Iterator[int]:
        for step in range(100):
            if self.stopped:
                break
            try:
                if step == self._signal_at:
                    os.kill(os.getpid(), self._number)
                if step == self._long_at:
                    threading.Event().wait(60)
            except KeyboardInterrupt:
                self.interrupted = True
                break
            yield step
        yield -1


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_run_between_two_actions_ends_by_itself(number: int, status: int) -> None:
    notices: list[str] = []
    run = FakeRun(signal_at=3, number=number)
    with Interrupts(notices.append) as interrupts:
        seen = list(interrupts.watch(run.events(), run.stop))
    assert seen == [0, 1, 2, 3, -1]
    assert not run.interrupted
    assert interrupts.exit_status == status
    assert len(notices) == 1


def test_long_action_is_interrupted() -> None:
    run = FakeRun(signal_at=3, long_at=3)
    with Interrupts(lambda _: None) as interrupts:
        assert list(interrupts.watch(run.events(), run.stop)) == [0, 1, 2, -1]
    assert run.interrupted


def test_a_signal_while_an_event_is_shown_loses_none_and_breaks_off_the_action_that_follows() -> None:
    run = FakeRun(long_at=3)
    stop = run.stop
    seen = []
    with Interrupts(lambda _: None) as interrupts:
        for event in interrupts.watch(run.events(), stop):
            if event == 2:
                os.kill(os.getpid(), signal.SIGINT)
                run.stopped = False  # as a run that had looked just before
            seen.append(event)
    assert seen == [0, 1, 2, -1]
    assert run.interrupted
    assert interrupts.caught == signal.SIGINT


def test_showing_an_event_is_never_interrupted() -> None:
    run = FakeRun(long_at=3)
    seen = []
    with Interrupts(lambda _: None) as interrupts:
        for event in interrupts.watch(run.events(), run.stop):
            if event == 2:
                os.kill(os.getpid(), signal.SIGINT)
                run.stopped = False
                threading.Event().wait(3 * PATIENCE_S)
            seen.append(event)
    assert seen == [0, 1, 2, -1]
    assert run.interrupted


def test_interrupt_that_a_library_swallows_is_raised_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts_module, "AGAIN_S", PATIENCE_S)
    swallowed = []

    def events() -> Iterator[int]:
        yield 0
        for _ in range(2):
            try:
                threading.Event().wait(60)
            except KeyboardInterrupt:
                swallowed.append(True)
        yield 1

    with Interrupts(lambda _: None) as interrupts:
        for event in interrupts.watch(events(), lambda: None):
            if event == 0:
                os.kill(os.getpid(), signal.SIGINT)
    assert len(swallowed) == 2


def test_a_run_that_shows_how_it_ends_is_interrupted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts_module, "AGAIN_S", 4 * PATIENCE_S)
    interrupted = []

    def events() -> Iterator[int]:
        yield 0
        for step in range(1, 10):
            try:
                threading.Event().wait(60 if step == 1 else PATIENCE_S)
            except KeyboardInterrupt:
                interrupted.append(step)
            yield step

    with Interrupts(lambda _: None) as interrupts:
        for event in interrupts.watch(events(), lambda: None):
            if event == 0:
                os.kill(os.getpid(), signal.SIGINT)
    assert interrupted == [1]


def test_signal_before_a_run_interrupts_at_once() -> None:
    with Interrupts(lambda _: None), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


def test_a_run_that_begins_after_a_signal_is_stopped() -> None:
    run = FakeRun()
    with Interrupts(lambda _: None) as interrupts:
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        assert list(interrupts.watch(run.events(), run.stop)) == [-1]


def test_a_second_signal_ends_at_once_wherever_it_comes() -> None:
    run = FakeRun()
    with Interrupts(lambda _: None) as interrupts, pytest.raises(KeyboardInterrupt):
        for _ in interrupts.watch(run.events(), run.stop):
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)


def test_previous_signal_handlers_are_restored() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with pytest.raises(RuntimeError), Interrupts(lambda _: None):
        raise RuntimeError
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_without_a_signal_there_is_no_exit_status() -> None:
    run = FakeRun()
    with Interrupts(lambda _: None) as interrupts:
        assert len(list(interrupts.watch(run.events(), run.stop))) == 101
    assert interrupts.exit_status is None


def test_ctrl_z_pauses_a_run_and_nothing_else() -> None:
    before = signal.getsignal(signal.SIGTSTP)
    asked: list[str] = []
    notices: list[str] = []

    def items() -> Iterator[int]:
        for number in range(3):
            if number == 1:
                signal.raise_signal(signal.SIGTSTP)
            yield number

    with Interrupts(notices.append) as interrupts:
        assert list(interrupts.watch(items(), lambda: None, lambda: asked.append("pause"))) == [0, 1, 2]
    assert asked == ["pause"]
    assert [text for text in notices if "Pausing" in text] == notices and notices
    assert interrupts.exit_status is None
    assert signal.getsignal(signal.SIGTSTP) == before
