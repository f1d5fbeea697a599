"""Episodic memory: the grounded steps of one subtask (Agent S, section 3.2)."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, JsonValue

from memory_store.keys import Key, check_json, make_key
from memory_store.records.experience import Experience, Kind, StoredText

Step = dict[str, JsonValue]
"""One grounded action with the description of its element; opaque to this package."""


def checked_steps(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the steps if they are JSON that can be stored."""
    check_json(list(steps), "the steps")
    return steps


class EpisodicExperience(Experience):
    """How one subtask that ended DONE was carried out."""

    kind: ClassVar[Kind] = "episodic"

    id: str = Field(pattern=r"^e-[0-9a-f]{16}$")
    task_query: StoredText  # the query of the task it belongs to; first part of the key
    subtask: StoredText  # the subtask; second part of the key
    context: StoredText = ""  # what the Manager said about it; third part of the key
    summary: StoredText  # the plan in words
    steps: Annotated[tuple[Step, ...], AfterValidator(checked_steps)] = ()  # the grounded actions in order, as JSON

    @property
    def key(self) -> Key:
        """The key of task query, subtask and context together."""
        return make_key(self.task_query, self.subtask, self.context)
