"""The self-evaluator: verifies a task, and summarizes it as experience (paper, section 3.1.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent_s.errors import MalformedResponse
from agent_s.llm.protocol import Model, SummariesResponse, SummarizeContext, VerifyContext, VerifyResponse, ask
from agent_s.records import Verdict
from agent_s.roles.citations import Ask as AskFile
from agent_s.roles.citations import check_citations, find_unsupported, make_verdict


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Judges and summarizes; never touches the screen or memory."""

    model: Model  # answers the verification and summary calls

    def judge(self, context: VerifyContext, ask_file: AskFile | None = None) -> Verdict | VerifyResponse:
        """Judge a finished task, or return an answer that asks for a closer look (`look`) or for `probes`.

        A judgement counts as far as its citations support it (`agent_s.roles.citations`). A claim of success that they
        do not support is sent back once, with the reason.

        Args:
            context: What is judged.
            ask_file: Makes a probe of a file or setting; None if they cannot be read.
        """
        answer = ask(self.model, context, VerifyResponse)
        if context.may_look and (answer.look is not None or answer.probes):
            return answer
        findings = check_citations(answer, context, ask_file)
        problem = find_unsupported(answer, findings)
        if problem and not context.problem:
            return self.judge(replace(context, problem=problem), ask_file)
        return make_verdict(answer, findings)

    def summarize(self, context: SummarizeContext) -> tuple[str, ...]:
        """Return a summary for each draft.

        Raises:
            ModelError: There is no usable answer, or not one summary for each.
        """
        summaries = ask(self.model, context, SummariesResponse).summaries
        if len(summaries) != len(context.drafts):
            raise MalformedResponse(f"There are {len(summaries)} summaries of {len(context.drafts)} experiences.")
        return summaries
