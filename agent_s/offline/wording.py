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
    asked = " ".join(context.task.instruction.split()).rstrip(".!?")
    asked = asked if asked[:2].isupper() else _lower(asked)
    window = context.observation.active_window
    app = window.app if window is not None and window.app.casefold() not in asked.casefold() else ""
    query = f"How to {asked[:_LONGEST_QUERY]}{f' in {app}' if app else ''}?"
    return QueryResponse(query=query, constraints=forbidden(context.task.instruction))


def forbidden(instruction: str) -> tuple[str, ...]:
    """Return the clauses that forbid something, or want it kept."""
    unquoted = re.sub(r"'[^']*'|\"[^\"]*\"", lambda found: "_" * len(found.group()), instruction)
    found = re.finditer(rf"\b{one_of(TABLE['forbidding'])}\b[^.;,!?\n]+", unquoted, re.IGNORECASE)
    return tuple(instruction[clause.start() : clause.end()].strip() for clause in found)[:30]


def guideline(context: PlanContext) -> str:
    """Return what the web and memory say, briefly and with the source of each."""
    parts = [
        f"From memory ({'worked' if experience.success else 'did not work'}): {_brief(experience.summary)}"
        for experience in context.experiences
    ]
    parts += [f"From {result.url}: {_brief(result.title)}. {_brief(result.content)}" for result in context.web]
    return "\n".join(parts)


def reflect(context: ReflectContext) -> ReflectResponse:
    """Describe the trouble and suggest what to do."""
    said = [f"In {context.subtask.name!r}: {context.trouble}."]
    if context.steps:
        last = context.steps[-1].response
        said += [f"The last step was to {last.next_action}."] if last.next_action else []
        said += [] if isinstance(last.action, Wait) else ["Try the next best element or another way."]
    return ReflectResponse(reflection=" ".join(said))


def summarize_subtask(context: SubtaskSummaryContext) -> SummaryResponse:
    """Summarize the steps of a subtask."""
    deeds = [
        step.response.next_action
        for step in context.steps
        if step.worked and step.response.next_action and not isinstance(step.response.action, Wait | Done | Fail)
    ]
    way = "; then ".join(deeds) if deeds else "nothing had to be done"
    return SummaryResponse(summary=f"To {_lower(context.subtask.name)}: {way}."[:4000])


def summarize_task(context: TaskSummaryContext) -> SummaryResponse:
    """Summarize a task by its subtasks and its verdict."""
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
