"""Recall of replayable experience for a task or a subtask: the same one first, then similar ones.

A wrong replay is worse than none. Experience is replayed only if it is verified, belongs to the same application, and
differs from the request at most in values (`intents.alignment`), in the wording of a skill
(`agent_s.replay.recall_skills`), or in words that a judge considers equivalent (`agent_s.replay.recall_judged`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from aci.observation.geometry import Rect
from aci.observation.observation import Window
from agent_s.records import GroundedStep, Plan, Subtask, Task
from agent_s.replay.ambiguity import find_ambiguity
from agent_s.replay.first_dialogs import first_answers
from agent_s.replay.offered_skills import SkillOffers
from agent_s.replay.placeholders import as_descriptions, derived_values, new_placeholders, outdated_numbers, prepare
from agent_s.replay.recall_judged import MIN_JUDGED_SIMILARITY, Candidate, Judges, choose
from agent_s.replay.recall_skills import (
    MAX_CANDIDATES,
    FoundSkill,
    SkillRecall,
    replayable,
    request_of,
    types_only_stated_values,
    wording_of,
)
from agent_s.replay.skill_matching import SkillMatcher, is_usable
from agent_s.replay.template import Mismatch, Replayable, read_steps
from intents.alignment import Parameters, align, holds, skeleton
from intents.applications import application, mentioned, named_applications, without_applications
from intents.intent import Open
from intents.reader import parts_of, read
from intents.tables import words
from memory_store import (
    EpisodicExperience,
    Experience,
    MemoryStore,
    NarrativeExperience,
    PlannedSubtask,
    SkillExperience,
)

BOUNDARY = "boundary"  # the outcome of skills at which an exploration failed
MIN_BOUNDARY_SCORE = 0.85  # minimum score at which a boundary makes a task be given up

_MAX_PER_KIND = 3  # maximum number of candidates of each kind that a judge compares
_NEWEST = 200  # number of newest narratives to compare before a search has to load the embedder
_MAX_PARTS = 4  # tasks of more parts are left to the planner
_NO_THRESHOLD = -1.0  # candidates are matched by words, not by similarity

Episodes = dict[tuple[str, str], EpisodicExperience]


@dataclass(frozen=True, slots=True)
class KnownTask:
    """A whole task that can be replayed from memory."""

    plan: Plan  # its subtasks, with the current values
    query: str = ""  # the Manager's query when it was learned
    experience_id: str = ""  # id of its narrative; empty for a skill
    learned: dict[str, Replayable] = field(default_factory=dict)  # replayable steps by name of the subtask


@dataclass(eq=False)
class Recall:
    """Finds replayable experience for one task."""

    memory: MemoryStore
    task: Task
    platform: str  # only experience of this platform counts
    trusted_run: str = ""  # id of a run whose experience counts even if it was never verified; may be empty
    has_fallback: bool = True  # whether a model can take over where a replay stops; otherwise it must be complete
    agrees: Callable[[str], bool] | None = None  # asks a person a yes-or-no question; None if there is nobody
    judges: Judges | None = None  # decides which requests mean the same; None to rely on rules alone
    display_names: Callable[[], Mapping[str, str]] = dict  # see `Machine.display_names`
    doubt: str = field(default="", init=False)  # why a similar task is not replayed, for a person; may be empty
    skills: SkillOffers = field(init=False)  # skills that a plan may use
    _skills: SkillRecall = field(init=False)
    _agreed: dict[str, bool] = field(default_factory=dict, init=False)
    _placeholders: Iterator[str] = field(default_factory=new_placeholders, init=False)

    def __post_init__(self) -> None:
        self.skills = SkillOffers(self.memory, self.platform, self.display_names)
        self._skills = SkillRecall(self.memory, self.platform, self._may_replay, self.display_names)

    def same_task(self) -> KnownTask | None:
        """Return the same task, if it was verified.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        if self.trusted_run and (known := self._task_of_run(self.trusted_run)) is not None:
            return known
        story = self.memory.find_verified_narrative(self.task.instruction)
        if story is None or not story.plan or not self._may_replay(story):
            return None
        return self._with_current_values(story, Parameters())

    def same_subtask(self, subtask: Subtask) -> Replayable | None:
        """Return the verified steps of this subtask of this task.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        found = self._episode(subtask.name, subtask.info)
        steps = read_steps(found) if found is not None else ()
        if found is None or not steps or isinstance(steps, Mismatch):
            return None
        marks = self._assign_placeholders(steps)
        return self._make_replayable(
            found.id, subtask, steps, Parameters(), marks, reads=any(step.derived for step in steps)
        )

    def _episode(self, name: str, info: str, instruction: str = "") -> EpisodicExperience | None:
        """Return the verified experience of a subtask of this task, or of the task with the given instruction."""
        task = instruction or self.task.instruction
        found = self.memory.find_verified_episode(task, name, info, self.platform)
        return found if found is None or self._may_replay(found) else None

    def similar_subtask(self, subtask: Subtask, front: Window | None) -> Replayable | None:
        """Return the best skill for a subtask, else the steps of a subtask that differs only in values or in words.

        Args:
            subtask: The subtask.
            front: The active window.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        found = self._skills.find(subtask, front)
        if found is not None and (found.sure or self.judges is None):
            return found.steps
        known = self._similar_episode(subtask, front)
        if known is not None or self.judges is None:
            return known
        doubtful = [
            *_as_trusted(found),
            *self._skills.find_candidates(subtask, front, self._min_similarity, _MAX_PER_KIND),
        ]
        return self._choose_by_judge(subtask, front, doubtful + self._similar_episodes(subtask, front))

    def boundary(self, front: Window | None) -> SkillExperience | None:
        """Return the boundary that matches the task, if no skill matches better.

        Args:
            front: The active window.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        wording = self.task.instruction
        hits = self.memory.search_skills(wording, MAX_CANDIDATES, platform=self.platform, candidates=True)
        known = [hit.experience for hit in hits if self.memory.trusts(hit.experience)]
        matcher = SkillMatcher(known)
        best = max(known, key=lambda one: matcher.match(wording, one).score, default=None)
        if best is None or best.provenance.outcome != BOUNDARY:
            return None
        fits = matcher.match(wording, best).score >= MIN_BOUNDARY_SCORE
        return best if fits and self._skills.place_of(best, wording, front.app if front else "") is not None else None

    def similar_task(self) -> KnownTask | None:
        """Return a verified task that differs from this one only in values.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        for story in self._stories():
            if not _is_proven(story):
                continue
            parameters = align(story.instruction, self.task.instruction)
            if (
                parameters
                and self._may_replay(story)
                and (known := self._with_current_values(story, parameters)) is not None
            ):
                return known
        return None

    def why_not_replayable(self) -> str:
        """Return why the task cannot be replayed, for a person; empty if memory holds nothing similar.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        if self.doubt:
            return self.doubt
        if not self.memory.list_experiences(limit=1):
            return "it is empty"
        stories = (one for one in self._stories() if align(one.instruction, self.task.instruction) is not None)
        story = next(stories, None)
        if story is None:
            return ""
        run = story.provenance.run_id
        if not story.success:
            return f"the run {run} failed to do it"
        if not is_usable(story):
            why = f" ({story.provenance.state_reason})" if story.provenance.state_reason else ""
            return f"the experience of the run {run} was found wrong later{why}"
        if not story.provenance.verified:
            return f"the run {run} did it, but was never verified; 'agent-s runs replay {run}' replays it nevertheless"
        return f"the steps of the run {run} cannot be replayed with these values"

    def _stories(self) -> Iterator[NarrativeExperience]:
        """Yield the newest narratives; if there are more, also those whose wording without values is most similar."""
        newest = self.memory.list_experiences("narrative", limit=_NEWEST)
        yield from (story for story in newest if isinstance(story, NarrativeExperience))
        words = skeleton(self.task.instruction)
        if len(newest) == _NEWEST and words:
            hits = self.memory.search_narrative(
                words, MAX_CANDIDATES, platform=self.platform, min_similarity=_NO_THRESHOLD
            )
            yield from (hit.experience for hit in hits)

    def _task_of_run(self, run_id: str) -> KnownTask | None:
        """Return the task of a run, verified or not, with the current values; None if it cannot be replayed."""
        episodes = {
            (one.subtask, one.context): one
            for one in self.memory.list_experiences("episodic", run_id=run_id)
            if isinstance(one, EpisodicExperience) and is_usable(one)
        }
        self.doubt = "the run stored nothing, only replayed experience, or failed when it was replayed"
        for story in self.memory.list_experiences("narrative", run_id=run_id):
            if isinstance(story, NarrativeExperience) and story.success and is_usable(story):
                parameters = align(story.instruction, self.task.instruction)
                if parameters is not None:
                    return self._with_current_values(story, parameters, episodes)
                self.doubt = "the wording differs in more than values; put new values in quotes, or use fewer words"
        return None

    def _with_current_values(
        self, story: NarrativeExperience, parameters: Parameters, episodes: Episodes | None = None
    ) -> KnownTask | None:
        """Return a learned task with the current values; None, with the reason in `doubt`, if they cannot be replaced.

        Args:
            story: The task as learned.
            parameters: The values that differ.
            episodes: Its subtasks by name and context; None for the verified ones in memory.
        """
        known: list[tuple[PlannedSubtask, str, tuple[GroundedStep, ...] | None]] = []
        for part in story.plan:
            found: tuple[GroundedStep, ...] | Mismatch | None
            if part.skill:
                episode, chosen = None, self.skills.replayable(Subtask(**part.model_dump()), None)
                found = chosen.steps if chosen is not None else None
            else:
                episode = self._episode_of(part, story, episodes)
                found = read_steps(episode) if episode is not None else None
            if isinstance(found, Mismatch) or (found is None and parameters and episodes is None):
                return None
            known.append((part, episode.id if episode is not None else "", found))
        steps = [step for _, _, found in known for step in found or ()]
        self.doubt = find_ambiguity(steps, parameters)
        if self.doubt:
            return None
        marks, words = self._assign_placeholders(steps), as_descriptions(derived_values(steps))
        reads = any(step.derived for step in steps)
        subtasks: list[Subtask] = []
        learned: dict[str, Replayable] = {}
        for part, experience_id, found in known:
            name, info = (_replace_values(text, parameters, words) for text in (part.name, part.info))
            if not name or info is None:
                return None
            if outdated_numbers(name, steps, self.task.instruction):
                self.doubt = f"the subtask {part.name!r} names a value that was only on the screen at that time"
                return None
            # A hint with outdated numbers is useless; the task itself says what is needed.
            values = tuple(map(parameters.replace, part.values))
            info = "" if outdated_numbers(info, steps, self.task.instruction) else info
            subtask = Subtask(name=name, info=info, skill=part.skill, values=values)
            subtasks.append(subtask)
            if found and not part.skill:
                ready = self._make_replayable(experience_id, subtask, found, parameters, marks, reads)
                if ready is None:
                    return None
                learned[name] = ready
        query = words.replace(parameters.replace(story.query))
        return KnownTask(Plan(subtasks=tuple(subtasks), source="memory"), query, story.id, learned)

    def _episode_of(
        self, part: PlannedSubtask, story: NarrativeExperience, episodes: Episodes | None
    ) -> EpisodicExperience | None:
        if episodes is not None:
            return episodes.get((part.name, part.info))
        return self._episode(part.name, part.info, story.instruction)

    def _assign_placeholders(self, steps: Sequence[GroundedStep]) -> dict[str, str]:
        """Assign a placeholder to each derived value, which a replay reads from the screen."""
        return {typed: next(self._placeholders) for typed in derived_values(steps)}

    def _make_replayable(
        self,
        experience_id: str,
        subtask: Subtask,
        steps: tuple[GroundedStep, ...],
        parameters: Parameters,
        marks: dict[str, str],
        reads: bool,
    ) -> Replayable | None:
        """Return learned steps with the current values; None, and set `doubt`, if they cannot be replayed."""
        ready = prepare(steps, parameters, marks, wording_of(subtask), self.task.instruction)
        refused = list(ready.refused.values()) if isinstance(ready, Replayable) else []
        named = [why for piece, why in refused if holds(wording_of(subtask), piece)]
        if isinstance(ready, Mismatch) or named or (refused and not self.has_fallback):
            self.doubt = ready.reason if isinstance(ready, Mismatch) else (named or [why for _, why in refused])[0]
            return None
        return replace(ready, experience_id=experience_id, reads=reads)

    def by_skills(self, front: Window | None) -> KnownTask | None:
        """Return the task as one skill, or as one skill for each of its parts.

        Args:
            front: The active window.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        whole = Subtask.of_all(self.task.instruction)
        found = self._skills.find(whole, front)
        if found is not None and (found.sure or self.judges is None):
            return _by_skill(whole, found.steps)
        return self._by_parts(front) or self._in_other_words(whole, found, front)

    def _by_parts(self, front: Window | None) -> KnownTask | None:
        """Return the task as one skill for each of its parts."""
        parts = parts_of(self.task.instruction)
        if not 1 < len(parts) <= _MAX_PARTS or len(set(parts)) < len(parts):
            return None
        parts = _in_opened_applications(parts, self.display_names())
        found: list[tuple[Subtask, FoundSkill, Window | None]] = []
        for part in (Subtask(name=part) for part in parts):
            skill = self._skills.find(part, front)
            if skill is None:
                return None
            found.append((part, skill, front))
            if skill.steps.opens:  # "In Mousepad, do this, then that": the other parts are done there as well
                front = Window(0, "", skill.steps.opens, Rect(0, 0, 0, 0), active=True)
        learned: dict[str, Replayable] = {}
        for part, skill, before in found:
            sure = skill.sure or self.judges is None
            steps = skill.steps if sure else self._choose_by_judge(part, before, _as_trusted(skill))
            if steps is None:
                return None
            learned[part.name] = steps
        return KnownTask(Plan(subtasks=tuple(Subtask(name=part) for part in parts), source="memory"), learned=learned)

    # Experience in other words, by a judge

    def _in_other_words(self, whole: Subtask, found: FoundSkill | None, front: Window | None) -> KnownTask | None:
        """Return the task as another task or a skill that a judge considers equivalent."""
        if self.judges is None:
            return None
        skills = self._skills.find_candidates(whole, front, self._min_similarity, _MAX_PER_KIND)
        for candidate, parameters in choose(
            self.judges, self.task.instruction, [*_as_trusted(found), *self._similar_tasks(), *skills]
        ):
            known = candidate.experience
            if isinstance(known, NarrativeExperience):
                task = self._with_current_values(known, parameters) if self._may_replay(known) else None
            else:
                steps = self._steps_of(known, parameters, whole, front)
                task = _by_skill(whole, steps) if steps is not None else None
            if task is not None:
                return task
        return None

    def _choose_by_judge(
        self, subtask: Subtask, front: Window | None, candidates: Sequence[Candidate]
    ) -> Replayable | None:
        """Return the steps of the first replayable candidate that a judge considers equivalent."""
        if self.judges is None:
            return None
        chosen = choose(self.judges, request_of(subtask), candidates)
        steps = (self._steps_of(one.experience, parameters, subtask, front) for one, parameters in chosen)
        return next((one for one in steps if one is not None), None)

    def _steps_of(
        self, known: Experience, parameters: Parameters, subtask: Subtask, front: Window | None
    ) -> Replayable | None:
        """Return the steps of a skill or an episode with the current values; None if they must not be replayed."""
        if not self._may_replay(known):
            return None
        if isinstance(known, SkillExperience):
            return self._skills.with_parameters(known, parameters, subtask, front.app if front is not None else "")
        steps = replayable(known, parameters, subtask) if isinstance(known, EpisodicExperience) else None
        return steps if steps is not None and types_only_stated_values(steps, wording_of(subtask)) else None

    @property
    def _min_similarity(self) -> float:
        """Minimum similarity of candidates for a judge."""
        return self.memory.embedder.min_similarity * MIN_JUDGED_SIMILARITY

    def _similar_tasks(self) -> list[Candidate]:
        hits = self.memory.search_narrative(
            self.task.instruction, MAX_CANDIDATES, platform=self.platform, min_similarity=self._min_similarity
        )
        stories = [hit.experience for hit in hits if _is_proven(hit.experience)]
        return [Candidate(story, story.instruction) for story in stories[:_MAX_PER_KIND]]

    def _similar_episodes(self, subtask: Subtask, front: Window | None) -> list[Candidate]:
        hits = self.memory.search_episodic(
            *(self.task.instruction, subtask.name, subtask.info, MAX_CANDIDATES),
            platform=self.platform,
            min_similarity=self._min_similarity,
        )
        known = [one.experience for one in hits if one.experience.provenance.verified and one.experience.steps]
        fitting = [one for one in known if is_usable(one) and _starts_in(one, front)]
        return [
            Candidate(one, wording_of(Subtask(name=one.subtask, info=one.context))) for one in fitting[:_MAX_PER_KIND]
        ]

    def _similar_episode(self, subtask: Subtask, front: Window | None) -> Replayable | None:
        """Return the steps of a verified subtask of another task that differs only in values of its wording."""
        task, name, info = (skeleton(text) for text in (self.task.instruction, subtask.name, subtask.info))
        if not name and not info:
            return None
        for hit in self.memory.search_episodic(
            task, name, info, MAX_CANDIDATES, platform=self.platform, min_similarity=_NO_THRESHOLD
        ):
            episode = hit.experience
            if not (episode.provenance.verified and episode.steps) or not _starts_in(episode, front):
                continue
            parameters = align(f"{episode.subtask}\n{episode.context}", f"{subtask.name}\n{subtask.info}")
            learned = self._steps_of(episode, parameters, subtask, front) if parameters is not None else None
            if learned is not None:
                return learned
        return None

    def first_answers(self, app: str) -> tuple[GroundedStep, ...]:
        """Return the steps that answer what an application shows at its start; empty if none are known.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        return first_answers(self.memory, app, self.platform, self._may_replay)

    def _may_replay(self, experience: Experience) -> bool:
        """Return whether an experience may be replayed; a person is asked once about each untrusted author."""
        if self.memory.trusts(experience) or experience.provenance.run_id == self.trusted_run:
            return True
        author = experience.provenance.author or "somebody unknown"
        if author not in self._agreed:
            question = f"{author}, who is not in memory.trusted, has stored how to do this. Replay it (yes or no)?"
            self._agreed[author] = self.agrees is not None and self.agrees(question)
        if not self._agreed[author]:
            self.doubt = f"it was stored by {author}, who is not in memory.trusted"
        return self._agreed[author]


def _replace_values(text: str, *parameters: Parameters) -> str | None:
    """Return a wording with replaced values; None if they cannot be written into it."""
    for each in parameters:
        replaced = each.replace_in_wording(text)
        if replaced is None:
            return None
        text = replaced
    return text


def _in_opened_applications(parts: Sequence[str], display_names: Mapping[str, str]) -> list[str]:
    """Return parts of a task with "open Mousepad" and "do this" as "In Mousepad, do this", which opens it, too."""
    placed: list[str] = []
    for part in parts:
        app = _opened_application(placed[-1], display_names) if placed else ""
        named = named_applications(part, (), display_names)
        if app and named.keys() <= {application(app)} and not _opened_application(part, display_names):
            placed[-1] = f"In {app}, {part}"
        else:
            placed.append(part)
    return placed


def _opened_application(part: str, display_names: Mapping[str, str]) -> str:
    """Return the application that a part of a task opens; empty if it opens a file, a dialog or nothing."""
    intent = read(part)
    if not isinstance(intent, Open) or intent.place:
        return ""
    if mentioned(part):
        return "" if read(without_applications(part)).object else intent.object
    ambiguous = intent.object.casefold() in words("applications", "no_applications")
    return intent.object if intent.object in display_names.values() and not ambiguous else ""


def _by_skill(whole: Subtask, steps: Replayable) -> KnownTask:
    return KnownTask(Plan(subtasks=(whole,), source="memory"), learned={whole.name: steps})


def _as_trusted(found: FoundSkill | None) -> list[Candidate]:
    return [Candidate(found.skill, found.name, trusted=True)] if found is not None else []


def _is_proven(story: NarrativeExperience) -> bool:
    return bool(story.provenance.verified and story.success and story.plan) and is_usable(story)


def _starts_in(episode: EpisodicExperience, front: Window | None) -> bool:
    """Return whether the active application is the one that a subtask starts in, or the subtask switches to it."""
    first = read_steps(episode)
    if isinstance(first, Mismatch) or first[0].action.action == "switch_applications":
        return not isinstance(first, Mismatch)
    app = next((target.app for target in first[0].targets.values()), episode.provenance.app)
    return front is not None and front.app.casefold() == app.casefold()
