"""Provider-independent conversations of text and pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from agent_s.records import NO_USAGE, Usage

Role = Literal["user", "assistant"]

Stop = Literal["end", "length", "refusal", "filter", "context"]
"""Why a model stopped: it finished, reached the token limit, refused, was cut off by a content filter, or the
conversation exceeds its context window."""


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
    """The content of one request.

    Attributes:
        system: Instructions; the same text in every request of this kind.
        messages: Turns, oldest first; the first one is the user's.
        key: The same for requests with the same beginning, so that a provider can route them to the same cache.
    """

    system: str
    messages: tuple[Message, ...]
    key: str

    def extended(self, *messages: Message) -> Conversation:
        """Return the conversation with more turns at its end."""
        return Conversation(self.system, (*self.messages, *messages), self.key)


@dataclass(frozen=True, slots=True)
class Reply:
    """A provider's answer.

    Attributes:
        text: The answer, not yet parsed; may be empty.
        stop: Why it ends.
        usage: Tokens used; without a cost.
        explanation: The provider's explanation of a refusal or a filter.
        request_id: The provider's id of the request, for its support.
    """

    text: str
    stop: Stop = "end"
    usage: Usage = NO_USAGE
    explanation: str = ""
    request_id: str = ""
