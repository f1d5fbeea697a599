"""The offline model: answers the calls of a language model by the command language."""

from __future__ import annotations

from agent_s.errors import ModelError
from agent_s.llm.protocol import (
    ActContext,
    CompareContext,
    CompareResponse,
    Context,
    ErrorsContext,
    ErrorsResponse,
    GroundContext,
    ModelRequest,
    ModelResponse,
    NamingContext,
    NamingResponse,
    PlanContext,
    ProposalContext,
    QueryContext,
    ReflectContext,
    Response,
    SameContext,
    SameResponse,
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
    """Carries out the sentences of the command language; deterministic, and without any state of its own.

    Attributes:
        name: The name in events and reports.
    """

    name = "offline"

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer one request; see `agent_s.llm.protocol.Model`."""
        return ModelResponse(output=_answer(request.context), usage=_FREE)


def _answer(context: Context) -> Response:  # noqa: C901 - one case per context
    match context:
        case QueryContext():
            return wording.query(context)
        case PlanContext():
            return make_plan(context)
        case ActContext():
            return act(context)
        case ReflectContext():
            return wording.reflect(context)
        case SummarizeContext():
            return SummariesResponse(summaries=tuple(draft.text for draft in context.drafts))
        case VerifyContext():
            return verify(context)
        case ProposalContext():
            return propose(context)
        case NamingContext():
            return NamingResponse()  # an exploration names functions by rules that are as good
        case ErrorsContext():
            return ErrorsResponse()  # it knows no more than the rules
        case CompareContext():
            return CompareResponse(reason="the offline model reads no narratives")
        case SameContext():
            return SameResponse()  # it knows no more than the rules
        case GroundContext():
            raise ModelError("The offline model finds nothing by a description. Set grounding.model.")


def verify(context: VerifyContext) -> VerifyResponse:
    """Judge a finished task by the screens that were seen while it was done.

    It is verified where something that can be seen proves its lasting effects, refuted where something contradicts one,
    and undecided otherwise.
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
