"""Finds what memory can replay for a task or a subtask: the same one first, then one that differs in values.

A wrong replay is worse than none. Results are verified, belong to the same application, and differ from the request at
most in values (`intents.alignment`), for skills in wording (`agent_s.replay.recall_skills`), or in words that a judge
says ask for the same (`agent_s.replay.recall_judged`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from aci.observation.geometry import Rect
from aci.observation.observation import Window
from agent_s.records import GroundedStep, Plan, Subtask, Task
from agent_s.replay.ambiguity import unclear
from agent_s.replay.offered_skills import SkillOffers
from agent_s.replay.placeholders import in_words, old_numbers, prepare, read_again, unlimited
from agent_s.replay.recall_judged import Candidate, Judges, choose
from agent_s.replay.recall_skills import (
    MAX_CANDIDATES,
    FoundSkill,
    SkillRecall,
    asked_for,
    replayable,
    types_only_what_is_said,
    wording_of,
)
from agent_s.replay.skill_matching import SkillMatcher, is_usable
from agent_s.replay.template import Mismatch, Replayable, read_steps
from intents.alignment import Parameters, align, holds, skeleton
from intents.reader import parts_of
from memory_store import (
    EpisodicExperience,
    Experience,
    MemoryStore,
    NarrativeExperience,
    PlannedSubtask,
    SkillExperience,
)
from memory_store.search.ranking import LEAST_COSINE

BOUNDARY = "boundary"  # the outcome of what an exploration could not do
MIN_BOUNDARY_SCORE = 0.85  # minimum score of a boundary for which a task is given up

_PER_KIND = 3  # maximum number of candidates of one kind that a judge is asked about
_NEWEST = 200  # number of newest narratives to compare before a search, which would load the embedder
_MAX_PARTS = 4  # the model plans tasks of more parts
_ANY = -1.0  # minimum similarity of candidates: words decide whether a candidate fits, not embeddings

Episodes = dict[tuple[str, str], EpisodicExperience]


@dataclass(frozen=True, slots=True)
class Known:
    """A whole task that memory knows how to do."""

    plan: Plan  # its subtasks, with the current values
    query: str = ""  # the Manager's query when it was learned
    experience_id: str = ""  # the id of its narrative; empty for a skill
    learned: dict[str, Replayable] = field(default_factory=dict)  # the replayable steps of each subtask, by its name


@dataclass(eq=False)
class Recall:
    """Finds what can be replayed."""

    memory: MemoryStore
    task: Task
    platform: str  # only experience of this platform counts
    trusted_run: str = ""  # id of a run whose experience counts even if nothing verified it; may be empty
    hands_over: bool = True  # whether a model goes on where a replay must stop; otherwise it does not even begin
    agrees: Callable[[str], bool] | None = None  # asks a person a question; None if there is nobody
    judges: Judges | None = None  # judges which requests ask for the same; None to replay only what rules are sure of
    display_names: Callable[[], Mapping[str, str]] = dict  # see `Machine.display_names`
    doubt: str = field(default="", init=False)  # why a similar task is not replayed, for a person; may be empty
    skills: SkillOffers = field(init=False)  # the skills that a plan may use
    _skills: SkillRecall = field(init=False)
    _agreed: dict[str, bool] = field(default_factory=dict, init=False)
    _placeholders: Iterator[str] = field(default_factory=unlimited, init=False)

    def __post_init__(self) -> None:
        self.skills = SkillOffers(self.memory, self.platform, self.display_names)
        self._skills = SkillRecall(self.memory, self.platform, self._may_replay, self.display_names)

    def same_task(self) -> Known | None:
        """Return how the same task was done, if that was verified.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        if self.trusted_run and (known := self._of_run(self.trusted_run)) is not None:
            return known
        story = self.memory.find_verified_narrative(self.task.instruction)
        if story is None or not story.plan or not self._may_replay(story):
            return None
        return self._with_values(story, Parameters())

    def same_subtask(self, subtask: Subtask) -> Replayable | None:
        """Return the verified steps of this subtask of this task.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        found = self._episode(subtask.name, subtask.info)
        steps = read_steps(found) if found is not None else ()
        if found is None or not steps or isinstance(steps, Mismatch):
            return None
        marks = self._marks(steps)
        return self._ready(found.id, subtask, steps, Parameters(), marks, reads=any(step.derived for step in steps))

    def _episode(self, name: str, info: str, instruction: str = "") -> EpisodicExperience | None:
        """Return the verified experience of a subtask of this task, or of the one with another instruction."""
        task = instruction or self.task.instruction
        found = self.memory.find_verified_episode(task, name, info, self.platform)
        return found if found is None or self._may_replay(found) else None

    def like_subtask(self, subtask: Subtask, front: Window | None) -> Replayable | None:
        """Return the best skill for a subtask, else the steps of one that differs in values only, or only in words.

        Args:
            subtask: The subtask.
            front: The active window.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        found = self._skills.find(subtask, front)
        if found is not None and (found.sure or self.judges is None):
            return found.steps
        known = self._like_episode(subtask, front)
        if known is not None or self.judges is None:
            return known
        doubtful = [*_trusted(found), *self._skills.likely(subtask, front, self._least, _PER_KIND)]
        return self._judged(subtask, front, doubtful + self._similar_episodes(subtask, front))

    def boundary(self, front: Window | None) -> SkillExperience | None:
        """Return the boundary that the task asks for, if no skill fits better.

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

    def like_task(self) -> Known | None:
        """Return how the task was done with other values.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        for story in self._stories():
            if not _is_proven(story):
                continue
            parameters = align(story.instruction, self.task.instruction)
            if parameters and self._may_replay(story) and (known := self._with_values(story, parameters)) is not None:
                return known
        return None

    def why_not(self) -> str:
        """Return why the task is not replayed, for a person; empty if memory holds nothing like it.

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
            return f"what the run {run} did was found wrong later{why}"
        if not story.provenance.verified:
            return f"nothing verified what the run {run} did; 'agent-s runs replay {run}' repeats it nevertheless"
        return f"the steps of the run {run} cannot be used with these values"

    def _stories(self) -> Iterator[NarrativeExperience]:
        """Yield the newest narratives; if there are more, also those most similar to the wording without values."""
        newest = self.memory.list_experiences("narrative", limit=_NEWEST)
        yield from (story for story in newest if isinstance(story, NarrativeExperience))
        words = skeleton(self.task.instruction)
        if len(newest) == _NEWEST and words:
            hits = self.memory.search_narrative(words, MAX_CANDIDATES, platform=self.platform, min_similarity=_ANY)
            yield from (hit.experience for hit in hits)

    def _of_run(self, run_id: str) -> Known | None:
        """Return what a run taught, verified or not, with the current values; None if a check found it wrong."""
        episodes = {
            (one.subtask, one.context): one
            for one in self.memory.list_experiences("episodic", run_id=run_id)
            if isinstance(one, EpisodicExperience) and is_usable(one)
        }
        self.doubt = "the run taught nothing, did only what was known, or failed when it was replayed"
        for story in self.memory.list_experiences("narrative", run_id=run_id):
            if isinstance(story, NarrativeExperience) and story.success and is_usable(story):
                parameters = align(story.instruction, self.task.instruction)
                if parameters is not None:
                    return self._with_values(story, parameters, episodes)
                self.doubt = "more than values differs; put new ones in quotes, or in fewer words"
        return None

    def _with_values(
        self, story: NarrativeExperience, parameters: Parameters, episodes: Episodes | None = None
    ) -> Known | None:
        """Return a task with other values; None if it is not clear what one of them is for.

        Args:
            story: The task as learned.
            parameters: The values.
            episodes: Its subtasks by name and context; the verified ones if None.
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
        self.doubt = unclear(steps, parameters)
        if self.doubt:
            return None
        marks, words = self._marks(steps), in_words(read_again(steps))
        reads = any(step.derived for step in steps)
        subtasks: list[Subtask] = []
        learned: dict[str, Replayable] = {}
        for part, experience_id, found in known:
            name, info = (_replaced_in(text, parameters, words) for text in (part.name, part.info))
            if not name or info is None:
                return None
            if old_numbers(name, steps, self.task.instruction):
                self.doubt = f"the subtask {part.name!r} names what was seen then"
                return None
            # Without the numbers that were seen then, a hint is of no use; the task itself says what is needed.
            values = tuple(map(parameters.replace, part.values))
            info = "" if old_numbers(info, steps, self.task.instruction) else info
            subtask = Subtask(name=name, info=info, skill=part.skill, values=values)
            subtasks.append(subtask)
            if found and not part.skill:
                ready = self._ready(experience_id, subtask, found, parameters, marks, reads)
                if ready is None:
                    return None
                learned[name] = ready
        query = words.replace(parameters.replace(story.query))
        return Known(Plan(subtasks=tuple(subtasks), source="memory"), query, story.id, learned)

    def _episode_of(
        self, part: PlannedSubtask, story: NarrativeExperience, episodes: Episodes | None
    ) -> EpisodicExperience | None:
        if episodes is not None:
            return episodes.get((part.name, part.info))
        return self._episode(part.name, part.info, story.instruction)

    def _marks(self, steps: Sequence[GroundedStep]) -> dict[str, str]:
        """Return a placeholder for each value that is read again from the screen."""
        return {typed: next(self._placeholders) for typed in read_again(steps)}

    def _ready(
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
        if isinstance(ready, Mismatch) or named or (refused and not self.hands_over):
            self.doubt = ready.reason if isinstance(ready, Mismatch) else (named or [why for _, why in refused])[0]
            return None
        return replace(ready, experience_id=experience_id, reads=reads)

    def by_skills(self, front: Window | None) -> Known | None:
        """Return how to do the task by one skill, or by one skill for each of its parts.

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

    def _by_parts(self, front: Window | None) -> Known | None:
        """Return how to do the task by one skill for each of its parts."""
        parts = parts_of(self.task.instruction)
        if not 1 < len(parts) <= _MAX_PARTS or len(set(parts)) < len(parts):
            return None
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
            steps = skill.steps if sure else self._judged(part, before, _trusted(skill))
            if steps is None:
                return None
            learned[part.name] = steps
        return Known(Plan(subtasks=tuple(Subtask(name=part) for part in parts), source="memory"), learned=learned)

    # In other words

    def _in_other_words(self, whole: Subtask, found: FoundSkill | None, front: Window | None) -> Known | None:
        """Return how to do the task by what a judge says is the same: another task, or a skill."""
        if self.judges is None:
            return None
        skills = self._skills.likely(whole, front, self._least, _PER_KIND)
        for candidate, parameters in choose(
            self.judges, self.task.instruction, [*_trusted(found), *self._similar_tasks(), *skills]
        ):
            known = candidate.experience
            if isinstance(known, NarrativeExperience):
                task = self._with_values(known, parameters) if self._may_replay(known) else None
            else:
                steps = self._steps_of(known, parameters, whole, front)
                task = _by_skill(whole, steps) if steps is not None else None
            if task is not None:
                return task
        return None

    def _judged(self, subtask: Subtask, front: Window | None, candidates: Sequence[Candidate]) -> Replayable | None:
        """Return the steps of the first candidate that a judge says is the same and that can be replayed."""
        if self.judges is None:
            return None
        chosen = choose(self.judges, asked_for(subtask), candidates)
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
        return steps if steps is not None and types_only_what_is_said(steps, wording_of(subtask)) else None

    @property
    def _least(self) -> float:
        """Minimum similarity of what a judge is asked about."""
        return self.memory.embedder.min_similarity * LEAST_COSINE

    def _similar_tasks(self) -> list[Candidate]:
        hits = self.memory.search_narrative(
            self.task.instruction, MAX_CANDIDATES, platform=self.platform, min_similarity=self._least
        )
        stories = [hit.experience for hit in hits if _is_proven(hit.experience)]
        return [Candidate(story, story.instruction) for story in stories[:_PER_KIND]]

    def _similar_episodes(self, subtask: Subtask, front: Window | None) -> list[Candidate]:
        hits = self.memory.search_episodic(
            *(self.task.instruction, subtask.name, subtask.info, MAX_CANDIDATES),
            platform=self.platform,
            min_similarity=self._least,
        )
        known = [one.experience for one in hits if one.experience.provenance.verified and one.experience.steps]
        fitting = [one for one in known if is_usable(one) and _begins_in(one, front)]
        return [Candidate(one, wording_of(Subtask(name=one.subtask, info=one.context))) for one in fitting[:_PER_KIND]]

    def _like_episode(self, subtask: Subtask, front: Window | None) -> Replayable | None:
        """Return a verified subtask of another task that differs only in values, all of which its wording contains."""
        task, name, info = (skeleton(text) for text in (self.task.instruction, subtask.name, subtask.info))
        if not name and not info:
            return None
        for hit in self.memory.search_episodic(
            task, name, info, MAX_CANDIDATES, platform=self.platform, min_similarity=_ANY
        ):
            episode = hit.experience
            if not (episode.provenance.verified and episode.steps) or not _begins_in(episode, front):
                continue
            parameters = align(f"{episode.subtask}\n{episode.context}", f"{subtask.name}\n{subtask.info}")
            learned = self._steps_of(episode, parameters, subtask, front) if parameters is not None else None
            if learned is not None:
                return learned
        return None

    def _may_replay(self, experience: Experience) -> bool:
        """Return whether an experience may be replayed; a person is asked once about each author who is not trusted."""
        if self.memory.trusts(experience) or experience.provenance.run_id == self.trusted_run:
            return True
        author = experience.provenance.author or "somebody unknown"
        if author not in self._agreed:
            question = f"{author}, whom memory.trusted does not name, has taught how to do this. Replay it (yes or no)?"
            self._agreed[author] = self.agrees is not None and self.agrees(question)
        if not self._agreed[author]:
            self.doubt = f"it was stored by {author}, whom memory.trusted does not name"
        return self._agreed[author]


def _replaced_in(text: str, *parameters: Parameters) -> str | None:
    """Return a wording with other values; None if they cannot be written into it."""
    for each in parameters:
        replaced = each.replace_in_wording(text)
        if replaced is None:
            return None
        text = replaced
    return text


def _by_skill(whole: Subtask, steps: Replayable) -> Known:
    return Known(Plan(subtasks=(whole,), source="memory"), learned={whole.name: steps})


def _trusted(found: FoundSkill | None) -> list[Candidate]:
    return [Candidate(found.skill, found.name, trusted=True)] if found is not None else []


def _is_proven(story: NarrativeExperience) -> bool:
    return bool(story.provenance.verified and story.success and story.plan) and is_usable(story)


def _begins_in(episode: EpisodicExperience, front: Window | None) -> bool:
    """Return whether the active application is the one that a subtask began in, or the subtask switches to one."""
    first = read_steps(episode)
    if isinstance(first, Mismatch) or first[0].action.action == "switch_applications":
        return not isinstance(first, Mismatch)
    app = next((target.app for target in first[0].targets.values()), episode.provenance.app)
    return front is not None and front.app.casefold() == app.casefold()
