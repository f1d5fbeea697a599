from __future__ import annotations

import base64
import io
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import anyio
import httpx2
import psutil
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from PIL import Image

from aci.desktop.virtual import VirtualDesktop
from agent_s.mcp.server import McpServer
from agent_s.settings import load_settings
from agent_s.terminal.desktop_choice import choose_desktop
from tests.e2e.command_line import User
from tests.integration.mcp.conftest import LIMIT_S, Answers, over_stdio, text_of

pytestmark = pytest.mark.desktop

SHREDDER = """
import gi; gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
window, button = Gtk.Window(title="Archive"), Gtk.Button(label="Delete all letters")
button.connect("clicked", lambda _: button.set_label("Everything is gone"))
window.add(button); window.show_all(); window.connect("destroy", Gtk.main_quit); Gtk.main()
"""


def run(talk: Callable[[], Any]) -> None:
    async def limited() -> None:
        with anyio.fail_after(LIMIT_S):
            await talk()

    anyio.run(limited)


def with_client(
    talk: Callable[[Client], Any], environment: Mapping[str, str] | None = None, display: str = "", **options: Any
) -> None:
    """Let a client in this process talk to a server in it."""

    async def both() -> None:
        screen = choose_desktop(display, virtual=False) if display else None
        server = McpServer(load_settings(overrides={"model": "offline"}), screen)
        try:
            async with Client(server.sdk_server, **options) as client:
                await talk(client)
        finally:
            await server.close()

    with mock.patch.dict(os.environ, environment or os.environ, clear=True):
        run(both)


def test_every_tool_says_what_it_takes_returns_and_may_destroy() -> None:
    async def talk(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"observe", "click", "zoom", "read", "wait_for", "run_task", "replay", "explore"} <= tools.keys()
        assert not {"done", "fail", "call_user"} & tools.keys()
        for tool in tools.values():
            assert tool.description
            assert tool.input_schema["additionalProperties"] is False
            assert tool.output_schema
            assert tool.annotations is not None
        assert tools["observe"].annotations.read_only_hint
        assert tools["click"].annotations.destructive_hint

    with_client(talk)


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("clik", {}, "Did you mean click?"),
        ("observe", {"pictures": True}, "Its arguments: desktop, changes_only, picture"),
        ("click", {"element_id": "one"}, "element_id"),
        ("scroll", {"clicks": 3}, "needs a target"),
        ("observe", {"desktop": "mine"}, "start_desktop starts one"),
        ("stop_desktop", {"desktop": "screen"}, "only desktops started here"),
        ("replay", {"run": "never"}, "No run"),
    ],
)
def test_wrong_calls_are_errors_that_say_what_would_be_right(
    name: str, given: dict[str, Any], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))

    async def talk(client: Client) -> None:
        result = await client.call_tool(name, given)
        assert result.is_error
        assert expected in text_of(result)

    with_client(talk)


@pytest.mark.slow
def test_a_task_is_done_by_tools_alone_over_standard_input_and_output(user: User) -> None:
    async def talk() -> None:
        async with Client(over_stdio(user)) as client:
            seen = await client.call_tool("observe", {"picture": True, "longest_edge": 400})
            picture = next(block for block in seen.content if block.type == "image")
            assert max(Image.open(io.BytesIO(base64.b64decode(picture.data))).size) == 400
            opened = await client.call_tool("switch_applications", {"app_code": "mousepad"})
            assert opened.structured_content["ok"], text_of(opened)
            typed = await client.call_tool("type", {"text": "é 中 😀 <>"})
            assert "read back exactly" in text_of(typed)
            assert '"é 中 😀 <>"' in typed.structured_content["screen"]["text"]
            read = await client.call_tool("read", {})
            assert "é 中 😀 <>" in read.structured_content["text"], text_of(read)
            zoomed = await client.call_tool("zoom", {"region": [0, 0, 200, 100]})
            assert [block.type for block in zoomed.content] == ["text", "image"]
            again = await client.call_tool("observe", {"changes_only": True})
            assert text_of(again) == "Nothing changed."
            stale = await client.call_tool("click", {"element_id": 4711})
            assert stale.is_error
            assert stale.structured_content["refusal"] == "unknown_id"
            waited = await client.call_tool("wait_for", {"text": "no such words", "timeout_s": 0.5})
            assert waited.is_error
            [desktop] = (await client.call_tool("list_desktops", {})).structured_content["desktops"]
            screen = (await client.read_resource(f"screen://{desktop['desktop']}")).contents[0]
            assert Image.open(io.BytesIO(base64.b64decode(screen.blob))).size == (1280, 800)

    run(talk)


@pytest.mark.slow
def test_the_agent_does_a_task_reports_progress_and_its_run_can_be_read_and_repeated(user: User) -> None:
    told: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    async def talk(client: Client) -> None:
        task = {"task": "Open the text editor and type 'good morning'."}
        done = await client.call_tool("run_task", task, progress_callback=hear)
        assert done.structured_content["status"] == "done", text_of(done)
        assert any("good morning" in line for line in told)
        name = done.structured_content["run"]
        page = (await client.read_resource(f"run://{name}")).contents[0]
        assert "good morning" in page.text
        assert f"run://{name}" in [one.uri for one in (await client.list_resources()).resources]
        await client.call_tool("start_desktop", {})
        values = {"run": name, "values": {"good morning": "good night"}, "desktop": "desktop-2"}
        again = await client.call_tool("replay", values)
        assert again.structured_content["model_calls"] == 0, text_of(again)
        seen = await client.call_tool("observe", {"desktop": "desktop-2"})
        assert "good night" in text_of(seen)
        found = await client.call_tool("search_memory", {"query": "type into the text editor"})
        assert found.structured_content["experiences"]
        stopped = await client.call_tool("stop_desktop", {"desktop": "desktop-2"})
        assert [one["desktop"] for one in stopped.structured_content["desktops"]] == ["desktop-1"]

    with_client(talk, user.environment())


@pytest.fixture
def archive(user: User) -> Iterator[VirtualDesktop]:
    """A person's screen, with a program whose only button is risky."""
    with VirtualDesktop(size=(800, 600)) as desktop:
        desktop.launch(["/usr/bin/python3", "-c", SHREDDER])
        yield desktop


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "agree", "mode"),
    [("click", True, "auto"), ("click", False, "legacy"), ("run_task", True, "legacy"), ("run_task", True, "auto")],
)
def test_a_risky_action_on_the_persons_screen_is_confirmed_first(
    user: User, archive: VirtualDesktop, tool: str, agree: bool, mode: Any
) -> None:
    person = Answers(agree)

    async def talk(client: Client) -> None:
        seen = await client.call_tool("observe", {})
        number = next(line for line in text_of(seen).splitlines() if "Delete all letters" in line).split()[0]
        given = {"element_id": int(number)} if tool == "click" else {"task": "Click 'Delete all letters'."}
        result = await client.call_tool(tool, given)
        assert result.is_error is not agree, text_of(result)
        assert any("Delete all letters" in question for question in person.questions)
        seen = await client.call_tool("observe", {})
        assert ("Everything is gone" in text_of(seen)) is agree

    env = user.environment(**archive.environment)
    with_client(talk, env, archive.display, elicitation_callback=person, mode=mode)


@pytest.mark.slow
def test_a_client_that_cannot_ask_gets_no_risky_action(user: User, archive: VirtualDesktop) -> None:
    server = over_stdio(user, "--display", archive.display, env=archive.environment)

    async def talk() -> None:
        async with Client(server) as client:
            seen = await client.call_tool("observe", {})
            number = next(line for line in text_of(seen).splitlines() if "Delete all letters" in line).split()[0]
            refused = await client.call_tool("click", {"element_id": int(number)})
            assert refused.is_error
            assert "Delete all letters" in text_of(await client.call_tool("observe", {}))

    run(talk)


@pytest.mark.slow
def test_a_cancelled_run_stops_and_leaves_no_key_pressed(user: User) -> None:
    told = anyio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        if "wait" in (message or ""):
            told.set()

    async def talk() -> None:
        async with Client(over_stdio(user)) as client:
            await client.call_tool("switch_applications", {"app_code": "mousepad"})
            await client.call_tool("key_down", {"keys": ["shift"]})
            async with anyio.create_task_group() as group:

                async def work() -> None:
                    task = {"task": "Wait for the window 'Never'."}
                    await client.call_tool("run_task", task, progress_callback=hear)

                group.start_soon(work)
                await told.wait()
                group.cancel_scope.cancel()
            while (await client.call_tool("list_desktops", {})).structured_content["desktops"][0]["busy"]:
                await anyio.sleep(0.1)
            typed = await client.call_tool("hotkey", {"keys": ["a"]})
            assert typed.structured_content["ok"], text_of(typed)
            assert 'text "a"' in text_of(typed)

    run(talk)


@pytest.mark.slow
def test_a_killed_client_leaves_no_process(user: User) -> None:
    script = (
        "import anyio, sys\n"
        "from mcp.client import Client\n"
        "from tests.integration.mcp.conftest import over_stdio\n"
        "from tests.e2e.command_line import User\n"
        "from pathlib import Path\n"
        "async def talk():\n"
        "    async with Client(over_stdio(User(Path(sys.argv[1]), Path(sys.argv[2])))) as client:\n"
        "        await client.call_tool('switch_applications', {'app_code': 'mousepad'})\n"
        "        print('ready', flush=True)\n"
        "        await anyio.sleep(600)\n"
        "anyio.run(talk)\n"
    )
    words = [sys.executable, "-c", script, str(user.home), str(user.tmp)]
    client = subprocess.Popen(words, stdout=subprocess.PIPE, env=user.environment())
    try:
        assert client.stdout is not None
        assert client.stdout.readline() == b"ready\n"
        family = psutil.Process(client.pid).children(recursive=True)
        assert any(process.name() == "mousepad" for process in family)
    finally:
        client.send_signal(signal.SIGKILL)
        client.wait()
    _, alive = psutil.wait_procs(family, timeout=LIMIT_S)
    assert alive == []


@pytest.mark.slow
def test_only_clients_with_the_token_are_served_over_http(user: User) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, "-m", "agent_s", "mcp", "--model", "offline", "--http", str(port)]
    server = subprocess.Popen(words, env=user.environment(AGENT_S_MCP_TOKEN="a-token"), stderr=subprocess.PIPE)
    url = f"http://127.0.0.1:{port}/mcp"

    async def talk() -> None:
        async with httpx2.AsyncClient() as plain:
            while True:
                try:
                    refused = await plain.post(url, json={})
                    break
                except httpx2.ConnectError:
                    assert server.poll() is None
                    await anyio.sleep(0.1)
            assert refused.status_code == 401
        headers = {"Authorization": "Bearer a-token"}
        async with httpx2.AsyncClient(headers={**headers, "Origin": "http://evil.example"}) as foreign:
            assert (await foreign.post(url, json={})).status_code == 403
        async with (
            httpx2.AsyncClient(headers=headers, timeout=LIMIT_S) as known,
            Client(streamable_http_client(url, http_client=known)) as client,
        ):
            opened = await client.call_tool("switch_applications", {"app_code": "mousepad"})
            assert opened.structured_content["ok"], text_of(opened)
            done = await client.call_tool("run_task", {"task": "Type 'from afar'."})
            assert done.structured_content["status"] == "done", text_of(done)

    try:
        run(talk)
    finally:
        server.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + LIMIT_S
        while server.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        server.kill()
        server.wait()
        if server.stderr is not None:
            server.stderr.close()
