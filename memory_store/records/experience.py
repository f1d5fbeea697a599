"""The common parts of all kinds of experience: provenance, trust, hits and statistics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from memory_store.keys import Key, check_text

Kind = Literal["narrative", "episodic", "skill"]
KINDS: tuple[Kind, ...] = ("narrative", "episodic", "skill")

State = Literal["candidate", "active", "quarantined", "deprecated"]
"""Trust: not proven yet; in use; withdrawn because it failed or was contradicted; replaced."""

QUARANTINE_AFTER_FAILURES = 2


def _checked(text: str) -> str:
    return check_text(text, "a text")


def _as_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("the time has no time zone: use datetime.now(UTC)")
    return moment.astimezone(UTC)


StoredText = Annotated[str, AfterValidator(_checked)]
"""Text that every database can store: no NUL, no lone surrogate, not too long."""

UtcTime = Annotated[datetime, AfterValidator(_as_utc)]  # a time with a zone, stored in UTC


class Record(BaseModel):
    """Base of the frozen records of this package."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Provenance(Record):
    """The origin of an experience, its verification and its usage statistics.

    Attributes:
        run_id: The run that created it.
        task_id: The task within that run.
        app: The application it is about.
        platform: Operating system and desktop, such as "linux/x11".
        model: The model that acted.
        outcome: The outcome as the agent reports it ("done", "failed", ...).
        verified: The verdict of a check that is independent of the acting model; None if there was none.
        verified_by: The check that gave the verdict.
        embedder: The embedder in use when it was stored; set by the store.
        created_at: Creation time, UTC.
        version: The version of the program that created it.
        times_used: Number of uses.
        times_worked: Number of successful uses.
        times_seen: How often it was learned; duplicates are merged when they are stored.
        last_used_at: Time of the last use, UTC.
        state: Its trust state.
        state_reason: The reason for the state.
        from_screen: Whether it contains text from a screen or the web, which is untrusted.
        author: The user who stored it: the name by which the server knows them, or the login name; set by the store,
            empty if it was stored by an earlier version.
        draft: Whether its summary is only a list of steps, which is still to be summarized.
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
    author: StoredText = ""
    draft: bool = False

    @model_validator(mode="after")
    def _worked_within_used(self) -> Provenance:
        if self.times_worked > self.times_used:
            raise ValueError("times_worked exceeds times_used")
        return self

    @property
    def quarantined(self) -> bool:
        """Whether it is withdrawn, because it failed too often, was contradicted, or its owner withdrew it."""
        return self.state == "quarantined" or self.times_used - self.times_worked >= QUARANTINE_AFTER_FAILURES


class Experience(Record, ABC):
    """A stored experience. Its id is unique across stores and begins with the first letter of its kind."""

    kind: ClassVar[Kind]

    id: str
    provenance: Provenance

    @property
    @abstractmethod
    def key(self) -> Key:
        """The key that it is found by."""


ExperienceT = TypeVar("ExperienceT", bound=Experience, covariant=True)


@dataclass(frozen=True, slots=True)
class Hit(Generic[ExperienceT]):
    """A search result.

    Attributes:
        experience: The experience.
        similarity: Cosine of the keys, in [-1, 1]; 1.0 for the same words.
        reason: Why it was returned, for people to read.
        score: The fused rank, weighted by outcome, age and use, by which hits are ordered; 1.0 or more for the same
            words. Comparable within one search only.
        reasons: The parts of `reason`.
    """

    experience: ExperienceT
    similarity: float
    reason: str
    score: float = 0.0
    reasons: tuple[str, ...] = ()


class StoreStats(Record):
    """The contents of a store, in numbers.

    Attributes:
        path: The database file.
        schema_version: Its schema revision.
        embedder: The embedder that it was opened with.
        narrative: Number of narrative experiences.
        episodic: Number of episodic experiences.
        skill: Number of skills.
        states: Number of experiences by state.
        forgotten: Number of forgotten experiences that can still be restored.
        verified: Number of verified experiences.
        quarantined: Number of quarantined experiences.
        apps: Number of experiences by application.
        vectors: Number of stored vectors by embedder.
        web_answers: Number of cached answers of search engines.
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


def first_problem(error: Exception) -> str:
    """Return the first problem of a record in one line, without its content."""
    if not isinstance(error, ValidationError):
        return str(error)
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    return f"{place}: {problem['msg']}"
