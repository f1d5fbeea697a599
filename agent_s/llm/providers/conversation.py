"""A conversation with a model that reads text and pictures, before it takes the form of any provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Role = Literal["user", "assistant"]

Stop = Literal["end", "length", "refusal", "filter", "context"]
"""Why a model stopped: it had finished, reached the longest answer, refused, was cut off by a content filter, or
the conversation is longer than it can read."""


@dataclass(frozen=True, slots=True)
class Text:
    """Text, without lone surrogates."""

    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """An encoded picture.

    Attributes:
        data: The file's bytes.
        media_type: Such as "image/png".
        width: px.
        height: px.
    """

    data: bytes = field(repr=False)
    media_type: Literal["image/png", "image/jpeg"]
    width: int
    height: int


Part = Text | Picture


@dataclass(frozen=True, slots=True)
class Message:
    """One turn."""

    role: Role
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """What one request sends.

    Attributes:
        system: Instructions; the same text in every request of this kind.
        messages: Turns, oldest first; the first one is the user's.
        key: The same for requests that begin alike, so that a provider can send them to the same cache.
    """

    system: str
    messages: tuple[Message, ...]
    key: str

    def extended(self, *messages: Message) -> Conversation:
        """Return the conversation with more turns at its end."""
        return Conversation(self.system, (*self.messages, *messages), self.key)


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens of one request.

    Attributes:
        input_tokens: All that was sent, the cached ones included.
        cached_tokens: Read from the provider's cache.
        written_tokens: Written to it, where that has a price of its own.
        output_tokens: Received.
        searches: Searches of the web that the provider made for it.
    """

    input_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    output_tokens: int = 0
    searches: int = 0

    def __add__(self, other: Spent) -> Spent:
        """Add two requests up."""
        return Spent(
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.written_tokens + other.written_tokens,
            self.output_tokens + other.output_tokens,
            self.searches + other.searches,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What a provider answered.

    Attributes:
        text: The answer, not yet read; empty where there is none.
        stop: Why it ends.
        spent: What it used.
        explanation: What the provider says about a refusal or a filter.
        request_id: The provider's name for the request, for asking its support.
    """

    text: str
    stop: Stop = "end"
    spent: Spent = Spent()
    explanation: str = ""
    request_id: str = ""
