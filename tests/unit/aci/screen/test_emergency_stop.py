"""The call to stop."""

from __future__ import annotations

import threading

import pytest

from aci.errors import Halted
from aci.screen.emergency_stop import Halt


def test_stop_request_holds_until_it_is_lifted_and_keeps_its_first_reason() -> None:
    halt = Halt()
    halt.check()
    assert halt.reason == ""
    halt.call("one thing")
    halt.call("another thing")
    with pytest.raises(Halted, match="one thing"):
        halt.check()
    with pytest.raises(Halted):
        halt.pause(60)
    halt.lift()
    halt.pause(0)
    assert halt.reason == ""


def test_stop_request_ends_a_pause() -> None:
    halt = Halt()
    timer = threading.Timer(0.05, halt.call, ("now",))
    timer.start()
    with pytest.raises(Halted, match="now"):
        halt.pause(100_000)
    timer.join()


def test_listener_is_called_once_and_only_while_registered() -> None:
    halt = Halt()
    heard: list[str] = []
    also: list[str] = []
    with halt.notifying(heard.append), halt.notifying(also.append):
        halt.call("now")
        halt.call("again")
    halt.lift()
    halt.call("later")
    assert heard == also == ["now"]
