"""Records of a search: screen states, attempts, unit skills, boundaries, limits and events.

A search walks a graph: nodes are `ScreenState`s, edges are `Attempt`s. No record holds a time or a random id that a
decision depends on, so an interrupted search resumes as if nothing had happened.

Memory holds them as follows (`exploration.skills.skill_keeper`):

- A **unit skill** is an active skill with `provenance.outcome == "done"` and `verified_by == VERIFIED_BY`: its steps
  were repeated on a fresh desktop and had the same effect.
- A **boundary** is a candidate with `provenance.outcome == BOUNDARY_OUTCOME`, `verified` False and the reason in
  `state_reason`. It is never replayed; a verified skill of the same name replaces it.
- What was **unverified** when the search ended is a candidate with `provenance.outcome == UNVERIFIED`. It is replayed
  where no verified skill does what is asked for.
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
    """Bounds of one search of one application."""

    seconds: Annotated[float, Field(gt=0)] = 600.0  # wall time for finding and verifying, interrupted runs included, s
    # further wall time where much more is left to try than a search usually gets to, s
    more_seconds: Annotated[float, Field(ge=0)] = 0.0
    max_depth: Annotated[int, Field(ge=1, le=20)] = 5  # longest path from the start, in steps
    # number of retries of a failed attempt, each on a fresh desktop
    max_retries: Annotated[int, Field(ge=0, le=10)] = 1
    max_states: Annotated[int, Field(ge=1)] = 400  # maximum number of screens


class ScreenState(Record):
    """A screen that was visited."""

    fingerprint: str  # equal for two screens that offer the same controls
    title: str = ""  # title of the active window
    words: tuple[str, ...] = ()  # names of the first controls, in reading order
    thumbnail: str = ""  # file name of a small picture, relative to the folder of the search; may be empty
    depth: int = 0  # steps from the start


class Control(Record):
    """Something on a screen that can be acted on."""

    role: str  # AT-SPI role name
    name: str  # its name, label or tooltip
    key: str  # unique on its screen, and the same each time
    # the dialog and the named parts that contain it; a control of the same role, name and place is tried on one screen
    # only
    place: str = ""

    @property
    def identity(self) -> str:
        """The same for the same control on different screens."""
        return f"{self.place}/{self.key}"


class Offer(Record):
    """A control that became visible."""

    control: Control
    step: GroundedStep  # the step that acts on it
    disabled: bool = False  # whether it is greyed out
    opens_menu: bool = False  # whether it opens a menu although its role is another
    unsafe: str = ""  # why it is left alone; empty if it may be tried


class Attempt(Record):
    """An edge: one control acted on, from one screen."""

    key: str  # the keys of the controls on its path
    control: Control
    start: str  # fingerprint of the screen before
    end: str = ""  # fingerprint of the screen after; empty if it was not seen
    path: tuple[GroundedStep, ...] = ()  # all steps from the start, the attempted one last; empty if nothing was done
    classification: Classification
    effect: tuple[Change, ...] = ()  # what it changed; an attempt without an effect gives no skill
    offers: tuple[Offer, ...] = ()  # controls that became visible, in reading order
    precondition: str = ""  # a sentence that must hold before the path works; may be empty
    why: str = ""  # the reason for the classification
    retries: int = 0  # number of retries
    depth: int = 0  # number of steps


class UnitSkill(Record):
    """A function that was found and worked again on a fresh desktop."""

    key: str  # the attempt that found it
    app: str  # the application, as its windows name it
    name: str  # such as "turn on line numbers"
    intent: Intent = Field(default_factory=lambda fields: Do(object=fields["name"]))  # what it does
    aliases: tuple[str, ...] = ()  # other names
    description: str = ""  # one sentence for people and models: what it does and where it is found
    where: str = ""  # how it is reached, such as "View > Line Numbers"
    preconditions: tuple[str, ...] = ()  # what must hold before, one sentence each
    steps: tuple[GroundedStep, ...]  # the actions, from the application as it is after its start
    # number of leading steps that only bring about a precondition, such as that something is selected
    prepared: Annotated[int, Field(ge=0)] = 0
    effect: tuple[Change, ...] = ()  # the verified changes
    state: str = ""  # fingerprint of the screen it leads to
    verified_by: str = VERIFIED_BY  # the check that verified it
    experience_id: str = ""  # its id in memory; empty if it is not stored


class Boundary(Record):
    """Something that could not be done, even after retries."""

    key: str  # the attempt that failed
    app: str  # the application, as its windows name it
    name: str  # its name if it were a skill
    description: str = ""  # one sentence
    why: str  # why it failed
    steps: tuple[GroundedStep, ...] = ()  # the steps that were tried, up to the failure
    retries: int = 0  # number of retries
    experience_id: str = ""  # its id in memory; empty if it is not stored


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
