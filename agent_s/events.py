"""The events of a run, one class per kind.

The recorder, the progress display and the report depend on events alone. On disk, an event is one line of JSON; the
recorder stores the screenshot of an observation in a separate file.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, InstanceOf, TypeAdapter, model_validator

from aci.acting.actions import AnyAction
from aci.desktop.desktop import ActionResult
from aci.observation.observation import Observation
from agent_s.probes.requests import ProbeResult
from agent_s.records import Aims, Dropped, Limits, Outcome, Plan, Record, Subtask, Task, Usage, Verdict


class BaseEvent(BaseModel):
    """Base of all events."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    at: datetime = Field(default_factory=lambda: datetime.now(UTC))


class RunStarted(BaseEvent):
    """The run begins."""

    kind: Literal["run_started"] = "run_started"
    run_id: str
    task: Task
    model: str
    limits: Limits
    desktop: str = ""  # "virtual", an X display, the address of a machine, or "" for a custom desktop
    resumes: str = ""  # id of the run that this run resumes; empty for a new run


class Observed(BaseEvent):
    """The agent looked at the screen."""

    kind: Literal["observed"] = "observed"
    # the observation itself; not written to disk
    observation: InstanceOf[Observation] | None = Field(default=None, exclude=True, repr=False)
    text: str = ""  # its text form, as shown to a model
    screenshot: str | None = None  # file name of its picture, relative to the trajectory, once a recorder has stored it
    elements: int = 0  # number of elements
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


class SentPicture(Record):
    """A picture in a prompt; sizes in px."""

    media_type: Literal["image/png", "image/jpeg"]
    width: int
    height: int
    file: str = ""  # file name, relative to the trajectory, once a recorder has stored it
    data: bytes = Field(default=b"", exclude=True, repr=False)  # the file's bytes; not written to disk


class Turn(Record):
    """One turn of a conversation with a provider."""

    role: Literal["user", "assistant"]
    parts: tuple[str | SentPicture, ...]


class Exchange(Record):
    """A prompt that was sent to a provider, and its answer."""

    system: str  # the instructions
    turns: tuple[Turn, ...]
    answer_schema: str = ""  # JSON schema that the provider was asked to enforce; empty for none
    reply: str = ""  # the raw answer; empty if there was none
    stop: str = ""  # the provider's stop reason, such as "end" or "length"
    problem: str = ""  # why there is no answer, or how the provider explains a refusal


class ModelCalled(BaseEvent):
    """A model was called."""

    kind: Literal["model_called"] = "model_called"
    call: str  # kind of the request, or "search" for a web search by the provider
    model: str  # name of the model
    seconds: float  # wall time of the call, s
    usage: Usage = Usage()  # tokens and cost
    answer: dict[str, Any] = {}  # fields of the response that differ from their defaults
    detail: dict[str, Any] = {}  # further information from the provider, such as its request id
    # prompts and answers, several if an answer was invalid; none from models that take the request object directly
    exchanges: tuple[Exchange, ...] = ()
    error: str = ""  # why there is no usable answer: an exception's name and message

    @model_validator(mode="before")
    @classmethod
    def _read_flat_usage(cls, values: Any) -> Any:
        """Accept records of earlier versions, which hold the fields of `usage` at the top level."""
        flat = ("input_tokens", "cached_tokens", "output_tokens", "dollars")
        if not isinstance(values, dict) or not any(name in values for name in flat):
            return values
        usage = {name: values[name] for name in flat if name in values}
        return {**{name: value for name, value in values.items() if name not in flat}, "usage": usage}


class KnowledgeGathered(BaseEvent):
    """The Manager queried the web and narrative memory."""

    kind: Literal["knowledge_gathered"] = "knowledge_gathered"
    query: str  # the Manager's question; empty if memory holds the whole plan
    web: tuple[str, ...] = ()  # titles and addresses of web results
    narratives: tuple[str, ...] = ()  # ids of the experiences that were retrieved
    problems: tuple[str, ...] = ()  # sources that did not answer, and why
    aims: Aims = Aims()  # what the task requires and forbids


class Planned(BaseEvent):
    """A plan was adopted; `replan` is 0 for the first one and counts the replans after failures from 1."""

    kind: Literal["planned"] = "planned"
    plan: Plan
    replan: int = 0
    reason: str = ""


class SubtaskStarted(BaseEvent):
    """Work on a subtask begins."""

    kind: Literal["subtask_started"] = "subtask_started"
    subtask: Subtask
    index: int
    total: int
    experiences: tuple[str, ...] = ()


class ReplayStarted(BaseEvent):
    """The replay of a verified experience begins; it calls no model."""

    kind: Literal["replay_started"] = "replay_started"
    subtask: Subtask
    experience_id: str
    steps: int


class ReplayStopped(BaseEvent):
    """A replay stopped because the screen differs from what was recorded; the Worker takes over."""

    kind: Literal["replay_stopped"] = "replay_stopped"
    subtask: Subtask
    experience_id: str
    reason: str


class Reflected(BaseEvent):
    """The trajectory reflector gave feedback."""

    kind: Literal["reflected"] = "reflected"
    trouble: str
    reflection: str


class ActionChosen(BaseEvent):
    """The Worker, or a replay, chose the next action."""

    kind: Literal["action_chosen"] = "action_chosen"
    step: int
    action: AnyAction
    target: str = ""  # the target element, in words
    # rectangles of the target elements, (x, y, width, height) in px, once a recorder has added them
    boxes: tuple[tuple[int, int, int, int], ...] = ()
    previous_action_check: str = ""
    observation_analysis: str = ""
    next_action: str = ""
    replayed: bool = False


class ActionPerformed(BaseEvent):
    """An action was carried out."""

    kind: Literal["action_performed"] = "action_performed"
    step: int
    action: AnyAction
    result: ActionResult
    seconds: float = 0.0


class ActionsDropped(BaseEvent):
    """The remaining actions of an answer were dropped, since the screen differs from what the answer expected."""

    kind: Literal["actions_dropped"] = "actions_dropped"
    step: int  # number of the last step that was performed
    dropped: Dropped


class EffectSeen(BaseEvent):
    """The effect of an action was determined from the screen after it."""

    kind: Literal["effect_seen"] = "effect_seen"
    step: int
    result: ActionResult  # the action's result, now with its effect


class SubtaskEnded(BaseEvent):
    """Work on a subtask ended."""

    kind: Literal["subtask_ended"] = "subtask_ended"
    subtask: Subtask
    ok: bool
    reason: str = ""
    steps: int = 0
    replayed: bool = False


class Probed(BaseEvent):
    """A file or setting was read for the evaluator."""

    kind: Literal["probed"] = "probed"
    result: ProbeResult


class Verified(BaseEvent):
    """The result of the task was checked."""

    kind: Literal["verified"] = "verified"
    verdict: Verdict


class ExperienceStored(BaseEvent):
    """An experience was written to memory."""

    kind: Literal["experience_stored"] = "experience_stored"
    memory: Literal["narrative", "episodic", "skill"]
    experience_id: str
    summary: str


class Troubled(BaseEvent):
    """A problem occurred that does not end the run, such as a memory that cannot be written."""

    kind: Literal["troubled"] = "troubled"
    problem: str


class Concluded(BaseEvent):
    """The outcome is decided; all that follows is summarizing what was learned, which nobody needs to wait for."""

    kind: Literal["concluded"] = "concluded"
    outcome: Outcome  # its usage does not include the summaries yet


class RunEnded(BaseEvent):
    """The run ended; always the last event."""

    kind: Literal["run_ended"] = "run_ended"
    outcome: Outcome


Event = (
    RunStarted
    | Observed
    | ModelCalled
    | KnowledgeGathered
    | Planned
    | SubtaskStarted
    | ReplayStarted
    | ReplayStopped
    | Reflected
    | ActionChosen
    | ActionPerformed
    | ActionsDropped
    | EffectSeen
    | SubtaskEnded
    | Probed
    | Verified
    | ExperienceStored
    | Troubled
    | Concluded
    | RunEnded
)

EVENT_ADAPTER: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="kind")])
