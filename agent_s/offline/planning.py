"""From an instruction to a plan, and from a failure to another way or an honest end."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from agent_s.llm.protocol import FailedSubtask, PlanContext, PlannedNode, PlanResponse
from agent_s.offline.grammar import parse_clause
from agent_s.offline.intents import (
    AnswerDialog,
    Intent,
    NothingToDo,
    NotUnderstood,
    OpenThing,
    SaveFile,
)
from agent_s.offline.matching import EXACT, rank
from agent_s.offline.quoting import quote
from agent_s.offline.reading import Part, not_understood, read_instruction
from agent_s.offline.roles import ACTIONABLE
from agent_s.offline.screen import Screen
from agent_s.offline.targets import TargetQuery

MOST_NODES = 38
"""Subtasks of one plan; longer instructions have several clauses in a subtask."""
JOINT = "\n"
"""Between the clauses of one subtask."""
_LONGEST_NAME = 160
_LONGEST_INFO = 19_000


def make_plan(context: PlanContext) -> PlanResponse:
    """Plan the instruction, or what is left of it after a failure."""
    if context.failed is not None:
        return _plan_again(context)
    parts = read_instruction(context.task.instruction)
    parts = [_known_command(part, context) for part in parts]
    unread = tuple(words for part in parts for words in not_understood(part.intent))
    if unread:
        reason = "; ".join(f"I do not understand {words!r}" for words in unread)
        return PlanResponse(gives_up=reason, not_understood=unread)
    nodes = _nodes(parts)
    return PlanResponse(nodes=nodes, edges=_chain(nodes))


def _known_command(part: Part, context: PlanContext) -> Part:
    """Read words without a reading as the name of a button where the screen has one called exactly so."""
    if not isinstance(part.intent, NotUnderstood):
        return part
    found = rank(TargetQuery(phrase=part.intent.words, name=part.intent.words), Screen(context.observation), ACTIONABLE)
    if found and found[0].score >= EXACT:
        return Part(
            f"click {quote(part.intent.words)}", parse_clause(f"click {quote(part.intent.words)}"), part.application
        )
    return part


def _nodes(parts: list[Part]) -> tuple[PlannedNode, ...]:
    """Make one subtask of each clause that asks for something."""
    kept = [part for part in parts if not isinstance(part.intent, NothingToDo)]
    if not kept:
        return (_node("Do nothing", "do nothing", ""),)
    groups = _grouped(kept)
    names: set[str] = set()
    return tuple(
        _unique(_node(_title(group), JOINT.join(part.words for part in group), group[0].application), names)
        for group in groups
    )


def _grouped(parts: list[Part]) -> list[list[Part]]:
    """Put neighbouring clauses together where there are more than a plan may have."""
    size = -(-len(parts) // MOST_NODES)
    return [parts[start : start + size] for start in range(0, len(parts), size)]


def _title(group: list[Part]) -> str:
    title = "; ".join(part.words for part in group).replace("\n", " ")
    title = title[:1].upper() + title[1:]
    return title if len(title) <= _LONGEST_NAME else f"{title[:_LONGEST_NAME]}..."


def _node(name: str, clause: str, application: str) -> PlannedNode:
    where = f" (application: {application})" if application and not set("()") & set(application) else ""
    return PlannedNode(name=name, info=f"{clause}{where}" if len(clause) <= _LONGEST_INFO else clause[:_LONGEST_INFO])


def _unique(node: PlannedNode, names: set[str]) -> PlannedNode:
    """Number subtasks that would have the same name."""
    name, count = node.name, 1
    while name in names:
        count += 1
        name = f"{node.name} ({count})"
    names.add(name)
    return PlannedNode(name=name, info=node.info)


def _chain(nodes: tuple[PlannedNode, ...]) -> tuple[tuple[str, str], ...]:
    """Let each subtask depend on the one before."""
    return tuple((before.name, after.name) for before, after in pairwise(nodes))


# After a failure


@dataclass(frozen=True, slots=True)
class OtherWay:
    """Another way to do what failed."""

    name: str
    clause: str


def _plan_again(context: PlanContext) -> PlanResponse:
    """Try another way where there is one that was not tried, else end with the reason."""
    failed = context.failed
    if failed is None:
        raise ValueError("there is no failure to plan for")
    way = _other_way(failed)
    if way is None:
        return PlanResponse(gives_up=failed.reason or "it did not work")
    names: set[str] = set()
    nodes: tuple[PlannedNode, ...] = (
        PlannedNode(name=way.name, info=way.clause),
        *(
            _unique(PlannedNode(name=subtask.name, info=subtask.info), names)
            for subtask in context.left
            if subtask.name != way.name
        ),
    )
    return PlanResponse(nodes=nodes, edges=_chain(nodes))


_ANOTHER = "Another way: "


def _other_way(failed: FailedSubtask) -> OtherWay | None:
    """Return another way for what has one; each is tried once, and none where the application itself refused."""
    if failed.subtask.name.startswith(_ANOTHER) or re.search(
        r"\b(?:no name yet|exists already|saving failed|disabled)\b", failed.reason
    ):
        return None
    intent = parse_clause(failed.subtask.info or failed.subtask.name)
    clause = _alternative(intent)
    return OtherWay(f"{_ANOTHER}{clause}"[:480], clause) if clause else None


def _alternative(intent: Intent) -> str:
    match intent:
        case SaveFile(name="", folder="", save_as=False):
            return "choose File > Save"
        case AnswerDialog(answer="accept"):
            return "press Return"
        case OpenThing(app_only=False, name=name):
            return f"double-click {quote(name)}"
        case _:
            return ""
