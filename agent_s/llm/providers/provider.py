"""A model behind a wire: renders the context, sends it, reads the answer, and lets a malformed one be mended once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_s.errors import EmptyResponse, MalformedResponse, ModelRefused, ResponseCutOff
from agent_s.llm.prompting.fencing import sendable
from agent_s.llm.protocol import ModelRequest, ModelResponse, Response, TokenUsage
from agent_s.llm.providers.conversation import Message, Reply, Text
from agent_s.llm.providers.structured import Unreadable, read_response

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_s.llm.prompting.rendering import Renderer
    from agent_s.llm.providers.conversation import Conversation, Spent
    from agent_s.llm.providers.prices import Prices
    from agent_s.llm.providers.retries import Retrying
    from agent_s.llm.providers.wire import Wire

LONGEST_ECHO = 4_000
"""Characters of a malformed answer that are sent back."""


class ProviderModel:
    """Answers requests with a real model.

    Args:
        name: As in the settings, such as "anthropic:NAME".
        wire: Carries conversations to the provider.
        renderer: Turns contexts into conversations.
        retrying: Tries again what may work the next time.
        prices: What tokens cost.
    """

    def __init__(self, name: str, wire: Wire, renderer: Renderer, retrying: Retrying, prices: Prices) -> None:
        self.name = name
        self._wire = wire
        self._renderer = renderer
        self._retrying = retrying
        self._prices = prices

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer one request; a malformed answer goes back once, with what is wrong with it.

        Raises:
            ModelUnavailable: The provider cannot be reached, or refuses the key.
            ModelRefused: The model declines, or a filter stopped it.
            ResponseCutOff: The answer or the conversation is too long.
            MalformedResponse: The second answer cannot be used either.
        """
        conversation = self._renderer.render(request.context)
        first = self._send(conversation, request.response_type)
        try:
            output = self._read(first, request.response_type)
        except Unreadable as problem:
            return self._mend(conversation, first, str(problem), request)
        return self._response(output, first.spent, first, 1)

    def heed_stop(self, asked: Callable[[], bool]) -> None:
        """Wait for the provider no longer, and end what it is asked, once this tells that the run is to stop."""
        self._retrying.asked_to_stop = asked

    def check(self) -> None:
        """Find out whether provider, key and model are there, without asking the model anything.

        Raises:
            ModelUnavailable: They are not; the message names the mend.
        """
        self._retrying(self._wire.check, self._wire.cut)

    def _mend(self, conversation: Conversation, first: Reply, problem: str, request: ModelRequest) -> ModelResponse:
        echo = sendable(first.text[:LONGEST_ECHO]).strip() or "(nothing)"
        complaint = self._renderer.mend(problem)
        told = conversation.extended(Message("assistant", (Text(echo),)), Message("user", (Text(complaint),)))
        second = self._send(told, request.response_type)
        try:
            output = self._read(second, request.response_type)
        except Unreadable as again:
            raise self._given_up(second, str(again)) from again
        return self._response(output, first.spent + second.spent, second, 2)

    def _send(self, conversation: Conversation, response_type: type[Response]) -> Reply:
        reply = self._retrying(lambda: self._wire.send(conversation, response_type), self._wire.cut)
        why = f": {' '.join(reply.explanation.split())[:300]}" if reply.explanation else ""
        match reply.stop:
            case "refusal":
                raise ModelRefused(f"{self.name} refuses to answer{why}.")
            case "filter":
                raise ModelRefused(f"A content filter of the provider stopped {self.name}{why}.")
            case "context":
                raise ResponseCutOff(
                    f"The conversation is longer than {self.name} can read; set provider.max_pictures lower."
                )
        return reply

    def _read(self, reply: Reply, response_type: type[Response]) -> Response:
        if reply.stop == "length":
            raise Unreadable("it was cut off because it is too long; answer shorter")
        return read_response(reply.text, response_type)

    def _given_up(self, reply: Reply, problem: str) -> MalformedResponse | ResponseCutOff:
        if reply.stop == "length":
            return ResponseCutOff(f"{self.name} answers at too great length, twice; see provider.max_output_tokens.")
        if not reply.text.strip():
            return EmptyResponse(f"{self.name} answers with nothing, twice.")
        return MalformedResponse(f"{self.name} gave no usable answer, twice: {problem}.")

    def _response(self, output: Response, spent: Spent, reply: Reply, requests: int) -> ModelResponse:
        usage = TokenUsage(
            input_tokens=spent.input_tokens,
            cached_tokens=spent.cached_tokens,
            output_tokens=spent.output_tokens,
            dollars=self._prices.dollars(self.name, spent),
        )
        detail: dict[str, Any] = {"request_id": reply.request_id, "requests": requests}
        return ModelResponse(output, usage, detail)
