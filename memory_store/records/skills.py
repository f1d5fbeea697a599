"""The skill store: sequences of actions that can be done again without a model."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from memory_store.keys import Key, make_key
from memory_store.records.episodic import Step, checked_steps
from memory_store.records.experience import Experience, Kind, StoredText


class SkillExperience(Experience):
    """A sequence of actions with descriptions of their elements, and how far it can be trusted.

    Its provenance says what verified it (`verified_by`), its state, its successes (`times_worked`) and its failures
    (`failures`). It begins as a candidate; `MemoryStore.record_skill_run` makes it active.

    Attributes:
        name: What it is called, such as "export as PDF".
        description: What it does, in words that tasks are worded in; with the name, the key.
        preconditions: What must hold before it begins, one sentence each.
        steps: The actions in order; each with role, name, path and surrounding text of its element.
        replaced_by: Id of the skill that took its place, when deprecated.
    """

    kind: ClassVar[Kind] = "skill"

    id: str = Field(pattern=r"^s-[0-9a-f]{16}$")
    name: StoredText
    description: StoredText = ""
    preconditions: tuple[StoredText, ...] = ()
    steps: Annotated[tuple[Step, ...], AfterValidator(checked_steps)] = Field(min_length=1)
    replaced_by: StoredText = Field(default="", max_length=32)

    @property
    def key(self) -> Key:
        """The key of name and description together."""
        return make_key(self.name, self.description)

    @property
    def failures(self) -> int:
        """How often it failed when it was used."""
        return self.provenance.times_used - self.provenance.times_worked
