"""Search by the model's provider, which searches, reads and answers with its sources."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from agent_s.errors import ModelError, SearchError
from agent_s.llm.protocol import TokenUsage, WebResult
from agent_s.llm.providers import anthropic as messages_api
from agent_s.llm.providers import openai as responses_api
from agent_s.llm.providers.anthropic import AnthropicWire
from agent_s.llm.providers.conversation import Spent
from agent_s.llm.providers.openai import OpenAIWire
from agent_s.llm.providers.prices import Prices
from agent_s.llm.providers.wire import Answer, Service, read_answer, translated
from agent_s.search import Meter
from agent_s.search.results import tidy

QUESTION = "Search the web and answer briefly, in steps, with menus and keys by their names: {query}"
MOST_SEARCHES = 3
MOST_PAUSES = 3
"""How often Anthropic may say that it goes on searching."""


class _Citation(Answer):
    url: str = ""
    title: str | None = None
    cited_text: str = ""
    type: str = ""


class _Block(Answer):
    type: str
    text: str = ""
    citations: tuple[_Citation, ...] | None = None
    content: Any = None


class _Message(Answer):
    content: tuple[_Block, ...]
    stop_reason: str | None = None
    usage: messages_api.Usage | None = None


class _RawMessage(Answer):
    content: tuple[dict[str, Any], ...]


class _Annotation(Answer):
    type: str
    url: str = ""
    title: str = ""


class _Content(Answer):
    type: str
    text: str = ""
    annotations: tuple[_Annotation, ...] = ()


class _Item(Answer):
    type: str
    content: tuple[_Content, ...] | None = None


class _Response(Answer):
    output: tuple[_Item, ...]
    usage: responses_api.Usage | None = None


class Bill:
    """Tells a meter what a provider's searches cost.

    Args:
        model: Who searches, such as "anthropic:NAME".
        prices: What that costs.

    Attributes:
        meter: Is told; None for nobody.
    """

    def __init__(self, model: str, prices: Prices) -> None:
        self.meter: Meter | None = None
        self._model = model
        self._prices = prices

    def check(self) -> None:
        """Make sure that a search may be paid for.

        Raises:
            LimitReached: It may not.
        """
        if self.meter is not None:
            self.meter.check()

    def charge(self, spent: Spent | None, since: float) -> None:
        """Tell what an exchange used that began at a time of `time.monotonic`; None where the provider does not say."""
        if self.meter is None:
            return
        usage = TokenUsage()
        if spent is not None:
            dollars = self._prices.dollars(self._model, spent)
            usage = TokenUsage(spent.input_tokens, spent.cached_tokens, spent.output_tokens, dollars)
        self.meter.charge(usage, time.monotonic() - since)


class AnthropicSearch:
    """Lets Anthropic search.

    Args:
        wire: Who is asked; its model and key are used.
        bill: Tells what it costs.
        most: Results wanted, the answer among them.
    """

    def __init__(self, wire: AnthropicWire, bill: Bill, most: int = 5) -> None:
        self._wire = wire
        self._bill = bill
        self._most = most

    def search(self, query: str) -> tuple[WebResult, ...]:
        """Return the answer, then the passages that it cites.

        Raises:
            SearchError: There is no answer; the message names the mend.
        """
        messages: list[Any] = [{"role": "user", "content": QUESTION.format(query=query)}]
        blocks: list[_Block] = []
        for _ in range(1 + MOST_PAUSES):
            self._bill.check()
            started = time.monotonic()
            message, raw = self._ask(messages)
            self._bill.charge(messages_api.spent_by(message.usage) if message.usage else None, started)
            blocks += message.content
            if message.stop_reason != "pause_turn":
                break
            messages.append({"role": "assistant", "content": list(raw.content)})
        text = "".join(block.text for block in blocks if block.type == "text")
        if not text:
            raise SearchError(f"Anthropic's search found nothing{_trouble(blocks)}.")
        cited = (
            WebResult(citation.title or "", citation.url, citation.cited_text)
            for block in blocks
            for citation in block.citations or ()
        )
        return tidy((_answer(self._wire.service, text), *cited), self._most)

    def be_metered(self, by: Meter) -> None:
        """Let a meter count what the searches cost."""
        self._bill.meter = by

    def cut(self) -> None:
        """End the searches that other threads are waiting for."""
        self._wire.cut()

    def _ask(self, messages: list[Any]) -> tuple[_Message, _RawMessage]:
        import anthropic

        tool = {"type": "web_search_20260318", "name": "web_search", "max_uses": MOST_SEARCHES,
                "allowed_callers": ["direct"]}  # fmt: skip
        request: dict[str, Any] = {"model": self._wire.service.model, "max_tokens": 4000, "tools": [tool]}
        service = self._wire.service
        try:
            with translated(anthropic, service):
                raw = self._wire.connect().messages.with_raw_response.create(**request, messages=messages)
            body = raw.http_response.content
            return read_answer(body, _Message, service), read_answer(body, _RawMessage, service)
        except ModelError as error:
            raise SearchError(str(error)) from None


class OpenAISearch:
    """Lets OpenAI search.

    Args:
        wire: Who is asked; its model and key are used.
        bill: Tells what it costs.
        most: Results wanted, the answer among them.
    """

    def __init__(self, wire: OpenAIWire, bill: Bill, most: int = 5) -> None:
        self._wire = wire
        self._bill = bill
        self._most = most

    def search(self, query: str) -> tuple[WebResult, ...]:
        """Return the answer, then the pages that it cites.

        Raises:
            SearchError: There is no answer; the message names the mend.
        """
        import openai

        self._bill.check()
        started = time.monotonic()
        request: dict[str, Any] = {
            "model": self._wire.service.model,
            "input": QUESTION.format(query=query),
            "tools": [{"type": "web_search"}],
            "max_tool_calls": MOST_SEARCHES,
            "store": False,
        }
        try:
            with translated(openai, self._wire.service):
                raw = self._wire.connect().responses.with_raw_response.create(**request)
            response = read_answer(raw.http_response.content, _Response, self._wire.service)
        except ModelError as error:
            raise SearchError(str(error)) from None
        searches = sum(item.type == "web_search_call" for item in response.output)
        spent = replace(responses_api.spent_by(response.usage), searches=searches)
        self._bill.charge(spent if response.usage else None, started)
        contents = list(_contents(response))
        text = "".join(content.text for content in contents)
        if not text:
            raise SearchError("OpenAI's search gave no answer.")
        pages = (
            WebResult(note.title, note.url, "")
            for content in contents
            for note in content.annotations
            if note.type == "url_citation"
        )
        return tidy((_answer(self._wire.service, text), *pages), self._most)

    def be_metered(self, by: Meter) -> None:
        """Let a meter count what the searches cost."""
        self._bill.meter = by

    def cut(self) -> None:
        """End the searches that other threads are waiting for."""
        self._wire.cut()


def _answer(service: Service, text: str) -> WebResult:
    return WebResult(f"Answer of {service.name}'s web search", "", text)


def _trouble(blocks: Sequence[_Block]) -> str:
    """Return why searches failed, as far as the answer says."""
    codes = [
        str(block.content.get("error_code"))
        for block in blocks
        if block.type == "web_search_tool_result" and isinstance(block.content, dict)
    ]
    return f" ({', '.join(codes)})" if codes else ""


def _contents(response: _Response) -> Iterator[_Content]:
    for item in response.output:
        if item.type == "message":
            yield from (content for content in item.content or () if content.type == "output_text")
