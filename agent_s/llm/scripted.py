"""A model that answers from a script, for tests of custom loops without a provider."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from agent_s.errors import ModelError
from agent_s.llm.protocol import (
    CompareResponse,
    ErrorsResponse,
    JudgedRequest,
    Kind,
    ModelRequest,
    ModelResponse,
    NamingResponse,
    PlannedNode,
    PlanResponse,
    ProposalResponse,
    QueryResponse,
    ReflectResponse,
    Response,
    SameContext,
    SameResponse,
    SummariesResponse,
    SummarizeContext,
    VerifyResponse,
)

Answer = Response | Callable[[ModelRequest], Response] | Exception
"""A response, a function of the request, or an exception to raise."""


class ScriptedModel:
    """Returns scripted answers in order, from one queue for each kind of request.

    A kind without a script gets a default answer, so that a test only scripts what it is about: the instruction as the
    only subtask, an empty reflection, no verdict. `act` has no default.

    Args:
        answers: Answers by kind of request.

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


@dataclass(frozen=True, slots=True)
class LabelledJudge:
    """Answers requests of kind `same` from labels, and errs at a stated rate.

    The same question always gets the same answer. An answer that errs says the opposite of the right one about the
    known request that should be the same, or about the first one if none should.
    """

    labels: Mapping[str, str]  # the known wording that asks for the same, by the wording that is asked for
    error_rate: float = 0.0  # share of the questions that are answered wrongly, from 0 to 1

    def __call__(self, request: ModelRequest) -> SameResponse:
        """Answer one request.

        Raises:
            ModelError: It is of another kind.
        """
        context = request.context
        if not isinstance(context, SameContext):
            raise ModelError(f"The judge does not answer {request.kind!r}.")
        right = self.labels.get(context.asked)
        same = [one.wording == right for one in context.known]
        digest = hashlib.sha256("\n".join((context.asked, *(one.wording for one in context.known))).encode()).digest()
        if int.from_bytes(digest[:8]) < self.error_rate * 2**64:
            place = same.index(True) if True in same else 0
            same[place] = not same[place]
        return SameResponse(
            judgements=tuple(JudgedRequest(number=number, same=one) for number, one in enumerate(same, start=1))
        )


def _default(request: ModelRequest) -> Response:
    instruction = request.context.task.instruction
    drafts = request.context.drafts if isinstance(request.context, SummarizeContext) else ()
    defaults: dict[Kind, Response] = {
        "query": QueryResponse(query=f"How to {instruction}"),
        "plan": PlanResponse(nodes=(PlannedNode(name=instruction[:500], info=instruction),)),
        "reflect": ReflectResponse(),
        "summarize": SummariesResponse(summaries=tuple(draft.instruction for draft in drafts)),
        "verify": VerifyResponse(verified=None, reason="the script does not say"),
        "propose_tasks": ProposalResponse(),
        "name_skills": NamingResponse(),
        "find_errors": ErrorsResponse(),
        "compare": CompareResponse(reason="the script does not say"),
        "same": SameResponse(),
    }
    if request.kind not in defaults:
        raise ModelError(f"The script has no answers of kind {request.kind!r}.")
    return defaults[request.kind]
