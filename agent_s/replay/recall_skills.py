"""Recall of skills that match a task or a subtask in other words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from aci.observation.observation import Window
from agent_s.records import GroundedStep, Subtask
from agent_s.replay.ambiguity import find_ambiguity
from agent_s.replay.grounded_steps import typed_text
from agent_s.replay.recall_judged import Candidate, align_values
from agent_s.replay.skill_matching import MIN_LEAD, MIN_SCORE, SkillMatch, SkillMatcher, is_unverified, is_usable
from agent_s.replay.template import Mismatch, Replayable, read_steps, with_parameters
from intents.alignment import Parameters
from intents.applications import application, named_applications, without_applications
from intents.intent import Switch
from intents.text import tokens
from memory_store import EpisodicExperience, Experience, MemoryStore, SkillExperience
from memory_store.records.experience import State

SURE_SCORE = 0.8  # minimum score at which a skill needs no judge
MAX_CANDIDATES = 24
_MAX_SKILLS = 1000  # maximum number of skills of the active application to compare
_ANY = -1.0  # no minimum similarity: candidates are matched by words
_STATES: tuple[State, ...] = ("active", "candidate")
_SWITCHED = frozenset({"checked", "pressed"})


@dataclass(frozen=True, slots=True)
class FoundSkill:
    """A skill whose name matches."""

    skill: SkillExperience
    name: str  # the best matching one of its names
    steps: Replayable
    sure: bool  # whether the match needs no confirmation by a judge


@dataclass(frozen=True, slots=True)
class SkillRecall:
    """Finds skills by their names and intents."""

    memory: MemoryStore
    platform: str  # only skills of this platform count
    may_replay: Callable[[Experience], bool]  # returns whether an experience may be replayed
    display_names: Callable[[], Mapping[str, str]] = dict  # see `Machine.display_names`

    def find(self, subtask: Subtask, front: Window | None) -> FoundSkill | None:
        """Return the best skill for a subtask; None if several with different effects fit equally well.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        wording, app = request_of(subtask), front.app if front is not None else ""
        same = self.memory.find_skill(subtask.name, subtask.info, platform=self.platform)
        if same is not None and self.may_replay(same):
            exact = self.with_parameters(same, Parameters(), subtask, app)
            return FoundSkill(same, same.name, replace(exact, exact=True), True) if exact is not None else None
        known, plain = self._skills_of(wording, app)
        matcher = SkillMatcher(known)
        fits = sorted(((matcher.match(plain, one), one) for one in known), key=lambda pair: -pair[0].score)
        # "Zoom in" is not "Zoom to...", although only the particle differs.
        fits = [(fit, one) for fit, one in fits if fit.exact and fit.score >= MIN_SCORE] or fits
        # An unverified skill does not count where a verified one surely fits.
        if any(fit.score >= SURE_SCORE and not is_unverified(one) for fit, one in fits):
            fits = [(fit, one) for fit, one in fits if not is_unverified(one)]
        near = [(fit, one) for fit, one in fits if fit.score >= MIN_SCORE and fits[0][0].score - fit.score < MIN_LEAD]
        near = [pair for pair in near if not is_unverified(pair[1])] or near
        # Several skills may share an alias: whatever is called "Options" is also known as the settings.
        near = [(fit, one) for fit, one in near if fit.name == one.name] or near
        if not near or not _all_same(near, matcher):
            return None
        fit, best = min(near, key=lambda pair: (not self.memory.trusts(pair[1]), _drawbacks(pair[1])))
        parameters = align_values(fit.name, plain)
        if parameters is None or not self.may_replay(best):
            return None
        steps = self.with_parameters(best, parameters, subtask, app)
        return FoundSkill(best, fit.name, steps, fit.score >= SURE_SCORE) if steps is not None else None

    def find_candidates(self, subtask: Subtask, front: Window | None, least: float, count: int) -> list[Candidate]:
        """Return the skills that may match a subtask, first by words and then by similarity, each best first.

        Args:
            subtask: The subtask.
            front: The active window.
            least: Minimum similarity.
            count: Maximum number of candidates by each criterion.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        wording, app = request_of(subtask), front.app if front is not None else ""
        known, plain = self._skills_of(wording, app)
        matcher = SkillMatcher(known)
        fits = sorted(((matcher.match(plain, one), one) for one in known), key=lambda pair: -pair[0].score)
        by_words = [Candidate(one, fit.name) for fit, one in fits[:count] if fit.score > 0]
        ids = {one.id for one in known}
        hits = self.memory.search_skills(wording, count, platform=self.platform, min_similarity=least)
        by_meaning = [hit.experience for hit in hits if hit.experience.id in ids]
        return [*by_words, *(Candidate(one, one.name) for one in by_meaning)]

    def _skills_of(self, wording: str, front: str) -> tuple[list[SkillExperience], str]:
        """Return the candidate skills, and the wording without the names of applications.

        Candidates belong to the active application or to one that the wording names. These include skills that an
        exploration had no time to verify.
        """
        hits = self.memory.search_skills(wording, MAX_CANDIDATES, platform=self.platform, min_similarity=_ANY)
        similar = [hit.experience for hit in hits]
        apps = dict.fromkeys((front, *(one.provenance.app for one in similar)))
        named = named_applications(wording, apps, self.display_names())
        places = [app for app in dict.fromkeys((*apps, *self.display_names())) if app and application(app) in named]
        newest = [
            one
            for app in dict.fromkeys(name.casefold() for name in (front, *places) if name)
            for state in _STATES
            for one in self.memory.list_experiences("skill", app=app, state=state, limit=_MAX_SKILLS)
            if isinstance(one, SkillExperience) and is_usable(one)
        ]
        found = {one.id: one for one in newest if one.provenance.state == "active" or is_unverified(one)}
        found |= {one.id: one for one in similar}
        known = [
            one
            for one in found.values()
            if one.provenance.platform == self.platform and _place(one, named, front) is not None
        ]
        return known, without_applications(wording, tuple(sorted({name for name in named.values() if name})))

    def place_of(self, skill: SkillExperience, wording: str, front: str) -> str | None:
        """Return the application to switch to for a skill.

        Returns:
            An empty text if its application is active, the application if it is inactive but the wording names it, None
            if the skill belongs to another application.
        """
        return _place(skill, named_applications(wording, (front, skill.provenance.app), self.display_names()), front)

    def with_parameters(
        self, skill: SkillExperience, parameters: Parameters, subtask: Subtask, app: str
    ) -> Replayable | None:
        """Return a skill with the current values; None if it cannot be used here or types unstated values."""
        wording = wording_of(subtask)
        opens = self.place_of(skill, wording, app)
        learned = replayable(skill, parameters, subtask, opens) if opens is not None else None
        return learned if learned is not None and types_only_stated_values(learned, wording) else None


def _place(skill: SkillExperience, named: Collection[str], front: str) -> str | None:
    app = skill.provenance.app
    if not app:
        return ""
    if application(app) == application(front):
        return "" if not named or application(app) in named else None
    return app if application(app) in named else None


def _all_same(near: Sequence[tuple[SkillMatch, SkillExperience]], matcher: SkillMatcher) -> bool:
    return all(matcher.are_same(near[0][1], one) for _, one in near[1:])


def _drawbacks(skill: SkillExperience) -> tuple[bool, bool, int]:
    """Return a sort key for equivalent skills; the best one sees a switch's state, closes its windows and is short."""
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


def wording_of(subtask: Subtask) -> str:
    """Return the name and the info of a subtask."""
    return f"{subtask.name}\n{subtask.info}".strip()


def request_of(subtask: Subtask) -> str:
    """Return the request of a subtask: its name, and its info unless that repeats the name."""
    repeated = not subtask.info or subtask.info.startswith(subtask.name)
    return subtask.name if repeated else wording_of(subtask)


def replayable(
    experience: EpisodicExperience | SkillExperience, parameters: Parameters, subtask: Subtask, opens: str = ""
) -> Replayable | None:
    """Return an experience with the current values; None if it is ambiguous what to replace."""
    steps = read_steps(experience)
    if isinstance(steps, Mismatch) or find_ambiguity(steps, parameters):
        return None
    steps = with_parameters(steps, parameters)
    if isinstance(steps, Mismatch):
        return None
    return Replayable(experience.id, steps, opens, wording_of(subtask), parameters=parameters)


def types_only_stated_values(learned: Replayable, wording: str) -> bool:
    """Return whether the wording contains all text that steps type, so that none of it is a value of another task.

    Derived values do not count as stated, even if the wording contains them.
    """
    if any(step.derived for step in learned.steps):
        return False
    said = {part.casefold() for token in tokens(wording) for part in _value_parts(token.value)}
    typed = (typed_text(step.action) for step in learned.steps)
    return all(
        part.casefold() in said for text in typed for token in tokens(text) for part in _value_parts(token.value)
    )


def _value_parts(value: str) -> list[str]:
    return [value, *(token.value for token in tokens(value) if token.sort != "mark")]
