"""The kinds of experience (Agent S, sections 3.1 and 3.2).

Narrative memory holds the abstract stories of whole tasks, episodic memory the grounded steps of single subtasks, and
the skill store sequences of actions that can be replayed without a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, ClassVar, Required, TypedDict

from pydantic import AfterValidator, Field, JsonValue, SerializerFunctionWrapHandler, model_serializer

from intents.intent import Intent
from intents.reader import read
from memory_store.keys import Key, check_json, make_key, make_skill_key
from memory_store.records.experience import Experience, Kind, Provenance, Record, StoredText

Step = dict[str, JsonValue]  # one grounded action with the description of its element; opaque to this package


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
    context: StoredText = ""  # the Manager's instructions; third part of the key
    summary: StoredText  # the plan in words
    steps: Annotated[tuple[Step, ...], AfterValidator(checked_steps)] = ()  # the grounded actions in order, as JSON

    @property
    def key(self) -> Key:
        """The key of task query, subtask and context together."""
        return make_key(self.task_query, self.subtask, self.context)


class PlannedSubtask(Record):
    """One subtask of the plan that was carried out."""

    name: StoredText  # its name
    info: StoredText = ""  # instructions for its Worker
    skill: StoredText = Field(default="", max_length=32)  # the id of the skill that did it; empty if none did
    values: tuple[StoredText, ...] = ()  # the values of the skill's parameters

    @model_serializer(mode="wrap")
    def _without_empty(self, serialize: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Omit the fields for skills if they are empty, as earlier versions read and write them."""
        written: dict[str, object] = serialize(self)
        return {name: value for name, value in written.items() if value or name in ("name", "info")}


class NarrativeExperience(Experience):
    """How one task went, whether it succeeded or failed, without concrete actions."""

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


Effect = dict[str, JsonValue]  # one change that a skill is expected to cause; opaque to this package


def _checked_effects(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    check_json(list(effects), "the effects")
    return effects


def _checked_intent(intent: Intent) -> Intent:
    check_json(intent.model_dump(mode="json"), "the intent")
    return intent


def _read_intent(fields: dict[str, Any]) -> Intent:
    return read(fields.get("name", ""))


class SkillDraft(TypedDict, total=False):
    """A skill that is to be stored."""

    name: Required[str]  # what the skill is called
    steps: Required[Iterable[Step]]  # the actions in order
    provenance: Required[Provenance]  # where the skill comes from; it starts unverified
    description: str  # one sentence for people and models
    preconditions: Sequence[str]  # what must hold before the first step
    aliases: Sequence[str]  # other names of the skill
    intent: Intent | None  # what the skill does; read from the name if None or left out
    effects: Iterable[Effect]  # the expected changes


class SkillExperience(Experience):
    """A sequence of actions, with its purpose and its effects.

    A skill starts as a candidate; `MemoryStore.record_uses` makes it active. The provenance holds its state, what
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
    # the id of the skill that replaced this one, if an earlier version has deprecated it
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
