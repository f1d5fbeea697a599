"""What all kinds of experience have in common: provenance, trust, hits, statistics."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from memory_store.keys import Key, check_text

Kind = Literal["narrative", "episodic", "skill"]
KINDS: tuple[Kind, ...] = ("narrative", "episodic", "skill")

State = Literal["candidate", "active", "quarantined", "deprecated"]
"""How far something is trusted: not yet proven; in use; withdrawn because it failed or was contradicted; replaced."""

QUARANTINE_AFTER_FAILURES = 2
"""An experience whose later uses failed this often is no longer returned."""


def _checked(text: str) -> str:
    return check_text(text, "a text")


def _as_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("the time has no time zone: use datetime.now(UTC)")
    return moment.astimezone(UTC)


StoredText = Annotated[str, AfterValidator(_checked)]
"""Text that every part of the store can hold: no NUL, no lone surrogate, not too long."""

UtcTime = Annotated[datetime, AfterValidator(_as_utc)]
"""A time with a zone, kept in UTC."""


class Record(BaseModel):
    """Base of the frozen records of this package."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Provenance(Record):
    """Where an experience comes from and how it fared since.

    Attributes:
        run_id: The run that made it.
        task_id: The task within that run.
        app: The application it is about, as retrieval filters by it.
        platform: Operating system and desktop, such as "linux/x11".
        model: The model that acted.
        outcome: How it ended, in the words of the agent ("done", "failed", ...).
        verified: True or False once checked independently of the acting model; None when not checkable.
        verified_by: What checked it.
        embedder: The embedder in use when it was stored; filled in by the store.
        created_at: When it was made, UTC.
        version: The version of the program that made it.
        times_used: How often it was used since.
        times_worked: How often that use succeeded.
        times_seen: How often the same was learned; near-duplicates are merged when they are stored.
        last_used_at: When it was last used, UTC.
        state: How far it is trusted.
        state_reason: Why it is in that state.
        from_screen: Whether it holds text that a screen or the web showed, which may have been written by anybody.
    """

    run_id: StoredText
    task_id: StoredText = ""
    app: StoredText = ""
    platform: StoredText = ""
    model: StoredText = ""
    outcome: StoredText = ""
    verified: bool | None = None
    verified_by: StoredText = ""
    embedder: StoredText = ""
    created_at: UtcTime = Field(default_factory=lambda: datetime.now(UTC))
    version: StoredText = ""
    times_used: int = Field(default=0, ge=0, le=2**62)
    times_worked: int = Field(default=0, ge=0, le=2**62)
    times_seen: int = Field(default=1, ge=1, le=2**62)
    last_used_at: UtcTime | None = None
    state: State = "active"
    state_reason: StoredText = ""
    from_screen: bool = False

    @model_validator(mode="after")
    def _worked_within_used(self) -> Provenance:
        if self.times_worked > self.times_used:
            raise ValueError("times_worked exceeds times_used")
        return self

    @property
    def quarantined(self) -> bool:
        """Whether it is no longer returned: it failed too often when used, was contradicted, or was withdrawn."""
        return self.state == "quarantined" or self.times_used - self.times_worked >= QUARANTINE_AFTER_FAILURES


class Experience(Record):
    """One remembered experience. The id is unique across stores and tells the kind by its first letter."""

    kind: ClassVar[Kind]

    id: str
    provenance: Provenance

    @property
    def key(self) -> Key:
        """The key it is stored under and found by."""
        raise NotImplementedError


ExperienceT = TypeVar("ExperienceT", bound=Experience, covariant=True)


@dataclass(frozen=True, slots=True)
class Hit(Generic[ExperienceT]):
    """One search result.

    Attributes:
        experience: What was found.
        similarity: Cosine between the keys, in [-1, 1]; 1.0 for the same words.
        reason: Why it was returned, in words for the owner to read.
        score: What hits are ordered by: the fused rank, weighted by outcome, age and use; 1.0 or more for the same
            words. It is comparable within one search only.
        reasons: The single reasons that `reason` puts together.
    """

    experience: ExperienceT
    similarity: float
    reason: str
    score: float = 0.0
    reasons: tuple[str, ...] = ()


class StoreStats(Record):
    """What a store holds.

    Attributes:
        path: The database file.
        schema_version: Its schema revision.
        embedder: The embedder it is opened with.
        narrative: Number of narrative experiences.
        episodic: Number of episodic experiences.
        skill: Number of skills.
        states: Number of experiences by state.
        forgotten: Number of experiences that were forgotten and can still be brought back.
        verified: Number of experiences verified as true.
        quarantined: Number of experiences no longer returned because they failed when used or were contradicted.
        apps: Number of experiences by application.
        vectors: Number of stored vectors by embedder.
        web_answers: Number of kept answers of search engines.
        bytes: Size of the file and its write-ahead log.
    """

    path: str
    schema_version: str
    embedder: str
    narrative: int
    episodic: int
    skill: int
    states: dict[str, int]
    forgotten: int
    verified: int
    quarantined: int
    apps: dict[str, int]
    vectors: dict[str, int]
    web_answers: int
    bytes: int


def first_problem(error: ValidationError) -> str:
    """Say in one line what is wrong with a record, without repeating its content."""
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    return f"{place}: {problem['msg']}"
