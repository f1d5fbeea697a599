"""How many calls of a model runs take, and how many tokens they send.

Scripted workers carry out tasks in real applications, answer as a model does, and finish each subtask with its last
primitive; a judge cites what it sees. Two scenarios have 15 primitives in 3 and 5 subtasks, a third one changes a
setting with 3. All calls count, those of plans, judges and summaries, too.

`calls_per_primitive`, `waiting_calls_per_primitive`: of the two scenarios together; the latter without what is called
after the outcome is known. `settings_calls`: of the third. `batch_calls_ratio`, `batch_calls_ratio_3`,
`batch_tokens_ratio`: of the two with up to 5 (3) primitives in an answer, in relation to one. `tokens_ratio`: tokens
sent, schemas and pictures included, in relation to `EARLIER`. `bytes_per_step`: of the record of the first scenario,
with all prompts and pictures, when a server in Anthropic's format answers in place of the script.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aci.desktop.virtual import VirtualDesktop
from agent_s import AgentS, Options, Task, load_settings
from agent_s.events import ActionPerformed, Concluded, ModelCalled, RunEnded
from agent_s.llm.build import build_models
from agent_s.llm.conversation import Picture
from agent_s.llm.prompting.rendering import Renderer
from agent_s.llm.protocol import (
    ActContext,
    ActResponse,
    Citation,
    Expectation,
    Judgement,
    Model,
    ModelRequest,
    ModelResponse,
    PlanContext,
    PlannedNode,
    PlanResponse,
    ReflectResponse,
    Response,
    SummariesResponse,
    SummarizeContext,
    VerifyContext,
    VerifyResponse,
)
from agent_s.llm.providers.schemas import schema_for
from agent_s.runs.listing import measure_run
from agent_s.trajectory.recorder import Recorder
from benchmarks import fixtures
from benchmarks.support.figures import Figures, NotMeasured, tell
from benchmarks.support.reference import SYSTEM_PYTHON
from benchmarks.support.truth.judging_scripts import action_of, find
from memory_store import HashingEmbedder, MemoryStore
from tests.wire.formats import AnthropicFormat
from tests.wire.server import Http, Seen, WireServer

NAMES = (
    "calls_per_primitive", "waiting_calls_per_primitive", "settings_calls", "tokens_ratio", "batch_calls_ratio",
    "batch_calls_ratio_3", "batch_tokens_ratio", "bytes_per_step",
)  # fmt: skip
EARLIER = {"addresses": 85_442, "registration": 90_625}
"""Tokens that the same runs sent at commit 1b65fac: 25 and 29 calls, counted in the same way, 2026-11-22."""
BYTES_PER_TOKEN, PATCH_PX = 4, 28
_TRIES = 100


@dataclass(frozen=True, slots=True)
class Part:
    """A subtask."""

    name: str
    steps: Sequence[Mapping[str, Any]]  # as in `benchmarks/data/judging.yaml`
    shows: Sequence[tuple[str, str, str]]  # role and name of an element, and the words that it shows; empty: it is gone


@dataclass(frozen=True, slots=True)
class Scenario:
    """A task, and how it is done."""

    say: str
    parts: Sequence[Part]
    criteria: Sequence[str]
    proofs: Sequence[tuple[str, str, str]]  # for each criterion: role and name of an element, and words; or the step
    start: Callable[[VirtualDesktop, Path], None]

    @property
    def primitives(self) -> int:
        """Number of primitives that it takes."""
        return sum(len(part.steps) for part in self.parts)


@dataclass(slots=True)
class Count:
    """What a run took."""

    calls: int = 0
    waiting: int = 0  # calls before the outcome was known
    tokens: float = 0.0
    primitives: int = 0


@dataclass(slots=True)
class Worker:
    """The model of one run."""

    scenario: Scenario
    name: str = "scripted"
    tokens: float = 0.0
    _renderer: Renderer = field(default_factory=lambda: Renderer(b"calls"))

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer one request, and count what a provider is sent."""
        conversation = self._renderer.render(request.context, request.machine)
        parts = [part for message in conversation.messages for part in message.parts]
        text = conversation.system + json.dumps(schema_for(request.response_type))
        texts = [text, *(part.text for part in parts if not isinstance(part, Picture))]
        self.tokens += sum(len(one.encode()) for one in texts) / BYTES_PER_TOKEN
        pictures = [part for part in parts if isinstance(part, Picture)]
        self.tokens += sum(math.ceil(one.width / PATCH_PX) * math.ceil(one.height / PATCH_PX) for one in pictures)
        return ModelResponse(self._answer(request))

    def _answer(self, request: ModelRequest) -> Response:
        context = request.context
        match context:
            case PlanContext():
                nodes = tuple(PlannedNode(name=part.name, info=self.scenario.say) for part in self.scenario.parts)
                edges = tuple((one.name, other.name) for one, other in pairwise(nodes))
                return PlanResponse(nodes=nodes, edges=edges, criteria=tuple(self.scenario.criteria))
            case ActContext():
                return self._act(context)
            case VerifyContext():
                return self._judge(context)
            case SummarizeContext():
                return SummariesResponse(summaries=("How it was done.",) * len(context.drafts))
        return ReflectResponse()

    def _act(self, context: ActContext) -> ActResponse:
        part = next(part for part in self.scenario.parts if part.name == context.subtask.name)
        left = part.steps[sum(step.result.ok for step in context.steps) :]
        actions = []
        for step in left[: context.max_actions]:
            action = action_of(step, context.observation)
            if action is None:
                break
            actions.append(action)
        if not actions:
            raise NotMeasured(f"{part.name}: there is nothing for {left[:1]}")
        last = len(actions) == len(left)
        return ActResponse(
            previous_action_check="The last action had its effect, as the screen shows." if context.steps else "",
            observation_analysis=f"The window shows what is needed for the next part of: {part.name}.",
            next_action=f"Carry on with: {part.name}.",
            action=actions[0],
            then=tuple(actions[1:]),
            done_when=tuple(_expected(part, context)) if last else (),
        )

    def _judge(self, context: VerifyContext) -> VerifyResponse:
        judgements = []
        for number, (role, name, words) in enumerate(self.scenario.proofs, start=1):
            if role == "step":
                steps = [step for _, taken in context.done for step in taken]
                cited = Citation(of="step", number=steps[int(name)].number, quote=words)
            else:
                element = find(context.observation, role, name)
                cited = Citation(of="element", number=element.id if element else 0, quote=words)
            judgements.append(Judgement(point=number, met=True, citations=(cited,)))
        return VerifyResponse(judgements=tuple(judgements), verified=True, reason="The screen shows it.")


def _expected(part: Part, context: ActContext) -> Iterator[Expectation]:
    for role, name, words in part.shows:
        element = find(context.observation, role, name)
        yield Expectation(element_id=element.id if element else None, shows=words, gone=not words)


@dataclass(slots=True)
class Served:
    """A provider's model whose server answers with the words of a script."""

    script: Worker
    provider: Model
    asked: list[ModelRequest]
    name: str = "served"

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Send one request to the server."""
        self.asked.append(request)
        return self.provider.complete(request)


@contextmanager
def served(script: Worker) -> Iterator[Served]:
    """Yield a script behind a server that speaks Anthropic's format."""
    form, asked = AnthropicFormat(), list[ModelRequest]()

    def answer(seen: Seen) -> Http:
        return form.answer(script.complete(asked[-1]).output.model_dump_json(exclude={"safety_checks"}))

    server = WireServer([answer] * _TRIES)
    settings = load_settings(overrides={"model": "anthropic:claude-opus-5-5"})
    with server.running():
        yield Served(script, build_models(settings, form.environment(server.url)), asked)


def count(scenario: Scenario, max_actions: int = 1, record: Path | None = None) -> Count:
    """Carry out a scenario, and count.

    Args:
        scenario: The scenario.
        max_actions: Maximum number of primitives in an answer.
        record: Folder for the record of the run, which a server answers then; None for none.

    Raises:
        NotMeasured: It was not done.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        memory = stack.enter_context(MemoryStore.open(folder / "memory.sqlite", HashingEmbedder()))
        desktop = stack.enter_context(VirtualDesktop())
        scenario.start(desktop, folder)
        for _ in range(_TRIES):
            if action_of(scenario.parts[0].steps[0], desktop.observe()) is not None:
                break
        worker, counted = Worker(scenario), Count(primitives=scenario.primitives)
        model = worker if record is None else stack.enter_context(served(worker))
        recorder = None if record is None else stack.enter_context(closing(Recorder(record)))
        agent = AgentS(model=model, desktop=desktop, memory=memory, options=Options(max_actions=max_actions))
        waits = True
        for event in agent.stream(Task(instruction=scenario.say)):
            if recorder is not None:
                recorder(event)
            waits = waits and not isinstance(event, Concluded)
            if isinstance(event, ModelCalled):
                counted.calls += 1
                counted.waiting += waits
            if isinstance(event, ActionPerformed) and not event.result.ok:
                tell(f"refused: {event.result.error}")
            if isinstance(event, RunEnded) and (event.outcome.status, event.outcome.verified) != ("done", True):
                raise NotMeasured(f"{scenario.say}: {event.outcome.status}, {event.outcome.reason}")
    counted.tokens = worker.tokens
    tell(f"{max_actions} in an answer: {counted}")
    return counted


def measure(figures: Figures, quick: bool) -> None:
    """Set the figures; with `quick`, from one of the two scenarios."""
    chosen = {"addresses": ADDRESSES} if quick else {"addresses": ADDRESSES, "registration": REGISTRATION}
    totals = {most: _sum(count(scenario, most) for scenario in chosen.values()) for most in (1, 3, 5)}
    one = totals[1]
    figures.set("calls_per_primitive", one.calls / one.primitives)
    figures.set("waiting_calls_per_primitive", one.waiting / one.primitives)
    figures.set("tokens_ratio", one.tokens / sum(EARLIER[name] for name in chosen))
    figures.set("batch_calls_ratio", totals[5].calls / one.calls)
    figures.set("batch_calls_ratio_3", totals[3].calls / one.calls)
    figures.set("batch_tokens_ratio", totals[5].tokens / one.tokens)
    figures.set("settings_calls", count(SETTING).calls)
    with TemporaryDirectory() as folder:
        steps = count(ADDRESSES, record=Path(folder) / "run").primitives
        size = measure_run(Path(folder) / "run")
    tell(f"record of {steps} steps: {size}")
    figures.set("bytes_per_step", size.total / steps)


def _sum(counts: Iterable[Count]) -> Count:
    total = Count()
    for one in counts:
        total.calls += one.calls
        total.waiting += one.waiting
        total.tokens += one.tokens
        total.primitives += one.primitives
    return total


# The scenarios


def _contacts(desktop: VirtualDesktop, folder: Path) -> None:
    program = Path(fixtures.__path__[0]) / "gtk3_contacts.py"
    desktop.launch([str(SYSTEM_PYTHON), str(program), str(desktop.home / ".contacts.json")])


def _page(desktop: VirtualDesktop, folder: Path) -> None:
    rows = "".join(
        f'<tr><td><input aria-label="Name {n}"></td><td><input aria-label="Seat {n}" size="5"></td>'
        f'<td><label><input type="checkbox" aria-label="Meal {n}"> Meal</label></td></tr>'
        for n in range(1, 13)
    )
    page = desktop.home / "register.html"
    page.write_text(f"<!doctype html><html lang=en><title>Registration</title><table>{rows}</table>", encoding="utf-8")
    desktop.launch(["chromium", str(page)])


PEOPLE = (
    ("Ada Byron", "ada@example.org", "London"),
    ("Emmy Noether", "emmy@example.org", "Erlangen"),
    ("Mary Cartwright", "mary@example.org", "Oxford"),
)
ADDRESSES = Scenario(
    "Add three contacts: " + "; ".join(", ".join(person) for person in PEOPLE) + ".",
    [
        Part(
            f"Add the contact {name}",
            [
                {"click": ["push button", "Add contact..."]},
                {"type": ["text", "Name", name]},
                {"type": ["text", "Email", email]},
                {"type": ["text", "City", city]},
                {"click": ["push button", "Add"]},
            ],
            [("push button", "Add", "")],
        )
        for name, email, city in PEOPLE
    ],
    [f"The contact '{name}' is listed" for name, _, _ in PEOPLE],
    [("table cell", name, name) for name, _, _ in PEOPLE],
    _contacts,
)
REGISTRATION = Scenario(
    "Register five participants, Guest 1 to Guest 5, in the seats A1 to A5, each with a meal.",
    [
        Part(
            f"Register Guest {n}",
            [
                {"type": ["entry", f"Name {n}", f"Guest {n}"]},
                {"type": ["entry", f"Seat {n}", f"A{n}"]},
                {"click": ["check box", f"Meal {n}"]},
            ],
            [("check box", f"Meal {n}", "checked"), ("entry", f"Name {n}", f"Guest {n}")],
        )
        for n in range(1, 6)
    ],
    [f"Name {n} is 'Guest {n}'" for n in range(1, 6)],
    [("entry", f"Name {n}", f"Guest {n}") for n in range(1, 6)],
    _page,
)
SETTING = Scenario(
    "Turn on 'Sort by last name' in the preferences.",
    [
        Part(
            "Turn on 'Sort by last name'",
            [
                {"click": ["push button", "Preferences..."]},
                {"click": ["check box", "Sort by last name"]},
                {"click": ["push button", "OK"]},
            ],
            [("push button", "OK", "")],
        )
    ],
    ["'Sort by last name' is turned on"],
    [("step", "1", "checked")],
    _contacts,
)
