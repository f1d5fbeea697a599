"""Connection to Chromium through its debugging port (Chrome DevTools Protocol 1.3); the agent never uses it."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_s.errors import install_command
from evaluation.errors import BrowserLost, EvaluationError

PORT_FILE = "DevToolsActivePort"
ANSWER_LIMIT_S = 10.0


@dataclass(frozen=True, slots=True)
class Target:
    """An open page of the browser, and the session for calls to it."""

    id: str
    session: str


class DevTools:
    """A connection to a browser.

    Args:
        profile: The browser's profile folder, which holds its port.

    Raises:
        BrowserLost: It does not answer.
        EvaluationError: The package `websocket-client` is not installed.
    """

    def __init__(self, profile: Path) -> None:
        try:
            from websocket import WebSocketException, create_connection
        except ImportError as error:
            raise EvaluationError(
                f"Chromium's debugging port needs websocket-client: {install_command('miniwob')}"
            ) from error
        self._errors: tuple[type[Exception], ...] = (OSError, ValueError, WebSocketException)
        self._number = 0
        try:
            port, path, *_ = (profile / PORT_FILE).read_text(encoding="ascii").split("\n")
            address = f"ws://127.0.0.1:{int(port)}{path}"
        except (OSError, ValueError) as error:
            raise BrowserLost(f"the browser has written no debugging port to {profile}") from error
        try:
            self._socket = create_connection(address, timeout=ANSWER_LIMIT_S, suppress_origin=True)
        except self._errors as error:
            raise BrowserLost(f"the browser cannot be reached at {address}: {error}") from error

    def close(self) -> None:
        """Close the connection; the browser keeps running."""
        with suppress(OSError):
            self._socket.close(timeout=0)

    def pages(self) -> list[str]:
        """Return the ids of the open pages, newest first.

        Raises:
            BrowserLost: It does not answer.
        """
        targets = self.call("Target.getTargets")["targetInfos"]
        return [target["targetId"] for target in targets if target["type"] == "page"]

    def attach(self, page: str) -> Target:
        """Open a session with a page.

        Raises:
            BrowserLost: The page is gone, or the browser does not answer.
        """
        answer = self.call("Target.attachToTarget", {"targetId": page, "flatten": True})
        return Target(page, answer["sessionId"])

    def evaluate(self, target: Target, script: str) -> Any:
        """Evaluate a script of the harness in a page, and return its value, which must be JSON.

        Raises:
            BrowserLost: The page is gone, the script failed, or the browser does not answer.
        """
        answer = self.call("Runtime.evaluate", {"expression": script, "returnByValue": True}, target)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            problem = details.get("exception", {}).get("description") or details.get("text", "")
            raise BrowserLost(f"a script of the harness failed: {problem.splitlines()[0] if problem else details}")
        return answer["result"].get("value")

    def call(self, method: str, parameters: dict[str, Any] | None = None, target: Target | None = None) -> Any:
        """Call a method of the protocol, and return its result.

        Raises:
            BrowserLost: The browser refuses it or does not answer.
        """
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters or {}}
        if target is not None:
            message["sessionId"] = target.session
        try:
            self._socket.send(json.dumps(message))
            while (answer := json.loads(self._socket.recv())).get("id") != self._number:
                pass  # an event, or the answer to a call that was given up
        except self._errors as error:
            raise BrowserLost(f"the browser does not answer {method}: {error or type(error).__name__}") from error
        if "error" in answer:
            raise BrowserLost(f"the browser refuses {method}: {answer['error'].get('message', answer['error'])}")
        return answer["result"]
