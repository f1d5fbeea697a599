"""Planning of the offline model: plans, commands of subtasks, and alternatives after failures."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from agent_s.llm.protocol import ActContext, ActResponse, FailedSubtask, PlanContext, PlannedNode, PlanResponse
from agent_s.offline.commands.base import Command
from agent_s.offline.commands.click import Click
from agent_s.offline.commands.in_turn import NOTHING, InTurn
from agent_s.offline.execution import Execution, decide, give_up, is_refused_for_good
from agent_s.offline.finding.matching import EXACT, best, rank
from agent_s.offline.finding.roles import ACTIONABLE, EDITABLE
from agent_s.offline.finding.screen import Screen
from agent_s.offline.finding.targets import Target, named
from agent_s.offline.reading import Part, read_instruction, read_words
from agent_s.offline.ui import UI
from agent_s.offline.wording import forbidden, guideline
from agent_s.records import Subtask

MAX_NODES = 38
"""Maximum number of subtasks in a plan; longer instructions get several clauses per subtask, one on each line."""
_MAX_NAME, _MAX_INFO = 160, 19_000
_APPLICATION = re.compile(r"\s*\(application: [^()]{1,120}\)\s*$")
_ANOTHER_WAY = "Another way: "


def make_plan(context: PlanContext) -> PlanResponse:
    """Plan the instruction, or the rest of it after a failure."""
    plan = _plan_again(context, context.failed) if context.failed is not None else _plan_all(context)
    constraints = forbidden(context.task.instruction) if context.wants_aims else ()
    return plan.model_copy(update={"constraints": constraints})


def _plan_all(context: PlanContext) -> PlanResponse:
    unread = tuple(
        part.words
        for part in read_instruction(context.task.instruction)
        if part.command is None and not _named_exactly(part.words, Screen(context.observation))
    )
    if unread:
        reason = "; ".join(f"I do not understand {words!r}" for words in unread)
        return PlanResponse(gives_up=reason, not_understood=unread)
    return _response((node for node, _ in _nodes(context.task.instruction)), guideline(context))


def commands_of(subtask: Subtask, instruction: str) -> tuple[Command, ...]:
    """Return the commands of a subtask; () if its words cannot be parsed.

    For a subtask from the instruction's own plan, they come from there, since each clause is parsed in the context of
    earlier ones.
    """
    for node, commands in _nodes(instruction):
        if (node.name, node.info) == (subtask.name, subtask.info) and commands:
            return commands
    return read_words(_APPLICATION.sub("", subtask.info)) or read_words(subtask.name)


def act(context: ActContext) -> ActResponse:
    """Return the next step of a subtask."""
    start = _starter(context.subtask, context.left, context.task.instruction)
    return decide(start, context.steps, context.observation)


def _starter(subtask: Subtask, left: Sequence[Subtask], instruction: str) -> Callable[[Screen], Execution]:
    """Return a function that starts the commands of a subtask on a screen."""
    commands = commands_of(subtask, instruction)
    command = commands[0] if len(commands) == 1 else InTurn(commands)
    words = _APPLICATION.sub("", subtask.info) or subtask.name
    after = commands_of(left[0], instruction)[:1] if left else ()
    following = after[0].about() if after else ()

    def start(screen: Screen) -> Execution:
        return (command.run if commands else lambda ui: _by_name(words, ui))(UI(screen, following))

    return start


def _by_name(words: str, ui: UI) -> Execution:
    found = _named_exactly(words, ui.screen)
    if not found:
        give_up(f"I do not understand {words!r}, and nothing on the screen is called so")
    return (yield from Click((found[0],)).run(ui))


def _named_exactly(words: str, screen: Screen) -> list[Target]:
    target = named(words)
    return [target] if best(rank(target, screen, ACTIONABLE - EDITABLE), EXACT + 2) else []


@lru_cache(maxsize=64)
def _nodes(instruction: str) -> tuple[tuple[PlannedNode, tuple[Command, ...]], ...]:
    """Return subtasks with their commands, one per clause, or per several clauses if the plan would become too long."""
    parts = [part for part in read_instruction(instruction) if part.command != NOTHING]
    if not parts:
        return ((PlannedNode(name="Do nothing", info="do nothing"), (NOTHING,)),)
    size = -(-len(parts) // MAX_NODES)
    groups = [parts[start : start + size] for start in range(0, len(parts), size)]
    nodes = _with_own_names(PlannedNode(name=_title(group), info=_info(group)) for group in groups)
    return tuple(
        (node, tuple(part.command for part in group if part.command is not None))
        for node, group in zip(nodes, groups, strict=True)
    )


def _title(group: list[Part]) -> str:
    title = "; ".join(part.words for part in group).replace("\n", " ")
    title = title[:1].upper() + title[1:]
    return title if len(title) <= _MAX_NAME else f"{title[:_MAX_NAME]}..."


def _info(group: list[Part]) -> str:
    application = group[0].application
    where = f" (application: {application})" if application and not set("()") & set(application) else ""
    return "\n".join(part.words for part in group)[:_MAX_INFO] + where


def _with_own_names(nodes: Iterable[PlannedNode]) -> tuple[PlannedNode, ...]:
    named_nodes: dict[str, PlannedNode] = {}
    for node in nodes:
        names = itertools.chain([node.name], (f"{node.name} ({count})" for count in itertools.count(2)))
        name = next(name for name in names if name not in named_nodes)
        named_nodes[name] = PlannedNode(name=name, info=node.info)
    return tuple(named_nodes.values())


def _response(nodes: Iterable[PlannedNode], guide: str = "") -> PlanResponse:
    nodes = tuple(nodes)
    edges = tuple((before.name, after.name) for before, after in itertools.pairwise(nodes))
    return PlanResponse(nodes=nodes, edges=edges, guideline=guide)


def _plan_again(context: PlanContext, failed: FailedSubtask) -> PlanResponse:
    """Try an alternative, if one is left; otherwise give up with the reason."""
    commands = commands_of(failed.subtask, context.task.instruction)
    start = _starter(failed.subtask, context.left, context.task.instruction)
    refused = is_refused_for_good(start, failed.steps, context.observation)
    again = failed.subtask.name.startswith(_ANOTHER_WAY) or refused or len(commands) != 1
    way = "" if again else commands[0].another_way()
    if not way:
        return PlanResponse(gives_up=failed.reason or "it did not work")
    nodes = [PlannedNode(name=f"{_ANOTHER_WAY}{way}"[:480], info=way)]
    nodes += [PlannedNode(name=one.name, info=one.info) for one in context.left if one.name != nodes[0].name]
    return _response(nodes)
