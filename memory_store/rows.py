"""Between typed records and table rows."""

from __future__ import annotations

from typing import Any

from memory_store.episodic import EpisodicExperience
from memory_store.experience import Experience, Provenance
from memory_store.keys import near_digest
from memory_store.narrative import NarrativeExperience, PlannedSubtask
from memory_store.schema import EpisodicRow, ExperienceRow, NarrativeRow, SkillRow
from memory_store.skills import SkillExperience

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
                replaced_by=experience.replaced_by,
            )
    raise TypeError(f"not a storable experience: {type(experience).__name__}")


def to_record(row: ExperienceRow) -> Experience:
    """Make the record of a row."""
    provenance = Provenance(**{name: getattr(row, name) for name in _PROVENANCE})
    match row:
        case NarrativeRow():
            return NarrativeExperience(
                id=row.uid,
                provenance=provenance,
                query=row.query,
                instruction=row.instruction,
                summary=row.summary,
                plan=tuple(PlannedSubtask(**subtask) for subtask in row.plan),
                success=row.success,
            )
        case EpisodicRow():
            return EpisodicExperience(
                id=row.uid,
                provenance=provenance,
                task_query=row.task_query,
                subtask=row.subtask,
                context=row.context,
                summary=row.summary,
                steps=tuple(row.steps),
            )
        case SkillRow():
            return SkillExperience(
                id=row.uid,
                provenance=provenance,
                name=row.name,
                description=row.description,
                preconditions=tuple(row.preconditions),
                steps=tuple(row.steps),
                replaced_by=row.replaced_by,
            )
    raise TypeError(f"not a known kind of experience: {row.kind}")
