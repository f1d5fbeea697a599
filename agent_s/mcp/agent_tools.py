"""MCP tools for the agent: tasks, replay, memory and exploration."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import click
from pydantic import Field

from agent_s.errors import AgentError
from agent_s.events import Event
from agent_s.loop.agent import AgentS
from agent_s.mcp.desktop_tools import OnDesktop
from agent_s.mcp.desktops import Desktops, OpenDesktop
from agent_s.mcp.tool import ACTS, HARMLESS, READS, Answered, Arguments, Person, Reply, Tool, ToolProblem
from agent_s.memory import open_memory, title_of
from agent_s.records import Outcome, Task
from agent_s.runs.listing import find_run
from agent_s.runs.reading import read_trajectory
from agent_s.settings import Settings
from agent_s.terminal.progress import lines_of
from agent_s.terminal.repeating import repeatable, with_values
from evaluation.harness.recording import Recording
from memory_store import EpisodicExperience, Experience, MemoryStore, NarrativeExperience

Instruction = Annotated[str, Field(min_length=1, max_length=20_000)]
Count = Annotated[int, Field(ge=1, le=100)]
Value = TypeVar("Value")


class RunTask(OnDesktop):
    """Arguments of `run_task`."""

    task: Annotated[Instruction, Field(description="what to do, in a sentence or several")]
    max_steps: Annotated[int | None, Field(ge=1, le=1000, description="most primitives")] = None


class Replay(OnDesktop):
    """Arguments of `replay`."""

    run: Annotated[str, Field(min_length=1, description='id of a run or the start of it, or "last"')]
    values: Annotated[dict[str, str], Field(default_factory=dict, description="new values for old ones in the task")]


class Search(Arguments):
    """Arguments of `search_memory`."""

    query: Annotated[str, Field(min_length=1, max_length=4000)]
    kind: Literal["narrative", "episodic", "skill", ""] = ""
    count: Count = 5


class ListSkills(Arguments):
    """Arguments of `list_skills`."""

    application: Annotated[str, Field(description="only those of this application")] = ""
    count: Count = 50


class Explore(Arguments):
    """Arguments of `explore`."""

    application: Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^-]")]
    seconds: Annotated[int, Field(ge=10, le=7200, description="time budget")] = 300
    tasks: Annotated[int, Field(ge=0, le=100, description="tasks to try with the model")] = 0


class Ended(Answered):
    """How a task ended."""

    status: str  # done, failed, infeasible, out_of_budget, stopped or error
    verified: bool | None  # whether the result was checked and is right; None if it could not be checked
    reason: str  # why it ended like this
    replayed: bool  # whether it was carried out from memory alone
    steps: int  # primitives
    model_calls: int  # calls of the model
    run: str  # id of the run; its page is the resource run://ID
    desktop: str  # where it was carried out


class Found(Answered):
    """One experience."""

    id: str
    kind: str  # narrative, episodic or skill
    about: str  # the task, subtask or skill
    application: str  # what it is about
    summary: str  # what was learned; empty for a skill
    verified: bool | None  # whether it was checked
    similarity: float | None = None  # of 1


class FoundList(Answered):
    """The result of `search_memory` and `list_skills`, best or newest first."""

    experiences: tuple[Found, ...]


class Explored(Answered):
    """The result of `explore`: what `agent-s explore --json` prints."""

    report: dict[str, Any]


@dataclass(frozen=True, slots=True)
class AgentTools:
    """The tools for the agent."""

    settings: Settings
    desktops: Desktops

    def tools(self) -> Iterator[Tool]:
        """Return all of them."""
        yield Tool(
            "run_task",
            "Let the agent carry out a whole task on a desktop: it plans, acts, checks the result and learns from it. "
            "It asks before risky actions on the person's own screen.",
            RunTask, Ended, self._run_task, ACTS,
        )  # fmt: skip
        yield Tool(
            "replay",
            "Repeat a recorded run without a model, optionally with other values; it stops at the first difference.",
            Replay, Ended, self._replay, ACTS,
        )  # fmt: skip
        yield Tool("list_skills", "List what the agent has learned to do.", ListSkills, FoundList, self._skills, READS)
        yield Tool(
            "search_memory", "Search the agent's experience with similar tasks.", Search, FoundList, self._search, READS
        )
        yield Tool(
            "explore",
            "Explore an application on a private desktop of its own, and learn what it can do.",
            Explore, Explored, self._explore, HARMLESS,
        )  # fmt: skip

    async def _run_task(self, given: RunTask, person: Person) -> Reply:
        settings = self.settings
        if given.max_steps is not None:
            limits = settings.limits.model_copy(update={"max_steps": given.max_steps})
            settings = settings.model_copy(update={"limits": limits})
        return await self._carry_out(settings, Task(instruction=given.task), given.desktop, person)

    async def _replay(self, given: Replay, person: Person) -> Reply:
        settings = self.settings.model_copy(update={"replay": "only"})
        try:
            started = repeatable(given.run, read_trajectory(find_run(settings.runs_folder, given.run)).events)
            instruction = with_values(started.task.instruction, given.values)
        except click.UsageError as error:
            raise ToolProblem(error.message) from error
        return await self._carry_out(settings, Task(instruction=instruction), given.desktop, person, started.run_id)

    async def _carry_out(
        self, settings: Settings, task: Task, name: str, person: Person, trusted_run: str = ""
    ) -> Reply:
        desktop = self.desktops.get(name)
        desktop.busy = f"the task {task.instruction[:80]!r}"
        desktop.shown = desktop.latest = None
        loop = asyncio.get_running_loop()

        def wait_for(answer: Coroutine[Any, Any, Value]) -> Value:
            return asyncio.run_coroutine_threadsafe(answer, loop).result()

        try:
            with ExitStack() as stack:
                memory = stack.enter_context(open_memory(settings)) if settings.memory.enabled else None
                agent = AgentS.from_settings(
                    settings,
                    desktop.desktop,
                    memory=memory,
                    ask=lambda question: wait_for(person.answer(question)) or "",
                    confirm=lambda consent: wait_for(person.confirm(str(consent))),
                    trusted_run=trusted_run,
                )

                def tell(line: str) -> None:
                    loop.call_soon_threadsafe(person.tell, line)

                outcome = await desktop.do(lambda: _recorded(agent, task, settings.runs_folder, tell), agent.stop)
        finally:
            desktop.busy = ""
        return _reply(outcome, desktop)

    async def _search(self, given: Search, person: Person) -> Reply:
        def search(store: MemoryStore) -> list[Found]:
            hits: list[Any] = []
            if given.kind in ("", "narrative"):
                hits += store.search_narrative(given.query, given.count)
            if given.kind in ("", "episodic"):
                hits += store.search_episodic(given.query, "", k=given.count)
            if given.kind in ("", "skill"):
                hits += store.search_skills(given.query, given.count, candidates=True)
            best = sorted(hits, key=lambda hit: -hit.similarity)[: given.count]
            return [_found(hit.experience, hit.similarity) for hit in best]

        return await self._with_memory(search, "No experience is similar enough.")

    async def _skills(self, given: ListSkills, person: Person) -> Reply:
        def listed(store: MemoryStore) -> list[Found]:
            found = store.list_experiences("skill", app=given.application or None, limit=given.count)
            return [_found(experience) for experience in found]

        return await self._with_memory(listed, "No skill has been learned yet: `explore` adds some.")

    async def _with_memory(self, look: Callable[[MemoryStore], list[Found]], none: str) -> Reply:
        if not self.settings.memory.enabled:
            raise ToolProblem("The memory is switched off (memory.enabled in the settings).")

        def read() -> list[Found]:
            with open_memory(self.settings) as store:
                return look(store)

        found = tuple(await asyncio.to_thread(read))
        lines = [f"{one.id} [{one.kind}] {one.about}" + (f": {one.summary}" if one.summary else "") for one in found]
        return Reply(FoundList(experiences=found), "\n".join(lines) or none)

    async def _explore(self, given: Explore, person: Person) -> Reply:
        argv = [sys.executable, "-m", "agent_s", "explore", given.application, "--json", "--quiet"]
        argv += ["--seconds", str(given.seconds), "--search", str(given.seconds), "--tasks", str(given.tasks)]
        argv += ["-c", f"model={self.settings.model}", "-c", f"memory.path={self.settings.memory_path}"]
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        person.tell(f"Exploring {given.application} for {given.seconds} s")
        try:
            out, errors = await process.communicate()
        except asyncio.CancelledError:
            process.terminate()
            await process.wait()
            raise
        if not out.strip():
            raise ToolProblem(errors.decode(errors="replace").strip() or "The exploration ended without a result.")
        report = json.loads(out)
        failed = process.returncode != 0
        return Reply(Explored(report=report), json.dumps(report, ensure_ascii=False, indent=1), failed=failed)


def _recorded(agent: AgentS, task: Task, runs_folder: Path, tell: Callable[[str], None]) -> Outcome:
    """Carry out a task and record it, as the command line does."""

    def on_event(event: Event) -> None:
        for line in lines_of(event):
            tell(line)

    recording = Recording(runs_folder, on_event)
    try:
        for event in agent.stream(task):
            recording(event)
    finally:
        recording.close()
    if recording.problem:
        tell(recording.problem)
    if recording.outcome is None:
        raise AgentError("The run ended without an outcome.")
    return recording.outcome


def _reply(outcome: Outcome, desktop: OpenDesktop) -> Reply:
    ended = Ended(
        status=outcome.status,
        verified=outcome.verified,
        reason=outcome.reason,
        replayed=outcome.replayed,
        steps=outcome.usage.steps,
        model_calls=outcome.usage.model_calls,
        run=outcome.run_id,
        desktop=desktop.name,
    )
    checked = {True: "verified", False: "checked, and wrong", None: "not checked"}[ended.verified]
    text = f"{ended.status} ({checked}) after {ended.steps} steps and {ended.model_calls} model calls. {ended.reason}"
    return Reply(ended, text.strip(), failed=ended.status != "done")


def _found(experience: Experience, similarity: float | None = None) -> Found:
    return Found(
        id=experience.id,
        kind=experience.kind,
        about=title_of(experience),
        application=experience.provenance.app,
        summary=experience.summary if isinstance(experience, NarrativeExperience | EpisodicExperience) else "",
        verified=experience.provenance.verified,
        similarity=similarity,
    )
