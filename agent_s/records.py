"""The nouns of a run: task, limits, plan, step, usage, verdict and outcome."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, field_validator

from aci.acting.actions import AnyAction
from aci.desktop.desktop import ActionResult
from aci.observation.identity import ElementDescription

if TYPE_CHECKING:
    from aci.observation.observation import Observation
    from agent_s.llm.protocol import ActResponse

MAX_INSTRUCTION = 20_000

Status = Literal["done", "failed", "infeasible", "out_of_budget", "stopped", "error"]
Planner = Literal["hierarchical", "flat"]
Phase = Literal["observe", "model", "search", "memory", "act", "verify"]


class Record(BaseModel):
    """What all records share: immutable, and no field that is not declared."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def new_id() -> str:
    """Return a short random identifier, unique among the runs of one machine."""
    return uuid.uuid4().hex[:12]


class Task(Record):
    """What a person wants done.

    Attributes:
        instruction: The wish, in words.
        id: Identifies the task in memory and reports.
        follows: What was asked for before on the same desktop and how it ended, oldest first; the planner is told.
    """

    instruction: Annotated[str, Field(max_length=MAX_INSTRUCTION)]
    id: Annotated[str, Field(min_length=1, max_length=200)] = Field(default_factory=new_id)
    follows: Annotated[tuple[str, ...], Field(max_length=20)] = ()

    @field_validator("instruction")
    @classmethod
    def _not_blank(cls, instruction: str) -> str:
        if not instruction.strip():
            raise ValueError("the instruction is empty: say in a sentence what is to be done")
        return instruction.strip()


class Aims(Record):
    """What a task demands and forbids, written down before anything is done.

    Attributes:
        criteria: What has to be true at the end.
        constraints: What must not be done, or has to be kept.
    """

    criteria: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()

    def points(self, instruction: str) -> tuple[str, ...]:
        """Return all that has to be judged: the outcome first, then what was not to be done on the way.

        Args:
            instruction: Of the task; it is the only criterion where none was written down.
        """
        return (*(self.criteria or (instruction,)), *self.constraints)


class Limits(Record):
    """Budgets of one run; reaching one ends the run as `out_of_budget`.

    Attributes:
        max_steps: Primitives in the whole run.
        max_subtask_steps: Primitives in one subtask before it counts as failed.
        max_subtasks: Subtasks in one plan.
        max_replans: How often a failed subtask may be planned anew.
        max_looks: Primitives that only look, before a finished task is judged; so much of the budgets of steps and
            calls is kept for it.
        max_model_calls: Calls of the model in the whole run.
        max_tokens: Tokens sent and received in the whole run; None for no limit.
        max_dollars: Cost of the whole run; None for no limit. Needs models whose price is known.
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
        info: What a Worker needs to know to do it.
    """

    name: Annotated[str, Field(min_length=1, max_length=500)]
    info: Annotated[str, Field(max_length=MAX_INSTRUCTION)] = ""


class Plan(Record):
    """Subtasks in the order in which they are done, and what each depends on.

    Attributes:
        subtasks: In topological order.
        edges: Pairs (before, after) of subtask names.
        source: Whether a model wrote it, it comes from verified narrative memory, or it is the task itself.
        guideline: What web and memory say about the task, fused, with the sources; empty where they say nothing.
    """

    subtasks: tuple[Subtask, ...]
    edges: tuple[tuple[str, str], ...] = ()
    source: Literal["model", "memory", "task"] = "model"
    guideline: str = ""


class NoPlan(Record):
    """There is no way to do the task, or no other way after a failure.

    Attributes:
        reason: For the person who gave the task.
        infeasible: Whether nobody could do it on this machine.
    """

    reason: str
    infeasible: bool = False


class ElementState(Record):
    """What can be seen of an element besides where it is.

    Attributes:
        states: Those of its states that actions change: checked, selected, expanded and the like.
        text: Its content, where it is short.
        value: Of a slider or spin button.
    """

    states: tuple[str, ...] = ()
    text: str | None = None
    value: float | None = None


class Effect(Record):
    """What a step changed, as far as it is worth checking when the step is replayed.

    Attributes:
        opened: Titles of windows that came ("" for menus and popups).
        closed: Titles of windows that went.
        before: The element that was acted on, before the step; None where there was none.
        after: The same after the step; None where it was gone.
        appeared: Controls that came in windows that stayed, each "role:name".
        vanished: Controls that went from windows that stayed.
        rewritten: Other fields and choices that changed, each "role:name".
    """

    opened: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    before: ElementState | None = None
    after: ElementState | None = None
    appeared: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()


class Left(Record):
    """What a step had left behind at the end of its subtask.

    Attributes:
        element: The element that was acted on; None where it was gone.
        files: Files it names that were written meanwhile, as paths from "~".
        title: Title of the window in front at the end; with the last step only.
        settings: What a switch whose state no element shows had set, by "group/key"; doing it again sets it back.
    """

    element: ElementState | None = None
    files: tuple[str, ...] = ()
    title: str = ""
    settings: dict[str, str] = Field(default_factory=dict)


class Derived(Record):
    """A piece of typed text that the screen had shown and no wording of the task tells.

    Attributes:
        typed: As it was typed.
        value: As the screen showed it.
        app: Application that showed it.
        role: AT-SPI role of the element there; "window" for a title.
        field: What of the element it was: name, text, label, description, value or title.
        beside: What named the element or stood before it.
        around: What stood before and after it in the same text.
        shown_at: Before which step of the subtask it was first seen, from 0; None where that was before the subtask.
    """

    typed: str
    value: str
    app: str = ""
    role: str = ""
    field: str = ""
    beside: str = ""
    around: tuple[str, str] = ("", "")
    shown_at: int | None = None


class GroundedStep(Record):
    """A primitive whose element ids are replaced by descriptions, so that it can be done again on another screen.

    Attributes:
        action: The primitive as it was performed; its ids are meaningless outside of its run.
        targets: Description of the element behind each id field of the primitive, by field name.
        focus: The element that had the keyboard, for what is typed without naming one.
        front: Title of the window that had the keyboard, for what only presses keys; empty where it does not matter.
        intent: The next action in words, as the Worker put it.
        effect: What it changed.
        left: What was left of that at the end.
        derived: What of the text that it types came from the screen; None where that was not recorded.
    """

    action: AnyAction
    targets: dict[str, ElementDescription] = {}
    focus: ElementDescription | None = None
    front: str = ""
    intent: str = ""
    effect: Effect = Effect()
    left: Left = Left()
    derived: tuple[Derived, ...] | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of a Worker: what it saw, what it answered, and what came of it.

    Attributes:
        recalled: Whether it is known from a record only; then what was seen is not kept, and its ids mean nothing now.
    """

    number: int
    observation: Observation
    response: ActResponse
    result: ActionResult
    recalled: bool = False


class Usage(Record):
    """What a run used.

    Attributes:
        steps: Primitives performed.
        model_calls: Calls of the model.
        input_tokens: Tokens sent, the cached ones included.
        cached_tokens: Tokens that the provider read from its cache.
        output_tokens: Tokens received.
        dollars: Cost, or None where the price is not known.
        seconds: Wall time by phase, s.
    """

    steps: int = 0
    model_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = None
    seconds: dict[Phase, float] = {}

    @property
    def total_seconds(self) -> float:
        """Seconds of all phases together."""
        return sum(self.seconds.values())


class Verdict(Record):
    """Whether a task was really done.

    Attributes:
        verified: True or False where it could be checked, None where it could not.
        reason: Why, in words.
        evidence: What it rests on: a file's content, an element, a step.
        by: What checked it, such as "state check" or "model".
    """

    verified: bool | None
    reason: str = ""
    evidence: tuple[str, ...] = ()
    by: str = ""


class Outcome(Record):
    """How a run ended.

    Attributes:
        status: What the agent says of it.
        verified: Whether a check confirms that the task is done; None where nothing could be checked.
        reason: Why it ended so, in words for the person who gave the task.
        usage: What it used.
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
    """Looks at the state of the applications themselves, after the agent says it has finished."""

    def __call__(self, status: Status) -> Verdict:
        """Tell whether the task is done.

        Args:
            status: What the agent says of it; an infeasible task is right when the agent gave up.
        """
        ...
