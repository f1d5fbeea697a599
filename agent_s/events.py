"""What happens during a run, one class per kind of event.

The recorder, the progress display and the report read events and nothing else. Written to disk, an event is one line of
JSON; the pixels of an observation are left to the recorder, which stores them beside it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, InstanceOf, TypeAdapter

from aci.acting.actions import AnyAction
from aci.desktop.desktop import ActionResult
from aci.observation.observation import Observation
from agent_s.records import Aims, Limits, Outcome, Plan, Subtask, Task, Verdict


class BaseEvent(BaseModel):
    """What all events share."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    at: datetime = Field(default_factory=lambda: datetime.now(UTC))


class RunStarted(BaseEvent):
    """The run begins.

    Attributes:
        desktop: Where: "virtual", the name of an X display, or "" for a desktop of somebody's own.
        resumes: Id of the run that it goes on with; empty for one that begins anew.
    """

    kind: Literal["run_started"] = "run_started"
    run_id: str
    task: Task
    model: str
    limits: Limits
    desktop: str = ""
    resumes: str = ""


class Observed(BaseEvent):
    """The screen was looked at.

    Attributes:
        observation: The observation itself; left out of the written form.
        text: What a model is shown of it.
        screenshot: File name of its picture beside the trajectory, once a recorder has stored it.
        elements: Number of elements.
    """

    kind: Literal["observed"] = "observed"
    observation: InstanceOf[Observation] | None = Field(default=None, exclude=True, repr=False)
    text: str = ""
    screenshot: str | None = None
    elements: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


class ModelCalled(BaseEvent):
    """A model answered."""

    kind: Literal["model_called"] = "model_called"
    call: str
    model: str
    seconds: float
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = None


class KnowledgeGathered(BaseEvent):
    """The Manager asked the web and narrative memory.

    Attributes:
        query: The question, or "" where memory gave the whole plan.
        web: Titles and addresses of web results.
        narratives: Ids of the experiences found.
        problems: Engines that did not answer, and why.
        aims: What the task demands and forbids.
    """

    kind: Literal["knowledge_gathered"] = "knowledge_gathered"
    query: str
    web: tuple[str, ...] = ()
    narratives: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    aims: Aims = Aims()


class Planned(BaseEvent):
    """There is a plan, or a new one after a failure (`replan` counts them from 1)."""

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
    """A verified experience is done again without a model."""

    kind: Literal["replay_started"] = "replay_started"
    subtask: Subtask
    experience_id: str
    steps: int


class ReplayStopped(BaseEvent):
    """A replay met a screen that differs; the Worker takes over."""

    kind: Literal["replay_stopped"] = "replay_stopped"
    subtask: Subtask
    experience_id: str
    reason: str


class Reflected(BaseEvent):
    """The trajectory reflector spoke."""

    kind: Literal["reflected"] = "reflected"
    trouble: str
    reflection: str


class ActionChosen(BaseEvent):
    """A step was decided: by the Worker, or by a replay.

    Attributes:
        target: The element it names, in words.
        boxes: Where the elements it names lay, (x, y, width, height) in px, once a recorder has looked them up.
    """

    kind: Literal["action_chosen"] = "action_chosen"
    step: int
    action: AnyAction
    target: str = ""
    boxes: tuple[tuple[int, int, int, int], ...] = ()
    previous_action_check: str = ""
    observation_analysis: str = ""
    next_action: str = ""
    replayed: bool = False


class ActionPerformed(BaseEvent):
    """A step was carried out."""

    kind: Literal["action_performed"] = "action_performed"
    step: int
    action: AnyAction
    result: ActionResult
    seconds: float = 0.0


class SubtaskEnded(BaseEvent):
    """Work on a subtask is over."""

    kind: Literal["subtask_ended"] = "subtask_ended"
    subtask: Subtask
    ok: bool
    reason: str = ""
    steps: int = 0
    replayed: bool = False


class Verified(BaseEvent):
    """The task was checked."""

    kind: Literal["verified"] = "verified"
    verdict: Verdict


class ExperienceStored(BaseEvent):
    """Something was written to memory."""

    kind: Literal["experience_stored"] = "experience_stored"
    memory: Literal["narrative", "episodic", "skill"]
    experience_id: str
    summary: str


class Troubled(BaseEvent):
    """Something that the run survived went wrong, such as a memory that cannot be written."""

    kind: Literal["troubled"] = "troubled"
    problem: str


class RunEnded(BaseEvent):
    """The run is over; always the last event."""

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
    | SubtaskEnded
    | Verified
    | ExperienceStored
    | Troubled
    | RunEnded
)

EVENT_ADAPTER: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="kind")])
