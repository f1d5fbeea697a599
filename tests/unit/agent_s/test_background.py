from __future__ import annotations

import threading

import pytest

from agent_s.background import Abandoned, Pending


def test_what_a_call_returns_or_raises_is_passed_on() -> None:
    assert Pending(lambda: 42).result() == 42
    with pytest.raises(ZeroDivisionError):
        Pending(lambda: 1 // 0).result(5.0)


def test_a_wait_ends_at_its_limit_and_when_it_is_of_no_use_any_more() -> None:
    lets_go = threading.Event()
    pending = Pending(lambda: lets_go.wait(30))
    try:
        with pytest.raises(TimeoutError):
            pending.result(0.01)
        with pytest.raises(Abandoned):
            pending.result(abandon=lambda: True)
    finally:
        lets_go.set()
    assert pending.result() is True
