"""The nouns of a run: task, limits, plan, step, usage, verdict and outcome."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from aci.acting.actions import AnyAction
from aci.desktop.desktop import ActionResult
from aci.observation.identity import ElementDescription

if TYPE_CHECKING:
    from aci.observation.observation import Observation

MAX_INSTRUCTION = 20_000

Status = Literal["done", "failed", "infeasible", "out_of_budget", "stopped", "error"]
Planner = Literal["hierarchical", "flat"]
Phase = Literal["observe", "model", "search", "memory", "act", "verify"]


class Record(BaseModel):
    """Base of all records: immutable, and no undeclared field."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def new_id() -> str:
    """Return a short random identifier, unique among the runs of one machine."""
    return uuid.uuid4().hex[:12]


class Task(Record):
    """What a person wants done.

    Attributes:
        instruction: The request, in words.
        id: Identifies the task in memory and reports.
        follows: Earlier tasks on the same desktop and how they ended, oldest first; context for the planner.
    """

    instruction: Annotated[str, Field(max_length=MAX_INSTRUCTION)]
    id: Annotated[str, Field(min_length=1, max_length=200)] = Field(default_factory=new_id)
    follows: Annotated[tuple[str, ...], Field(max_length=20)] = ()

    @field_validator("instruction")
    @classmethod
    def _not_blank(cls, instruction: str) -> str:
        if not instruction.strip():
            raise ValueError("the instruction is empty: describe the task in a sentence")
        return instruction.strip()


class Aims(Record):
    """What a task requires and forbids, written down before anything is done.

    Attributes:
        criteria: What must be true at the end.
        constraints: What must not be done or changed.
    """

    criteria: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()

    def points(self, instruction: str) -> tuple[str, ...]:
        """Return everything to judge at the end: the criteria, then the constraints.

        Args:
            instruction: Of the task; it is the only criterion if none was written down.
        """
        return (*(self.criteria or (instruction,)), *self.constraints)


class Limits(Record):
    """Budgets of one run; reaching one ends the run as `out_of_budget`.

    Attributes:
        max_steps: Primitives in the whole run.
        max_subtask_steps: Primitives in one subtask before it counts as failed.
        max_subtasks: Subtasks in one plan.
        max_replans: Number of new plans after failures.
        max_looks: Read-only primitives that the evaluator may request before it judges; a share of the budgets of
            steps and calls is reserved for them.
        max_model_calls: Model calls in the whole run.
        max_tokens: Tokens sent and received in the whole run; None for no limit.
        max_dollars: Cost of the whole run; None for no limit. Needs models with known prices.
        max_seconds: Wall time of the whole run, s.
    """

    max_steps: Annotated[int, Field(ge=1)] = 100
    max_subtask_steps: Annotated[int, Field(ge=1)] = 20
    max_subtasks: Annotated[int, Field(ge=1)] = 40
    max_replans: Annotated[int, Field(ge=0)] = 3
    max_looks: Annotated[int, Field(ge=0, le=20)] = 3
    max_model_calls: Annotated[int, Field(ge=0)] = 300
    max_tokens: Annotated[int | None, Field(ge=0)] = None
    max_dollars: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None
    max_seconds: Annotated[float, Field(gt=0)] = 1800.0


class Subtask(Record):
    """One part of a plan.

    Attributes:
        name: Short and unique within the plan.
        info: What the Worker needs to know to do it.
    """

    name: Annotated[str, Field(min_length=1, max_length=500)]
    info: Annotated[str, Field(max_length=MAX_INSTRUCTION)] = ""


class Plan(Record):
    """Subtasks in execution order, and their dependencies.

    Attributes:
        subtasks: In topological order.
        edges: Pairs (before, after) of subtask names.
        source: A model, verified narrative memory, or the task itself.
        guideline: Knowledge from web and memory, fused, with its sources; may be empty.
    """

    subtasks: tuple[Subtask, ...]
    edges: tuple[tuple[str, str], ...] = ()
    source: Literal["model", "memory", "task"] = "model"
    guideline: str = ""


class NoPlan(Record):
    """The planner sees no way to do the task, or no other way after a failure.

    Attributes:
        reason: For the user.
        infeasible: Whether nobody could do it on this machine.
    """

    reason: str
    infeasible: bool = False


class ElementState(Record):
    """The visible state of an element, without its position.

    Attributes:
        states: Those states that actions change: checked, selected, expanded and the like.
        text: Its content, if short.
        value: Of a slider or spin button.
    """

    states: tuple[str, ...] = ()
    text: str | None = None
    value: float | None = None


ChangeKind = Literal[
    "state", "value", "text", "title", "opened", "closed", "appeared", "vanished", "rewritten", "file", "setting",
    "picture",
]  # fmt: skip


class Change(Record):
    """One difference that a step made on the screen, or in the files and settings of the home.

    Attributes:
        kind: A control's state, value or text; a window's title; a window that opened or closed; controls that appeared
            in or vanished from a window that stayed; a field or choice, other than the one acted on, that was
            rewritten; a file; a setting of an application; or the picture, if nothing else shows a difference.
        what: The control, window ("" for menus and popups), file relative to the home, or "group/key" of a setting.
        before: Its earlier state; empty for nothing, or if it is not recorded.
        after: Its later state; empty for nothing, or if it is not recorded.
    """

    kind: ChangeKind
    what: str
    before: str = ""
    after: str = ""


class EndState(Record):
    """What remained of a step at the end of its subtask.

    Attributes:
        element: The element that was acted on; None if it was gone.
        files: Files named by the step that were written meanwhile, as paths from "~".
        title: Title of the active window at the end; with the last step only.
        settings: Settings changed by a switch whose state no element shows, by "group/key".
    """

    element: ElementState | None = None
    files: tuple[str, ...] = ()
    title: str = ""
    settings: dict[str, str] = Field(default_factory=dict)


class Derived(Record):
    """A piece of typed text that the screen had shown and that is not in the task's wording.

    Attributes:
        typed: As it was typed.
        value: As the screen showed it.
        app: Application that showed it.
        role: AT-SPI role of the element; "window" for a title.
        field: Field of the element: name, text, label, description, value or title.
        beside: Text that named the element or preceded it.
        around: Text before and after it in the same field.
        shown_at: Index of the step of the subtask before which it was first seen; None if before the subtask.
    """

    typed: str
    value: str
    app: str = ""
    role: str = ""
    field: str = ""
    beside: str = ""
    around: tuple[str, str] = ("", "")
    shown_at: int | None = None


ID_FIELDS = ("element_id", "drag_from_id", "drop_on_id")
"""The fields of primitives that name an element."""


class GroundedStep(Record):
    """A primitive with element descriptions in place of ids, so that it can be replayed on another screen.

    Attributes:
        action: The primitive as it was performed; its ids are meaningless outside of its run.
        targets: Description of the element behind each id field of the primitive, by field name.
        focus: The focused element, for text that is typed without naming one.
        front: Title of the active window, for key presses; empty if it does not matter.
        intent: The next action in words, as the Worker put it.
        effect: What it changed, as far as it is worth checking when the step is replayed.
        state_before: The element that was acted on, before the step; None if there was none.
        state_after: The same after the step; None if it was gone.
        end: What remained of that at the end.
        derived: The parts of its text that came from the screen; None if that was not recorded.
    """

    action: AnyAction
    targets: dict[str, ElementDescription] = {}
    focus: ElementDescription | None = None
    front: str = ""
    intent: str = ""
    effect: tuple[Change, ...] = ()
    state_before: ElementState | None = None
    state_after: ElementState | None = None
    end: EndState = EndState()
    derived: tuple[Derived, ...] | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_earlier_form(cls, fields: Any) -> Any:
        """Read the form before `Change`: an object with a list for each kind, and `left` instead of `end`."""
        if not isinstance(fields, dict):
            return fields
        renamed = {"end" if name == "left" else name: value for name, value in fields.items()}
        if isinstance(effect := renamed.get("effect"), dict):
            kinds = ("opened", "closed", "appeared", "vanished", "rewritten")
            renamed["effect"] = [{"kind": kind, "what": what} for kind in kinds for what in effect.get(kind, ())]
            renamed |= {"state_before": effect.get("before"), "state_after": effect.get("after")}
        return renamed

    def names_of(self, *kinds: ChangeKind) -> tuple[str, ...]:
        """Return what it changed in some ways, such as the titles of the windows that it opened."""
        return tuple(change.what for change in self.effect if change.kind in kinds)


class Response(BaseModel):
    """Base of all model answers: immutable, and no undeclared field."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ActResponse(Response):
    """A Worker's turn, with the paper's four parts (section 3.1.2).

    Attributes:
        previous_action_check: Whether the last action had the intended effect.
        observation_analysis: What the screen shows.
        next_action: What to do next, in words.
        action: Exactly one primitive.
    """

    previous_action_check: str = ""
    observation_analysis: str = ""
    next_action: str = ""
    action: AnyAction


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of a Worker: what it saw, what it answered, and the result.

    Attributes:
        recalled: Whether it was read from the record of an earlier run; its screen is not kept, and its element ids
            mean nothing now.
    """

    number: int
    observation: Observation
    response: ActResponse
    result: ActionResult
    recalled: bool = False


class Usage(Record):
    """What a model call, or all of a run, used.

    Attributes:
        steps: Primitives performed.
        model_calls: Calls of the model.
        input_tokens: Tokens sent, including cached ones.
        cached_tokens: Tokens that the provider read from its cache.
        written_tokens: Tokens that the provider wrote to its cache.
        output_tokens: Tokens received.
        searches: Web searches that the provider made.
        dollars: Cost, or None if the price is unknown.
        seconds: Wall time by phase, s.
    """

    steps: int = 0
    model_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    output_tokens: int = 0
    searches: int = 0
    dollars: float | None = None
    seconds: dict[Phase, float] = {}

    def __add__(self, other: Usage) -> Usage:
        """Return the sum, without `seconds`; its cost is unknown as soon as one of the two is."""
        return Usage(
            steps=self.steps + other.steps,
            model_calls=self.model_calls + other.model_calls,
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            written_tokens=self.written_tokens + other.written_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            searches=self.searches + other.searches,
            dollars=None if self.dollars is None or other.dollars is None else self.dollars + other.dollars,
        )

    @property
    def tokens(self) -> int:
        """Tokens sent and received."""
        return self.input_tokens + self.output_tokens

    @property
    def total_seconds(self) -> float:
        """Seconds of all phases together."""
        return sum(self.seconds.values())


NO_USAGE = Usage()


class Verdict(Record):
    """Whether a task was really done.

    Attributes:
        verified: True or False if it could be checked, else None.
        reason: Why, in words.
        evidence: What supports it: a file's content, an element, a step.
        by: Who checked it, such as "state check" or "model".
    """

    verified: bool | None
    reason: str = ""
    evidence: tuple[str, ...] = ()
    by: str = ""


class Outcome(Record):
    """How a run ended.

    Attributes:
        status: How the agent ended it.
        verified: Whether a check confirms that the task is done; None if nothing could be checked.
        reason: Why it ended like this, for the user.
        usage: Steps, calls, tokens, cost and time.
        run_id: Identifies the run and its trajectory.
        replayed: Whether every subtask came from verified memory.
    """

    status: Status
    verified: bool | None
    reason: str = ""
    usage: Usage = Usage()
    run_id: str = ""
    replayed: bool = False


class StateCheck(Protocol):
    """Checks the state of the applications themselves, after the agent has finished."""

    def __call__(self, status: Status) -> Verdict:
        """Return whether the task is done.

        Args:
            status: How the agent ended it; giving up is correct for an infeasible task.
        """
        ...
