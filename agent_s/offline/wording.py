"""The texts about a task: the question, the guideline, reflections and summaries."""

from __future__ import annotations

import re

from aci.acting.actions import Done, Fail, Wait
from agent_s.llm.protocol import (
    PlanContext,
    QueryContext,
    QueryResponse,
    ReflectContext,
    ReflectResponse,
    SubtaskSummaryContext,
    SummaryResponse,
    TaskSummaryContext,
)
from agent_s.offline.words import TABLE, one_of

_LONGEST_QUERY = 300
_LONGEST_PART = 400


def query(context: QueryContext) -> QueryResponse:
    """Return the question how to do the task in the application in front."""
    wish = " ".join(context.task.instruction.split()).rstrip(".!?")
    wish = wish[:1].lower() + wish[1:] if wish[:2] != wish[:2].upper() else wish
    window = context.observation.active_window
    where = (
        f" in {window.app}"
        if window is not None and window.app and window.app.casefold() not in wish.casefold()
        else ""
    )
    return QueryResponse(
        query=f"How to {wish[:_LONGEST_QUERY]}{where}?", constraints=_forbidden(context.task.instruction)
    )


def _forbidden(instruction: str) -> tuple[str, ...]:
    """Return the clauses that forbid something, or want it kept."""
    unquoted = re.sub(r"'[^']*'|\"[^\"]*\"", lambda found: "_" * len(found.group()), instruction)
    found = re.finditer(rf"\b{one_of(TABLE['forbidding'])}\b[^.;,!?\n]+", unquoted, re.IGNORECASE)
    return tuple(instruction[clause.start() : clause.end()].strip() for clause in found)[:30]


def guideline(context: PlanContext) -> str:
    """Put what the web and memory say one after another, briefly and with the source of each."""
    parts = [
        f"From memory ({'worked' if experience.success else 'did not work'}): {_brief(experience.summary)}"
        for experience in context.experiences
    ]
    parts += [f"From {result.url}: {_brief(result.title)}. {_brief(result.content)}" for result in context.web]
    return "\n".join(parts)


def reflect(context: ReflectContext) -> ReflectResponse:
    """Say what is wrong and what follows from it."""
    last = context.steps[-1] if context.steps else None
    tried = (
        f" The last step was to {last.response.next_action}." if last is not None and last.response.next_action else ""
    )
    advice = (
        "Try the next best element or another way."
        if last is not None and not isinstance(last.response.action, Wait)
        else ""
    )
    return ReflectResponse(reflection=f"In {context.subtask.name!r}: {context.trouble}.{tried} {advice}".strip())


def summarize_subtask(context: SubtaskSummaryContext) -> SummaryResponse:
    """Say what was done in the subtask, step by step in words."""
    deeds = [
        step.response.next_action
        for step in context.steps
        if step.result.ok and step.response.next_action and not isinstance(step.response.action, Wait | Done | Fail)
    ]
    way = "; then ".join(deeds) if deeds else "nothing had to be done"
    return SummaryResponse(summary=f"To {_lower(context.subtask.name)}: {way}."[:4000])


def summarize_task(context: TaskSummaryContext) -> SummaryResponse:
    """Say how the task went, in subtasks and without concrete actions."""
    parts = [subtask.name for subtask in context.plan.subtasks] if context.plan is not None else []
    way = f" It takes: {'; '.join(parts)}." if parts else ""
    verdicts = {True: "It was verified", False: "It did not succeed", None: "It could not be verified"}
    why = context.reason or context.verdict.reason
    verdict = verdicts[context.verdict.verified] + (f": {_brief(why)}" if why else "")
    asked = _brief(context.task.instruction).removesuffix(".")
    return SummaryResponse(summary=f"{asked}.{way} {verdict}."[:4000])


def _brief(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_PART else f"{text[:_LONGEST_PART]}..."


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
