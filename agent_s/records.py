"""Records that describe a run: task, limits, plan, step, usage, verdict and outcome."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from aci.acting.actions import ID_FIELDS as ID_FIELDS
from aci.acting.actions import Action, AnyAction
from aci.acting.effects import with_effect
from aci.acting.wording import describe_action, describe_result, describe_target
from aci.desktop.desktop import ActionResult
from aci.observation.identity import ElementDescription
from aci.observation.observation import Observation
from intents.statements import split_instruction, split_statement

MAX_INSTRUCTION = 20_000
LONGEST_NAME = 160  # characters of an instruction that serve as the name of the subtask for the whole task

Status = Literal["done", "failed", "infeasible", "out_of_budget", "stopped", "error"]
Planner = Literal["hierarchical", "flat"]
Phase = Literal["observe", "model", "search", "memory", "act", "verify"]


class Record(BaseModel):
    """Base of all records: immutable, without extra fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def new_id() -> str:
    """Return a short random identifier, unique among the runs of one machine."""
    return uuid.uuid4().hex[:12]


class Task(Record):
    """A task that a person gives."""

    instruction: Annotated[str, Field(max_length=MAX_INSTRUCTION)]  # the request, in words
    # identifies the task in memory and reports
    id: Annotated[str, Field(min_length=1, max_length=200)] = Field(default_factory=new_id)
    # earlier tasks on the same desktop and how they ended, oldest first; context for the planner
    follows: Annotated[tuple[str, ...], Field(max_length=20)] = ()

    @field_validator("instruction")
    @classmethod
    def _not_blank(cls, instruction: str) -> str:
        if not instruction.strip():
            raise ValueError("the instruction is empty: describe the task in a sentence")
        return instruction.strip()


class Aims(Record):
    """What a task requires and forbids, stated before the agent acts."""

    criteria: tuple[str, ...] = ()  # what must be true at the end
    constraints: tuple[str, ...] = ()  # what must not be done or changed

    def points(self, instruction: str) -> tuple[str, ...]:
        """Return the points to judge at the end, one claim each: the criteria, then the constraints.

        Args:
            instruction: Instruction of the task; its parts serve as criteria if there are none.
        """
        criteria = [part for criterion in self.criteria for part in split_statement(criterion)]
        return (*(criteria or split_instruction(instruction)), *self.constraints)


class Limits(Record):
    """Budgets of one run; reaching one ends the run as `out_of_budget`."""

    max_steps: Annotated[int, Field(ge=1)] = 100
    """Maximum number of primitives in a run."""
    max_subtask_steps: Annotated[int, Field(ge=1)] = 20
    """Maximum number of primitives in a subtask; does not apply to `planner: flat`."""
    max_subtasks: Annotated[int, Field(ge=1)] = 40
    """Maximum number of subtasks in a plan."""
    max_replans: Annotated[int, Field(ge=0)] = 3
    """Maximum number of new plans after failed subtasks."""
    max_looks: Annotated[int, Field(ge=0, le=20)] = 6
    """How often the evaluator may look closer (scroll, switch, open a tab, menu or dialog) or read files and settings;
    as many steps and calls are reserved for it, and a tenth of tokens, dollars and seconds."""
    max_model_calls: Annotated[int, Field(ge=0)] = 300
    """Maximum number of model calls in a run."""
    max_tokens: Annotated[int | None, Field(ge=0)] = None
    """Maximum number of tokens sent and received in a run."""
    max_dollars: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None
    """Maximum cost of a run; needs models with a known price."""
    max_seconds: Annotated[float, Field(gt=0)] = 1800.0
    """Time limit of a run, s; the time a person takes to answer, agree or act does not count."""


class Subtask(Record):
    """One part of a plan."""

    name: Annotated[str, Field(min_length=1, max_length=500)]  # short and unique within the plan
    info: Annotated[str, Field(max_length=MAX_INSTRUCTION)] = ""  # what the Worker needs to know to do it
    skill: str = ""  # id of the skill in memory that the Manager chose for it; empty for none
    values: tuple[str, ...] = ()  # the values of the skill's parameters, in their order

    @classmethod
    def of_all(cls, instruction: str) -> Subtask:
        """Return a subtask for a whole task; its name truncates a long instruction."""
        if len(instruction) <= LONGEST_NAME:
            return cls(name=instruction)
        return cls(name=f"{instruction[:LONGEST_NAME]}...", info=instruction)


class Plan(Record):
    """Subtasks in execution order, and their dependencies."""

    subtasks: tuple[Subtask, ...]  # in topological order
    edges: tuple[tuple[str, str], ...] = ()  # pairs (before, after) of subtask names
    source: Literal["model", "memory", "task"] = "model"  # a model, verified narrative memory, or the task itself
    guideline: str = ""  # fused knowledge from the web and memory, with its sources; may be empty
    aims: Aims = Aims()  # what the task requires and forbids, if the planner stated it with the plan


class NoPlan(Record):
    """The planner's answer that there is no way to do the task, or no other way after a failure."""

    reason: str  # for the user
    infeasible: bool = False  # whether the task is impossible on this machine


class ElementState(Record):
    """The visible state of an element, without its position."""

    states: tuple[str, ...] = ()  # states that actions change: checked, selected, expanded and the like
    text: str | None = None  # its content, if short
    value: float | None = None  # of a slider or spin button


ChangeKind = Literal[
    "state", "value", "text", "title", "opened", "closed", "appeared", "vanished", "rewritten", "file", "setting",
    "picture",
]  # fmt: skip


class Change(Record):
    """One difference that a step made on the screen, or in the files and settings of the home."""

    # a control's state, value or text; a window's title; a window that opened or closed; a control that appeared in or
    # vanished from a window that stayed open; a field or choice, other than the target, that was rewritten; a file; a
    # setting of an application; or the picture, if nothing else differs
    kind: ChangeKind
    what: str  # the control, window ("" for menus and popups), file relative to the home, or "group/key" of a setting
    before: str = ""  # its earlier state; empty for nothing, or if it is not recorded
    after: str = ""  # its later state; empty for nothing, or if it is not recorded


class EndState(Record):
    """The lasting result of a step, at the end of its subtask."""

    element: ElementState | None = None  # the target element; None if it was gone
    files: tuple[str, ...] = ()  # files that the step names and that were written meanwhile, as paths from "~"
    title: str = ""  # title of the active window; for the last step only
    # settings that were changed by a switch whose state no element shows, by "group/key"
    settings: dict[str, str] = Field(default_factory=dict)


class Derived(Record):
    """A place on the screen that typed text came from; if there are several, they must agree."""

    typed: str  # the text as typed
    value: str  # the text as shown on the screen
    app: str = ""  # application that showed it
    role: str = ""  # AT-SPI role of the element; "window" for a title
    field: str = ""  # field of the element: name, text, label, description, value or title
    beside: str = ""  # name of the element, or the text before it
    after: str = ""  # text after the element, if it has no name
    ordinal: int = 0  # position among the nameless elements of its role, from 0
    around: tuple[str, str] = ("", "")  # text before and after the value in the same field
    # index of the step of the subtask before which it was first seen; None if it was seen before the subtask
    shown_at: int | None = None
    changed: bool = False  # whether an earlier step made it appear there in place of something else
    stayed: bool = True  # whether the place still showed it when it was typed
    said: bool = False  # whether the wording contains it too, so that its origin is ambiguous


class GroundedStep(Record):
    """A primitive with descriptions of its elements instead of ids, so that it can be replayed on another screen."""

    action: AnyAction  # the primitive as it was performed; its ids are meaningless outside of its run
    # description of the element behind each id field of the primitive, by field name
    targets: dict[str, ElementDescription] = {}
    focus: ElementDescription | None = None  # the focused element, for text that is typed without naming one
    front: str = ""  # title of the active window, for key presses; empty if it does not matter
    keyboard: str = ""  # role of the focused element; empty if none was known
    intent: str = ""  # the next action in the Worker's words
    effect: tuple[Change, ...] = ()  # the changes to check when the step is replayed
    state_before: ElementState | None = None  # the target element before the step; None if there was none
    state_after: ElementState | None = None  # the target element after the step; None if it was gone
    end: EndState = EndState()  # the lasting result at the end of the subtask
    # pictures around the target points within elements, by field, as PNG files in base64
    pictures: dict[str, str] = {}
    # sources of the parts of its text that came from the screen; None if they were not recorded
    derived: tuple[Derived, ...] | None = None
    fixed: bool = False  # whether a person confirmed that parts of its text that the wording lacks never vary
    untried: bool = False  # whether it was never performed, so that at most a part of its effect is known
    # all names in the window of its target, sorted, if that must say just this; empty if it does not matter
    window_says: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _read_earlier_form(cls, fields: Any) -> Any:
        """Accept records from before `Change`: an object with a list for each kind, and `left` instead of `end`."""
        if not isinstance(fields, dict):
            return fields
        renamed = {"end" if name == "left" else name: value for name, value in fields.items()}
        if any("changed" not in one for one in renamed.get("derived") or () if isinstance(one, dict)):
            renamed["derived"] = None  # stored without evidence that the text came from there
        if isinstance(effect := renamed.get("effect"), dict):
            kinds = ("opened", "closed", "appeared", "vanished", "rewritten")
            renamed["effect"] = [{"kind": kind, "what": what} for kind in kinds for what in effect.get(kind, ())]
            renamed |= {"state_before": effect.get("before"), "state_after": effect.get("after")}
        return renamed

    def names_of(self, *kinds: ChangeKind) -> tuple[str, ...]:
        """Return what changed in the given ways, such as the titles of the windows that opened."""
        return tuple(change.what for change in self.effect if change.kind in kinds)


class Response(BaseModel):
    """Base of all model answers: immutable, without extra fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def for_record(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults as JSON values; a nested object is kept whole."""
        values = dict(self)
        changed = {name for name, field in type(self).model_fields.items() if values[name] != field.default}
        return self.model_dump(mode="json", include=changed)


class Expectation(Response):
    """What the screen must show for a subtask to be done; checked by code, not by a model."""

    element_id: int | None = None  # the element that must show it; None for any element or the title of a window
    shows: str = ""  # text in its name, content, value or states
    gone: bool = False  # whether the element, or everything that shows the text, must be gone instead


class ActResponse(Response):
    """A Worker's turn, with the paper's four parts (section 3.1.2)."""

    previous_action_check: str = ""  # whether the last action had the intended effect
    observation_analysis: str = ""  # what the screen shows
    next_action: str = ""  # what to do next, in words
    action: AnyAction  # exactly one primitive
    # further primitives, performed in order as long as the screen stays as expected; see `worker.max_actions`
    then: Annotated[tuple[AnyAction, ...], Field(max_length=50)] = ()
    # if the last of them finishes the subtask: what the screen will show; otherwise empty
    done_when: Annotated[tuple[Expectation, ...], Field(max_length=8)] = ()
    found: Annotated[str, Field(max_length=4000)] = ""  # values and facts that later subtasks need; may be empty
    # actions that the model's provider requires a person to confirm first; not part of the schema
    safety_checks: Annotated[tuple[str, ...], SkipJsonSchema()] = ()

    @property
    def actions(self) -> tuple[Action, ...]:
        """All primitives, in order."""
        return (self.action, *self.then)

    def part(self, number: int) -> ActResponse:
        """Return a response with only one of the primitives, counted from 0; the reasoning goes with the first one."""
        if number:
            return ActResponse(action=self.actions[number])
        return self.model_copy(update={"then": (), "done_when": ()})


class Dropped(Record):
    """Primitives of an answer that were not performed, since the screen was no longer as expected."""

    actions: tuple[AnyAction, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of a Worker: what it saw, what it answered, and the result."""

    number: int
    observation: Observation
    response: ActResponse
    result: ActionResult
    # whether it comes from the recording of an earlier run, so that it has no screen and its element ids are invalid
    recalled: bool = False
    target: str = ""  # the target elements in words, if its screen was not kept
    dropped: Dropped | None = None  # further primitives of its answer that were not performed

    @property
    def worked(self) -> bool:
        """Whether it was carried out and, as far as known, had an effect or was unnecessary."""
        return self.result.worked

    def followed_by(self, after: Observation) -> Step:
        """Return the step with its effect, given the screen after it."""
        if self.recalled or self.result.effect is not None:
            return self
        result = with_effect(self.result, self.response.action, self.observation, after)
        return self if result is self.result else replace(self, result=result)

    def __str__(self) -> str:
        """Return the action and its result in words, with elements by role and name."""
        action = self.response.action
        target = self.target or describe_target(action, self.observation)
        return f"{describe_action(action, target)} -> {describe_result(self.result)}"


class Usage(Record):
    """Resources used by a model call or a whole run."""

    steps: int = 0  # primitives performed
    model_calls: int = 0  # calls of the model
    input_tokens: int = 0  # tokens sent, including cached ones
    cached_tokens: int = 0  # tokens that the provider read from its cache
    written_tokens: int = 0  # tokens that the provider wrote to its cache
    output_tokens: int = 0  # tokens received
    searches: int = 0  # web searches that the provider made
    dollars: float | None = None  # cost, or None if the price is unknown
    seconds: dict[Phase, float] = {}  # wall time by phase, s

    def __add__(self, other: Usage) -> Usage:
        """Return the sum, without `seconds`; the cost is unknown if either cost is."""
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


NO_USAGE = Usage()


class Verdict(Record):
    """The result of verification: whether a task was really done."""

    verified: bool | None  # True or False if it could be checked, else None
    reason: str = ""  # why, in words
    evidence: tuple[str, ...] = ()  # what supports it: a file's content, an element, a step
    by: str = ""  # what checked it, such as "state check" or "model"


class Outcome(Record):
    """How a run ended."""

    status: Status  # how the agent ended it
    verified: bool | None  # whether a check confirms that the task is done; None if nothing could be checked
    reason: str = ""  # why it ended like this, for the user
    usage: Usage = Usage()  # steps, calls, tokens, cost and time
    run_id: str = ""  # identifies the run and its trajectory
    replayed: bool = False  # whether every subtask was replayed from memory


class StateCheck(Protocol):
    """Check of the applications' own state after the agent has finished."""

    def __call__(self, status: Status) -> Verdict:
        """Return whether the task is done.

        Args:
            status: How the agent ended it; giving up is correct for an infeasible task.
        """
