"""The client of a machine's server: restarts, half answers and tokens."""

from __future__ import annotations

import httpx
import pytest

from aci import waiting
from aci.errors import ConnectionLost
from aci.remote.machine import Machine, NotKnown
from tests.unit.aci.remote.server import ScriptedServer, png

ADDRESS = "http://10.0.0.9:5000"


class Clock:
    """Time passes only while something sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def machine(server: ScriptedServer, address: str = ADDRESS) -> Machine:
    clock = Clock()
    return Machine(address, patience_s=10, transport=server.transport, clock=waiting.Clock(clock, clock.sleep))


def refused() -> httpx.ConnectError:
    return httpx.ConnectError("Connection refused")


def test_a_screenshot_comes_as_pixels() -> None:
    assert machine(ScriptedServer()).screenshot().shape == (240, 320, 3)


@pytest.mark.parametrize(
    "failure",
    [
        refused(),
        httpx.ReadTimeout("timed out"),
        httpx.RemoteProtocolError("peer closed connection without sending complete message body"),
        httpx.Response(502, text="Bad Gateway"),
        httpx.Response(500, text="Xlib.error.DisplayConnectionError"),
        httpx.Response(200, content=png()[:200]),
        httpx.Response(200, content=b""),
    ],
)
def test_questions_are_asked_again_while_the_server_restarts(failure: Exception | httpx.Response) -> None:
    server = ScriptedServer()
    server.failures["/screenshot"] = [failure, refused()]
    assert machine(server).screenshot().shape == (240, 320, 3)
    assert server.asked["/screenshot"] == 3


def test_a_server_that_stays_away_is_an_error_with_its_address_and_a_fix() -> None:
    server = ScriptedServer()
    server.failures["/screenshot"] = [refused()] * 1000
    with pytest.raises(ConnectionLost, match=r"10\.0\.0\.9:5000/screenshot.*within 10 s.*agent-s resume"):
        machine(server).screenshot()


def test_half_an_accessibility_tree_is_asked_for_again() -> None:
    server = ScriptedServer()
    server.failures["/accessibility"] = [httpx.Response(200, text='{"AT": "<desk'), httpx.Response(503)]
    assert machine(server).accessibility() == server.tree


def test_a_machine_without_accessibility_says_so() -> None:
    server = ScriptedServer()
    server.failures["/accessibility"] = [httpx.Response(500, text="libreoffice not found")]
    with pytest.raises(ValueError, match=r"status 500.*libreoffice not found"):
        machine(server).accessibility()


def test_a_command_is_sent_again_only_if_it_cannot_have_arrived() -> None:
    server = ScriptedServer()
    server.failures["/execute"] = [refused()]
    assert machine(server).execute(["true"]).returncode == 0
    server.failures["/execute"] = [httpx.ReadTimeout("timed out")]
    with pytest.raises(NotKnown, match=r"the connection to http://10\.0\.0\.9:5000 broke"):
        machine(server).execute(["true"])
    assert server.executed == [["true"]]


def test_half_an_answer_to_a_command_leaves_open_whether_it_ran() -> None:
    server = ScriptedServer()
    server.failures["/execute"] = [httpx.Response(200, text='{"status": "succ')]
    with pytest.raises(NotKnown, match="broken answer"):
        machine(server).execute(["true"])


def test_the_token_is_sent_and_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    server = ScriptedServer()
    asked = machine(server, "http://s3cret@10.0.0.9:5000")
    server.failures["/screenshot"] = [httpx.Response(401)]
    with caplog.at_level("DEBUG"), pytest.raises(ConnectionLost, match="Give the token") as caught:
        asked.screenshot()
    assert "s3cret" not in str(caught.value) + asked.address + caplog.text


@pytest.mark.parametrize("address", ["ftp://host:5000", "http://", ""])
def test_what_is_not_an_address_is_refused_with_an_example(address: str) -> None:
    with pytest.raises(ConnectionLost, match="http://HOST:5000"):
        Machine(address)


def test_windows_that_cannot_be_listed_are_none() -> None:
    server = ScriptedServer()
    assert machine(server).ask("windows") is None
    server.status = 1
    assert machine(server).ask("windows") is None
