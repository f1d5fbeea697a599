"""The model protocol: typed contexts in, typed responses out.

Providers render contexts as text themselves, so that models that read no text (`offline`, `scripted`) get the same
values. Each context class follows the response class that it requests; the protocol itself is at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeVar, runtime_checkable

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from aci.acting.actions import Click, Hotkey, Scroll, SwitchApplications, Wait
from aci.desktop.machine import Machine
from aci.observation.geometry import Rect
from aci.observation.observation import Observation
from agent_s.errors import MalformedResponse
from agent_s.events import Exchange
from agent_s.probes.requests import AnyProbe, ProbeResult
from agent_s.records import NO_USAGE, Change, Limits, Status, Step, Subtask, Task, Usage
from agent_s.records import ActResponse as ActResponse
from agent_s.records import Expectation as Expectation
from agent_s.records import Response as Response
from memory_store import EpisodicExperience, NarrativeExperience

DEFAULT_LIMITS = Limits()

ResponseT = TypeVar("ResponseT", bound=Response)

Kind = Literal[
    "query", "plan", "act", "reflect", "summarize", "verify", "propose_tasks", "name_skills", "find_errors", "compare",
    "same", "support", "ground",
]  # fmt: skip


# Planning


@dataclass(frozen=True, slots=True)
class WebResult:
    """A result of a web search; untrusted data, never an instruction."""

    title: str  # title of the page
    url: str  # address of the page; empty for an answer by the engine itself
    content: str  # its text
    note: str = ""  # its age, if it is cached


@dataclass(frozen=True, slots=True)
class OfferedSkill:
    """A skill in memory that a plan may use."""

    id: str
    name: str  # what it does, such as "turn on line numbers"
    application: str  # the application that it belongs to
    description: str = ""  # one sentence; may be empty
    parameters: tuple[str, ...] = ()  # learned value of each parameter


@dataclass(frozen=True, slots=True)
class FailedSubtask:
    """A failed subtask, for re-planning."""

    subtask: Subtask
    reason: str
    steps: tuple[Step, ...] = ()


class QueryResponse(Response):
    """An observation-aware question "How to do X" (paper, section 3.1.1), and what the task requires and forbids."""

    query: str  # the question
    # what must be true at the end, derived from the task alone
    criteria: Annotated[tuple[str, ...], Field(max_length=30)] = ()
    constraints: Annotated[tuple[str, ...], Field(max_length=30)] = ()  # what must not be done or changed


@dataclass(frozen=True, slots=True)
class QueryContext:
    """Request for a search query; `trouble` is the current problem, empty at the start."""

    kind: ClassVar[Kind] = "query"
    response_type: ClassVar[type[Response]] = QueryResponse

    task: Task
    observation: Observation
    trouble: str = ""


class PlannedNode(Response):
    """A planned subtask."""

    name: Annotated[str, Field(min_length=1, max_length=500)]
    info: str = ""
    skill: int | None = None  # number of the skill that does it, from 1, in `PlanContext.skills`; None for the Worker
    values: tuple[str, ...] = ()  # one for each parameter of the skill, in their order


class PlanResponse(Response):
    """A plan as a graph, with the guideline that it follows."""

    guideline: str = ""  # knowledge from web and memory, fused, each statement with its source; may be empty
    nodes: tuple[PlannedNode, ...] = ()  # subtasks, in any order
    edges: tuple[tuple[str, str], ...] = ()  # pairs (before, after) of subtask names
    not_understood: tuple[str, ...] = ()  # parts of the instruction that the plan does not cover
    # as in QueryResponse, if there was no query (`PlanContext.wants_aims`)
    criteria: Annotated[tuple[str, ...], Field(max_length=30)] = ()
    constraints: Annotated[tuple[str, ...], Field(max_length=30)] = ()
    gives_up: str = ""  # why nothing can be planned; empty if there is a plan
    infeasible: bool = False  # whether the task is impossible on this machine


@dataclass(frozen=True, slots=True)
class PlanContext:
    """Request for a plan, or for a new plan of the remaining work after a failure."""

    kind: ClassVar[Kind] = "plan"
    response_type: ClassVar[type[Response]] = PlanResponse

    task: Task
    observation: Observation
    web: tuple[WebResult, ...] = ()  # web search results, best first
    experiences: tuple[NarrativeExperience, ...] = ()  # similar tasks from narrative memory, best first
    criteria: tuple[str, ...] = ()  # what must be true at the end
    constraints: tuple[str, ...] = ()  # what must not be done or changed
    limits: Limits = DEFAULT_LIMITS  # budgets, such as the maximum length of a plan
    guideline: str = ""  # guideline of the previous plan; empty at first
    done: tuple[Subtask, ...] = ()  # finished subtasks
    results: tuple[str, ...] = ()  # what they found out and wrote, one line each
    failed: FailedSubtask | None = None  # the subtask that failed and why; None for the first plan
    left: tuple[Subtask, ...] = ()  # subtasks that follow the failed one
    wants_aims: bool = False  # whether the answer should also state what the task requires and forbids
    skills: tuple[OfferedSkill, ...] = ()  # relevant skills in memory, best first
    problem: str = ""  # why the previous answer was not a valid plan; empty at first


# Acting


@dataclass(frozen=True, slots=True)
class ActContext:
    """Request for the next primitive."""

    kind: ClassVar[Kind] = "act"
    response_type: ClassVar[type[Response]] = ActResponse

    task: Task
    subtask: Subtask  # the current subtask
    observation: Observation  # the current screen; its `buffer` holds the texts saved so far
    done: tuple[Subtask, ...] = ()  # finished subtasks
    left: tuple[Subtask, ...] = ()  # subtasks still to come
    experiences: tuple[EpisodicExperience, ...] = ()  # similar subtasks from episodic memory, best first
    steps: tuple[Step, ...] = ()  # steps of this subtask so far, oldest first
    constraints: tuple[str, ...] = ()  # what must not be done or changed
    reflection: str = ""  # the reflector's feedback; may be empty
    # steps whose typed text nothing confirms, if a DONE was sent back for that reason
    unread: tuple[Step, ...] = ()
    unmet: str = ""  # why `done_when` of the last answer did not hold; empty if it did, or if there was none
    max_actions: int = 1  # maximum number of primitives in the answer
    guideline: str = ""  # guideline of the plan; may be empty
    results: tuple[str, ...] = ()  # what finished subtasks found out and wrote, one line each
    descriptions: bool = False  # whether targets may be described in words, for a grounding model
    follows: tuple[str, ...] = ()  # earlier tasks; empty if a planner has considered them


class ReflectResponse(Response):
    """Feedback of the trajectory reflector for the Worker; may be empty."""

    reflection: str = ""


@dataclass(frozen=True, slots=True)
class ReflectContext:
    """Request for feedback on the trajectory of a subtask; `trouble` is the reason."""

    kind: ClassVar[Kind] = "reflect"
    response_type: ClassVar[type[Response]] = ReflectResponse

    task: Task
    subtask: Subtask
    observation: Observation
    steps: tuple[Step, ...]
    trouble: str
    constraints: tuple[str, ...] = ()
    done: tuple[tuple[Subtask, tuple[Step, ...]], ...] = ()  # earlier subtasks with their steps


class GroundResponse(Response):
    """A position on the screen, px."""

    x: Annotated[int, Field(ge=0)]
    y: Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class GroundContext:
    """Request to a grounding model for the position of a target."""

    kind: ClassVar[Kind] = "ground"
    response_type: ClassVar[type[Response]] = GroundResponse

    task: Task  # the task, for the record
    observation: Observation
    description: str  # what to look for
    part: Rect  # the part of the screen to look at, px


# Summarizing and verifying


@dataclass(frozen=True, slots=True)
class Draft:
    """An experience that needs a summary."""

    instruction: str  # the task
    text: str  # what was done, with the result; stored until there is a summary
    subtask: str = ""  # name of the subtask; empty for a whole task
    info: str = ""  # instructions for its Worker


class SummariesResponse(Response):
    """Summaries for memory, one per draft, in order."""

    summaries: Annotated[tuple[str, ...], Field(max_length=40)]


@dataclass(frozen=True, slots=True)
class SummarizeContext:
    """Request for summaries of experiences: subtasks for episodic memory, whole tasks for narrative memory."""

    kind: ClassVar[Kind] = "summarize"
    response_type: ClassVar[type[Response]] = SummariesResponse

    task: Task  # the run's task; drafts that an earlier run left may belong to others
    drafts: tuple[Draft, ...]  # the experiences to summarize, oldest first
    observation: Observation | None = None  # the last screen of the run


AnyLook = Annotated[Scroll | SwitchApplications | Wait | Hotkey | Click, Field(discriminator="action")]
"""The primitives of which some change nothing (`agent_s.roles.looking`)."""


class Citation(Response):
    """Evidence that a point is met, which code looks up."""

    # an element on the screen; a window title; a step's effect, if it still holds; the answer to a probe; an element
    # that is unchanged since the start; or the absence of a forbidden step
    of: Literal["element", "window", "step", "probe", "unchanged", "no_step"]
    number: int | None = None  # id of the element, or number of the step or probe
    quote: str = ""  # verbatim words of the element and its states, the title, or the step's effect


class Judgement(Response):
    """Whether one criterion or constraint is met, with citations."""

    point: Annotated[int, Field(ge=1)]  # number of the criterion or constraint, from 1
    met: bool | None  # None if it cannot be determined
    citations: Annotated[tuple[Citation, ...], Field(max_length=8)] = ()  # evidence for it


class VerifyResponse(Response):
    """An independent judgement of a finished task."""

    # before judging: a read-only primitive to look closer, and probes of files and settings
    look: AnyLook | None = None
    probes: Annotated[tuple[AnyProbe, ...], Field(max_length=8)] = ()
    judgements: tuple[Judgement, ...] = ()  # one per criterion and constraint
    verified: bool | None  # None if the evidence is not conclusive
    reason: str = ""  # why
    # evidence that code has looked up; not in the schema, and dropped from answers of language models
    evidence: Annotated[tuple[str, ...], SkipJsonSchema()] = ()


@dataclass(frozen=True, slots=True)
class VerifyContext:
    """Request to verify a task that the agent claims is done."""

    kind: ClassVar[Kind] = "verify"
    response_type: ClassVar[type[Response]] = VerifyResponse

    task: Task
    observation: Observation
    done: tuple[tuple[Subtask, tuple[Step, ...]], ...] = ()  # attempted subtasks with their steps
    points: tuple[str, ...] = ()  # the criteria and constraints to judge
    constraints: int = 0  # number of points, at the end, that are prohibitions
    start: Observation | None = None  # the screen at the start of the run; None if unknown
    end: Observation | None = None  # the screen after the last step, before any closer look; None for `observation`
    differences: tuple[Change, ...] = ()  # files and settings that were changed since the start
    folders: tuple[str, ...] = ()  # names of the folders in the home, to recognize them in points
    probed: tuple[ProbeResult, ...] = ()  # answers to probes
    looked: tuple[Step, ...] = ()  # read-only steps taken to look closer
    may_look: bool = False  # whether further such steps and probes are allowed
    problem: str = ""  # why the previous answer was not accepted; empty at first


# Exploring an application


@dataclass(frozen=True, slots=True)
class Affordance:
    """A control that an application offers."""

    role: str  # AT-SPI role name
    name: str  # its label
    within: tuple[str, ...] = ()  # names of the menus and buttons that lead to it, outermost first
    window: str = ""  # name of its dialog; empty for the main window
    on: bool | None = None  # whether it is switched on; None if it is not a switch

    @property
    def way(self) -> str:
        """Path to it, such as "View > Line Numbers"."""
        return " > ".join((*self.within, self.name))


@dataclass(frozen=True, slots=True)
class ReachedScreen:
    """A screen of an application that an exploration reached."""

    way: str  # how it is reached from the start, such as "Edit > Preferences"; empty for the first screen
    title: str  # title of its window
    controls: tuple[str, ...]  # names of the controls that it offers


class ProposedTask(Response):
    """A task for exploring an application."""

    instruction: Annotated[str, Field(min_length=1, max_length=1000)]  # the task, as a person would ask for it
    application: str = ""  # the application in which it begins, as the request names it; empty if it names one
    difficulty: Annotated[int, Field(ge=1, le=5)] = 1  # from 1, a single action, to 5, several features together


class CheckableTask(ProposedTask):
    """A task whose result can be checked without a model; every field that is not empty must hold."""

    uses: tuple[str, ...] = ()  # controls (`Affordance.way`) that must be used, if the task consists of using them
    shows: str = ""  # text that must be on the screen
    file: str = ""  # name of a file that must be in the Documents folder


class ProposalResponse(Response):
    """Tasks for exploring an application."""

    tasks: Annotated[tuple[ProposedTask, ...], Field(max_length=300)] = ()


@dataclass(frozen=True, slots=True)
class ProposalContext:
    """Request for exploration tasks (paper, section 3.2)."""

    kind: ClassVar[Kind] = "propose_tasks"
    response_type: ClassVar[type[Response]] = ProposalResponse

    task: Task  # the exploration itself, for the record
    application: str  # name of the application; empty if the request is about several
    wanted: int  # number of tasks
    description: str = ""  # kind of application, such as "Text Editor"
    observation: Observation | None = None  # the screen to find tasks for; None for the application's most common tasks
    affordances: tuple[Affordance, ...] = ()  # controls that the application offers
    known: tuple[str, ...] = ()  # existing tasks
    applications: tuple[tuple[str, str], ...] = ()  # names and kinds, to find the most common tasks of several
    screens: tuple[ReachedScreen, ...] = ()  # screens of the application to find tasks for


@dataclass(frozen=True, slots=True)
class FoundFunction:
    """A function of an application that an exploration found."""

    name: str  # its name, made by rules
    way: str  # path to it, such as "View > Line Numbers"
    effect: tuple[str, ...] = ()  # what it changed, one line each


class FunctionNames(Response):
    """Names of one function of an application."""

    number: Annotated[int, Field(ge=1)]  # its position in the request, from 1
    # how people would ask for it, best first
    names: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=120)], ...], Field(max_length=6)] = ()


class NamingResponse(Response):
    """Names of functions that an exploration found."""

    functions: Annotated[tuple[FunctionNames, ...], Field(max_length=200)] = ()


@dataclass(frozen=True, slots=True)
class NamingContext:
    """Request for names of functions that were found without a model."""

    kind: ClassVar[Kind] = "name_skills"
    response_type: ClassVar[type[Response]] = NamingResponse

    task: Task  # the exploration itself, for the record
    application: str  # name of the application
    functions: tuple[FoundFunction, ...]  # the functions


# Judging runs and requests


class JudgedError(Response):
    """An error in a failed run (paper, section 4.4)."""

    kind: Literal["planning", "grounding", "execution"]
    steps: Annotated[tuple[int, ...], Field(max_length=100)] = ()  # numbers of the steps that show it
    reason: Annotated[str, Field(min_length=1, max_length=1000)]  # what is wrong, in one sentence


class ErrorsResponse(Response):
    """The errors in a failed run."""

    errors: Annotated[tuple[JudgedError, ...], Field(max_length=20)] = ()


@dataclass(frozen=True, slots=True)
class ErrorsContext:
    """Request for the errors in the recording of a failed run."""

    kind: ClassVar[Kind] = "find_errors"
    response_type: ClassVar[type[Response]] = ErrorsResponse

    task: Task  # the task of the run
    ending: str  # how it ended, and why it failed
    record: tuple[str, ...]  # its plans, subtasks and numbered steps with their effects, one line each
    known: tuple[str, ...] = ()  # errors found by rules, one line each


@dataclass(frozen=True, slots=True)
class Attempt:
    """One of several runs of a task, described by facts that code recorded."""

    facts: tuple[str, ...]  # its steps with what they changed, and its end; cited by number, from 1
    status: Status  # how the agent ended it
    verified: bool | None  # whether a check of the agent's own confirms that the task is done
    steps: int  # number of primitives
    last_screen: bytes | None = field(default=None, repr=False)  # its picture, a PNG file; None if there is none


class CitedFact(Response):
    """Reference to a fact of an attempt, which code looks up."""

    attempt: Annotated[int, Field(ge=1)]  # number of the attempt
    fact: Annotated[int, Field(ge=1)]  # number of its fact
    quote: str = ""  # words of the fact, verbatim


class CompareResponse(Response):
    """A comparative judgement of several attempts at a task."""

    best: int | None = None  # number of the best attempt; None if the facts do not decide it
    citations: Annotated[tuple[CitedFact, ...], Field(max_length=12)] = ()  # evidence for it
    reason: str = ""  # why, in a sentence or two


@dataclass(frozen=True, slots=True)
class CompareContext:
    """Request to compare several attempts at a task."""

    kind: ClassVar[Kind] = "compare"
    response_type: ClassVar[type[Response]] = CompareResponse

    task: Task
    attempts: Mapping[int, Attempt]  # by number, in the order of the prompt


@dataclass(frozen=True, slots=True)
class KnownRequest:
    """A request for which memory has steps."""

    wording: str  # the request, as a person worded it
    application: str = ""  # application in which its steps were learned; empty if unknown


class NewValue(Response):
    """A value in a known request, and the value that replaces it."""

    old: Annotated[str, Field(min_length=1, max_length=1000)]
    new: Annotated[str, Field(min_length=1, max_length=1000)]
    equal: bool = False  # whether both are the same value in two forms, so that nothing is replaced


class JudgedRequest(Response):
    """Judgement of whether the steps of a known request fulfill the current one."""

    number: Annotated[int, Field(ge=1)]  # number of the known request
    same: bool | None = None  # None if the wordings do not decide it
    values: Annotated[tuple[NewValue, ...], Field(max_length=12)] = ()  # values to replace


class SameResponse(Response):
    """Judgements of which known requests are equivalent."""

    judgements: Annotated[tuple[JudgedRequest, ...], Field(max_length=20)] = ()  # at most one for each known request


@dataclass(frozen=True, slots=True)
class SameContext:
    """Request to judge which known requests are equivalent to the current one, so that their steps can be replayed."""

    kind: ClassVar[Kind] = "same"
    response_type: ClassVar[type[Response]] = SameResponse

    task: Task  # the task of the run, for the record
    asked: str  # the current task or subtask
    known: tuple[KnownRequest, ...]  # numbered from 1


class SupportJudgement(Response):
    """Whether evidence supports a claim."""

    number: Annotated[int, Field(ge=1)]  # number of the claim
    supported: bool | None = None  # None if the evidence is not conclusive
    reason: str = ""  # what is missing or contradicts the claim; empty if it is supported


class SupportResponse(Response):
    """Judgements of which claims are supported by their evidence."""

    judgements: Annotated[tuple[SupportJudgement, ...], Field(max_length=40)] = ()  # at most one per claim


@dataclass(frozen=True, slots=True)
class CitedClaim:
    """A point that the evaluator considers met, with the cited evidence that code looked up."""

    point: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SupportContext:
    """Request to judge which claims follow from their evidence alone."""

    kind: ClassVar[Kind] = "support"
    response_type: ClassVar[type[Response]] = SupportResponse

    task: Task
    claims: tuple[CitedClaim, ...]  # numbered from 1


# Models

Context = (
    QueryContext
    | PlanContext
    | ActContext
    | ReflectContext
    | SummarizeContext
    | VerifyContext
    | ProposalContext
    | NamingContext
    | ErrorsContext
    | CompareContext
    | SameContext
    | SupportContext
    | GroundContext
)


def _never() -> bool:
    return False


def _ignore(what: object) -> None:
    """Record nothing."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call of a model."""

    context: Context
    # returns whether the run was asked to stop, so that a wait for a provider can end early
    asked_to_stop: Callable[[], bool] = field(default=_never, repr=False, compare=False)
    # receives each prompt sent to a provider, with its answer, for the recording
    on_exchange: Callable[[Exchange], None] = field(default=_ignore, repr=False, compare=False)
    # receives the usage of each answer, including unusable ones
    on_usage: Callable[[Usage], None] = field(default=_ignore, repr=False, compare=False)
    # facts about the machine at the first request of the run; None if unknown
    machine: Machine | None = field(default=None, repr=False, compare=False)

    @property
    def kind(self) -> Kind:
        """Kind of the request."""
        return self.context.kind

    @property
    def response_type(self) -> type[Response]:
        """Type of `ModelResponse.output`."""
        return self.context.response_type


@dataclass(frozen=True, slots=True)
class ModelResponse:
    """The answer to one request."""

    output: Response  # an instance of the request's `response_type`
    usage: Usage = NO_USAGE  # tokens and cost of the call
    # further information for the trajectory, such as the provider's request id
    detail: dict[str, Any] = field(default_factory=dict)


class Model(Protocol):
    """Anything that answers requests, such as a provider, the offline model or a script."""

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer one request.

        Raises:
            ModelError: There is no usable answer.
        """


@runtime_checkable
class NamedModel(Protocol):
    """A model with a name for records and messages."""

    name: str


@runtime_checkable
class CheckableModel(Protocol):
    """A model that can check its provider, key and name before the first request."""

    def check(self, asked_to_stop: Callable[[], bool] = _never) -> None:
        """Check that the model is available.

        Raises:
            ModelUnavailable: It is not; the message suggests a fix.
        """


def model_name(model: Model) -> str:
    """Return the name of a model; that of its class if it has none."""
    return model.name if isinstance(model, NamedModel) else type(model).__name__


def ask(model: Model, context: Context, response_type: type[ResponseT]) -> ResponseT:
    """Send a request and return its typed answer.

    Raises:
        ModelError: There is no usable answer, or it has the wrong type.
    """
    output = model.complete(ModelRequest(context)).output
    if not isinstance(output, response_type):
        raise MalformedResponse(f"{model_name(model)} answered {context.kind!r} with {type(output).__name__}.")
    return output
