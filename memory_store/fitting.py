"""How well a skill fits what is asked for, for doing it without anybody looking: stricter than what may be shown."""

from __future__ import annotations

import re

from memory_store.actions import compare_verbs, conflict
from memory_store.experience import Hit
from memory_store.skills import SkillExperience
from memory_store.words import application, mentioned, stems, without_applications

FITS = 0.48
"""Likeness from which on a skill is done for what was asked; below, nothing is tried."""
CLEARLY = 0.08
"""So much better than every other skill it must fit, unless by the same words."""

_PARTS = re.compile(r"\band\b|\bthen\b|\bafter\b|\bbefore\b|[,;:]|[.!?]\s", re.IGNORECASE)
_MEANING, _WORDS = 0.6, 0.4
"""How much meaning and shared words count."""


def fit(query: str, hit: Hit[SkillExperience]) -> float:
    """Return how well a skill fits a query, from 0 to 1; 1 for the same words.

    What asks for the opposite, with other verbs, or for more than the skill does, does not fit at all.
    """
    skill = hit.experience
    if hit.reasons[:1] == ("the same words",):
        return 1.0
    best = max(_likeness(query, text, hit.similarity) for text in (skill.name, f"{skill.name} {skill.description}"))
    opposite = any(conflict(query, text) for text in (skill.name, skill.description) if text)
    return 0.0 if opposite or _asks_for_more(query, f"{skill.name} {skill.description}") else best


def same_application(query: str, skill: SkillExperience, front: str) -> str | None:
    """Tell where a skill is to be done.

    Returns:
        An empty text where its application is in front, the application where the query names it and it is not, None
        where it is another application's.
    """
    app = skill.provenance.app
    if not app or application(app) == application(front):
        return ""
    return app if application(app) in mentioned(query) else None


def _asks_for_more(query: str, text: str) -> bool:
    """Tell whether a part of a query of several parts is mostly about what a skill does not speak of."""
    parts = [stems(without_applications(part)) for part in _PARTS.split(query)]
    parts = [part for part in parts if part]
    known = stems(text)
    return len(parts) > 1 and any(2 * len(part - known) > len(part) for part in parts)


def _likeness(query: str, text: str, cosine: float) -> float:
    asked, known = (stems(without_applications(one)) for one in (query, text))
    shared = len(asked & known)
    words = shared / max(1, len(asked | known))
    if compare_verbs(query, text) == "other":
        return 0.0
    return _MEANING * max(0.0, cosine) + _WORDS * words
