"""Desktop notifications, on a real message bus with a notification service of its own."""

from __future__ import annotations

import asyncio
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus

from agent_s.records import Outcome, Usage
from agent_s.settings import load_settings
from agent_s.terminal import notification
from agent_s.terminal.notification import notify
from agent_s.terminal.running import FinishedRun, announce

BUS = """<busconfig>
  <type>session</type>
  <listen>unix:dir={folder}</listen>
  <policy context="default"><allow send_destination="*"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>"""


@pytest.fixture
def session(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a session with a message bus that starts no services of this machine."""
    (tmp_path / "bus.conf").write_text(BUS.format(folder=tmp_path))
    command = ["dbus-daemon", f"--config-file={tmp_path / 'bus.conf'}", "--nofork", "--print-address"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as daemon:
        try:
            assert daemon.stdout is not None
            yield {"DBUS_SESSION_BUS_ADDRESS": daemon.stdout.readline().strip()}
        finally:
            daemon.terminate()


@contextmanager
def service(session: dict[str, str], capabilities: Sequence[str]) -> Iterator[list[list[Any]]]:
    """Run a notification service, and yield the arguments of the notifications that it gets."""
    shown: list[list[Any]] = []
    ready, loop = threading.Event(), asyncio.new_event_loop()

    def answer(message: Message) -> Message | None:
        if message.message_type is not MessageType.METHOD_CALL or message.interface != "org.freedesktop.Notifications":
            return None
        if message.member == "GetCapabilities":
            return Message.new_method_return(message, "as", [list(capabilities)])
        shown.append(list(message.body))
        return Message.new_method_return(message, "u", [1])

    async def serve() -> None:
        bus = await MessageBus(bus_address=session["DBUS_SESSION_BUS_ADDRESS"]).connect()
        bus.add_message_handler(answer)
        await bus.request_name("org.freedesktop.Notifications")
        ready.set()
        await bus.wait_for_disconnect()

    def run() -> None:
        with pytest.raises(asyncio.CancelledError):
            loop.run_until_complete(task)
        loop.close()

    task = loop.create_task(serve())
    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(60)
        yield shown
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(60)


def test_notification_reaches_the_desktop(session: dict[str, str]) -> None:
    with service(session, ["body"]) as shown:
        assert notify("Done and verified", "Save it (3 steps)", session)
    [(app, _, _, title, text, *_)] = shown
    assert (app, title, text) == ("agent-s", "Done and verified", "Save it (3 steps)")


def test_markup_in_a_task_is_shown_literally(session: dict[str, str]) -> None:
    with service(session, ["body", "body-markup"]) as shown:
        notify("Failed", "Click <a href='http://x'>\x1b & wait", session)
    assert shown[0][4] == "Click &lt;a href='http://x'&gt;� &amp; wait"


def test_session_without_a_notification_service_or_without_a_bus_shows_none(session: dict[str, str]) -> None:
    assert not notify("Done", "Save it", session)
    assert not notify("Done", "Save it", {"XDG_RUNTIME_DIR": "/nonexistent"})
    assert not notify("Done", "Save it", {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"})


@pytest.mark.parametrize(("after", "seconds", "shown"), [(10, 12.0, 1), (10, 9.0, 0), (0, 0.0, 1), ("null", 99.0, 0)])
def test_only_long_runs_are_announced(
    after: object, seconds: float, shown: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[str, str]] = []
    monkeypatch.setattr(notification, "notify", lambda title, text, environment: sent.append((title, text)))
    ended = FinishedRun(
        Outcome(status="failed", verified=None, usage=Usage(steps=2, input_tokens=9, dollars=0.5)), "m", seconds=seconds
    )
    announce("Save it", ended, load_settings(overrides={"notify_after_s": after}))
    assert sent == [("Failed", f"Save it (2 steps, 0 model calls, {seconds:.0f} s, $0.50)")][:shown]
