"""Finds what memory can replay for a task or a subtask: the same one first, then one that differs in values.

A wrong replay is worse than none. Results are verified, belong to the same application, and differ from the request at
most in values (`intents.alignment`) or, for skills, in wording (`agent_s.replay.skill_matching`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from aci.observation.observation import Window
from agent_s.records import GroundedStep, Plan, Subtask, Task
from agent_s.replay.ambiguity import unclear
from agent_s.replay.grounded_steps import typed_text
from agent_s.replay.offered_skills import SkillOffers
from agent_s.replay.placeholders import in_words, old_numbers, prepare, read_again, unlimited
from agent_s.replay.skill_matching import MIN_LEAD, MIN_SCORE, SkillMatcher, is_usable
from agent_s.replay.template import Mismatch, Replayable, read_steps, with_parameters
from intents.alignment import Parameters, align, holds, skeleton
from intents.applications import application, mentioned
from intents.intent import Switch
from intents.reader import parts_of
from intents.text import tokens
from memory_store import (
    EpisodicExperience,
    Experience,
    MemoryStore,
    NarrativeExperience,
    PlannedSubtask,
    SkillExperience,
)

BOUNDARY = "boundary"  # the outcome of what an exploration could not do
MIN_BOUNDARY_SCORE = 0.85  # minimum score of a boundary for which a task is given up

_MAX_CANDIDATES = 24
_NEWEST = 200  # number of newest narratives to compare before a search, which would load the embedder
_MAX_SKILLS = 1000  # maximum number of skills of the active application to compare
_MAX_PARTS = 4  # the model plans tasks of more parts
_ANY = -1.0  # minimum similarity of candidates: words decide whether a candidate fits, not embeddings
_LONGEST_NAME = 160
_SWITCHED = frozenset({"checked", "pressed"})

Episodes = dict[tuple[str, str], EpisodicExperience]


@dataclass(frozen=True, slots=True)
class Known:
    """A whole task that memory knows how to do.

    Attributes:
        plan: Its subtasks, with the current values.
        query: The Manager's query when it was learned.
        experience_id: The id of its narrative; empty for a skill.
        learned: The replayable steps of each subtask, by its name.
    """

    plan: Plan
    query: str = ""
    experience_id: str = ""
    learned: dict[str, Replayable] = field(default_factory=dict)


class Recall:
    """Finds what can be replayed.

    Args:
        memory: The store.
        task: The task.
        platform: Only experience of this platform counts.
        trusted_run: Id of a run whose experience counts even if nothing verified it; may be empty.
        hands_over: Whether a model goes on where a replay must stop; otherwise it does not even begin.
        agrees: Asks a person a question and returns whether they say yes; None if there is nobody.

    Attributes:
        doubt: Why a similar task is not replayed, for a person; may be empty.
        skills: The skills that a plan may use.
    """

    def __init__(
        self,
        memory: MemoryStore,
        task: Task,
        platform: str,
        trusted_run: str = "",
        hands_over: bool = True,
        agrees: Callable[[str], bool] | None = None,
    ) -> None:
        self.doubt = ""
        self._agrees = agrees
        self._agreed: dict[str, bool] = {}
        self._hands_over = hands_over
        self._placeholders = unlimited()
        self._trusted_run = trusted_run
        self._memory = memory
        self._task = task
        self._platform = platform
        self.skills = SkillOffers(memory, platform)

    def same_task(self) -> Known | None:
        """Return how the same task was done, if that was verified.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        if self._trusted_run and (known := self._of_run(self._trusted_run)) is not None:
            return known
        story = self._memory.find_verified_narrative(self._task.instruction)
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
        task = instruction or self._task.instruction
        found = self._memory.find_verified_episode(task, name, info, self._platform)
        return found if found is None or self._may_replay(found) else None

    def like_subtask(self, subtask: Subtask, front: Window | None) -> Replayable | None:
        """Return the best skill for a subtask, else the steps of a subtask that differs in values only.

        Args:
            subtask: The subtask.
            front: The active window.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        return self._skill_for(subtask, front) or self._like_episode(subtask, front)

    def boundary(self, front: Window | None) -> SkillExperience | None:
        """Return the boundary that the task asks for, if no skill fits better.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        wording = self._task.instruction
        hits = self._memory.search_skills(wording, _MAX_CANDIDATES, platform=self._platform, candidates=True)
        known = [hit.experience for hit in hits if self._memory.trusts(hit.experience)]
        matcher = SkillMatcher(known)
        best = max(known, key=lambda one: matcher.match(wording, one).score, default=None)
        if best is None or best.provenance.outcome != BOUNDARY:
            return None
        fits = matcher.match(wording, best).score >= MIN_BOUNDARY_SCORE
        return best if fits and same_application(wording, best, front.app if front else "") is not None else None

    def like_task(self) -> Known | None:
        """Return how the task was done with other values.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        for story in self._stories():
            if not (story.provenance.verified and story.success and story.plan and is_usable(story)):
                continue
            parameters = align(story.instruction, self._task.instruction)
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
        if not self._memory.list_experiences(limit=1):
            return "it is empty"
        stories = (one for one in self._stories() if align(one.instruction, self._task.instruction) is not None)
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
        newest = self._memory.list_experiences("narrative", limit=_NEWEST)
        yield from (story for story in newest if isinstance(story, NarrativeExperience))
        words = skeleton(self._task.instruction)
        if len(newest) == _NEWEST and words:
            hits = self._memory.search_narrative(words, _MAX_CANDIDATES, platform=self._platform, min_similarity=_ANY)
            yield from (hit.experience for hit in hits)

    def _of_run(self, run_id: str) -> Known | None:
        """Return what a run taught, verified or not, with the current values; None if a check found it wrong."""
        episodes = {
            (one.subtask, one.context): one
            for one in self._memory.list_experiences("episodic", run_id=run_id)
            if isinstance(one, EpisodicExperience) and is_usable(one)
        }
        self.doubt = "the run taught nothing, did only what was known, or failed when it was replayed"
        for story in self._memory.list_experiences("narrative", run_id=run_id):
            if isinstance(story, NarrativeExperience) and story.success and is_usable(story):
                parameters = align(story.instruction, self._task.instruction)
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
            if old_numbers(name, steps, self._task.instruction):
                self.doubt = f"the subtask {part.name!r} names what was seen then"
                return None
            # Without the numbers that were seen then, a hint is of no use; the task itself says what is needed.
            values = tuple(map(parameters.replace, part.values))
            info = "" if old_numbers(info, steps, self._task.instruction) else info
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
        ready = prepare(steps, parameters, marks, wording_of(subtask), self._task.instruction)
        refused = list(ready.refused.values()) if isinstance(ready, Replayable) else []
        named = [why for piece, why in refused if holds(wording_of(subtask), piece)]
        if isinstance(ready, Mismatch) or named or (refused and not self._hands_over):
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
        instruction = self._task.instruction
        name = instruction if len(instruction) <= _LONGEST_NAME else f"{instruction[:_LONGEST_NAME]}..."
        whole = Subtask(name=name, info="" if name == instruction else instruction)
        if (skill := self._skill_for(whole, front)) is not None:
            return Known(Plan(subtasks=(whole,), source="memory"), learned={whole.name: skill})
        parts = parts_of(instruction)
        if not 1 < len(parts) <= _MAX_PARTS or len(set(parts)) < len(parts):
            return None
        subtasks = tuple(Subtask(name=part) for part in parts)
        found = {subtask.name: self._skill_for(subtask, front) for subtask in subtasks}
        learned = {part: skill for part, skill in found.items() if skill is not None}
        return Known(Plan(subtasks=subtasks, source="memory"), learned=learned) if len(learned) == len(parts) else None

    def _skill_for(self, subtask: Subtask, front: Window | None) -> Replayable | None:
        """Return the best skill for a subtask; None if several with different effects fit equally well."""
        wording = subtask.name if not subtask.info or subtask.info.startswith(subtask.name) else wording_of(subtask)
        app = front.app if front is not None else ""
        same = self._memory.find_skill(subtask.name, subtask.info, platform=self._platform)
        if same is not None and self._may_replay(same):
            skill = self._with_parameters(same, Parameters(), subtask, app)
            return replace(skill, exact=True) if skill is not None else None
        known = self._skills_of(wording, app)
        matcher = SkillMatcher(known)
        fits = sorted(((matcher.match(wording, one), one) for one in known), key=lambda pair: -pair[0].score)
        near = [(fit, one) for fit, one in fits if fit.score >= MIN_SCORE and fits[0][0].score - fit.score < MIN_LEAD]
        if not near or not all(matcher.are_same(near[0][1], one) for _, one in near[1:]):
            return None
        fit, best = min(near, key=lambda pair: (not self._memory.trusts(pair[1]), _drawbacks(pair[1])))
        parameters = align_values(fit.name, wording)
        if parameters is None or not self._may_replay(best):
            return None
        return self._with_parameters(best, parameters, subtask, app)

    def _skills_of(self, wording: str, app: str) -> list[SkillExperience]:
        """Return the candidate skills: those of the active application, and similar ones of a named application."""
        found: dict[str, SkillExperience] = {}
        if app:
            newest = self._memory.list_experiences("skill", app=app, state="active", limit=_MAX_SKILLS)
            found = {one.id: one for one in newest if isinstance(one, SkillExperience) and is_usable(one)}
        hits = self._memory.search_skills(wording, _MAX_CANDIDATES, platform=self._platform, min_similarity=_ANY)
        found |= {hit.experience.id: hit.experience for hit in hits}
        return [
            one
            for one in found.values()
            if one.provenance.platform == self._platform and same_application(wording, one, app) is not None
        ]

    def _with_parameters(
        self, skill: SkillExperience, parameters: Parameters, subtask: Subtask, app: str
    ) -> Replayable | None:
        wording = wording_of(subtask)
        opens = same_application(wording, skill, app)
        learned = _replayable(skill, parameters, subtask, opens) if opens is not None else None
        return learned if learned is not None and _types_only_what_is_said(learned, wording) else None

    def _like_episode(self, subtask: Subtask, front: Window | None) -> Replayable | None:
        """Return a verified subtask of another task that differs only in values, all of which its wording contains."""
        task, name, info = (skeleton(text) for text in (self._task.instruction, subtask.name, subtask.info))
        if not name and not info:
            return None
        for hit in self._memory.search_episodic(
            task, name, info, _MAX_CANDIDATES, platform=self._platform, min_similarity=_ANY
        ):
            episode = hit.experience
            if not (episode.provenance.verified and episode.steps) or not _begins_in(episode, front):
                continue
            parameters = align(f"{episode.subtask}\n{episode.context}", f"{subtask.name}\n{subtask.info}")
            learned = _replayable(episode, parameters, subtask) if parameters is not None else None
            said = learned is not None and _types_only_what_is_said(learned, wording_of(subtask))
            if said and self._may_replay(episode):
                return learned
        return None

    def _may_replay(self, experience: Experience) -> bool:
        """Return whether an experience may be replayed; a person is asked once about each author who is not trusted."""
        if self._memory.trusts(experience) or experience.provenance.run_id == self._trusted_run:
            return True
        author = experience.provenance.author or "somebody unknown"
        if author not in self._agreed:
            question = f"{author}, whom memory.trusted does not name, has taught how to do this. Replay it (yes or no)?"
            self._agreed[author] = self._agrees is not None and self._agrees(question)
        if not self._agreed[author]:
            self.doubt = f"it was stored by {author}, whom memory.trusted does not name"
        return self._agreed[author]


def _drawbacks(skill: SkillExperience) -> tuple[bool, bool, int]:
    """Return a sort key for ways to do the same; the best sees whether it is already done, cleans up, and is short."""
    steps = read_steps(skill)
    if isinstance(steps, Mismatch):
        return True, True, 0
    switches = isinstance(skill.intent, Switch)
    sees = any(_switched(step) or step.end.settings for step in steps)
    windows = sum(len(tuple(filter(None, one.names_of("opened")))) - len(one.names_of("closed")) for one in steps)
    return switches and not sees, windows > 0, len(steps)


def _switched(step: GroundedStep) -> bool:
    before, after = step.state_before, step.state_after
    return before is not None and after is not None and bool((set(before.states) ^ set(after.states)) & _SWITCHED)


def same_application(query: str, skill: SkillExperience, front: str) -> str | None:
    """Return where to do a skill.

    Returns:
        An empty text if its application is active, the application if the query names it and it is not active, None if
        the skill belongs to another application.
    """
    app, named = skill.provenance.app, mentioned(query)
    if app and application(app) in named and application(app) != application(front):
        return app
    return (
        "" if not app or (application(app) == application(front) and (not named or application(app) in named)) else None
    )


def wording_of(subtask: Subtask) -> str:
    """Return the name and the info of a subtask."""
    return f"{subtask.name}\n{subtask.info}".strip()


def _replaced_in(text: str, *parameters: Parameters) -> str | None:
    """Return a wording with other values; None if they cannot be written into it."""
    for each in parameters:
        replaced = each.replace_in_wording(text)
        if replaced is None:
            return None
        text = replaced
    return text


def align_values(old: str, new: str) -> Parameters | None:
    """Match the values of two different wordings; None if it is not clear which became which."""
    left, right = _values_beside(old, new), _values_beside(new, old)
    if len(left) != len(right) or len(left) > 1:
        return None
    return Parameters(dict(zip(left, right, strict=True)))


def _values_beside(one: str, other: str) -> list[str]:
    """Return the values of a wording that another does not contain, quoted or not."""
    plain = other.casefold()
    values = dict.fromkeys(token.value for token in tokens(one) if token.literal)
    return [value for value in values if value.casefold() not in plain]


def _replayable(
    experience: EpisodicExperience | SkillExperience, parameters: Parameters, subtask: Subtask, opens: str = ""
) -> Replayable | None:
    """Return an experience with the current values; None if it is not clear what one of them is for."""
    steps = read_steps(experience)
    if isinstance(steps, Mismatch) or unclear(steps, parameters):
        return None
    steps = with_parameters(steps, parameters)
    if isinstance(steps, Mismatch):
        return None
    return Replayable(experience.id, steps, opens, wording_of(subtask), parameters=parameters)


def _types_only_what_is_said(learned: Replayable, wording: str) -> bool:
    """Return whether the wording contains all that steps type, so that none of it is a value of another task.

    What came from the screen is not known here, even if the wording contains it.
    """
    if any(step.derived for step in learned.steps):
        return False
    said = {part.casefold() for token in tokens(wording) for part in _parts(token.value)}
    typed = (typed_text(step.action) for step in learned.steps)
    return all(part.casefold() in said for text in typed for token in tokens(text) for part in _parts(token.value))


def _parts(value: str) -> list[str]:
    return [value, *(token.value for token in tokens(value) if token.sort != "mark")]


def _begins_in(episode: EpisodicExperience, front: Window | None) -> bool:
    """Return whether the active application is the one that a subtask began in, or the subtask switches to one."""
    first = read_steps(episode)
    if isinstance(first, Mismatch) or first[0].action.action == "switch_applications":
        return not isinstance(first, Mismatch)
    app = next((target.app for target in first[0].targets.values()), episode.provenance.app)
    return front is not None and front.app.casefold() == app.casefold()
