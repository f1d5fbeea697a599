"""Skills as building blocks of plans: they are offered to the Manager, and its choices are made replayable.

The Manager sees what a skill does and the values that it was learned with, and supplies a value for each of them. So
only values that it chose are typed, and no wording needs to match. Replay checks each step as usual (OSExpert, section
3.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

from aci.observation.observation import Window
from agent_s.llm.protocol import OfferedSkill
from agent_s.records import GroundedStep, Subtask
from agent_s.replay.ambiguity import find_ambiguity
from agent_s.replay.grounded_steps import typed_text
from agent_s.replay.skill_matching import SkillMatcher, is_usable
from agent_s.replay.template import Mismatch, Replayable, read_steps, values_shown, with_parameters
from intents.alignment import Parameters, holds
from intents.applications import application, named_applications
from intents.reader import parts_of
from intents.text import tokens
from memory_store import MemoryStore, SkillExperience
from memory_store.errors import UnknownExperience

MAX_OFFERED = 60  # about 2,000 tokens

_MAX_SKILLS = 1000  # maximum number of skills of one application to compare
_ANY = -1.0  # no minimum similarity: skills are ranked, and the Manager decides which to use


@dataclass(frozen=True, slots=True)
class SkillOffers:
    """Selects the active skills to offer for a plan."""

    memory: MemoryStore
    platform: str  # only skills of this platform count
    display_names: Callable[[], Mapping[str, str]] = dict  # see `Machine.display_names`

    def relevant_to(self, instruction: str, front: Window | None) -> tuple[OfferedSkill, ...]:
        """Return the skills relevant to a task, best first: of the active application and of those that it names.

        Args:
            instruction: The task.
            front: The active window.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        app = front.app if front is not None else ""
        parts = tuple(dict.fromkeys((*parts_of(instruction), instruction)))
        similar = [self._similar(part) for part in parts]
        meant = dict.fromkeys((app, *(one.provenance.app for skills in similar for one in skills)))
        named = named_applications(instruction, meant, self.display_names())
        apps = {*named, application(app)}
        newest = [
            one
            for name in dict.fromkeys(each.casefold() for each in (*meant, *self.display_names()))
            if name and application(name) in apps
            for one in self.memory.list_experiences("skill", app=name, state="active", limit=_MAX_SKILLS)
        ]
        known = {
            one.id: one
            for one in (*newest, *(skill for skills in similar for skill in skills))
            if isinstance(one, SkillExperience)
            and one.provenance.platform == self.platform
            and application(one.provenance.app) in apps
            and is_usable(one)
            and self.memory.trusts(one)
        }
        matcher = SkillMatcher(list(known.values()))
        rankings = [[one.id for one in skills if one.id in known] for skills in similar]
        for part in parts:
            scores = {skill_id: matcher.match(part, skill).score for skill_id, skill in known.items()}
            rankings.append([one for one in sorted(scores, key=lambda one: -scores[one]) if scores[one] > 0])
        in_turn = (skill_id for row in zip_longest(*rankings) for skill_id in row if skill_id is not None)
        offers = (make_offer(known[skill_id]) for skill_id in dict.fromkeys((*in_turn, *known)))
        return tuple(islice((offer for offer in offers if offer is not None), MAX_OFFERED))

    def _similar(self, part: str) -> list[SkillExperience]:
        hits = self.memory.search_skills(part, MAX_OFFERED, platform=self.platform, min_similarity=_ANY)
        return [hit.experience for hit in hits]

    def replayable(self, subtask: Subtask, front: Window | None) -> Replayable | None:
        """Return the steps of the skill that a plan chose for a subtask, with its values; None if there is none.

        Args:
            subtask: The subtask.
            front: The active window.

        Raises:
            MemoryStoreError: Memory cannot be read.
        """
        if not subtask.skill:
            return None
        try:
            skill = self.memory.get(subtask.skill)
        except UnknownExperience:
            return None
        if not isinstance(skill, SkillExperience) or not is_usable(skill) or not self.memory.trusts(skill):
            return None
        steps = read_steps(skill)
        if not steps or isinstance(steps, Mismatch):
            return None
        learned = learned_values(skill.name, steps)
        if len(learned) != len(subtask.values):
            return None  # it has been relearned since
        pairs = {old: new for old, new in zip(learned, subtask.values, strict=True) if old != new}
        parameters = Parameters(pairs, kept=frozenset(learned) - pairs.keys())
        current = Mismatch("") if find_ambiguity(steps, parameters) else with_parameters(steps, parameters)
        if isinstance(current, Mismatch):
            return None
        app = skill.provenance.app
        elsewhere = app and (front is None or application(app) != application(front.app))
        wording = parameters.replace_in_wording(skill.name) or subtask.name
        return Replayable(skill.id, current, app if elsewhere else "", wording, parameters=parameters)


def make_offer(skill: SkillExperience) -> OfferedSkill | None:
    """Return a skill in the form offered to the Manager; None if it types derived values or cannot be read."""
    steps = read_steps(skill)
    if isinstance(steps, Mismatch) or any(step.derived for step in steps):
        return None
    parameters = learned_values(skill.name, steps)
    return OfferedSkill(skill.id, skill.name, skill.provenance.app, skill.description, parameters)


def learned_values(name: str, steps: Sequence[GroundedStep]) -> tuple[str, ...]:
    """Return the values that a skill was learned with: those in its name that steps use, and other typed texts."""
    shown = list(values_shown(steps))
    named = [token.value for token in tokens(name) if token.literal]
    values = dict.fromkeys(value for value in named if any(holds(text, value) for text in shown))
    said = {token.value.casefold() for token in tokens(name)}
    for typed in map(typed_text, (step.action for step in steps)):
        if any(token.value.casefold() not in said for token in tokens(typed) if token.sort != "mark"):
            values.setdefault(typed)
    return tuple(values)
