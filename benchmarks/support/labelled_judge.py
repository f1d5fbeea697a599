"""A judge of what asks for the same that knows the labels."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from agent_s.errors import ModelError
from agent_s.llm.protocol import JudgedRequest, ModelRequest, SameContext, SameResponse


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
