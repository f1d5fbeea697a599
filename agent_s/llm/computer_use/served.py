"""Open models behind an OpenAI-compatible server, which write actions and places as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aci.observation.geometry import Point
from aci.observation.observation import Observation
from agent_s.errors import MalformedResponse
from agent_s.llm.computer_use.dialogue import listed, recorded
from agent_s.llm.computer_use.formats import Language, ModelFormat
from agent_s.llm.computer_use.inputs import Hand, act
from agent_s.llm.computer_use.languages import ACTIONS, find_place, read
from agent_s.llm.computer_use.turns import Call, Result, Turn, carried_out
from agent_s.llm.conversation import Conversation, Picture, Reply, Text
from agent_s.llm.prompting.rendering import Renderer
from agent_s.llm.protocol import GroundContext, GroundResponse, ModelRequest, ModelResponse
from agent_s.llm.providers.chat import as_content, exchange
from agent_s.llm.providers.provider import ProviderModel
from agent_s.llm.providers.sdk_client import SdkClient
from agent_s.llm.providers.structured import Unreadable, without_thinking
from agent_s.records import Usage
from agent_s.settings import RequestSettings

PROMPTS = "computer_use_formats.md.j2"


@dataclass
class ServedDialogue:
    """A conversation with a model that acts in a language of its own; see `Dialogue`.

    Only the last pictures are sent (`provider.max_pictures`); the text before them stays.
    """

    client: SdkClient
    settings: RequestSettings
    renderer: Renderer
    format: ModelFormat
    language: Language
    turns: list[tuple[str, str | Picture]] = field(default_factory=list)  # role, and a text or a picture
    _hand: Hand | None = None

    def open(self, request: str, observation: Observation) -> None:
        """See `Dialogue.open`."""
        self.turns += [("user", request), ("user", self._shot(observation))]

    def report(self, turn: Turn, results: Sequence[Result], notes: str, now: Observation, declined: bool) -> None:
        """See `Dialogue.report`."""
        told = "What came of your actions:\n" + listed(results) if results else ""
        self.turns += [("user", text) for text in (told, notes) if text]
        pointer = self._hand.left_at(carried_out(results)) if self._hand is not None else None
        self.turns.append(("user", self._shot(now, pointer)))

    def sent(self) -> Conversation:
        """See `Dialogue.sent`."""
        return Conversation(
            self._system(), tuple(recorded(one["role"], one["content"]) for one in self._messages()), ""
        )

    def ask(self) -> Turn:
        """See `Dialogue.ask`."""
        assert self._hand is not None  # `open` comes first.
        request: dict[str, Any] = {
            "model": self.client.model,
            "messages": [{"role": "system", "content": self._system()}, *self._messages()],
            "max_tokens": self.settings.max_output_tokens,
            "extra_body": self.format.body,
        }
        reply = exchange(self.client, request)
        self.turns.append(("assistant", without_thinking(reply.text) or "(nothing)"))
        try:
            thought, said = read(reply.text, self.language)
        except Unreadable as problem:
            return Turn((Call("", "answer", problem=str(problem)),), reply, reply.text)
        calls = []
        for one in said:
            try:
                calls.append(Call("", one[0], act(*one, self._hand, ACTIONS[self.language])))
            except Unreadable as problem:
                calls.append(Call("", one[0], problem=str(problem)))
        return Turn(tuple(calls), replace(reply, text=thought), reply.text)

    def _shot(self, observation: Observation, pointer: Point | None = None) -> Picture:
        frame = self.format.frame(observation.screen)
        self._hand = Hand(frame, pointer)
        return frame.shot(observation)

    def _system(self) -> str:
        assert self._hand is not None  # `open` comes first.
        across, down = self._hand.frame.axes
        return self.renderer.block(PROMPTS, self.language, {"width": across, "height": down})

    def _messages(self) -> list[dict[str, Any]]:
        pictures = [place for place, (_, part) in enumerate(self.turns) if isinstance(part, Picture)]
        sent = set(pictures[-max(1, self.settings.max_pictures) :])
        messages: list[dict[str, Any]] = []
        for place, (role, part) in enumerate(self.turns):
            if isinstance(part, Picture) and place not in sent:
                continue
            if role == "assistant":
                messages.append({"role": role, "content": part})
                continue
            if not messages or messages[-1]["role"] != role:
                messages.append({"role": role, "content": []})
            messages[-1]["content"].append(_part(part))
        return messages


@dataclass(eq=False)
class GroundingModel:
    """Finds what a description names in a picture; answers nothing but `ground`."""

    model: ProviderModel  # the model, behind a server with chat completions
    format: ModelFormat

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.model.name

    def check(self, asked_to_stop: Callable[[], bool] = lambda: False) -> None:
        """Check that server and model are available; see `ProviderModel.check`."""
        self.model.check(asked_to_stop)

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer one request; an answer without a place is sent back once.

        Raises:
            ModelError: As `ProviderModel.complete`.
        """
        context = request.context
        if not isinstance(context, GroundContext):
            raise MalformedResponse(f"{self.name} only finds places; it cannot answer {context.kind!r}.")
        frame = self.format.frame(context.part)
        values = {"description": context.description, "width": frame.axes[0], "height": frame.axes[1]}
        system = self.model.renderer.block(PROMPTS, f"{self.format.points}_point", values)
        question = [_part(frame.shot(context.observation)), _part(context.description)]
        messages: list[dict[str, Any]] = [{"role": "system", "content": system}, {"role": "user", "content": question}]
        usage, problem = Usage(dollars=0.0), ""
        for requests in (1, 2):
            reply = self._ask(messages, request)
            usage = usage + reply.usage
            try:
                point = frame.point(*find_place(reply.text, self.format.points))
            except Unreadable as error:
                problem = str(error)
                messages += [
                    {"role": "assistant", "content": without_thinking(reply.text) or "(nothing)"},
                    {"role": "user", "content": self.model.renderer.retry(problem)},
                ]
                continue
            output = GroundResponse(x=point.x, y=point.y)
            return ModelResponse(output, usage, {"request_id": reply.request_id, "requests": requests})
        raise MalformedResponse(f"{self.name} gave two answers without a place: {problem}.")

    def _ask(self, messages: list[dict[str, Any]], request: ModelRequest) -> Reply:
        model = self.model
        sent = {
            "model": model.client.model,
            "messages": messages,
            "max_tokens": model.settings.for_role("act").max_output_tokens,
            "extra_body": self.format.body,
        }
        turns = tuple(recorded(one["role"], one["content"]) for one in messages[1:])
        told = Conversation(str(messages[0]["content"]), turns, "")
        return model.exchange(lambda: exchange(model.client, sent), request, told)


def _part(part: str | Picture) -> dict[str, Any]:
    return as_content(Text(part) if isinstance(part, str) else part)
