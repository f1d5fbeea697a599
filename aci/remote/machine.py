"""A client of the HTTP server inside of OSWorld's virtual machines."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeVar

import httpx

from aci.errors import ConnectionLost
from aci.waiting import Clock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Answer = TypeVar("Answer")
logger = logging.getLogger(__name__)

PATIENCE_S = 60.0
"""How long a server that restarts, or breaks off its answers, is asked again, s."""
ANSWER_LIMIT_S = 60.0
EXECUTE_LIMIT_S = 130.0  # the server itself gives a command 120 s
_CONNECT_LIMIT_S = 5.0
_PAUSE_S = 0.5
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command on the machine ended."""

    output: str
    error: str
    returncode: int


class NotKnown(Exception):
    """It is not known whether a request was carried out; the message says why. Never leaves `aci.remote`."""


class Machine:
    """A machine behind `http://HOST:PORT`, or `http://TOKEN@HOST:PORT` where the server wants a token.

    Questions are asked again while the server restarts or breaks off its answers. Commands are sent again only if they
    cannot have arrived.

    Args:
        address: Address of the server.
        patience_s: How long an unavailable server is waited for, s.
        transport: Replaces the network, for tests.
        clock: Tells the time and waits; by default that of the machine.

    Raises:
        ConnectionLost: The address is not valid.
    """

    def __init__(
        self,
        address: str,
        patience_s: float = PATIENCE_S,
        transport: httpx.BaseTransport | None = None,
        clock: Clock | None = None,
    ) -> None:
        try:
            url = httpx.URL(address if "://" in address else f"http://{address}")
        except httpx.InvalidURL as error:
            raise ConnectionLost(f"{address!r} is not an address: {error}. It looks like http://HOST:5000.") from error
        if url.scheme not in ("http", "https") or not url.host:
            raise ConnectionLost(f"{address!r} is not the address of a machine. It looks like http://HOST:5000.")
        self.address = str(url.copy_with(userinfo=b"")).rstrip("/")
        self._patience_s = patience_s
        self._clock = clock or Clock()
        limits = httpx.Timeout(ANSWER_LIMIT_S, connect=_CONNECT_LIMIT_S)
        # Not as a part of the URL, which httpx writes to the log.
        auth = httpx.BasicAuth(url.username, url.password) if url.userinfo else None
        self._http = httpx.Client(
            auth=auth, base_url=self.address, timeout=limits, transport=transport, trust_env=False
        )

    def close(self) -> None:
        """Disconnect."""
        self._http.close()

    def screenshot(self) -> NDArray[np.uint8]:
        """Return the screen with the pointer, (H, W, 3) uint8 RGB.

        Raises:
            ConnectionLost: The server does not answer, or not with a picture.
        """
        return self._asked("/screenshot", lambda answer: picture_of(answer.content))

    def accessibility(self) -> str:
        """Return the accessibility tree as XML.

        Raises:
            ConnectionLost: The server does not answer.
            ValueError: It answers that there is none; the message is its reason.
        """

        def read(answer: httpx.Response) -> str:
            tree = answer.json()["AT"]
            if not isinstance(tree, str):
                raise ValueError("'AT' is not a text")
            return tree

        return self._asked("/accessibility", read, refusals=True)

    def ask(self, *arguments: str) -> Any:
        """Run a question of `aci.remote.on_machine` there, and return its answer; None if it cannot run there.

        Raises:
            ConnectionLost: The server does not answer.
        """
        try:
            ended = self.execute(["python", "-c", _source(), *arguments], again=True)
            if ended.returncode == 0:
                return json.loads(ended.output)
            problem = ended.error
        except (NotKnown, ValueError) as error:
            problem = str(error)
        logger.warning("%s cannot list its %s: %s", self.address, arguments[0], problem.strip()[-_SHOWN:])
        return None

    def activate(self, window_id: int) -> None:
        """Bring a window to the front.

        Raises:
            ConnectionLost: The server does not answer.
            NotKnown: It is not known whether it did.
        """
        self.execute(["python", "-c", _source(), "activate", str(window_id)])

    def execute(self, argv: Sequence[str], again: bool = False) -> Ended:
        """Run a program on the machine to its end.

        Args:
            argv: Program and arguments; no shell sees them.
            again: Whether it may run twice, since it changes nothing.

        Raises:
            ConnectionLost: The server cannot be reached; nothing was done.
            NotKnown: The connection broke, or the server failed, after the command was sent.
        """
        answer = self._sent("/execute", {"command": list(argv), "shell": False}, EXECUTE_LIMIT_S, again)
        try:
            fields = answer.json()
            return Ended(str(fields["output"]), str(fields.get("error") or ""), int(fields["returncode"]))
        except (ValueError, KeyError, TypeError) as error:
            raise NotKnown(f"{self.address}/execute gave a broken answer: {_excerpt(answer)}") from error

    def launch(self, argv: Sequence[str]) -> None:
        """Start a program on the machine without waiting for it.

        Raises:
            ConnectionLost: The server cannot be reached; nothing was done.
            NotKnown: The connection broke, or the server refused.
        """
        self._sent("/setup/launch", {"command": list(argv), "shell": False}, ANSWER_LIMIT_S, again=False)

    def _sent(self, path: str, content: dict[str, Any], limit_s: float, again: bool) -> httpx.Response:
        def send() -> httpx.Response:
            return self._http.post(path, json=content, timeout=httpx.Timeout(limit_s, connect=_CONNECT_LIMIT_S))

        deadline = self._clock.now() + self._patience_s
        while True:
            try:
                answer = send()
                break
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                problem: Exception = error
            except httpx.TransportError as error:
                if not again:
                    raise NotKnown(f"the connection to {self.address} broke ({_reason(error)})") from error
                problem = error
            self._wait(path, problem, deadline)
        self._refuse_strangers(answer)
        if answer.status_code != httpx.codes.OK:
            raise NotKnown(f"{self.address}{path} answered {answer.status_code}: {_excerpt(answer)}")
        return answer

    def _asked(self, path: str, read: Callable[[httpx.Response], Answer], refusals: bool = False) -> Answer:
        deadline = self._clock.now() + self._patience_s
        while True:
            try:
                answer = self._http.get(path)
                self._refuse_strangers(answer)
                if answer.status_code == httpx.codes.OK:
                    return read(answer)
                refusal = f"status {answer.status_code}: {_excerpt(answer)}"
                if refusals and answer.status_code == httpx.codes.INTERNAL_SERVER_ERROR:
                    raise ValueError(refusal)
                problem: Exception = OSError(refusal)
            except httpx.TransportError as error:
                problem = error
            except (KeyError, TypeError, OSError, json.JSONDecodeError) as error:  # half an answer
                problem = error
            self._wait(path, problem, deadline)

    def _wait(self, path: str, problem: Exception, deadline: float) -> None:
        """Wait before the next try.

        Raises:
            ConnectionLost: There is no time left.
        """
        if self._clock.now() >= deadline:
            raise ConnectionLost(
                f"{self.address}{path} did not answer within {self._patience_s:g} s ({_reason(problem)}). Check that "
                "the machine and OSWorld's server in it run, then continue with `agent-s resume`."
            ) from problem
        logger.info("%s%s: %s; trying again", self.address, path, _reason(problem))
        self._clock.pause(_PAUSE_S)

    def _refuse_strangers(self, answer: httpx.Response) -> None:
        if answer.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
            raise ConnectionLost(
                f"{self.address} refuses this client (status {answer.status_code}). Give the token that its server "
                "showed when it started: http://TOKEN@HOST:PORT."
            )


def picture_of(png: bytes) -> NDArray[np.uint8]:
    """Return a picture as (H, W, 3) uint8 RGB.

    Raises:
        OSError: It is not a picture, or only a part of one.
    """
    import io

    import numpy as np
    from PIL import Image

    try:
        with Image.open(io.BytesIO(png), formats=("PNG", "JPEG")) as picture:
            return np.ascontiguousarray(np.asarray(picture.convert("RGB")))
    except (SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise OSError(f"the picture is damaged ({error})") from error


def _source() -> str:
    return resources.files("aci.remote").joinpath("on_machine.py").read_text(encoding="utf-8")


def _excerpt(answer: httpx.Response) -> str:
    return repr(answer.text[:_SHOWN])


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
