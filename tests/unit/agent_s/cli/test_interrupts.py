"""Ctrl-C ends a run in order, loses no event, and never loses the terminal's own handling."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from agent_s.cli.interrupts import SIGNALS, Interrupts


class FakeRun:
    """Yields numbers; ends in order when it is asked to stop or interrupted while it works."""

    def __init__(self, interrupt_at: int | None = None, number: int = signal.SIGINT) -> None:
        self.stopped = False
        self.interrupted = False
        self._interrupt_at = interrupt_at
        self._number = number

    def stop(self) -> None:
        self.stopped = True

    def events(self) -> Iterator[int]:
        for step in range(100):
            if self.stopped:
                break
            try:
                if step == self._interrupt_at:
                    os.kill(os.getpid(), self._number)
            except KeyboardInterrupt:
                self.interrupted = True
                break
            yield step
        yield -1


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_while_the_run_works_ends_it_in_order(number: int, status: int) -> None:
    notices: list[str] = []
    run = FakeRun(interrupt_at=3, number=number)
    with Interrupts(notices.append) as interrupts:
        seen = list(interrupts.watch(run.events(), run.stop))
    assert seen == [0, 1, 2, -1]
    assert run.interrupted
    assert interrupts.exit_status == status
    assert len(notices) == 1


def test_a_signal_between_events_loses_none() -> None:
    run = FakeRun()
    seen = []
    with Interrupts(lambda _: None) as interrupts:
        for event in interrupts.watch(run.events(), run.stop):
            if event == 2:
                os.kill(os.getpid(), signal.SIGINT)
            seen.append(event)
    assert seen == [0, 1, 2, -1]
    assert not run.interrupted
    assert interrupts.caught == signal.SIGINT


def test_a_signal_before_the_run_ends_what_goes_on_at_once() -> None:
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


def test_the_former_handlers_come_back() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with pytest.raises(RuntimeError), Interrupts(lambda _: None):
        raise RuntimeError
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_without_a_signal_there_is_no_exit_status() -> None:
    run = FakeRun()
    with Interrupts(lambda _: None) as interrupts:
        assert len(list(interrupts.watch(run.events(), run.stop))) == 101
    assert interrupts.exit_status is None
