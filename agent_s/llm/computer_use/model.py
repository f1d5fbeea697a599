"""A Worker that operates the screen by pixels, with the computer tool that its model was trained on.

The tool is a front end: what the model asks for becomes the same primitives as anybody else's, and goes through the
same policy, budgets, records and memory. All other questions are asked as usual.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from agent_s.errors import MalformedResponse, ResponseCutOff
from agent_s.llm.computer_use.dialogue import Dialogue
from agent_s.llm.computer_use.turns import Turn, results
from agent_s.llm.conversation import Reply
from agent_s.llm.prompting.rendering import Renderer
from agent_s.llm.protocol import ActContext, ActResponse, ModelRequest, ModelResponse
from agent_s.llm.providers.provider import ProviderModel
from agent_s.records import Subtask, Usage

TEMPLATE = "computer_use.md.j2"

Opener = Callable[[str], Dialogue]  # makes the dialogue of a subtask, given a key for the provider's cache


@dataclass
class _Subtask:
    """The conversation about a subtask."""

    task_id: str
    subtask: Subtask
    dialogue: Dialogue
    turn: Turn | None = None  # the model's last turn
    known: tuple[int, ...] = ()  # numbers of the steps that the conversation holds


@dataclass(eq=False)
class ComputerModel:
    """Answers `act` with a computer tool, and everything else with the same model without it."""

    model: ProviderModel  # the model; its renderer writes what is asked
    opener: Opener
    _current: _Subtask | None = field(default=None, init=False)

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.model.name

    def check(self, asked_to_stop: Callable[[], bool] = lambda: False) -> None:
        """Check that provider, key and model are available; see `ProviderModel.check`."""
        self.model.check(asked_to_stop)

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer one request; a turn that cannot be carried out is sent back once, with the reason.

        Raises:
            ModelError: As `ProviderModel.complete`.
        """
        context = request.context
        if not isinstance(context, ActContext):
            return self.model.complete(request)
        current = self._continued(context, request)
        usage, problem = Usage(dollars=0.0), ""
        for requests in (1, 2):
            turn, spent = self._ask(current.dialogue, request)
            usage = usage + spent
            current.turn = turn
            if turn.actions:
                return self._answer(turn, usage, requests)
            came = tuple(results(turn, (), context.observation))
            problem = came[0].text if came else "it calls no tool; use done, fail or call_user to end or to ask"
            told = "" if came else "Your answer calls no tool. Go on, or call done, fail or call_user."
            # Nobody was asked about the checks of a turn that is not carried out, so they must not be acknowledged.
            told = "\n".join(filter(None, (problem if turn.checks else "", told)))
            current.dialogue.report(turn, came, told, context.observation, declined=bool(turn.checks))
        raise MalformedResponse(f"{self.model.name} gave two answers that cannot be carried out: {problem}.")

    def _ask(self, dialogue: Dialogue, request: ModelRequest) -> tuple[Turn, Usage]:
        turns: list[Turn] = []

        def ask() -> Reply:
            turns.append(dialogue.ask())
            return replace(turns[-1].reply, text=turns[-1].said)

        reply = self.model.exchange(ask, request, dialogue.sent())
        if reply.stop == "length":
            raise ResponseCutOff(
                f"{self.model.name} gave an answer that is too long; raise provider.max_output_tokens."
            )
        return turns[-1], reply.usage

    def _answer(self, turn: Turn, usage: Usage, requests: int) -> ModelResponse:
        first, *then = turn.actions
        output = ActResponse(
            next_action=turn.reply.text.strip(), action=first, then=tuple(then), safety_checks=turn.checks
        )
        return ModelResponse(output, usage, {"request_id": turn.reply.request_id, "requests": requests})

    def _continued(self, context: ActContext, request: ModelRequest) -> _Subtask:
        """Return the conversation about the subtask, with the result of the last turn; a new one if it is another."""
        current, renderer = self._current, self.model.renderer
        taken = tuple(step.number for step in context.steps)
        if current is not None and current.turn is not None and _continues(current, context, taken):
            steps = context.steps[len(current.known) :]
            declined = bool(current.turn.checks) and (not steps or steps[0].result.refusal == "not_confirmed")
            current.dialogue.report(
                current.turn,
                tuple(results(current.turn, steps, context.observation)),
                notes(renderer, context, request),
                context.observation,
                declined,
            )
            current.known, current.turn = taken, None
            return current
        asked = brief(renderer, context, request)
        dialogue = self.opener(asked.key)
        dialogue.open(asked.request, context.observation)
        self._current = _Subtask(context.task.id, context.subtask, dialogue, known=taken)
        return self._current


def _continues(current: _Subtask, context: ActContext, taken: tuple[int, ...]) -> bool:
    """Return whether a request follows on the last turn: the new steps are its primitives."""
    known, turn = len(current.known), current.turn
    if (current.task_id, current.subtask) != (context.task.id, context.subtask) or taken[:known] != current.known:
        return False
    performed = [step.response.action for step in context.steps[known:]]
    return turn is not None and performed == list(turn.actions[: len(performed)])


@dataclass(frozen=True, slots=True)
class Briefing:
    """The words with which a subtask begins."""

    request: str  # what is to be done
    key: str  # the same for all requests of the subtask


def brief(renderer: Renderer, context: ActContext, request: ModelRequest) -> Briefing:
    """Return the words with which the conversation about a subtask begins."""
    values = _values(context, request)
    asked = renderer.block("act.md.j2", "request", values)
    earlier = renderer.block(TEMPLATE, "earlier", {"steps": context.steps})
    words = f"{earlier}\n\n{asked}" if earlier else asked
    return Briefing(words, hashlib.sha256(words.encode()).hexdigest()[:32])


def notes(renderer: Renderer, context: ActContext, request: ModelRequest) -> str:
    """Return the notes for the Worker besides the results of its actions; may be empty."""
    return renderer.block(TEMPLATE, "notes", _values(context, request))


def _values(context: ActContext, request: ModelRequest) -> dict[str, Any]:
    values = {name: getattr(context, name) for name in context.__dataclass_fields__}
    # The tool has forms of its own for several primitives and for places.
    return values | {"machine": request.machine, "max_actions": 1, "descriptions": False}
