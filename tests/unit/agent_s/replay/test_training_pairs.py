"""Conversations to fine-tune a planner with."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from aci.acting.actions import Click, Type
from agent_s.llm.protocol import PlanResponse
from agent_s.replay.training_pairs import TrainingFileError, training_pairs, write_training_pairs
from memory_store import MemoryStore, PlannedSubtask, Provenance
from tests.unit.agent_s.replay.skills import PLATFORM, add, step

TASK = "Put Grace into the box, in heavy letters"


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


def test_a_verified_task_teaches_its_sequence_of_skills(memory: MemoryStore) -> None:
    know(memory)
    user, plan = read(next(iter(training_pairs(memory))))
    assert f"Task: {TASK}" in user and 'app "editor"' in user
    numbers = [node.skill for node in plan.nodes]
    assert f"[skill {numbers[0]}] turn on bold" in user and f"[skill {numbers[1]}] type 'Ada' into Name" in user
    assert [node.values for node in plan.nodes] == [(), ("Grace",)]


def test_each_skill_is_taught_by_its_names(memory: MemoryStore) -> None:
    know(memory)
    asked = [read(pair)[0].partition("Task: ")[2].partition("\n")[0] for pair in training_pairs(memory)]
    assert sorted(asked) == sorted([TASK, "turn on bold", "type 'Ada' into Name"])


def test_what_was_not_verified_is_not_taught(memory: MemoryStore) -> None:
    know(memory, verified=False)
    assert not any(TASK in read(pair)[0] for pair in training_pairs(memory))


def test_a_file_holds_one_conversation_a_line_and_is_private(memory: MemoryStore, tmp_path: Path) -> None:
    know(memory)
    file = tmp_path / "pairs.jsonl"
    assert write_training_pairs(memory, file) == 3
    lines = file.read_text(encoding="utf-8").splitlines()
    assert [set(json.loads(line)) for line in lines] == [{"messages"}] * 3
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_written_is_reported(memory: MemoryStore, tmp_path: Path) -> None:
    with pytest.raises(TrainingFileError, match="cannot be written"):
        write_training_pairs(memory, tmp_path / "missing" / "pairs.jsonl")
