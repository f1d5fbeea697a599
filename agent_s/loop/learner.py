"""Continual update: the experience that a run writes to memory (paper, section 3.2).

Finished subtasks are stored at once, so that a run that is stopped or killed keeps them; verification marks them
afterwards. They are stored as drafts, which list the steps (`agent_s.loop.drafts`). Once the outcome is known, a single
model call summarizes all drafts, including those that earlier runs left behind. The subtasks of a verified task become
candidate skills, which successful replays promote (`memory_store.storage.trust`).

Everything stored is marked as coming from a screen. Text quoted from the screen is redacted
(`agent_s.safety.untrusted_text`), and a subtask or plan that contained such text is never replayed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aci.observation.observation import Observation
from agent_s.events import Event, ExperienceStored, Troubled
from agent_s.llm.protocol import Draft, SummarizeContext
from agent_s.loop.drafts import draft_subtask, is_trivial
from agent_s.records import GroundedStep, Plan, Status, Step, Subtask, Task, Verdict
from agent_s.replay.derived import Derivation
from agent_s.replay.grounded_steps import ground_steps, is_repeatable
from agent_s.replay.home_folder import shorten_home, without_home
from agent_s.replay.written_files import written_file
from agent_s.roles.evaluator import Evaluator
from agent_s.safety.untrusted_text import UntrustedText
from agent_s.version import program_version
from memory_store import (
    EpisodicExperience,
    Experience,
    MemoryStore,
    MemoryStoreError,
    NarrativeExperience,
    PlannedSubtask,
    Provenance,
)

PLATFORM = "linux/x11"
SKILL_PREFIX = "s-"
MAX_DRAFTS = 12  # maximum number of drafts that one call summarizes


@dataclass(eq=False)
class Learner:
    """Writes the experience of one run to memory; methods raise MemoryStoreError if that fails."""

    evaluator: Evaluator  # writes the summaries
    memory: MemoryStore  # the store whose experience the run uses
    learned: MemoryStore  # the store that new experience is written to; usually the same
    run_id: str  # id of the run, for the provenance
    task: Task
    model: str  # name of the model, for the provenance
    untrusted: UntrustedText  # text from the screen and the web, which must not be learned
    derivation: Derivation  # finds the places on the screen that typed text came from
    summaries: bool = True  # whether a model summarizes the drafts
    home: Path | None = None  # home of the desktop's applications; None if its files cannot be read
    now: Callable[[], float] = time.time  # returns the time, s since the epoch
    _began: float = field(init=False)
    _episodes: list[EpisodicExperience] = field(default_factory=list, init=False)
    _app: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self._began = self.now()

    def store_subtask(self, subtask: Subtask, steps: Sequence[Step], last: Observation) -> list[Event]:
        """Store a finished subtask in episodic memory; a failure to write it becomes an event."""
        app = last.active_window.app if last.active_window else self._app
        subtask = self._without_home(subtask)
        grounded: Sequence[GroundedStep] = ()
        if is_repeatable(steps) and not self._quotes_untrusted(subtask):
            grounded = ground_steps(
                steps, last, lambda text: written_file(text, self.home, self._began), self.task.instruction
            )
            grounded = self.derivation.derive(steps, without_home(grounded, self.home), self.task.instruction)
        needs_summary = self.summaries and not is_trivial(steps)
        return self.store_steps(subtask, draft_subtask(steps), grounded, app, needs_summary)

    def store_steps(
        self, subtask: Subtask, summary: str, steps: Sequence[GroundedStep], app: str, draft: bool = False
    ) -> list[Event]:
        """Store a finished subtask with its grounded steps in episodic memory.

        Args:
            subtask: The subtask.
            summary: What was done, in words.
            steps: The grounded steps; empty if they cannot be replayed.
            app: The active application at the end.
            draft: Whether `summary` is a draft that a model should still summarize.
        """
        self._app = app
        subtask = self._without_home(subtask)
        redact = self.untrusted.redact
        text = redact(summary)
        try:
            stored = self.learned.add_episodic(
                task_query=self.task.instruction,
                subtask=redact(subtask.name),
                context=redact(subtask.info),
                summary=text,
                steps=[
                    step.model_copy(update={"intent": redact(step.intent)}).model_dump(mode="json") for step in steps
                ],
                provenance=self._provenance("done", draft=draft),
            )
        except MemoryStoreError as error:
            return [Troubled(problem=f"the subtask's experience could not be stored: {error}")]
        self._episodes.append(stored)
        return [ExperienceStored(memory="episodic", experience_id=stored.id, summary=text)]

    def store_task(
        self, query: str, plan: Plan | None, ending: tuple[Status, str], verdict: Verdict, text: str, trivial: bool
    ) -> list[Event]:
        """Store a task in narrative memory, whether it succeeded, failed or ran out of budget.

        Args:
            query: The Manager's query; empty to use the instruction.
            plan: The plan, if there was one.
            ending: The status, and the reason for it.
            verdict: The result of verification.
            text: The draft from `agent_s.loop.drafts.draft_task`.
            trivial: Whether the draft needs no summary.
        """
        status, _ = ending
        if status not in ("done", "failed", "infeasible", "out_of_budget"):
            return []
        redact = self.untrusted.redact
        summary = redact(text)
        planned = tuple(map(self._without_home, plan.subtasks)) if plan else ()
        parts = () if any(map(self._quotes_untrusted, planned)) else planned
        stored = self.learned.add_narrative(
            query=redact(query) or self.task.instruction,
            instruction=self.task.instruction,
            summary=summary,
            plan=[PlannedSubtask(**part.model_dump()) for part in parts],
            success=status == "done",
            provenance=self._provenance(status, verdict, draft=self.summaries and not trivial),
        )
        return [ExperienceStored(memory="narrative", experience_id=stored.id, summary=summary)]

    def _without_home(self, part: Subtask) -> Subtask:
        words = {"name": shorten_home(part.name, self.home), "info": shorten_home(part.info, self.home)}
        return part.model_copy(update=words)

    def summarize_drafts(self, end: Observation | None) -> None:
        """Let the model summarize the drafts of this run, and drafts of earlier runs as far as the same call has room.

        Raises:
            MemoryStoreError: Memory cannot be read or written.
            ModelError: There are no usable summaries; the drafts stay.
            LimitReached: A budget is used up; the drafts stay.
        """
        if not self.summaries:
            return
        own = self.learned.list_experiences(draft=True, run_id=self.run_id, limit=MAX_DRAFTS)
        latest = self.learned.list_experiences(draft=True, limit=MAX_DRAFTS)
        by_id = {one.id: one for one in (*own, *latest)}
        chosen = list(by_id.values())[:MAX_DRAFTS][::-1]
        if not chosen:
            return
        context = SummarizeContext(self.task, tuple(map(_draft, chosen)), end if own else None)
        summaries = map(self.untrusted.redact, self.evaluator.summarize(context))
        self.learned.write_summaries({one.id: text for one, text in zip(chosen, summaries, strict=True)})

    def mark_subtasks(self, verdict: Verdict) -> None:
        """Record the verdict on the task with its stored subtasks."""
        if self._episodes and verdict.verified is not None:
            self.learned.mark_verified(
                verified=verdict.verified,
                by=verdict.by,
                run_id=self.run_id,
                ids=[episode.id for episode in self._episodes],
            )

    def store_skills(self, verdict: Verdict) -> list[Event]:
        """Store the subtasks of a verified task as candidate skills."""
        events: list[Event] = []
        for episode in self._episodes if verdict.verified else ():
            if not episode.steps:
                continue
            app = episode.provenance.app
            skill = self.learned.add_skill(
                name=episode.subtask,
                aliases=[episode.context] if episode.context else [],
                description=episode.context,
                preconditions=[f"{app} is in front"] if app else [],
                steps=episode.steps,
                provenance=self._provenance("done", verdict).model_copy(update={"app": app}),
            )
            events.append(ExperienceStored(memory="skill", experience_id=skill.id, summary=episode.subtask))
        return events

    def withdraw(self, experience_id: str) -> None:
        """Quarantine an experience that this run has proven wrong."""
        self.memory.quarantine(experience_id, f"the run {self.run_id} did it, and that was verified")

    def count_uses(self, experience_ids: Sequence[str], worked: bool, proof: str = "") -> None:
        """Count the use of experiences.

        Args:
            experience_ids: Ids of the experiences.
            worked: Whether they achieved the intended result.
            proof: Name of the check that confirmed this; empty unless the check is independent of the model and the run
                consisted of replays only.
        """
        skills = [skill for one in experience_ids for skill in self._skills_with_steps_of(one)]
        self.memory.record_uses([*experience_ids, *skills], worked, checked_by=proof, clean_start=bool(proof))

    def _skills_with_steps_of(self, experience_id: str) -> Iterator[str]:
        """Yield the id of the skill with the same steps as a subtask, if any: its use counts as well."""
        known = None if experience_id.startswith(SKILL_PREFIX) else self.memory.get(experience_id)
        if isinstance(known, EpisodicExperience):
            skill = self.memory.find_skill(known.subtask, known.context, states=("active", "candidate"))
            if skill is not None and skill.steps == known.steps:
                yield skill.id

    def _quotes_untrusted(self, subtask: Subtask) -> bool:
        return self.untrusted.is_quoted_in(subtask.name) or self.untrusted.is_quoted_in(subtask.info)

    def _provenance(self, outcome: str, verdict: Verdict | None = None, draft: bool = False) -> Provenance:
        return Provenance(
            run_id=self.run_id,
            task_id=self.task.id,
            app=self._app,
            platform=PLATFORM,
            model=self.model,
            outcome=outcome,
            verified=verdict.verified if verdict else None,
            verified_by=verdict.by if verdict else "",
            version=program_version(),
            from_screen=True,
            draft=draft,
        )


def _draft(stored: Experience) -> Draft:
    match stored:
        case EpisodicExperience():
            return Draft(stored.task_query, stored.summary, stored.subtask, stored.context)
        case NarrativeExperience():
            return Draft(stored.instruction, stored.summary)
    raise AssertionError(f"{stored.kind} experience has no summary")
