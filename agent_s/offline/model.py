"""The offline model, which answers model requests by means of the command language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agent_s.errors import ModelError
from agent_s.llm.protocol import (
    CompareResponse,
    Kind,
    ModelRequest,
    ModelResponse,
    Response,
    SummariesResponse,
    SummarizeContext,
    VerifyContext,
    VerifyResponse,
)
from agent_s.offline import wording
from agent_s.offline.commands.base import Seen
from agent_s.offline.finding.screen import Screen
from agent_s.offline.planning import act, commands_of, make_plan
from agent_s.offline.proposing import propose
from agent_s.records import Usage

_FREE = Usage(dollars=0.0)


class OfflineModel:
    """A deterministic, stateless model that carries out sentences of the command language.

    Attributes:
        name: The name in events and reports.
    """

    name = "offline"

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer one request; see `agent_s.llm.protocol.Model`."""
        if request.kind == "ground":
            raise ModelError("The offline model finds nothing by a description. Set grounding.model.")
        answer = _ANSWERS.get(request.kind)
        # It cannot answer other requests, as it has no knowledge beyond its rules.
        output = request.response_type() if answer is None else answer(request.context)
        return ModelResponse(output=output, usage=_FREE)


def verify(context: VerifyContext) -> VerifyResponse:
    """Judge a finished task by the screens observed during it.

    It is verified if visible evidence proves its lasting effects, refuted if something contradicts one of them, and
    otherwise undecided.
    """
    last = Screen(context.observation)
    proofs: list[str] = []
    refuted: list[str] = []
    undecided: list[str] = []
    proves_lasting = False
    for number, (subtask, steps) in enumerate(context.done):
        later = next((steps[0].observation for _, steps in context.done[number + 1 :] if steps), context.observation)
        commands = commands_of(subtask, context.task.instruction)
        undecided += [] if commands else [subtask.name]
        for command in commands:
            verdict, evidence = command.judge(Seen(steps, Screen(later), last))
            proofs += [evidence] if verdict else []
            refuted += [evidence] if verdict is False else []
            undecided += [subtask.name] if verdict is None and command.lasting else []
            proves_lasting = proves_lasting or bool(verdict and command.lasting)
    if refuted:
        return VerifyResponse(verified=False, reason=refuted[0], evidence=tuple(refuted))
    if proves_lasting and not undecided:
        return VerifyResponse(verified=True, reason="what was asked can be seen to hold", evidence=tuple(proofs))
    reason = f"nothing seen decides {undecided[0]!r}" if undecided else "nothing seen decides it"
    return VerifyResponse(verified=None, reason=reason, evidence=tuple(proofs))


def _summarize(context: SummarizeContext) -> SummariesResponse:
    return SummariesResponse(summaries=tuple(draft.text for draft in context.drafts))


_ANSWERS: Mapping[Kind, Callable[[Any], Response]] = {
    "query": wording.query,
    "plan": make_plan,
    "act": act,
    "reflect": wording.reflect,
    "summarize": _summarize,
    "verify": verify,
    "propose_tasks": propose,
    "compare": lambda _: CompareResponse(reason="the offline model reads no narratives"),
}
