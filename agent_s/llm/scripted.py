"""A model that answers from a script, for tests of custom loops without a provider."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from agent_s.errors import ModelError
from agent_s.llm.protocol import (
    Kind,
    ModelRequest,
    ModelResponse,
    PlannedNode,
    PlanResponse,
    QueryResponse,
    Response,
    SummariesResponse,
    SummarizeContext,
    VerifyResponse,
)

Answer = Response | Callable[[ModelRequest], Response] | Exception
"""A response, a function of the request, or an exception to raise."""


class ScriptedModel:
    """Returns scripted answers in order, from one queue for each kind of request.

    Requests of a kind without a script get a default answer, so that a test scripts only what it is about: the
    instruction as the only subtask, an empty reflection, no verdict. `act` and `ground` have no default.

    Attributes:
        requests: The requests it received, oldest first.
    """

    name = "scripted"

    def __init__(self, answers: Mapping[Kind, Iterable[Answer]]) -> None:
        self.requests: list[ModelRequest] = []
        self._answers = {kind: iter(queue) for kind, queue in answers.items()}

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the next scripted answer.

        Raises:
            ModelError: The script for this kind of request has ended, or the answer has the wrong type.
        """
        self.requests.append(request)
        answer = self._next(request)
        if isinstance(answer, Exception):
            raise answer
        if not isinstance(answer, request.response_type):
            raise ModelError(f"The script answers {request.kind!r} with {type(answer).__name__}.")
        return ModelResponse(answer)

    def _next(self, request: ModelRequest) -> Response | Exception:
        if request.kind not in self._answers:
            return _default(request)
        answer = next(self._answers[request.kind], None)
        if answer is None:
            raise ModelError(f"The script has no more answers of kind {request.kind!r}.")
        return answer if isinstance(answer, Response | Exception) else answer(request)


def _default(request: ModelRequest) -> Response:
    instruction = request.context.task.instruction
    drafts = request.context.drafts if isinstance(request.context, SummarizeContext) else ()
    defaults: dict[Kind, Response] = {
        "query": QueryResponse(query=f"How to {instruction}"),
        "plan": PlanResponse(nodes=(PlannedNode(name=instruction[:500], info=instruction),)),
        "summarize": SummariesResponse(summaries=tuple(draft.instruction for draft in drafts)),
        "verify": VerifyResponse(verified=None, reason="the script does not say"),
    }
    if request.kind in ("act", "ground"):
        raise ModelError(f"The script has no answers of kind {request.kind!r}.")
    return defaults.get(request.kind) or request.response_type()
