"""Vane, formerly Perplexica (the paper's search engine), and Perplexica up to 1.12."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from agent_s.errors import SearchError, SettingsError
from agent_s.llm.protocol import WebResult
from agent_s.llm.providers.sdk_client import Answer, nested
from agent_s.search import WebSearch, tidy
from agent_s.search.http import Refused, Server

Kind = Literal["vane", "perplexica"]
NAMES: dict[Kind, str] = {"vane": "Vane", "perplexica": "Perplexica"}


class _Source(Answer):
    content: str = ""
    page_content: str = Field("", alias="pageContent")
    title: str = nested("", "metadata", "title")
    url: str = nested("", "metadata", "url")


class _Found(Answer):
    message: str
    sources: tuple[_Source, ...] = ()


class _Model(Answer):
    key: str
    name: str = ""


class _Provider(Answer):
    id: str
    name: str = ""
    chat_models: tuple[_Model, ...] = Field((), alias="chatModels")
    embedding_models: tuple[_Model, ...] = Field((), alias="embeddingModels")


class _Providers(Answer):
    providers: tuple[_Provider, ...]


@dataclass(eq=False)
class VaneSearch(WebSearch):
    """Searches with a Vane server, which reads pages and answers with its own model.

    Raises:
        SettingsError: The address is not a URL, or a model is named for `perplexica`, which chooses its own.
    """

    address: str  # base URL, such as "http://localhost:3000"
    kind: Kind = "vane"  # `perplexica` for servers up to 1.12, which have another interface
    chat_model: str | None = None  # key of the model that writes the answer; the server's first by default
    embedding_model: str | None = None  # key of the model that ranks pages; the server's first by default
    most: int = 5  # maximum number of results, including the answer
    timeout_s: float = 20.0  # longest wait for one exchange, s

    def __post_init__(self) -> None:
        self._server = Server(NAMES[self.kind], self.address, self.timeout_s)
        if self.kind == "perplexica" and (self.chat_model or self.embedding_model):
            raise SettingsError("search.chat_model and search.embedding_model are for Vane; set them in Perplexica.")

    def search(self, query: str) -> tuple[WebResult, ...]:
        """Return the answer, then its sources; see `WebSearch`."""
        body: dict[str, Any] = {"query": query, "optimizationMode": "speed", "history": []}
        body |= {"focusMode": "webSearch"} if self.kind == "perplexica" else self._vane_fields
        found = self._server.ask("POST", "/api/search", _Found, json=body)
        answer = WebResult(f"Answer of {self._server.name}", "", found.message)
        pages = (WebResult(source.title, source.url, source.content or source.page_content) for source in found.sources)
        return tidy((answer, *pages), self.most)

    def cancel(self) -> None:
        """Cancel the searches that other threads are waiting for."""
        self._server.cancel()

    @cached_property
    def _vane_fields(self) -> dict[str, Any]:
        """The fields that only Vane has, with the models to use; the server is asked for its models once."""
        try:
            providers = self._server.ask("GET", "/api/providers", _Providers).providers
        except Refused as error:
            if error.status != 404:
                raise
            raise SearchError(
                f"The server at {self._server.address} is older than Vane. Set search.engine to perplexica."
            ) from error
        chat = [(provider.id, model.key) for provider in providers for model in provider.chat_models]
        embedding = [(provider.id, model.key) for provider in providers for model in provider.embedding_models]
        return {
            "sources": ["web"],
            "stream": False,
            "chatModel": self._chosen(chat, self.chat_model, "chat_model"),
            "embeddingModel": self._chosen(embedding, self.embedding_model, "embedding_model"),
        }

    def _chosen(self, models: list[tuple[str, str]], wanted: str | None, setting: str) -> dict[str, str]:
        matches = [pair for pair in models if wanted in (None, pair[1])]
        if not matches:
            known = ", ".join(key for _, key in models) or "none; add one in its settings"
            lacks = f"has no model {wanted!r}" if wanted else "has no model"
            raise SearchError(f"Vane at {self._server.address} {lacks} for search.{setting}. It knows: {known}.")
        return {"providerId": matches[0][0], "key": matches[0][1]}
