"""How well skills fit what is asked for, for replaying them without supervision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_s.replay.skill_names import THEN, names_of
from intents.applications import without_applications
from intents.intent import Intent
from intents.matching import Rarity, are_same, unify, words_of
from intents.reader import parts_of, read
from memory_store import SkillExperience

FITS = 0.55
"""Least score of a skill that is replayed."""
CLEARLY = 0.06
"""Least lead over every skill that does something else."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How a skill fits.

    Attributes:
        score: From 0 to 1.
        name: The name of the skill that fits best.
    """

    score: float
    name: str = ""


class Fitter:
    """Finds which of some skills fit best; words count by how rare they are among these.

    Args:
        skills: The candidates.
    """

    def __init__(self, skills: Sequence[SkillExperience]) -> None:
        self._names = {skill.id: _names(skill) for skill in skills}
        self._rarity = Rarity([_read(name) for name in names] for names in self._names.values())

    def fit(self, query: str, skill: SkillExperience) -> Fit:
        """Return how well a skill fits what is asked for."""
        names = self._names[skill.id]
        single = [name for name in names if THEN not in name]
        fits = [Fit(0.0)]
        for intent in self._readings(query) if single else ():
            main, *aliases = map(_read, single)
            if (match := unify(intent, main, aliases, self._rarity)) is not None:
                fits.append(Fit(match.score, next(name for name in single if _read(name) == match.known)))
        fits += [self._fit_in_turn(query, name) for name in names if THEN in name]
        return max(fits, key=lambda fit: fit.score)

    def _fit_in_turn(self, query: str, name: str) -> Fit:
        """Return how well what is done in turn fits the parts of what is asked for."""
        if words_of(query) == words_of(name):
            return Fit(1.0, name)
        parts, named = parts_of(query), name.split(THEN)
        if len(parts) != len(named):
            return Fit(0.0)
        scores = []
        for part, one in zip(parts, map(_read, named), strict=True):
            matches = (unify(intent, one, (), self._rarity) for intent in self._readings(part))
            scores.append(max(match.score if match is not None else 0.0 for match in matches))
        return Fit(min(scores), name)

    def are_same(self, one: SkillExperience, other: SkillExperience) -> bool:
        """Return whether two skills do the same in different places: they share a name."""
        return are_same(map(_read, self._names[one.id]), map(_read, self._names[other.id]))

    def _readings(self, query: str) -> tuple[Intent, ...]:
        """Read a query; where a skill has the name of an application too, also as if it named none."""
        named = set(words_of(query)) - set(words_of(without_applications(query)))
        found = (read(query), _read(query)) if any(word in self._rarity for word in named) else (read(query),)
        return tuple(dict.fromkeys(found))


def _read(name: str) -> Intent:
    return read(name, find_application=False)


def _names(skill: SkillExperience) -> tuple[str, ...]:
    """Return the name of a skill and its other names, which may stand in its description."""
    return tuple(dict.fromkeys((*names_of(skill.name, skill.description), *skill.aliases)))
