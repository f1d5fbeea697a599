"""Narrative memory: the abstract story of a whole task (Agent S, section 3.1)."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from memory_store.keys import Key, make_key
from memory_store.records.experience import Experience, Kind, Record, StoredText


class PlannedSubtask(Record):
    """One subtask of the plan that was carried out."""

    name: StoredText  # what it was called
    info: StoredText = ""  # the instructions of its Worker
    skill: StoredText = Field(default="", max_length=32)  # the id of the skill that did it; empty if none did
    values: tuple[StoredText, ...] = ()  # the values of the skill's parameters

    @model_serializer(mode="wrap")
    def _without_empty(self, serialize: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Leave out what a plan without skills does not have, as earlier versions write and read it."""
        written: dict[str, object] = serialize(self)
        return {name: value for name, value in written.items() if value or name in ("name", "info")}


class NarrativeExperience(Experience):
    """How one task went, successes and failures alike, without concrete actions."""

    kind: ClassVar[Kind] = "narrative"

    id: str = Field(pattern=r"^n-[0-9a-f]{16}$")
    query: StoredText  # the observation-aware query of the Manager; the key for retrieval
    instruction: StoredText  # the task in the user's words; the key for replay
    summary: StoredText  # what was done, and with what result
    plan: tuple[PlannedSubtask, ...] = ()  # the subtasks in the order they were carried out
    success: bool  # whether the task was achieved

    @property
    def key(self) -> Key:
        """The key of the query."""
        return make_key(self.query)

    @property
    def instruction_key(self) -> Key:
        """The key of the instruction."""
        return make_key(self.instruction)
