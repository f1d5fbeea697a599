"""The self-evaluator: verifies a task, and summarizes it as experience (paper, section 3.1.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent_s.errors import MalformedResponse
from agent_s.llm.protocol import (
    CitedClaim,
    Model,
    SummariesResponse,
    SummarizeContext,
    SupportContext,
    SupportJudgement,
    SupportResponse,
    VerifyContext,
    VerifyResponse,
    ask,
)
from agent_s.records import Task, Verdict
from agent_s.roles.citations import Finding, MakeProbe, check_citations, find_unsupported, make_verdict


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Judges and summarizes; has no access to the screen or memory."""

    model: Model  # answers the verification and summary calls

    def judge(self, context: VerifyContext, make_probe: MakeProbe | None = None) -> Verdict | VerifyResponse:
        """Judge a finished task, or return an answer that requests a closer look (`look`) or `probes`.

        A judgement counts only as far as its citations support it (`agent_s.roles.citations`). An unsupported claim of
        success is sent back once, with the reason. If the evidence for a point lacks nothing but its words, a separate
        call that sees only the point and the evidence decides whether they agree.

        Args:
            context: What to judge.
            make_probe: Callback that probes a file or setting; None if they cannot be read.
        """
        answer = ask(self.model, context, VerifyResponse)
        if context.may_look and (answer.look is not None or answer.probes):
            return answer
        findings = check_citations(
            answer, context, make_probe, lambda doubtful: self._resolve_doubts(context.task, doubtful)
        )
        problem = find_unsupported(answer, findings)
        if problem and not context.problem:
            return self.judge(replace(context, problem=problem), make_probe)
        return make_verdict(answer, findings)

    def _resolve_doubts(self, task: Task, doubtful: Sequence[Finding]) -> list[Finding]:
        """Let the model decide whether evidence supports its point in other words."""
        claims = tuple(CitedClaim(one.point, tuple(shown.for_model for shown in one.doubtful)) for one in doubtful)
        answer = ask(self.model, SupportContext(task, claims), SupportResponse)
        by_number = {one.number: one for one in answer.judgements}
        resolved = []
        for number, finding in enumerate(doubtful, start=1):
            judged = by_number.get(number, SupportJudgement(number=number))
            if judged.supported:
                finding = replace(finding, evidence=finding.doubtful, problem="")
            elif judged.reason:
                finding = replace(finding, problem=f"{finding.problem}; read by itself: {judged.reason}")
            resolved.append(finding)
        return resolved

    def summarize(self, context: SummarizeContext) -> tuple[str, ...]:
        """Return a summary for each draft; that of a single one may come line by line.

        Raises:
            ModelError: There is no usable answer, or the number of summaries is wrong.
        """
        summaries = ask(self.model, context, SummariesResponse).summaries
        if len(context.drafts) == 1 and summaries:
            return ("\n".join(summaries),)
        if len(summaries) != len(context.drafts):
            raise MalformedResponse(
                f"The model returned {len(summaries)} summaries for {len(context.drafts)} experiences."
            )
        return summaries
