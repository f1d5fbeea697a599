"""The offline model: the same calls as a language model, answered by a grammar and policies."""

from __future__ import annotations

from agent_s.llm.protocol import (
    ActContext,
    Context,
    ModelRequest,
    ModelResponse,
    NamingContext,
    NamingResponse,
    PlanContext,
    ProposalContext,
    QueryContext,
    ReflectContext,
    Response,
    SubtaskSummaryContext,
    TaskSummaryContext,
    VerifyContext,
)
from agent_s.offline import telling
from agent_s.offline.acting import act
from agent_s.offline.planning import make_plan
from agent_s.offline.proposing import propose
from agent_s.offline.verifying import verify
from agent_s.records import Usage

FREE = Usage(dollars=0.0)


class OfflineModel:
    """Follows plain English instructions without a network; deterministic, and without any state of its own.

    Attributes:
        name: How it is called in events and reports.
    """

    name = "offline"

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer one request; see `agent_s.llm.protocol.Model`."""
        return ModelResponse(output=_answer(request.context), usage=FREE)


def _answer(context: Context) -> Response:
    match context:
        case QueryContext():
            return telling.ask(context)
        case PlanContext():
            plan = make_plan(context)
            return plan.model_copy(update={"guideline": telling.guideline(context)})
        case ActContext():
            return act(context)
        case ReflectContext():
            return telling.reflect(context)
        case SubtaskSummaryContext():
            return telling.summarize_subtask(context)
        case TaskSummaryContext():
            return telling.summarize_task(context)
        case VerifyContext():
            return verify(context)
        case ProposalContext():
            return propose(context)
        case NamingContext():
            return NamingResponse()  # the rules by which an exploration names are as good
