"""Provider-independent conversations of text and pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from agent_s.events import Exchange, SentPicture, Turn
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
    """An encoded picture."""

    data: bytes = field(repr=False)  # the file's bytes
    media_type: Literal["image/png", "image/jpeg"]  # such as "image/png"
    width: int  # px
    height: int  # px


Part = Text | Picture


@dataclass(frozen=True, slots=True)
class Message:
    """One turn."""

    role: Role
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """The content of one request."""

    system: str  # instructions; the same text in every request of this kind
    messages: tuple[Message, ...]  # turns, oldest first; the first one is the user's
    key: str  # cache key: equal for requests with the same prefix, so that a provider routes them to the same cache

    def extended(self, *messages: Message) -> Conversation:
        """Return the conversation with more turns appended."""
        return Conversation(self.system, (*self.messages, *messages), self.key)


@dataclass(frozen=True, slots=True)
class Reply:
    """A provider's answer."""

    text: str  # the answer, not yet parsed; may be empty
    stop: Stop = "end"  # why it ends
    usage: Usage = NO_USAGE  # tokens used; without a cost
    explanation: str = ""  # the provider's explanation of a refusal or a filter
    request_id: str = ""  # the provider's id of the request, for its support


def as_exchange(conversation: Conversation, answer_schema: str, reply: Reply | None, problem: str = "") -> Exchange:
    """Return a conversation and its answer, if there is one, as an exchange for the recording."""
    turns = tuple(Turn(role=one.role, parts=tuple(map(_recorded, one.parts))) for one in conversation.messages)
    answer = {} if reply is None else {"reply": reply.text, "stop": reply.stop, "problem": reply.explanation}
    return Exchange.model_validate(
        {"system": conversation.system, "turns": turns, "answer_schema": answer_schema, "problem": problem, **answer}
    )


def _recorded(part: Part) -> str | SentPicture:
    if isinstance(part, Text):
        return part.text
    return SentPicture(media_type=part.media_type, width=part.width, height=part.height, data=part.data)
