"""Texts that the offline model writes about a task: query, guideline and reflections."""

from __future__ import annotations

import re

from aci.acting.actions import Wait
from agent_s.llm.protocol import PlanContext, QueryContext, QueryResponse, ReflectContext, ReflectResponse
from agent_s.offline.words import TABLE, one_of

_LONGEST_QUERY = 300
_LONGEST_PART = 400


def query(context: QueryContext) -> QueryResponse:
    """Return the query for how to do the task in the active application."""
    asked = " ".join(context.task.instruction.split()).rstrip(".!?")
    asked = asked if asked[:2].isupper() else asked[:1].lower() + asked[1:]
    window = context.observation.active_window
    app = window.app if window is not None and window.app.casefold() not in asked.casefold() else ""
    query = f"How to {asked[:_LONGEST_QUERY]}{f' in {app}' if app else ''}?"
    return QueryResponse(query=query, constraints=forbidden(context.task.instruction))


def forbidden(instruction: str) -> tuple[str, ...]:
    """Return the clauses that forbid or preserve something."""
    unquoted = re.sub(r"'[^']*'|\"[^\"]*\"", lambda found: "_" * len(found.group()), instruction)
    found = re.finditer(rf"\b{one_of(TABLE['forbidding'])}\b[^.;,!?\n]+", unquoted, re.IGNORECASE)
    return tuple(instruction[clause.start() : clause.end()].strip() for clause in found)[:30]


def guideline(context: PlanContext) -> str:
    """Return a summary of the results from the web and memory, with sources."""
    parts = [
        f"From memory ({'worked' if experience.success else 'did not work'}): {_brief(experience.summary)}"
        for experience in context.experiences
    ]
    parts += [f"From {result.url}: {_brief(result.title)}. {_brief(result.content)}" for result in context.web]
    return "\n".join(parts)


def reflect(context: ReflectContext) -> ReflectResponse:
    """Return a description of the trouble with a suggestion."""
    said = [f"In {context.subtask.name!r}: {context.trouble}."]
    if context.steps:
        last = context.steps[-1].response
        said += [f"The last step was to {last.next_action}."] if last.next_action else []
        said += [] if isinstance(last.action, Wait) else ["Try the next best element or another way."]
    return ReflectResponse(reflection=" ".join(said))


def _brief(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_PART else f"{text[:_LONGEST_PART]}..."
