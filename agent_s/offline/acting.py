"""From a subtask and its steps to the next step."""

from __future__ import annotations

from agent_s.llm.protocol import ActContext, ActResponse
from agent_s.offline.course import decide
from agent_s.offline.following import leave_questions
from agent_s.offline.grammar import parse_clause
from agent_s.offline.intents import Intent, InTurn, NotUnderstood
from agent_s.offline.planning import JOINT
from agent_s.offline.policies import pursue
from agent_s.offline.reading import not_understood, read_instruction
from agent_s.records import Subtask


def act(context: ActContext) -> ActResponse:
    """Return the next step of a subtask."""
    following = intents_of(context.left[0])[:1] if context.left else ()
    intents = leave_questions((*intents_of(context.subtask), *following))
    intents = intents[: len(intents) - len(following)]
    intent = intents[0] if len(intents) == 1 else InTurn(intents)
    return decide(lambda screen: pursue(intent, screen), context.steps, context.observation, context.task.instruction)


def intents_of(subtask: Subtask) -> tuple[Intent, ...]:
    """Return what a subtask asks for, in order; its name counts where its information has no reading."""
    found = _read(subtask.info)
    if found and not any(not_understood(intent) for intent in found):
        return found
    by_name = _read(subtask.name)
    if by_name and not any(not_understood(intent) for intent in by_name):
        return by_name
    return found or by_name or (NotUnderstood(subtask.name),)


def _read(text: str) -> tuple[Intent, ...]:
    """Read a subtask: first as one clause, as this model plans them, then as an instruction of several."""
    if not text.strip():
        return ()
    whole = parse_clause(text)
    if not not_understood(whole) and JOINT not in text.strip():
        return (whole,)
    return tuple(part.intent for part in read_instruction(text)) or (whole,)
