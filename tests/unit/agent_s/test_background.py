from __future__ import annotations

import threading

import pytest

from agent_s.background import Abandoned, Pending


def test_a_pending_call_returns_or_raises_its_result() -> None:
    assert Pending(lambda: 42).result() == 42
    with pytest.raises(ZeroDivisionError):
        Pending(lambda: 1 // 0).result(5.0)


def test_a_wait_ends_at_its_limit_and_when_it_is_abandoned() -> None:
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
