"""Conversations to fine-tune a planner with."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from aci.acting.actions import Click, Type
from agent_s.llm.protocol import PlanResponse
from agent_s.replay.training_pairs import training_pairs, write_training_pairs
from memory_store import MemoryStore, MemoryStoreError, PlannedSubtask, Provenance
from tests.unit.agent_s.replay.skills import PLATFORM, add, step

TASK = "Put Grace into the box, in heavy letters"
NAMES = ("turn on bold", "insert a picture", "print the page", "sort the rows", "show the ruler", "count the words")


def know(memory: MemoryStore, verified: bool = True) -> tuple[str, str]:
    """Store two skills and a task that was done by them."""
    bold = add(memory, "turn on bold", step(Click(element_id=1)))
    write = add(memory, "type 'Ada' into Name", step(Type(text="Ada", element_id=1), "entry", "Name"))
    memory.add_narrative(
        query=TASK,
        instruction=TASK,
        summary="It was done.",
        plan=[
            PlannedSubtask(name="Heavy letters", skill=bold),
            PlannedSubtask(name="The name", skill=write, values=("Grace",)),
        ],
        success=True,
        provenance=Provenance(
            run_id="r", app="editor", platform=PLATFORM, verified=verified, verified_by="state check"
        ),
    )
    return bold, write


def read(pair: dict[str, list[dict[str, str]]]) -> tuple[str, PlanResponse]:
    system, user, assistant = (turn["content"] for turn in pair["messages"])
    assert [turn["role"] for turn in pair["messages"]] == [
        "system",
        "user",
        "assistant",
    ] and "You plan a task" in system
    return user, PlanResponse.model_validate_json(assistant)


def task_of(user: str) -> str:
    return user.partition("Task: ")[2].partition("\n")[0]


def asked(memory: MemoryStore) -> list[str]:
    return [task_of(read(pair)[0]) for pair in training_pairs(memory)]


def test_a_verified_task_teaches_its_sequence_of_skills(memory: MemoryStore) -> None:
    know(memory)
    user, plan = read(next(iter(training_pairs(memory))))
    assert f"Task: {TASK}" in user and 'app "editor"' in user
    numbers = [node.skill for node in plan.nodes]
    assert f"[skill {numbers[0]}] turn on bold" in user and f"[skill {numbers[1]}] type 'Ada' into Name" in user
    assert [node.values for node in plan.nodes] == [(), ("Grace",)]


def test_each_skill_is_taught_by_its_names(memory: MemoryStore) -> None:
    know(memory)
    assert {TASK, "turn on bold", "type 'Ada' into Name"} <= set(asked(memory))


def test_a_skill_is_taught_with_new_values(memory: MemoryStore) -> None:
    add(memory, "open page 12", step(Click(element_id=1), name="page 12"))
    user, plan = next(pair for pair in map(read, training_pairs(memory)) if "Task: open page 12\n" not in pair[0])
    (node,) = plan.nodes
    assert node.values != ("12",) and f"Task: open page {node.values[0]}\n" in user
    assert f"[skill {node.skill}] open page 12" in user and node.name == f"open page {node.values[0]}"


def test_several_skills_are_combined_in_one_task(memory: MemoryStore) -> None:
    for name in NAMES:
        add(memory, name)
    joined = [(user, plan) for user, plan in map(read, training_pairs(memory)) if len(plan.nodes) > 1]
    assert joined
    for user, plan in joined:
        places = [task_of(user).index(node.name) for node in plan.nodes]
        assert places == sorted(places)  # as they are asked for


def test_parts_without_a_skill_are_left_to_the_worker(memory: MemoryStore) -> None:
    for name in NAMES:
        add(memory, name)
    left = [(user, node) for user, plan in map(read, training_pairs(memory)) for node in plan.nodes if not node.skill]
    assert left
    for user, node in left:
        assert node.name in task_of(user) and f"] {node.name}:" not in user


def test_the_position_of_a_skill_does_not_reveal_it(memory: MemoryStore) -> None:
    for name in NAMES:
        add(memory, name)
    single = [plan.nodes[0].skill for _, plan in map(read, training_pairs(memory)) if len(plan.nodes) == 1]
    numbers = [number for number in single if number]
    assert numbers.count(1) < 0.7 * len(numbers)


def test_a_name_of_two_skills_is_taught_once(memory: MemoryStore) -> None:
    add(memory, "open file", step(Click(element_id=1), name="Open"))
    add(memory, "open file", step(Click(element_id=1), "page tab", "File"))
    assert asked(memory).count("open file") == 1


def test_the_pairs_are_reproducible(memory: MemoryStore) -> None:
    for name in NAMES:
        add(memory, name)
    assert [read(pair)[1] for pair in training_pairs(memory)] == [read(pair)[1] for pair in training_pairs(memory)]


def test_unverified_experience_is_not_taught(memory: MemoryStore) -> None:
    know(memory, verified=False)
    assert not any(TASK in read(pair)[0] for pair in training_pairs(memory))


def test_a_file_holds_one_conversation_a_line_and_is_private(memory: MemoryStore, tmp_path: Path) -> None:
    know(memory)
    file = tmp_path / "pairs.jsonl"
    file.touch(0o644)  # of an earlier export, by another program
    count = write_training_pairs(memory, file)
    lines = file.read_text(encoding="utf-8").splitlines()
    assert [set(json.loads(line)) for line in lines] == [{"messages"}] * count
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_written_is_reported(memory: MemoryStore, tmp_path: Path) -> None:
    with pytest.raises(MemoryStoreError, match="cannot be written"):
        write_training_pairs(memory, tmp_path / "missing" / "pairs.jsonl")
