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
)
from agent_s.offline import wording
from agent_s.offline.planning import act, make_plan
from agent_s.offline.proposing import propose
from agent_s.offline.verifying import verify
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
