"""From a planned graph to a queue: validation and a stable topological order (paper, section 3.1.1)."""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter

from agent_s.errors import PlanError
from agent_s.llm.protocol import OfferedSkill, PlannedNode, PlanResponse
from agent_s.records import Aims, Plan, Subtask


def order_plan(response: PlanResponse, max_subtasks: int, skills: Sequence[OfferedSkill] = ()) -> Plan:
    """Validate a planned graph and sort its subtasks topologically.

    Ties are broken by the order in which the subtasks were planned, so that a graph always gives the same queue.

    Args:
        response: The planned graph.
        max_subtasks: Maximum number of subtasks.
        skills: The skills that it may use, by their numbers from 1.

    Raises:
        PlanError: The plan is empty, too long, has a cycle, repeats a subtask, or names a subtask, a skill or a value
            that does not exist.
    """
    names = [node.name for node in response.nodes]
    if not names:
        raise PlanError("The plan has no subtask.")
    if len(names) > max_subtasks:
        raise PlanError(
            f"The plan has {len(names)} subtasks; {max_subtasks} are allowed (limits.max_subtasks). Make it coarser."
        )
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise PlanError(f"The plan names these subtasks twice: {', '.join(repeated)}.")
    before: dict[str, set[str]] = {name: set() for name in names}
    for first, second in response.edges:
        for name in (first, second):
            if name not in before:
                raise PlanError(f"The plan has an edge to {name!r}, which is not one of its subtasks.")
        before[second].add(first)
    subtasks = {node.name: _subtask(node, skills) for node in response.nodes}
    ordered = tuple(subtasks[name] for name in _sort(names, before))
    aims = Aims(criteria=response.criteria, constraints=response.constraints)
    return Plan(subtasks=ordered, edges=response.edges, guideline=response.guideline, aims=aims)


def _subtask(node: PlannedNode, skills: Sequence[OfferedSkill]) -> Subtask:
    if node.skill is None:
        return Subtask(name=node.name, info=node.info)
    if not 1 <= node.skill <= len(skills):
        raise PlanError(f"The subtask {node.name!r} uses skill {node.skill}; there are {len(skills)} skills.")
    skill = skills[node.skill - 1]
    if len(node.values) != len(skill.parameters):
        raise PlanError(
            f"The subtask {node.name!r} gives {len(node.values)} values; "
            f"skill {node.skill} has {len(skill.parameters)}: {list(skill.parameters)}."
        )
    return Subtask(name=node.name, info=node.info, skill=skill.id, values=node.values)


def _sort(names: list[str], before: dict[str, set[str]]) -> list[str]:
    sorter = TopologicalSorter(before)
    try:
        sorter.prepare()
    except CycleError as error:
        raise PlanError(f"The plan has a cycle: {' -> '.join(error.args[1])}.") from error
    ready: list[str] = []
    ordered: list[str] = []
    while sorter.is_active():
        ready = sorted((*ready, *sorter.get_ready()), key=names.index)
        ordered.append(ready.pop(0))
        sorter.done(ordered[-1])
    return ordered
