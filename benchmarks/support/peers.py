"""Other servers of the Model Context Protocol for desktops, and this one, on the same applications.

`make peers` installs `bad-ass-mcp` and `linux-desktop-mcp` into `.venv-peers`, and the program `xdotool` that they use.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from math import nan
from pathlib import Path
from typing import Any, ClassVar

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from typing_extensions import override

from aci.desktop.virtual import VirtualDesktop
from benchmarks.support.figures import tell

PEERS = Path(".venv-peers/bin")
TEXT = "é 中 😀 <>"
LOOKS = 5
LARGE = ("chromium", "soffice")
BUTTONS = 12
LIMIT_S = 60.0
GONE_S = 3.0
IDLE_S = 5.0
CASE_LIMIT_S = 400.0  # a server that has crashed may leave its client waiting
FIGURES = ("mcp_first_look_ratio", "mcp_first_look_ratio_at_once", "mcp_look_ratio", "mcp_peer_better")
PAGE = """<!doctype html><meta charset="utf-8"><title>Shop</title><body>
<button id="old" onclick="document.title = 'Kept'">Keep</button>
<script>
const rows = [];
for (let n = 0; n < 375; n += 1) rows.push(
  `<p>Row ${n} <a href="#${n}">Offer ${n}</a> <button onclick="document.title = 'Picked ${n}'">Pick ${n}</button></p>`);
document.body.insertAdjacentHTML("beforeend", rows.join(""));
addEventListener("hashchange", () => setTimeout(() => {
  document.querySelector("#old").outerHTML = "<button onclick=\\"document.title = 'Wrong'\\">Drop</button>";
}, 500));
</script>"""


class Peer(ABC):
    """A server that a client talks to."""

    name: ClassVar[str]

    def __init__(self, client: Client) -> None:
        self._client = client

    @classmethod
    def command(cls, display: str) -> Sequence[str]:
        """Return what starts it."""
        return [str(PEERS / cls.name)]

    @abstractmethod
    async def look(self, app: str) -> str:
        """Return what the server says about an application; `app` is a part of its name."""

    @abstractmethod
    def id_of(self, shown: str, name: str) -> Any:
        """Return the id of the first control with a name; None if it is not shown."""

    @abstractmethod
    async def click(self, identity: Any) -> bool:
        """Click an element, and return whether the server says that it did."""

    @abstractmethod
    async def type(self, shown: str) -> bool:
        """Type `TEXT` into the text field of an editor, and return whether the server says that it did."""

    async def _call(self, tool: str, **arguments: Any) -> tuple[bool, str]:
        result = await self._client.call_tool(tool, arguments)
        return not result.is_error, "\n".join(block.text for block in result.content if block.type == "text")


class Ours(Peer):
    """`agent-s mcp`."""

    name = "agent-s"

    @override
    @classmethod
    def command(cls, display: str) -> Sequence[str]:
        return [sys.executable, "-m", "agent_s", "mcp", "--model", "offline", "--display", display]

    @override
    async def look(self, app: str) -> str:
        return (await self._call("observe"))[1]

    @override
    def id_of(self, shown: str, name: str) -> Any:
        found = re.search(rf'(\d+) (?:[a-z ]+ )?"{re.escape(name)}"', shown)
        return int(found[1]) if found else None

    @override
    async def click(self, identity: Any) -> bool:
        return (await self._call("click", element_id=identity))[0]

    @override
    async def type(self, shown: str) -> bool:
        return (await self._call("type", text=TEXT))[0]


class BadAss(Peer):
    """`bad-ass-mcp`, which lists one window at a time."""

    name = "bad-ass-mcp"

    @override
    async def look(self, app: str) -> str:
        result = await self._client.call_tool("list_windows", {})
        windows = [json.loads(block.text) for block in result.content if block.type == "text"]
        window = next(one for one in windows if app in one["name"].lower())
        return (await self._call("get_tree", window_id=window["id"]))[1]

    @override
    def id_of(self, shown: str, name: str) -> Any:
        return next((node["id"] for node in _nodes(json.loads(shown)) if node["name"] == name), None)

    @override
    async def click(self, identity: Any) -> bool:
        return _says_ok(await self._call("click", handle_id=identity))

    @override
    async def type(self, shown: str) -> bool:
        field = next(node["id"] for node in _nodes(json.loads(shown)) if node["role"] == "text")
        return _says_ok(await self._call("type_text", handle_id=field, text=TEXT))


class LinuxDesktop(Peer):
    """`linux-desktop-mcp`."""

    name = "linux-desktop-mcp"

    @override
    async def look(self, app: str) -> str:
        return (await self._call("desktop_snapshot", app_name=app))[1]

    @override
    def id_of(self, shown: str, name: str) -> Any:
        found = re.search(rf'(ref_\d+): \[(?:push_)?(?:button|link)\] "{re.escape(name)}"', shown)
        return found[1] if found else None

    @override
    async def click(self, identity: Any) -> bool:
        return _says_ok(await self._call("desktop_click", ref=identity))

    @override
    async def type(self, shown: str) -> bool:
        found = re.search(r"(ref_\d+): \[(?:text|text_view|entry|editable_text)\]", shown)
        return found is not None and _says_ok(await self._call("desktop_type", ref=found[1], text=TEXT))


@dataclass
class Tally:
    """What was measured of one server."""

    # time of the first look at once after connecting by application, s
    first_s: dict[str, float] = field(default_factory=dict)
    # time of the first look of a server that was started `IDLE_S` earlier, as clients do, s
    idle_s: dict[str, float] = field(default_factory=dict)
    later_s: dict[str, float] = field(default_factory=dict)  # median time of later looks by application, s
    bytes: dict[str, int] = field(default_factory=dict)  # length of a look by application
    right: dict[str, bool] = field(default_factory=dict)  # whether it was right, by case


def measure_peers() -> dict[str, Tally]:
    """Measure all servers, each on a desktop of its own."""
    return {peer.name: anyio.run(_measure, peer) for peer in (Ours, BadAss, LinuxDesktop)}


async def _measure(kind: type[Peer]) -> Tally:
    tally = Tally()
    for app, part in (("chromium", _page), ("soffice", None), ("mousepad", _editor)):
        with tempfile.TemporaryDirectory() as folder, VirtualDesktop(size=(1280, 800)) as desktop:
            page = Path(folder) / "shop.html"
            page.write_text(PAGE)
            argv = {"chromium": ["chromium", page.as_uri()], "soffice": ["localc", "--norestore"]}
            desktop.launch(argv.get(app, [app]))
            await anyio.sleep(GONE_S)
            command, *arguments = kind.command(desktop.display)
            server = StdioServerParameters(command=command, args=arguments, env=dict(desktop.environment))
            try:
                with anyio.fail_after(CASE_LIMIT_S):
                    async with Client(server, mode="legacy") as client:
                        await anyio.sleep(IDLE_S)
                        started = time.monotonic()
                        await kind(client).look(app)
                        tally.idle_s[app] = time.monotonic() - started
                    async with Client(server, mode="legacy") as client:
                        peer = kind(client)
                        shown = await _looked(peer, app, tally)
                        if part is not None:
                            await part(peer, desktop, shown, tally)
            except* (MCPError, TimeoutError) as ended:
                tell(f"{kind.name}, {app}: it ended: {ended.exceptions}")
        tell(f"{kind.name}, {app}: {tally.first_s.get(app, nan):.2f} s, later {tally.later_s.get(app, nan):.3f} s")
    return tally


async def _looked(peer: Peer, app: str, tally: Tally) -> str:
    """Look several times, as long as that takes no more than `LIMIT_S`; return what the last look showed."""
    shown = ""
    times: list[float] = []
    began = time.monotonic()
    while not times or (len(times) <= LOOKS and time.monotonic() - began < LIMIT_S):
        started = time.monotonic()
        shown = await peer.look(app)
        times.append(time.monotonic() - started)
    tally.first_s[app], tally.bytes[app] = times[0], len(shown.encode())
    tally.later_s[app] = statistics.median(times[1:] or times)
    return shown


async def _page(peer: Peer, desktop: VirtualDesktop, shown: str, tally: Tally) -> None:
    for number in range(BUTTONS):
        await _click(peer, shown, f"Pick {number}")
        tally.right[f"click Pick {number}"] = await _title(desktop, f"Picked {number}")
        shown = await peer.look("chromium")
    old = peer.id_of(shown, "Keep")
    if old is None:
        tally.right["a button that has become another one"] = False
        return
    await _click(peer, shown, "Offer 1")
    await anyio.sleep(GONE_S)
    said = await peer.click(old)
    tally.right["a button that has become another one"] = not said and not await _title(desktop, "Wrong", 1.0)


async def _click(peer: Peer, shown: str, name: str) -> None:
    identity = peer.id_of(shown, name)
    if identity is not None:
        await peer.click(identity)


async def _title(desktop: VirtualDesktop, words: str, limit_s: float = 5.0) -> bool:
    deadline = time.monotonic() + limit_s
    while not any(words in window.title.split(" - ") for window in desktop.observe(read_texts=False).windows):
        if time.monotonic() > deadline:
            return False
        await anyio.sleep(0.1)
    return True


async def _editor(peer: Peer, desktop: VirtualDesktop, shown: str, tally: Tally) -> None:
    await peer.type(shown)
    await anyio.sleep(1.0)
    texts = [element.text for element in desktop.observe().elements]
    tally.right[f"type {TEXT}"] = TEXT in texts


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node["children"]:
        yield from _nodes(child)


def _says_ok(said: tuple[bool, str]) -> bool:
    ok, text = said
    return ok and not re.search(r'"ok": ?false|error|failed|not found', text, re.IGNORECASE)


def peer_figures() -> dict[str, object]:
    """Measure, and return how much faster this server is than the faster of the others, and where one is better."""
    if not PEERS.is_dir():
        return {**dict.fromkeys(FIGURES), "mcp_lack": "make peers"}
    tallies = measure_peers()
    ours, *others = tallies.values()
    for case in ours.right:
        tell(f"  {case}: {', '.join(f'{name} {tally.right.get(case)}' for name, tally in tallies.items())}")
    return {
        "mcp_first_look_ratio": _ratio(ours.idle_s, [peer.idle_s for peer in others]),
        "mcp_first_look_ratio_at_once": _ratio(ours.first_s, [peer.first_s for peer in others]),
        "mcp_look_ratio": _ratio(ours.later_s, [peer.later_s for peer in others]),
        "mcp_peer_better": sum(
            not right and any(peer.right.get(case) for peer in others) for case, right in ours.right.items()
        ),
        "mcp": {name: asdict(tally) for name, tally in tallies.items()},
    }


def _ratio(own: dict[str, float], others: Sequence[dict[str, float]]) -> float:
    """Return the smaller ratio of the two large applications."""
    return round(min(min(one[app] for one in others if app in one) / own[app] for app in LARGE), 2)
