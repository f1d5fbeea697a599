"""The nouns of a search: screen states, attempts, unit skills, boundaries, limits, and the events that tell of them.

A search is a walk over a graph whose nodes are `ScreenState`s and whose edges are `Attempt`s. Nothing here holds a time
or a random id that a decision depends on, so that a search that was killed goes on as if it had not been.

How it is kept in `memory_store` (see `exploration.skills.skill_memory`):

- A **unit skill** is a skill with its grounded steps, `provenance.outcome == "done"`, state "active" and
  `verified_by == VERIFIED_BY`: its steps worked again on a fresh desktop and their effect was looked up independently.
- A **boundary** is a skill with the steps that were tried, `provenance.outcome == BOUNDARY_OUTCOME`, `verified` False,
  state "candidate" and the reason in `state_reason`. Nothing replays candidates;
  `MemoryStore.search_skills(..., candidates=True)` finds it by the same words as a skill, and a verified skill under
  the same words withdraws it.

`exploration.search.dfs.search(desktop, ledger, limits=..., memory=..., folder=...)` is a generator of the events
below: it
takes a started `aci.VirtualDesktop` of its own (which it resets as often as it likes) and a `Ledger`, writes each event
to the ledger before it yields it, and ends with `SearchEnded`. Closing the generator between two events stops it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from agent_s.records import GroundedStep

VERIFIED_BY = "exploration: effect on a fresh desktop"
"""What verified a unit skill, in its provenance."""

BOUNDARY_OUTCOME = "boundary"
"""The outcome, in its provenance, of what could not be done after retries."""

Classification = Literal["continue", "terminal", "error", "skipped"]
"""What came of an attempt (OSExpert, section 3.1): more to explore became visible; a complete unit function; it could
not be done or did nothing; and, beside the paper's three, it was left alone because it is not safe or leads away."""

ChangeKind = Literal[
    "state", "value", "text", "title", "opened", "closed", "appeared", "vanished", "file", "setting", "picture"
]
"""What an effect consists of: a control's state, value or text; a window's title; a window that came or went; parts of
a window that came or went; files of the home; settings of applications; and, where nothing else tells, the picture."""


class Record(BaseModel):
    """What all records share: immutable, and no field that is not declared."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SearchLimits(Record):
    """Bounds of one search of one application.

    Attributes:
        seconds: Wall time for finding and verifying, s; what earlier, interrupted turns used counts too.
        max_depth: Longest path of steps from the start.
        max_retries: How often a failed attempt is made again, each time on a fresh desktop.
        max_states: Screens to visit at most.
    """

    seconds: Annotated[float, Field(gt=0)] = 600.0
    max_depth: Annotated[int, Field(ge=1, le=20)] = 5
    max_retries: Annotated[int, Field(ge=0, le=10)] = 1
    max_states: Annotated[int, Field(ge=1)] = 400


class ScreenState(Record):
    """A screen that was visited.

    Attributes:
        fingerprint: Equal for two screens that offer the same; see `exploration.search.states`.
        title: Title of the window in front.
        words: Names of what it offers, in reading order, the first few.
        thumbnail: File name of a small picture, relative to the folder of the search; empty where none is kept.
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
        name: What people call it: its name, label or tooltip.
        key: Tells it from every other control of its screen, the same each time.
        place: Where it belongs: the dialog and the named parts that it lies in. A control of the same role, name and
            place that was tried on one screen is not tried again on another.
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
    """A control that became visible, and how to act on it.

    Attributes:
        control: The control.
        step: The step that acts on it.
        disabled: Whether it is greyed out.
        unsafe: Why it is left alone; empty for one that may be tried.
    """

    control: Control
    step: GroundedStep
    disabled: bool = False
    unsafe: str = ""


class Change(Record):
    """One difference between the screens, files and settings before and after an attempt.

    Attributes:
        kind: What changed.
        what: Which: the control, window, file relative to the home, or "group/key" of a setting.
        before: As it was; empty for nothing.
        after: As it is; empty for nothing.
    """

    kind: ChangeKind
    what: str
    before: str = ""
    after: str = ""


class Attempt(Record):
    """An edge: one control acted on, from one screen.

    Attributes:
        key: Identifies it: the keys of the controls on its path.
        control: What was acted on.
        start: Fingerprint of the screen it began on.
        end: Fingerprint of the screen it led to; empty where that was not seen.
        path: Every step from the start, the one tried last; empty where nothing was done.
        classification: What came of it.
        effect: What it changed. What it is empty of leaves no skill; "continue" with an effect leaves one, such as
            opening a dialog.
        offers: Controls that became visible, in reading order; what is tried next.
        precondition: What must be prepared before the path works, one sentence; empty for nothing.
        why: The reason for the classification, in a sentence.
        retries: How often it was made again.
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
    """A unit function that was found and worked again on a fresh desktop.

    Attributes:
        key: The attempt that found it.
        app: The application, as windows name it.
        name: What it is called, such as "turn on line numbers".
        description: One sentence: what it does and where it is found.
        preconditions: What must hold before it begins, one sentence each.
        steps: The actions, from the application as it is after its start.
        prepared: How many of the steps only bring about what must hold before, such as that something is selected.
        effect: What the check looked up after the steps had been done again.
        state: Fingerprint of the screen it leads to.
        verified_by: What checked it.
        experience_id: Its id in memory; empty while it is not stored.
    """

    key: str
    app: str
    name: str
    description: str = ""
    preconditions: tuple[str, ...] = ()
    steps: tuple[GroundedStep, ...]
    prepared: Annotated[int, Field(ge=0)] = 0
    effect: tuple[Change, ...] = ()
    state: str = ""
    verified_by: str = VERIFIED_BY
    experience_id: str = ""


class Boundary(Record):
    """Something that could not be done, however often it was tried.

    Attributes:
        key: The attempt that failed.
        app: The application, as windows name it.
        name: What it would have been called as a skill.
        description: One sentence.
        why: Why it failed.
        steps: What was tried, as far as it came.
        retries: How often it was tried again.
        experience_id: Its id in memory; empty while it is not stored.
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
    """What all events share.

    Attributes:
        seconds: Time the search has used until now, interrupted turns included, s.
    """

    seconds: float = 0.0


class SearchStarted(BaseEvent):
    """The search of an application begins, or goes on."""

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
    """A control was acted on and the result classified; `left` attempts are known and still to be made."""

    kind: Literal["attempted"] = "attempted"
    attempt: Attempt
    left: int = 0


class SkillVerified(BaseEvent):
    """A unit skill worked again on a fresh desktop."""

    kind: Literal["skill_verified"] = "skill_verified"
    skill: UnitSkill


class BoundaryFound(BaseEvent):
    """Something failed for good."""

    kind: Literal["boundary_found"] = "boundary_found"
    boundary: Boundary


class SearchEnded(BaseEvent):
    """The search of an application is over.

    Attributes:
        complete: Whether nothing was left to try; False where a limit ended it or the application is unusable.
        reason: Why it ended.
    """

    kind: Literal["search_ended"] = "search_ended"
    complete: bool
    reason: str = ""


class Composed(BaseEvent):
    """A task of several skills was tried, after the search (`exploration.skills.composing`).

    Attributes:
        seconds: Time that was used for such tasks until now, s.
        key: Identifies it.
        units: Keys of the skills that it is made of.
        name: What it is called.
        skill: The skill that it became, of several steps; None where it did not work.
        why: Why it did not work.
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
