"""A model of a provider: renders the context, sends it, reads the answer, and retries on invalid output."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from agent_s.errors import EmptyResponse, MalformedResponse, ModelError, ModelRefused, ResponseCutOff
from agent_s.llm.conversation import Conversation, Message, Reply, Text, as_exchange
from agent_s.llm.prompting.fencing import sendable
from agent_s.llm.prompting.rendering import Renderer
from agent_s.llm.protocol import ModelRequest, ModelResponse, Response
from agent_s.llm.providers.prices import Prices
from agent_s.llm.providers.retries import Retrying
from agent_s.llm.providers.schemas import SchemaForm, schema_for
from agent_s.llm.providers.sdk_client import SdkClient
from agent_s.llm.providers.sdk_errors import SchemaRefused
from agent_s.llm.providers.structured import Unreadable, read_response
from agent_s.llm.routing import ROLES
from agent_s.records import Usage
from agent_s.settings import ProviderSettings, RequestSettings

MAX_ECHO = 4_000  # characters of an invalid answer that are sent back
MAX_ANSWERS = 3  # to one request, invalid ones included
_SHOWN = "`agent-s runs show RUN --calls` shows what was sent and answered."


class Send(Protocol):
    """Sends a conversation to a provider in its wire format, and returns the answer."""

    def __call__(
        self,
        client: SdkClient,
        settings: RequestSettings,
        conversation: Conversation,
        schema: dict[str, Any] | None,
    ) -> Reply:
        """Send a conversation and wait for the answer; the provider enforces the schema, if there is one.

        Raises:
            SchemaRefused: The server supports no schemas.
            TransientError: A retry may work.
            ModelError: A retry will not.
        """


@dataclass(eq=False)
class ProviderModel:
    """Answers requests with a model of a provider."""

    name: str  # as in the settings, such as "anthropic:NAME"
    client: SdkClient  # client of the provider
    send: Send  # speaks its wire format
    settings: ProviderSettings  # settings of the requests
    renderer: Renderer  # turns contexts into conversations
    retrying: Retrying  # retries after transient errors
    prices: Prices  # prices of tokens
    schema_form: SchemaForm  # how its schemas are written
    _enforces_schema: bool = field(default=True, init=False)

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer one request; an invalid answer is sent back with the reason, at most twice.

        Raises:
            ModelUnavailable: The provider cannot be reached, or refuses the key.
            ModelRefused: The model declines, or a filter stopped it.
            ResponseCutOff: The answer or the conversation is too long.
            MalformedResponse: No answer is valid.
        """
        conversation = self.renderer.render(request.context, request.machine)
        usage, requests = Usage(dollars=0.0), 0
        while True:
            reply = self._ask(conversation, request)
            usage, requests = usage + reply.usage, requests + 1
            try:
                output = self._read(reply, request.response_type)
                break
            except Unreadable as problem:
                if requests == MAX_ANSWERS:
                    raise self._failure(reply, str(problem)) from problem
                echo = sendable(reply.text[:MAX_ECHO]).strip() or "(nothing)"
                complaint = self.renderer.retry(str(problem))
                conversation = conversation.extended(
                    Message("assistant", (Text(echo),)), Message("user", (Text(complaint),))
                )
        return ModelResponse(output, usage, {"request_id": reply.request_id, "requests": requests})

    def check(self, asked_to_stop: Callable[[], bool] = lambda: False) -> None:
        """Check that the provider, the key and the model are available, without a request to the model.

        Raises:
            ModelUnavailable: Something is not available; the message suggests a fix.
        """
        self.retrying(self.client.check, self.client.cancel, asked_to_stop)

    def exchange(
        self, ask: Callable[[], Reply], request: ModelRequest, sent: Conversation, schema: dict[str, Any] | None = None
    ) -> Reply:
        """Make an exchange, with retries after transient errors, and report it with its usage.

        Args:
            ask: Callback that sends the conversation and returns the answer.
            request: The request.
            sent: The conversation, for the recording.
            schema: The schema that the provider is asked to enforce, if any.

        Raises:
            ModelError: There is no answer.
        """
        reply, problem = None, ""
        try:
            reply = self._priced(self.retrying(ask, self.client.cancel, request.asked_to_stop))
        except ModelError as error:
            problem = str(error)
            raise
        finally:
            enforced = json.dumps(schema) if schema is not None and self._enforces_schema else ""
            request.on_exchange(as_exchange(sent, enforced, reply, problem))
        request.on_usage(reply.usage)
        _require_answer(reply, self.name)
        return reply

    def _priced(self, reply: Reply) -> Reply:
        dollars = self.prices.dollars(self.name, reply.usage)
        return replace(reply, usage=reply.usage.model_copy(update={"dollars": dollars}))

    def _ask(self, conversation: Conversation, request: ModelRequest) -> Reply:
        schema = schema_for(request.response_type, self.schema_form)
        settings = self.settings.for_role(ROLES[request.kind])
        return self.exchange(lambda: self._attempt(conversation, schema, settings), request, conversation, schema)

    def _attempt(self, conversation: Conversation, schema: dict[str, Any], settings: RequestSettings) -> Reply:
        """Make one attempt; without a schema if the server supports none."""
        if self._enforces_schema:
            try:
                return self.send(self.client, settings, conversation, schema)
            except SchemaRefused:
                self._enforces_schema = False
        return self.send(self.client, settings, conversation, None)

    def _read(self, reply: Reply, response_type: type[Response]) -> Response:
        if reply.stop == "length":
            raise Unreadable("it was cut off because it is too long; answer shorter")
        return read_response(reply.text, response_type)

    def _failure(self, reply: Reply, problem: str) -> MalformedResponse | ResponseCutOff:
        if reply.stop == "length":
            return ResponseCutOff(
                f"{self.name} gave {MAX_ANSWERS} answers that are too long; raise provider.max_output_tokens."
            )
        if not reply.text.strip():
            why = f" ({reply.explanation})" if reply.explanation else ""
            return EmptyResponse(f"{self.name} gave {MAX_ANSWERS} empty answers{why}. {_SHOWN}")
        return MalformedResponse(f"{self.name} gave {MAX_ANSWERS} invalid answers: {problem}. {_SHOWN}")


def _require_answer(reply: Reply, name: str) -> None:
    why = f": {' '.join(reply.explanation.split())[:300]}" if reply.explanation else ""
    match reply.stop:
        case "refusal":
            raise ModelRefused(f"{name} refuses to answer{why}.")
        case "filter":
            raise ModelRefused(f"A content filter of the provider stopped {name}{why}.")
        case "context":
            raise ResponseCutOff(f"The conversation is longer than {name} can read; lower provider.max_pictures.")
