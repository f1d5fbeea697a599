"""A machine's server that a test scripts, request by request."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import httpx
import numpy as np
from PIL import Image

from tests.unit.aci.remote.trees import notes


def png(size: tuple[int, int] = (320, 240), shade: int = 0) -> bytes:
    """Return a picture of one shade of grey."""
    written = io.BytesIO()
    Image.fromarray(np.full((size[1], size[0], 3), shade, np.uint8)).save(written, "PNG")
    return written.getvalue()


class ScriptedServer:
    """Answers like OSWorld's server; `failures` are what happens instead, in turn, by path."""

    def __init__(self) -> None:
        self.tree = notes()
        self.picture = png()
        self.windows: Any = None
        self.failures: dict[str, list[Exception | httpx.Response]] = {}
        self.asked: Counter[str] = Counter()
        self.executed: list[list[str]] = []
        self.launched: list[list[str]] = []
        self.entries: list[dict[str, Any]] = []
        self.on_execute: Callable[[], None] = lambda: None
        self.status = 0

    @property
    def transport(self) -> httpx.MockTransport:
        """What replaces the network."""
        return httpx.MockTransport(self._answer)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        self.asked[path] += 1
        if self.failures.get(path):
            failure = self.failures[path].pop(0)
            if isinstance(failure, Exception):
                raise failure
            return failure
        if path == "/screenshot":
            return httpx.Response(200, content=self.picture)
        if path == "/accessibility":
            return httpx.Response(200, json={"AT": self.tree})
        command = json.loads(request.content)["command"]
        if path == "/setup/launch":
            self.launched.append(command)
            return httpx.Response(200, text="launched")
        return httpx.Response(200, json=self._run(command))

    def _run(self, command: list[str]) -> dict[str, Any]:
        output = ""
        if command[3:] == ["windows"]:
            output = json.dumps(self.windows) if self.windows is not None else "?"
        elif command[3:] == ["applications"]:
            output = json.dumps(self.entries)
        else:
            self.executed.append(command)
            self.on_execute()
        return {"status": "success", "output": output, "error": "", "returncode": self.status}
