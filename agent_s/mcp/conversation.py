"""Tool calls that may ask the person at the client.

A client of the handshake protocol is asked at once, during its call. One of the stateless protocol (2026-07-28)
gets the question as the result of its call, and calls again with the answer; the tool keeps working meanwhile.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mcp.server.session import ServerSession
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult

from agent_s.mcp.tool import Person, Reply

ANSWER_LIMIT_S = 600.0
"""Time after which an open question counts as unanswered if the client does not return, s."""
_KEY = "question"
_FIELDS: Mapping[str, dict[str, Any]] = {
    "agree": {"type": "boolean", "title": "Agree"},
    "answer": {"type": "string", "title": "Answer"},
}


@dataclass(slots=True)
class Question:
    """An open question to the person."""

    message: str  # the question
    kind: Literal["agree", "answer"]  # the field of the answer: whether the person agrees, or what they say
    # gets the answer; None if the person declined or nobody was there
    answered: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def schema(self) -> dict[str, Any]:
        """The form that the client shows."""
        return {"type": "object", "properties": {self.kind: _FIELDS[self.kind]}, "required": [self.kind]}

    def settle(self, response: ElicitResult | None) -> None:
        """Accept the client's response; None if there is none."""
        accepted = response is not None and response.action == "accept"
        content = response.content if response is not None and accepted else None
        if not self.answered.done():
            self.answered.set_result((content or {}).get(self.kind))

    def as_result(self, state: str) -> InputRequiredResult:
        """Return the question as the result of a call, which the client repeats with the answer."""
        params = ElicitRequestFormParams(message=self.message, requested_schema=self.schema)
        return InputRequiredResult(input_requests={_KEY: ElicitRequest(params=params)}, request_state=state)


class Conversation(Person):
    """One call of a tool, from its arguments to its reply."""

    def __init__(self, run: Callable[[Person], Awaitable[Reply]]) -> None:
        self.state = secrets.token_urlsafe(24)  # what a client names to continue it
        self._session: ServerSession | None = None
        self._said: asyncio.Queue[Question | str] = asyncio.Queue()
        self._open: Question | None = None
        self._task = asyncio.ensure_future(run(self))

    async def next(self, session: ServerSession) -> Reply | Question | str:
        """Continue the tool until it replies, asks, or reports progress."""
        self._session = session
        said = asyncio.ensure_future(self._said.get())
        try:
            await asyncio.wait({self._task, said}, return_when=asyncio.FIRST_COMPLETED)
            return said.result() if said.done() else self._task.result()
        finally:
            said.cancel()

    def settle(self, response: Any) -> None:
        """Accept the client's response to the open question."""
        if self._open is not None:
            self._open.settle(response if isinstance(response, ElicitResult) else None)

    async def cancel(self) -> None:
        """Cancel the call, and wait until it has ended."""
        self._session = None
        self.settle(None)
        self._task.cancel()
        await asyncio.wait({self._task})

    async def confirm(self, question: str) -> bool:
        """See `Person.confirm`."""
        return await self._ask(Question(question, "agree")) is True

    async def answer(self, question: str) -> str | None:
        """See `Person.answer`."""
        said = await self._ask(Question(question, "answer"))
        return said if isinstance(said, str) else None

    def tell(self, progress: str) -> None:
        """See `Person.tell`."""
        self._said.put_nowait(progress)

    async def _ask(self, question: Question) -> Any:
        if self._session is None or not _asks(self._session):
            return None
        self._open = question
        self._said.put_nowait(question)
        try:
            return await asyncio.wait_for(question.answered, ANSWER_LIMIT_S)
        except TimeoutError:
            return None
        finally:
            self._open = None


def _asks(session: ServerSession) -> bool:
    """Return whether a client can show a form to its person."""
    capabilities = session.client_capabilities
    return capabilities is not None and capabilities.elicitation is not None


def response_to(responses: Mapping[str, Any] | None) -> Any:
    """Return the response to a question, from a repeated call."""
    return (responses or {}).get(_KEY)
