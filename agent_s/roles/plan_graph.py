"""From a planned graph to a queue: validation and a stable topological order (paper, section 3.1.1)."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from agent_s.errors import PlanError
from agent_s.llm.protocol import PlanResponse
from agent_s.records import Plan, Subtask


def order_plan(response: PlanResponse, max_subtasks: int) -> Plan:
    """Check a planned graph and put its subtasks in order.

    Among subtasks that may come next, the one that was planned first goes first, so that the same graph always gives
    the same queue.

    Raises:
        PlanError: The plan is empty, too long, has a cycle, or names a subtask twice or one that is not there.
    """
    names = [node.name for node in response.nodes]
    _check_names(names, max_subtasks)
    before: dict[str, set[str]] = {name: set() for name in names}
    for first, second in response.edges:
        for name in (first, second):
            if name not in before:
                raise PlanError(f"The plan has an edge to {name!r}, which is not one of its subtasks.")
        before[second].add(first)
    ordered = _stable_order(names, before)
    subtasks = {node.name: Subtask(name=node.name, info=node.info) for node in response.nodes}
    return Plan(subtasks=tuple(subtasks[name] for name in ordered), edges=response.edges, guideline=response.guideline)


def _check_names(names: list[str], max_subtasks: int) -> None:
    if not names:
        raise PlanError("The plan has no subtask.")
    if len(names) > max_subtasks:
        raise PlanError(
            f"The plan has {len(names)} subtasks; {max_subtasks} are allowed (limits.max_subtasks). Make it coarser."
        )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise PlanError(f"The plan names these subtasks twice: {', '.join(twice)}.")


def _stable_order(names: list[str], before: dict[str, set[str]]) -> list[str]:
    sorter = TopologicalSorter(before)
    try:
        sorter.prepare()
    except CycleError as error:
        raise PlanError(f"The plan has a cycle: {' -> '.join(error.args[1])}.") from error
    rank = {name: position for position, name in enumerate(names)}
    ready: list[str] = []
    ordered: list[str] = []
    while sorter.is_active():
        ready.extend(sorter.get_ready())
        ready.sort(key=rank.__getitem__)
        name = ready.pop(0)
        ordered.append(name)
        sorter.done(name)
    return ordered
