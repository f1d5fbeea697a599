"""Web search by the model's provider, which searches, reads, and answers with citations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from agent_s.errors import ModelError, SearchError
from agent_s.llm.protocol import WebResult
from agent_s.llm.providers import anthropic as messages_api
from agent_s.llm.providers import gemini as gemini_api
from agent_s.llm.providers import openai as responses_api
from agent_s.llm.providers.gemini import CamelAnswer
from agent_s.llm.providers.prices import Prices
from agent_s.llm.providers.sdk_client import Answer, AnswerT, SdkClient, nested
from agent_s.records import Usage
from agent_s.search import Meter, WebSearch, tidy

QUESTION = "Search the web and answer briefly, in steps, with menus and keys by their names: {query}"
MAX_SEARCHES = 3
MAX_PAUSES = 3  # how often Anthropic may pause its answer to continue searching


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
    content: tuple[dict[str, Any], ...]
    stop_reason: str | None = None
    usage: messages_api.Counts | None = None


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
    usage: responses_api.Counts | None = None


@dataclass(eq=False)
class _HostedSearch(WebSearch):
    """Base of the hosted searches."""

    client: SdkClient  # client of the provider
    model: str  # name of the model in the price list, such as "anthropic:NAME"
    prices: Prices  # prices of tokens and searches
    most: int = 5  # maximum number of results, including the answer
    meter: Meter | None = None

    def set_meter(self, meter: Meter) -> None:
        """Charge searches to a meter."""
        self.meter = meter

    def cancel(self) -> None:
        """Cancel the searches that other threads are waiting for."""
        self.client.cancel()

    def _call(self, endpoint: Callable[[Any], Any], form: type[AnswerT], **request: Any) -> tuple[AnswerT, float]:
        """Send a request within the budget; return the answer and its duration, s."""
        if self.meter is not None:
            self.meter.check()
        started = time.monotonic()
        try:
            answer = self.client.call(endpoint, form, model=self.client.model, **request)
        except ModelError as error:
            raise SearchError(str(error)) from None
        return answer, time.monotonic() - started

    def _charge(self, usage: Usage | None, seconds: float) -> None:
        if self.meter is not None:
            dollars = None if usage is None else self.prices.dollars(self.model, usage)
            self.meter.charge((usage or Usage()).model_copy(update={"dollars": dollars}), seconds)

    def _results(self, text: str, pages: Iterable[WebResult]) -> tuple[WebResult, ...]:
        answer = WebResult(f"Answer of {self.client.service.name}'s web search", "", text)
        return tidy((answer, *pages), self.most)


class AnthropicSearch(_HostedSearch):
    """Searches with Anthropic's web search tool."""

    def search(self, query: str) -> tuple[WebResult, ...]:
        """Return the answer, then the passages that it cites; see `WebSearch`."""
        tool = {"type": "web_search_20260318", "name": "web_search", "max_uses": MAX_SEARCHES,
                "allowed_callers": ["direct"]}  # fmt: skip
        request: dict[str, Any] = {"max_tokens": 4000, "tools": [tool]}
        messages: list[Any] = [{"role": "user", "content": QUESTION.format(query=query)}]
        blocks: list[_Block] = []
        for _ in range(1 + MAX_PAUSES):
            message, seconds = self._call(
                lambda sdk: sdk.messages.with_raw_response.create, _Message, messages=messages, **request
            )
            self._charge(message.usage.as_usage() if message.usage else None, seconds)
            content = [_Block.model_validate(block) for block in message.content]
            blocks += content
            if message.stop_reason != "pause_turn":
                break
            messages.append({"role": "assistant", "content": list(message.content)})
        text = "".join(block.text for block in blocks if block.type == "text")
        if not text:
            codes = [
                str(block.content.get("error_code"))
                for block in blocks
                if block.type == "web_search_tool_result" and isinstance(block.content, dict)
            ]
            why = f" ({', '.join(codes)})" if codes else ""
            raise SearchError(f"Anthropic's search found nothing{why}.")
        cited = (citation for block in blocks for citation in block.citations or ())
        return self._results(text, (WebResult(one.title or "", one.url, one.cited_text) for one in cited))


class OpenAISearch(_HostedSearch):
    """Searches with OpenAI's web search tool."""

    def search(self, query: str) -> tuple[WebResult, ...]:
        """Return the answer, then the pages that it cites; see `WebSearch`."""
        response, seconds = self._call(
            lambda sdk: sdk.responses.with_raw_response.create,
            _Response,
            input=QUESTION.format(query=query),
            tools=[{"type": "web_search"}],
            max_tool_calls=MAX_SEARCHES,
            store=False,
        )
        searches = sum(item.type == "web_search_call" for item in response.output)
        self._charge(response.usage.as_usage(searches) if response.usage else None, seconds)
        messages = [item for item in response.output if item.type == "message"]
        contents = [part for item in messages for part in item.content or () if part.type == "output_text"]
        text = "".join(content.text for content in contents)
        if not text:
            raise SearchError("OpenAI's search returned no answer.")
        cited = (note for content in contents for note in content.annotations if note.type == "url_citation")
        return self._results(text, (WebResult(note.title, note.url, "") for note in cited))


class _Web(CamelAnswer):
    uri: str = ""
    title: str = ""


class _Chunk(CamelAnswer):
    web: _Web = _Web()


class _Grounded(gemini_api.Candidate):
    chunks: tuple[_Chunk, ...] = nested((), "groundingMetadata", "groundingChunks")
    queries: tuple[str, ...] = nested((), "groundingMetadata", "webSearchQueries")


class _GroundedResponse(CamelAnswer):
    candidates: tuple[_Grounded, ...] = ()
    usage_metadata: gemini_api.Counts


class GeminiSearch(_HostedSearch):
    """Searches with Google Search, through Gemini's grounding."""

    def search(self, query: str) -> tuple[WebResult, ...]:
        """Return the answer, then the pages that it is grounded in; see `WebSearch`."""
        config = {"tools": [{"google_search": {}}], "should_return_http_response": True}
        response, seconds = self._call(
            lambda sdk: sdk.models.generate_content,
            _GroundedResponse,
            contents=QUESTION.format(query=query),
            config=config,
        )
        candidates = response.candidates[:1]
        searches = sum(len(one.queries) for one in candidates)
        self._charge(response.usage_metadata.as_usage(searches), seconds)
        text = "".join(one.text for one in candidates)
        if not text:
            raise SearchError("Google's search found nothing.")
        pages = (chunk.web for one in candidates for chunk in one.chunks)
        return self._results(text, (WebResult(page.title, page.uri, "") for page in pages))
