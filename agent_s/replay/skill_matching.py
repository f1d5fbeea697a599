"""Matching of skills to a request, for replay without supervision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from intents.applications import without_applications
from intents.intent import Intent
from intents.matching import Rarity, are_same, unify, words_of
from intents.reader import parts_of, read
from intents.tables import words
from memory_store import Experience, SkillExperience

MIN_SCORE = 0.55  # minimum score of a skill that is replayed
MIN_LEAD = 0.06  # minimum lead over every skill that does something else
THEN = ", then "  # joins the names of skills that are done in turn
UNVERIFIED = "unverified"  # the outcome of skills that an exploration had no time to verify


@dataclass(frozen=True, slots=True)
class SkillMatch:
    """How well a skill matches: its score from 0 to 1, and the best matching one of its names."""

    score: float
    name: str = ""
    exact: bool = False  # whether one of its names says the same word for word, but for articles


class SkillMatcher:
    """Scores skills against a request; words are weighted by their rarity among the candidates.

    Args:
        skills: The candidates.
    """

    def __init__(self, skills: Sequence[SkillExperience]) -> None:
        self._single = {skill.id: _single(skill) for skill in skills}
        """The intent of each name of a skill; empty for a composite skill."""
        self._in_turn = {
            skill.id: {name: [_read(part) for part in name.split(THEN)] for name in skill.names if THEN in name}
            for skill in skills
        }
        self._rarity = Rarity(
            [*self._single[skill.id].values(), *(one for each in self._in_turn[skill.id].values() for one in each)]
            for skill in skills
        )

    def match(self, query: str, skill: SkillExperience) -> SkillMatch:
        """Return how well a skill matches a request."""
        single = self._single[skill.id]
        fits = [SkillMatch(0.0)]
        for asked in self._readings(query) if single else ():
            known, *aliases = single.values()
            if (match := unify(asked, known, aliases, self._rarity)) is not None:
                fits.append(SkillMatch(match.score, next(name for name, one in single.items() if one == match.known)))
        fits += [self._match_in_turn(query, name, known) for name, known in self._in_turn[skill.id].items()]
        exact = _worded(query) in map(_worded, skill.names)
        return replace(max(fits, key=lambda fit: fit.score), exact=exact)

    def _match_in_turn(self, query: str, name: str, known: Sequence[Intent]) -> SkillMatch:
        """Return how well a composite skill matches the parts of a request."""
        if words_of(query) == words_of(name):
            return SkillMatch(1.0, name)
        parts = parts_of(query)
        if len(parts) != len(known):
            return SkillMatch(0.0)
        scores = []
        for part, one in zip(parts, known, strict=True):
            matches = (unify(asked, one, (), self._rarity) for asked in self._readings(part))
            scores.append(max(match.score if match is not None else 0.0 for match in matches))
        return SkillMatch(min(scores), name)

    def are_same(self, one: SkillExperience, other: SkillExperience) -> bool:
        """Return whether two skills have the same effect, judged by their names."""
        return are_same(self._single[one.id].values(), self._single[other.id].values())

    def _readings(self, query: str) -> tuple[Intent, ...]:
        """Parse a query, and if words of an application's name occur in a skill, also as if it named no application."""
        named = set(words_of(query)) - set(words_of(without_applications(query)))
        found = (read(query), _read(query)) if any(word in self._rarity for word in named) else (read(query),)
        return tuple(dict.fromkeys(found))


def is_usable(experience: Experience) -> bool:
    """Return whether an experience may be used: no check found it wrong, and it is not quarantined."""
    return experience.provenance.verified is not False and not experience.provenance.quarantined


def is_unverified(skill: SkillExperience) -> bool:
    """Return whether a skill was observed but never verified, so that an equivalent skill takes precedence."""
    return skill.provenance.state == "candidate" and skill.provenance.outcome == UNVERIFIED


def _single(skill: SkillExperience) -> dict[str, Intent]:
    if THEN in skill.name:
        return {}
    main = _read(skill.name) if skill.intent.application else skill.intent
    return {skill.name: main, **{name: _read(name) for name in skill.aliases if THEN not in name}}


def _worded(text: str) -> list[str]:
    return [word for word in words_of(text) if word not in words("words", "articles")]


def _read(name: str) -> Intent:
    return read(name, find_application=False)
