"""Between typed records and table rows."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from memory_store.keys import near_digest
from memory_store.records.episodic import EpisodicExperience
from memory_store.records.experience import Experience, Provenance
from memory_store.records.narrative import NarrativeExperience, PlannedSubtask
from memory_store.records.skills import SkillExperience
from memory_store.storage.schema import EpisodicRow, ExperienceRow, NarrativeRow, SkillRow

_PROVENANCE = tuple(Provenance.model_fields)


def to_row(experience: Experience) -> ExperienceRow:
    """Make the row of a record.

    Raises:
        InvalidExperience: Its key is blank.
    """
    key = experience.key
    common: dict[str, Any] = {name: getattr(experience.provenance, name) for name in _PROVENANCE}
    common |= {"uid": experience.id, "key_text": key.text, "key_digest": key.digest, "changed": 0}
    common["near_digest"] = near_digest(key.text)
    if experience.provenance.quarantined:
        common["state"] = "quarantined"
    match experience:
        case NarrativeExperience():
            return NarrativeRow(
                **common,
                query=experience.query,
                instruction=experience.instruction,
                instruction_digest=experience.instruction_key.digest,
                summary=experience.summary,
                plan=[subtask.model_dump() for subtask in experience.plan],
                success=experience.success,
            )
        case EpisodicExperience():
            return EpisodicRow(
                **common,
                task_query=experience.task_query,
                subtask=experience.subtask,
                context=experience.context,
                summary=experience.summary,
                steps=list(experience.steps),
            )
        case SkillExperience():
            return SkillRow(
                **common,
                name=experience.name,
                description=experience.description,
                preconditions=list(experience.preconditions),
                steps=list(experience.steps),
                aliases=list(experience.aliases),
                intent=experience.intent.model_dump(mode="json"),
                effects=list(experience.effects),
                replaced_by=experience.replaced_by,
            )
    raise TypeError(f"not a storable experience: {type(experience).__name__}")


def to_record(row: ExperienceRow | Row[Any]) -> Experience:
    """Make the record of a row: a mapped one, or a plain one that has all columns of its kind."""
    provenance = Provenance(**{name: getattr(row, name) for name in _PROVENANCE})
    known: Any = row
    match row.kind:
        case "narrative":
            return NarrativeExperience(
                id=known.uid,
                provenance=provenance,
                query=known.query,
                instruction=known.instruction,
                summary=known.summary,
                plan=tuple(PlannedSubtask(**subtask) for subtask in known.plan),
                success=known.success,
            )
        case "episodic":
            return EpisodicExperience(
                id=known.uid,
                provenance=provenance,
                task_query=known.task_query,
                subtask=known.subtask,
                context=known.context,
                summary=known.summary,
                steps=tuple(known.steps),
            )
        case "skill":
            return SkillExperience(
                id=known.uid,
                provenance=provenance,
                name=known.name,
                aliases=tuple(known.aliases or ()),
                # Skills of older stores have no intent; it is read from the name.
                **({} if known.intent is None else {"intent": known.intent}),
                description=known.description,
                preconditions=tuple(known.preconditions),
                steps=tuple(known.steps),
                effects=tuple(known.effects or ()),
                replaced_by=known.replaced_by,
            )
    raise TypeError(f"not a known kind of experience: {row.kind}")
