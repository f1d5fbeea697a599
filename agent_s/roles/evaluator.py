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
from agent_s.roles.citations import Ask as AskFile
from agent_s.roles.citations import Finding, check_citations, find_unsupported, make_verdict


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Judges and summarizes; never touches the screen or memory."""

    model: Model  # answers the verification and summary calls

    def judge(self, context: VerifyContext, ask_file: AskFile | None = None) -> Verdict | VerifyResponse:
        """Judge a finished task, or return an answer that asks for a closer look (`look`) or for `probes`.

        A judgement counts as far as its citations support it (`agent_s.roles.citations`). A claim of success that they
        do not support is sent back once, with the reason. Where evidence has everything but the words of a point, the
        model is asked whether it shows the point, in a call that holds nothing else.

        Args:
            context: What is judged.
            ask_file: Makes a probe of a file or setting; None if they cannot be read.
        """
        answer = ask(self.model, context, VerifyResponse)
        if context.may_look and (answer.look is not None or answer.probes):
            return answer
        findings = check_citations(answer, context, ask_file, lambda doubtful: self._read(context.task, doubtful))
        problem = find_unsupported(answer, findings)
        if problem and not context.problem:
            return self.judge(replace(context, problem=problem), ask_file)
        return make_verdict(answer, findings)

    def _read(self, task: Task, doubtful: Sequence[Finding]) -> list[Finding]:
        """Return doubtful findings as supported or not, by what their evidence says in its own words."""
        claims = tuple(CitedClaim(one.point, tuple(shown.told for shown in one.doubtful)) for one in doubtful)
        answer = ask(self.model, SupportContext(task, claims), SupportResponse)
        by_number = {one.number: one for one in answer.judgements}
        read = []
        for number, finding in enumerate(doubtful, start=1):
            judged = by_number.get(number, SupportJudgement(number=number))
            if judged.supported:
                finding = replace(finding, evidence=finding.doubtful, problem="")
            elif judged.reason:
                finding = replace(finding, problem=f"{finding.problem}; read by itself: {judged.reason}")
            read.append(finding)
        return read

    def summarize(self, context: SummarizeContext) -> tuple[str, ...]:
        """Return a summary for each draft.

        Raises:
            ModelError: There is no usable answer, or not one summary for each.
        """
        summaries = ask(self.model, context, SummariesResponse).summaries
        if len(summaries) != len(context.drafts):
            raise MalformedResponse(f"There are {len(summaries)} summaries of {len(context.drafts)} experiences.")
        return summaries
