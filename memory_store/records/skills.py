"""The skill store: sequences of actions that can be replayed without a model."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, JsonValue

from intents.intent import Intent
from intents.reader import read
from memory_store.keys import Key, check_json, make_skill_key
from memory_store.records.episodic import Step, checked_steps
from memory_store.records.experience import Experience, Kind, StoredText

Effect = dict[str, JsonValue]
"""One change that a skill is expected to cause; opaque to this package."""


def _checked_effects(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    check_json(list(effects), "the effects")
    return effects


def _checked_intent(intent: Intent) -> Intent:
    check_json(intent.model_dump(mode="json"), "the intent")
    return intent


def _read_intent(fields: dict[str, Any]) -> Intent:
    return read(fields.get("name", ""))


class SkillExperience(Experience):
    """What a sequence of actions is for, the actions, and what they change.

    A skill starts as a candidate; `MemoryStore.record_skill_run` makes it active. The provenance holds its state, what
    verified it (`verified_by`) and how often it was used.
    """

    kind: ClassVar[Kind] = "skill"

    id: str = Field(pattern=r"^s-[0-9a-f]{16}$")
    name: StoredText  # what the skill is called, such as "export as PDF"
    aliases: tuple[StoredText, ...] = ()  # other names of the skill
    # what the skill does; read from the name if it is not given
    intent: Annotated[Intent, AfterValidator(_checked_intent)] = Field(default_factory=_read_intent)
    description: StoredText = ""  # one sentence for people and models; part of the key
    preconditions: tuple[StoredText, ...] = ()  # what must hold before the first step, one sentence each
    # the actions in order, each with role, name, path and surrounding text of its element
    steps: Annotated[tuple[Step, ...], AfterValidator(checked_steps)] = Field(min_length=1)
    effects: Annotated[tuple[Effect, ...], AfterValidator(_checked_effects)] = ()  # the expected changes
    # the id of the skill that replaced this one, if it is deprecated
    replaced_by: StoredText = Field(default="", max_length=32)

    @property
    def names(self) -> tuple[str, ...]:
        """The name and the aliases."""
        return (self.name, *self.aliases)

    @property
    def key(self) -> Key:
        """The key of name and description; aliases are part of its text."""
        return make_skill_key(self.name, self.description, self.aliases)

    @property
    def failures(self) -> int:
        """The number of failed uses."""
        return self.provenance.times_used - self.provenance.times_worked
