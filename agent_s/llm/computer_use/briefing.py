"""The words for a model that operates the screen by pixels; the rest are pictures."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from agent_s.llm.prompting.rendering import Renderer
from agent_s.llm.protocol import ActContext, ModelRequest

TEMPLATE = "computer_use.md.j2"


@dataclass(frozen=True, slots=True)
class Briefing:
    """The words with which a subtask begins."""

    request: str  # what is to be done
    key: str  # the same for all requests of the subtask


def brief(renderer: Renderer, context: ActContext, request: ModelRequest) -> Briefing:
    """Return the words with which the conversation about a subtask begins."""
    values = _values(context, request)
    asked = renderer.block("act.md.j2", "request", values)
    earlier = renderer.block(TEMPLATE, "earlier", {"steps": context.steps})
    words = f"{earlier}\n\n{asked}" if earlier else asked
    return Briefing(words, hashlib.sha256(words.encode()).hexdigest()[:32])


def notes(renderer: Renderer, context: ActContext, request: ModelRequest) -> str:
    """Return the notes for the Worker besides the results of its actions; may be empty."""
    return renderer.block(TEMPLATE, "notes", _values(context, request))


def _values(context: ActContext, request: ModelRequest) -> dict[str, Any]:
    values = {name: getattr(context, name) for name in context.__dataclass_fields__}
    # The tool has forms of its own for several primitives and for places.
    return values | {"machine": request.machine, "max_actions": 1, "descriptions": False}
