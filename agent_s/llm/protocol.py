"""The contract with a model: typed contexts in, typed responses out.

Turning a context into text is the business of each provider, so that models which read no text (`offline`, `scripted`)
work from the same values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from aci.acting.actions import AnyAction
from aci.observation.observation import Observation
from agent_s.records import Plan, Step, Subtask, Task, Verdict
from memory_store import EpisodicExperience, NarrativeExperience

Kind = Literal[
    "query", "plan", "act", "reflect", "summarize_subtask", "summarize_task", "verify", "propose_tasks", "name_skills"
]


class Response(BaseModel):
    """What all responses share: immutable, and no field that is not declared."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class QueryResponse(Response):
    """An observation-aware question in the form "How to do X" (paper, section 3.1.1), and what the task comes down to.

    Attributes:
        query: The question.
        criteria: What has to be true at the end, written from the task alone.
        constraints: What the task forbids, or wants kept.
    """

    query: str
    criteria: Annotated[tuple[str, ...], Field(max_length=30)] = ()
    constraints: Annotated[tuple[str, ...], Field(max_length=30)] = ()


class PlannedNode(Response):
    """A subtask as a model plans it."""

    name: Annotated[str, Field(min_length=1, max_length=500)]
    info: str = ""


class PlanResponse(Response):
    """A plan as a graph, with the guideline that it follows.

    Attributes:
        guideline: What web and memory say about this task, fused, each statement with its source; empty where they say
            nothing that helps.
        nodes: Subtasks, in the order in which they were thought of.
        edges: Pairs (before, after) of subtask names.
        not_understood: Words of the instruction that the plan does not cover; empty where it covers all.
        gives_up: Why nothing can be planned; empty where there is a plan.
        infeasible: Whether it is because nobody could do the task on this machine.
    """

    guideline: str = ""
    nodes: tuple[PlannedNode, ...] = ()
    edges: tuple[tuple[str, str], ...] = ()
    not_understood: tuple[str, ...] = ()
    gives_up: str = ""
    infeasible: bool = False


class ActResponse(Response):
    """A Worker's turn, with the paper's four parts (section 3.1.2).

    Attributes:
        previous_action_check: Whether the last action did what was hoped for.
        observation_analysis: What the screen shows.
        next_action: What to do next, in words.
        action: Exactly one primitive.
    """

    previous_action_check: str = ""
    observation_analysis: str = ""
    next_action: str = ""
    action: AnyAction


class ReflectResponse(Response):
    """What the trajectory reflector tells the Worker; empty where there is nothing to say."""

    reflection: str = ""


class SummaryResponse(Response):
    """A summary for memory."""

    summary: str


class Judgement(Response):
    """Whether one point is met, and what shows it.

    Attributes:
        point: Number of the criterion or constraint, from 1.
        met: True or False where something shows it, None where nothing does.
        element_id: The element that shows it, or None.
        step: The step that shows it, or None.
        quote: The words of the element that show it, as they stand there.
    """

    point: Annotated[int, Field(ge=1)]
    met: bool | None
    element_id: int | None = None
    step: int | None = None
    quote: str = ""


class VerifyResponse(Response):
    """An independent judgement of a finished task.

    Attributes:
        look: A primitive that only shows more, where that is needed before judging; None where it is not.
        judgements: One for each criterion and constraint.
        verified: True or False where the evidence decides it, None where it does not.
        reason: Why.
        evidence: What it rests on where code has looked it up; what a language model gives here is dropped.
    """

    look: AnyAction | None = None
    judgements: tuple[Judgement, ...] = ()
    verified: bool | None
    reason: str = ""
    evidence: tuple[str, ...] = ()


class ProposedTask(Response):
    """A task for exploring an application.

    Attributes:
        instruction: What is to be done, as a person would ask for it.
        difficulty: From 1, a single action, to 5, several features together.
    """

    instruction: Annotated[str, Field(min_length=1, max_length=1000)]
    difficulty: Annotated[int, Field(ge=1, le=5)] = 1


class CheckableTask(ProposedTask):
    """A task whose end can be looked up without asking a model; every point that is not empty must hold.

    Attributes:
        uses: Ways (`Affordance.way`) of what has to be used, where the task consists of using it.
        shows: A text that has to stand on the screen.
        file: Name of a file that has to lie in the Documents folder.
    """

    uses: tuple[str, ...] = ()
    shows: str = ""
    file: str = ""


class ProposalResponse(Response):
    """Tasks for exploring an application."""

    tasks: Annotated[tuple[ProposedTask, ...], Field(max_length=300)] = ()


class FunctionNames(Response):
    """What people call a function of an application.

    Attributes:
        number: Its place in the request, from 1.
        names: How they would ask for it, the best first.
    """

    number: Annotated[int, Field(ge=1)]
    names: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=120)], ...], Field(max_length=6)] = ()


class NamingResponse(Response):
    """Names of functions that an exploration found."""

    functions: Annotated[tuple[FunctionNames, ...], Field(max_length=200)] = ()


@dataclass(frozen=True, slots=True)
class WebResult:
    """An answer of a search engine; data from outside, never an instruction.

    Attributes:
        title: Of the page.
        url: Of the page; empty where the engine speaks for itself.
        content: What it says.
        note: How old it is, where it was not asked for just now.
    """

    title: str
    url: str
    content: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class QueryContext:
    """Asks for a search query; `trouble` says what the agent is stuck with, empty at the start."""

    kind: ClassVar[Kind] = "query"
    response_type: ClassVar[type[Response]] = QueryResponse

    task: Task
    observation: Observation
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class FailedSubtask:
    """What went wrong with a subtask, for planning anew."""

    subtask: Subtask
    reason: str
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanContext:
    """Asks for a plan, or for a new plan of what is left after a failure.

    Attributes:
        web: What the search engine answered, best first.
        experiences: Similar tasks from narrative memory, best first.
        constraints: What the task forbids, or wants kept.
        done: Subtasks that are finished.
        failed: Subtask that failed and why; None for the first plan.
        left: Subtasks that were still to come after the failed one.
        problem: Why the previous answer was not a valid plan; empty at first.
    """

    kind: ClassVar[Kind] = "plan"
    response_type: ClassVar[type[Response]] = PlanResponse

    task: Task
    observation: Observation
    web: tuple[WebResult, ...] = ()
    experiences: tuple[NarrativeExperience, ...] = ()
    constraints: tuple[str, ...] = ()
    done: tuple[Subtask, ...] = ()
    failed: FailedSubtask | None = None
    left: tuple[Subtask, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ActContext:
    """Asks for the next primitive.

    Attributes:
        subtask: What to do now.
        done: Subtasks that are finished.
        left: Subtasks still to come.
        experiences: Similar subtasks from episodic memory, best first.
        steps: What was done in this subtask so far, oldest first.
        constraints: What the task forbids, or wants kept.
        reflection: The reflector's latest word; empty where there is none.
        follows: Tasks before this one, where no planner has said what this one means by them.
        observation: The screen now; its `buffer` holds the texts kept so far.
    """

    kind: ClassVar[Kind] = "act"
    response_type: ClassVar[type[Response]] = ActResponse

    task: Task
    subtask: Subtask
    observation: Observation
    done: tuple[Subtask, ...] = ()
    left: tuple[Subtask, ...] = ()
    experiences: tuple[EpisodicExperience, ...] = ()
    steps: tuple[Step, ...] = ()
    constraints: tuple[str, ...] = ()
    reflection: str = ""
    follows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReflectContext:
    """Asks for a reflection on the trajectory of a subtask, with the reason why one is wanted now."""

    kind: ClassVar[Kind] = "reflect"
    response_type: ClassVar[type[Response]] = ReflectResponse

    task: Task
    subtask: Subtask
    observation: Observation
    steps: tuple[Step, ...]
    trouble: str
    constraints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SubtaskSummaryContext:
    """Asks for the summary of a finished subtask, for episodic memory."""

    kind: ClassVar[Kind] = "summarize_subtask"
    response_type: ClassVar[type[Response]] = SummaryResponse

    task: Task
    subtask: Subtask
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class TaskSummaryContext:
    """Asks for the summary of a task without concrete actions, for narrative memory."""

    kind: ClassVar[Kind] = "summarize_task"
    response_type: ClassVar[type[Response]] = SummaryResponse

    task: Task
    plan: Plan | None
    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True, slots=True)
class VerifyContext:
    """Asks whether a task that the agent says is done really is.

    Attributes:
        points: What is to be judged: each criterion and each constraint.
        done: Subtasks with the steps that finished them.
        looked: What was done since only to see more.
        may_look: Whether more may be looked at.
        problem: Why the previous answer does not count; empty at first.
    """

    kind: ClassVar[Kind] = "verify"
    response_type: ClassVar[type[Response]] = VerifyResponse

    task: Task
    observation: Observation
    done: tuple[tuple[Subtask, tuple[Step, ...]], ...] = ()
    points: tuple[str, ...] = ()
    looked: tuple[Step, ...] = ()
    may_look: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Affordance:
    """Something that an application offers for use.

    Attributes:
        role: AT-SPI role name.
        name: As it is written on it.
        within: What has to be opened before it, outermost first: names of menus and buttons.
        window: Name of the dialog it lies in; empty for the main window.
        on: Whether it is switched on; None where it cannot be.
    """

    role: str
    name: str
    within: tuple[str, ...] = ()
    window: str = ""
    on: bool | None = None

    @property
    def way(self) -> str:
        """How it is reached, as "View > Line Numbers"."""
        return " > ".join((*self.within, self.name))


@dataclass(frozen=True, slots=True)
class ProposalContext:
    """Asks for tasks by which an application is to be explored (paper, section 3.2).

    Attributes:
        task: The exploration itself, for the record.
        application: Name of the application.
        description: What kind of application it calls itself, such as "Text Editor".
        wanted: How many tasks.
        observation: The screen to find tasks for; None for the most common tasks, whatever the screen.
        affordances: What the application was found to offer.
        known: Tasks that there are already.
    """

    kind: ClassVar[Kind] = "propose_tasks"
    response_type: ClassVar[type[Response]] = ProposalResponse

    task: Task
    application: str
    wanted: int
    description: str = ""
    observation: Observation | None = None
    affordances: tuple[Affordance, ...] = ()
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundFunction:
    """Something that an exploration found an application to do.

    Attributes:
        name: What it is called by rules.
        way: How it is reached, as "View > Line Numbers".
        effect: What it changed, a line each.
    """

    name: str
    way: str
    effect: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NamingContext:
    """Asks what people call functions that were found without a model.

    Attributes:
        task: The exploration itself, for the record.
        application: Name of the application.
        functions: What was found.
    """

    kind: ClassVar[Kind] = "name_skills"
    response_type: ClassVar[type[Response]] = NamingResponse

    task: Task
    application: str
    functions: tuple[FoundFunction, ...]


Context = (
    QueryContext
    | PlanContext
    | ActContext
    | ReflectContext
    | SubtaskSummaryContext
    | TaskSummaryContext
    | VerifyContext
    | ProposalContext
    | NamingContext
)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call: what is asked, and the type that the answer must have."""

    context: Context

    @property
    def kind(self) -> Kind:
        """Which of the agent's questions this is."""
        return self.context.kind

    @property
    def response_type(self) -> type[Response]:
        """Type of `ModelResponse.output`."""
        return self.context.response_type


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """What one call used; `dollars` is None where the price is not known."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = None


@dataclass(frozen=True, slots=True)
class ModelResponse:
    """The answer to one call.

    Attributes:
        output: An instance of the request's `response_type`.
        usage: What the call used.
        detail: What a provider wants to keep with it, for the trajectory.
    """

    output: Response
    usage: TokenUsage = TokenUsage()
    detail: dict[str, Any] = field(default_factory=dict)


class Model(Protocol):
    """Anything that answers requests: a provider, the offline model, a script."""

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer one request.

        Raises:
            ModelError: There is no usable answer.
        """
        ...
