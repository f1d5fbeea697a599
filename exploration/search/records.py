"""Records of a search: screen states, attempts, unit skills, boundaries, limits and events.

A search walks a graph: nodes are `ScreenState`s, edges are `Attempt`s. No record holds a time or a random id that a
decision depends on, so an interrupted search resumes as if nothing had happened.

Memory holds them as follows (`exploration.skills.skill_keeper`):

- A **unit skill** is an active skill with `provenance.outcome == "done"` and `verified_by == VERIFIED_BY`: its steps
  were repeated on a fresh desktop and had the same effect.
- A **boundary** is a candidate with `provenance.outcome == BOUNDARY_OUTCOME`, `verified` False and the reason in
  `state_reason`. It is never replayed; a verified skill of the same name replaces it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from agent_s.records import Change, GroundedStep, Record
from intents.intent import Do, Intent

VERIFIED_BY = "exploration: effect on a fresh desktop"
BOUNDARY_OUTCOME = "boundary"

Classification = Literal["continue", "terminal", "error", "skipped"]
"""Result of an attempt (OSExpert, section 3.1): more controls became visible; a complete unit function; it failed or
did nothing; and, in addition to the paper's three, it was left alone because it is unsafe or leads elsewhere."""


class SearchLimits(Record):
    """Bounds of one search of one application.

    Attributes:
        seconds: Wall time for finding and verifying, interrupted runs included, s.
        max_depth: Longest path from the start, in steps.
        max_retries: Number of retries of a failed attempt, each on a fresh desktop.
        max_states: Maximum number of screens.
    """

    seconds: Annotated[float, Field(gt=0)] = 600.0
    max_depth: Annotated[int, Field(ge=1, le=20)] = 5
    max_retries: Annotated[int, Field(ge=0, le=10)] = 1
    max_states: Annotated[int, Field(ge=1)] = 400


class ScreenState(Record):
    """A screen that was visited.

    Attributes:
        fingerprint: Equal for two screens that offer the same controls.
        title: Title of the active window.
        words: Names of the first controls, in reading order.
        thumbnail: File name of a small picture, relative to the folder of the search; may be empty.
        depth: Steps from the start.
    """

    fingerprint: str
    title: str = ""
    words: tuple[str, ...] = ()
    thumbnail: str = ""
    depth: int = 0


class Control(Record):
    """Something on a screen that can be acted on.

    Attributes:
        role: AT-SPI role name.
        name: Its name, label or tooltip.
        key: Unique on its screen, and the same each time.
        place: The dialog and the named parts that contain it. A control of the same role, name and place is tried on
            one screen only.
    """

    role: str
    name: str
    key: str
    place: str = ""

    @property
    def identity(self) -> str:
        """The same for the same control on different screens."""
        return f"{self.place}/{self.key}"


class Offer(Record):
    """A control that became visible.

    Attributes:
        control: The control.
        step: The step that acts on it.
        disabled: Whether it is greyed out.
        unsafe: Why it is left alone; empty if it may be tried.
    """

    control: Control
    step: GroundedStep
    disabled: bool = False
    unsafe: str = ""


class Attempt(Record):
    """An edge: one control acted on, from one screen.

    Attributes:
        key: The keys of the controls on its path.
        control: The control.
        start: Fingerprint of the screen before.
        end: Fingerprint of the screen after; empty if it was not seen.
        path: All steps from the start, the attempted one last; empty if nothing was done.
        classification: The result.
        effect: What it changed. An attempt without an effect gives no skill.
        offers: Controls that became visible, in reading order.
        precondition: A sentence that must hold before the path works; may be empty.
        why: The reason for the classification.
        retries: Number of retries.
        depth: Number of steps.
    """

    key: str
    control: Control
    start: str
    end: str = ""
    path: tuple[GroundedStep, ...] = ()
    classification: Classification
    effect: tuple[Change, ...] = ()
    offers: tuple[Offer, ...] = ()
    precondition: str = ""
    why: str = ""
    retries: int = 0
    depth: int = 0


class UnitSkill(Record):
    """A function that was found and worked again on a fresh desktop.

    Attributes:
        key: The attempt that found it.
        app: The application, as its windows name it.
        name: Such as "turn on line numbers".
        intent: What it does.
        aliases: Other names.
        description: One sentence for people and models: what it does and where it is found.
        where: How it is reached, such as "View > Line Numbers".
        preconditions: What must hold before, one sentence each.
        steps: The actions, from the application as it is after its start.
        prepared: Number of leading steps that only bring about a precondition, such as that something is selected.
        effect: The verified changes.
        state: Fingerprint of the screen it leads to.
        verified_by: The check that verified it.
        experience_id: Its id in memory; empty if it is not stored.
    """

    key: str
    app: str
    name: str
    intent: Intent = Field(default_factory=lambda fields: Do(object=fields["name"]))
    aliases: tuple[str, ...] = ()
    description: str = ""
    where: str = ""
    preconditions: tuple[str, ...] = ()
    steps: tuple[GroundedStep, ...]
    prepared: Annotated[int, Field(ge=0)] = 0
    effect: tuple[Change, ...] = ()
    state: str = ""
    verified_by: str = VERIFIED_BY
    experience_id: str = ""


class Boundary(Record):
    """Something that could not be done, even after retries.

    Attributes:
        key: The attempt that failed.
        app: The application, as its windows name it.
        name: Its name if it were a skill.
        description: One sentence.
        why: Why it failed.
        steps: The steps that were tried, up to the failure.
        retries: Number of retries.
        experience_id: Its id in memory; empty if it is not stored.
    """

    key: str
    app: str
    name: str
    description: str = ""
    why: str
    steps: tuple[GroundedStep, ...] = ()
    retries: int = 0
    experience_id: str = ""


class BaseEvent(Record):
    """Base of all events; `seconds` is the time used by the search so far, interrupted runs included, s."""

    seconds: float = 0.0


class SearchStarted(BaseEvent):
    """The search of an application begins or resumes."""

    kind: Literal["search_started"] = "search_started"
    app: str
    argv: tuple[str, ...]
    limits: SearchLimits
    resumed: bool = False


class StateFound(BaseEvent):
    """A screen was seen for the first time."""

    kind: Literal["state_found"] = "state_found"
    state: ScreenState


class Attempted(BaseEvent):
    """A control was acted on and the result classified; `left` known attempts remain on this branch."""

    kind: Literal["attempted"] = "attempted"
    attempt: Attempt
    left: int = 0


class SkillVerified(BaseEvent):
    """A unit skill worked again on a fresh desktop."""

    kind: Literal["skill_verified"] = "skill_verified"
    skill: UnitSkill


class BoundaryFound(BaseEvent):
    """A control failed even after retries."""

    kind: Literal["boundary_found"] = "boundary_found"
    boundary: Boundary


class SearchEnded(BaseEvent):
    """The search of an application is over; `complete` if nothing was left to try, else `reason` says why it ended."""

    kind: Literal["search_ended"] = "search_ended"
    complete: bool
    reason: str = ""


class Composed(BaseEvent):
    """A composite task was tried, after the search (`exploration.skills.composing`).

    Attributes:
        seconds: Time used for composite tasks so far, s.
        key: Identifies it.
        units: Keys of the unit skills in it.
        name: Its name.
        skill: The composite skill; None if the task failed.
        why: Why it failed.
    """

    kind: Literal["composed"] = "composed"
    key: str
    units: tuple[str, ...]
    name: str
    skill: UnitSkill | None = None
    why: str = ""


SearchEvent = Annotated[
    SearchStarted | StateFound | Attempted | SkillVerified | BoundaryFound | SearchEnded | Composed,
    Field(discriminator="kind"),
]
SEARCH_EVENT_ADAPTER: TypeAdapter[SearchEvent] = TypeAdapter(SearchEvent)
