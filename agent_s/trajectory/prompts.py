"""Prompts and answers of a run for people, without parts that an earlier prompt already showed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from agent_s.events import Exchange, ModelCalled, SentPicture
from agent_s.records import Usage

Part = tuple[str, str | SentPicture]  # role of a turn, and one of its parts


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt with its answer; parts that were shown before are referred to, not repeated."""

    system: str  # instructions; empty if they are those of `like`
    schema: str  # the answer's JSON schema; empty if there is none, or if it is that of `like`
    like: int  # number of the call whose instructions and first parts it repeats; 0 for none
    repeated: int  # number of parts at the beginning that `like` has as well
    parts: tuple[Part, ...]  # the other parts
    reply: str
    stop: str
    problem: str


@dataclass(frozen=True, slots=True)
class Call:
    """A model call with its prompts."""

    number: int  # from 1
    event: ModelCalled
    prompts: tuple[Prompt, ...]  # empty if the model takes the request object directly


class CallList:
    """Numbers the calls of a run, and removes parts that an earlier prompt already showed.

    Args:
        whole: Whether to keep such parts.
    """

    def __init__(self, whole: bool = False) -> None:
        self._whole = whole
        self._count = 0
        self._shown: dict[str, tuple[int, list[Part], str]] = {}

    def add(self, event: ModelCalled) -> Call:
        """Return the next call."""
        self._count += 1
        prompts = []
        for exchange in event.exchanges:
            known = (0, [], "") if self._whole else self._shown.get(exchange.system, (0, [], ""))
            prompts.append(_without_repetition(exchange, *known))
            self._shown[exchange.system] = (self._count, _parts(exchange), exchange.answer_schema)
        return Call(self._count, event, tuple(prompts))


def list_calls(events: Iterable[ModelCalled], whole: bool = False) -> list[Call]:
    """Return the calls of a run, oldest first.

    Args:
        events: The calls as recorded.
        whole: Whether to repeat parts that an earlier prompt already showed.
    """
    calls = CallList(whole)
    return [calls.add(event) for event in events]


def describe_call(call: Call) -> Iterator[str]:
    """Yield a call as lines of text."""
    event = call.event
    yield f"Call {call.number}: {event.call}, {event.model}, {event.seconds:.1f} s{describe_cost(event.usage)}"
    if not call.prompts:
        yield "  There is no prompt: this model reads the values themselves."
    for prompt in call.prompts:
        if prompt.system:
            yield from _block("Instructions", prompt.system)
        if prompt.schema:
            yield from _block("Schema of the answer", prompt.schema)
        if prompt.like:
            same = {0: "", 1: " and the first part"}.get(prompt.repeated, f" and the first {prompt.repeated} parts")
            yield f"  Instructions{same}: as in call {prompt.like}"
        for role, parts in groupby(prompt.parts, key=itemgetter(0)):
            yield from _block(role.capitalize(), "\n".join(describe_part(part) for _, part in parts))
        yield from _block(f"Answer ({prompt.stop})" if prompt.stop else "Answer", prompt.reply or "(none)")
        if prompt.problem:
            yield f"  Problem: {prompt.problem}"
    if not call.prompts and event.answer:
        yield f"  Answer: {event.answer}"
    if event.error:
        yield f"  Error: {event.error}"


def describe_part(part: str | SentPicture) -> str:
    """Return a part as text; a picture is described by its file."""
    return part if isinstance(part, str) else f"[picture {part.file}, {part.width}x{part.height}]"


def describe_cost(usage: Usage) -> str:
    """Return tokens and dollars, such as ", 1200 tokens in (900 cached), 80 out, $0.0042"; empty if there are none."""
    if not usage.tokens:
        return ""
    cached = f" ({usage.cached_tokens} cached)" if usage.cached_tokens else ""
    dollars = "" if usage.dollars is None else f", ${usage.dollars:.4f}"
    return f", {usage.input_tokens} tokens in{cached}, {usage.output_tokens} out{dollars}"


def _without_repetition(exchange: Exchange, like: int, shown: Sequence[Part], schema: str) -> Prompt:
    parts = _parts(exchange)
    same = [before == now for before, now in zip(shown, parts, strict=False)]
    repeated = same.index(False) if False in same else len(same)
    return Prompt(
        system="" if like else exchange.system,
        schema="" if like and exchange.answer_schema == schema else exchange.answer_schema,
        like=like,
        repeated=repeated,
        parts=tuple(parts[repeated:]),
        reply=exchange.reply,
        stop=exchange.stop,
        problem=exchange.problem,
    )


def _parts(exchange: Exchange) -> list[Part]:
    return [(turn.role, part) for turn in exchange.turns for part in turn.parts]


def _block(title: str, text: str) -> Iterator[str]:
    yield f"  {title}:"
    yield from (f"    {line}" for line in text.split("\n"))
