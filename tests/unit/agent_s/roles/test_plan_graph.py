from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_s.errors import PlanError
from agent_s.llm.protocol import OfferedSkill, PlannedNode, PlanResponse
from agent_s.roles.manager import order_plan

SLIPS = (("Open file", 1), ("Open file", 2), ("Keep a copy", 1))


def response(names: str, edges: list[tuple[str, str]]) -> PlanResponse:
    return PlanResponse(nodes=tuple(PlannedNode(name=name) for name in names), edges=tuple(edges))


def ordered(names: str, edges: list[tuple[str, str]]) -> str:
    return "".join(subtask.name for subtask in order_plan(response(names, edges), 40).subtasks)


def test_dependencies_come_first() -> None:
    assert ordered("abc", [("c", "a"), ("a", "b")]) == "cab"


def test_without_edges_the_planned_order_stays() -> None:
    assert ordered("dbca", []) == "dbca"


def test_free_subtasks_keep_their_place_around_dependent_ones() -> None:
    assert ordered("abcd", [("d", "b")]) == "acdb"


@pytest.mark.parametrize(
    ("names", "edges", "said"),
    [
        ("ab", [("a", "b"), ("b", "a")], "cycle"),
        ("a", [("a", "a")], "cycle"),
        ("ab", [("a", "x")], "'x'"),
        ("aba", [], "twice: a"),
        ("", [], "no subtask"),
        ("abcdefgh" * 6, [], "limits.max_subtasks"),
    ],
)
def test_invalid_plans_are_refused_with_the_reason(names: str, edges: list[tuple[str, str]], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        order_plan(response(names, edges), 40)


def test_a_number_that_contradicts_the_name_of_a_skill_is_refused_and_corrected() -> None:
    skills = [OfferedSkill("s-1", "save as", "Editor"), OfferedSkill("s-2", "open file", "Editor")]
    slip, right, worded = (PlannedNode(name=name, skill=number) for name, number in SLIPS)
    with pytest.raises(PlanError, match=r"uses skill 1, 'save as'; 'Open file' is skill 2"):
        order_plan(PlanResponse(nodes=(slip,)), 40, skills)
    assert [one.skill for one in order_plan(PlanResponse(nodes=(right, worded)), 40, skills).subtasks] == ["s-2", "s-1"]


def test_the_number_of_a_skill_means_nothing_where_none_was_offered() -> None:
    (subtask,) = order_plan(PlanResponse(nodes=(PlannedNode(name="Save", skill=1, values=("x",)),)), 40).subtasks
    assert (subtask.skill, subtask.values) == ("", ())


@given(st.permutations("abcdefg"), st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_every_acyclic_plan_is_ordered_by_its_edges(names: list[str], pairs: list[tuple[int, int]]) -> None:
    edges = [("abcdefg"[min(pair)], "abcdefg"[max(pair)]) for pair in pairs if pair[0] != pair[1]]
    order = ordered("".join(names), edges)
    assert sorted(order) == list("abcdefg")
    assert all(order.index(before) < order.index(after) for before, after in edges)
