"""A server of the view in this process, and what a browser would read from it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from agent_s.terminal.loopback import listen
from agent_s.view.folders import RunsFolder
from agent_s.view.server import Viewer, address_of

TOKEN = "a-token"
LIMIT_S = 120.0


@contextmanager
def served(folder: Path) -> Iterator[httpx.Client]:
    """Serve the runs in a folder; the client's addresses are relative to that of the pages."""
    with listen(0) as listener:
        server = Viewer(RunsFolder(folder)).server(TOKEN)
        thread = threading.Thread(target=server.run, args=[[listener]])
        thread.start()
        try:
            with httpx.Client(base_url=address_of(listener.getsockname()[1], TOKEN), timeout=LIMIT_S) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join()


def messages(client: httpx.Client, run: str, **headers: str) -> Iterator[tuple[str, Any]]:
    """Yield the kind and the content of what the server sends about a run, until it ends; "event" for an event."""
    with client.stream("GET", f"{run}events", headers=headers) as response:
        assert response.status_code == 200
        kind = "event"
        for line in response.iter_lines():
            name, _, value = line.partition(": ")
            if name == "event":
                kind = value
            elif name == "data":
                yield kind, json.loads(value)
            elif not line:
                kind = "event"
