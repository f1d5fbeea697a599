"""Which candidates of a search may be returned, and in which order.

A candidate is returned only if meaning and words together are like enough, it is not about another application than
the query names, and it does not do the opposite of what the query asks: wrong experience is worse than none. The ranks
by embedding and by words are fused (reciprocal rank fusion; Cormack, Clarke and Buettcher, 2009), and weighted by how
the experience ended, how often it helped and how old it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row

from memory_store.actions import Verbs, compare, conflict
from memory_store.experience import Provenance
from memory_store.words import applications_of, is_about_another, stems, without_applications

RANK_OFFSET = 20
"""The constant of reciprocal rank fusion: how little the first places differ."""

WORDS_WEIGHT = 0.2
"""How much the rank by words counts beside the rank by meaning."""

KEY_COVERED = 0.19
"""How much likeness it adds that all things of the key are named by the query: it asks for that and more.

Fitted, as those around it, by logistic regression on labelled paraphrases (``benchmarks/data/memory_labels.txt``)."""

QUERY_REPEATED = -0.22
"""How much it adds that all things of the query are in the key by the same words. It takes away: where the embedding
is alike because the words are, it says less than where the words differ."""

VERBS: dict[Verbs, float] = {"same": 0.04, "other": -0.13, "unclear": -0.08, "unknown": 0.0}
"""How much it adds what their verbs have in common."""

NEAR = -0.12
"""How much it adds that all but one thing each is the same, for the reason of `QUERY_REPEATED`."""

CONTRASTED = -0.07
"""How much it adds that each names another thing of one kind."""

NEAR_BUT_OTHER = -0.12
"""How much it adds that nearly all is the same but the verb, or but a thing for another of its kind."""

LEAST_COSINE = 0.6
"""Share of the threshold that the cosine alone must reach, however many words are shared."""

_SAME_THINGS = 0.6
_OLD_AFTER_DAYS = 365.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """That a candidate is returned, with what for.

    Attributes:
        row: The candidate.
        cosine: Between its key and the query.
        score: What hits are ordered by.
        reasons: Why it is returned.
    """

    row: Row[Any]
    cosine: float
    score: float
    reasons: list[str]


class Judge:
    """Decides which candidates of one search are returned, and gives them their scores and reasons.

    Args:
        query: What is looked for.
        floor: Likeness below which nothing is returned.
        by_words: The pks that the search by words found, best first.
        embedder: Name of the embedder, for the reasons.
        forced: Whether the floor is one for the cosine alone, that a caller gave.
    """

    def __init__(self, query: str, floor: float, by_words: Sequence[int], embedder: str, forced: bool = False) -> None:
        self._query = query
        self._words = stems(without_applications(query))
        self._floor = floor
        self._forced = forced
        self._places = {pk: place for place, pk in enumerate(by_words)}
        self._embedder = embedder

    def verdicts(self, candidates: Sequence[tuple[Row[Any], float]]) -> list[Verdict]:
        """Return those that may be returned among rows with their cosines, best first."""
        asked = applications_of(self._query, {row.app for row, _ in candidates})
        misleading = {row.pk: (cosine, row) for row, cosine in candidates if self._misleads(row, asked)}
        nearest = max(misleading.values(), default=None, key=lambda item: item[0])
        kept = [
            (row, cosine)
            for row, cosine in candidates
            if row.pk not in misleading
            and (nearest is None or self._is_asked_for(row.key_text, cosine, nearest[1].key_text, nearest[0]))
            and self._likeness(row.key_text, cosine) >= self._floor
        ]
        # Equal keys have equal vectors up to rounding; among those the verified and the newest come first.
        kept.sort(
            key=lambda item: (-round(item[1], 5), not item[0].verified, -item[0].created_at.timestamp(), -item[0].pk)
        )
        # Places are those among what may be returned: what was turned down takes none.
        by_words = sorted((row.pk for row, _ in kept if row.pk in self._places), key=self._places.__getitem__)
        second = {pk: place for place, pk in enumerate(by_words)}
        found = [self._verdict(row, cosine, first, second.get(row.pk)) for first, (row, cosine) in enumerate(kept)]
        return sorted(found, key=lambda verdict: -verdict.score)

    def _verdict(self, row: Row[Any], cosine: float, first: int, second: int | None) -> Verdict:
        reasons = [f"similar meaning, {cosine:.2f} by {self._embedder}"]
        fused = _share(first)
        if second is not None:
            fused += WORDS_WEIGHT * _share(second)
            reasons.append(f"{len(self._words & stems(row.key_text))} shared words, place {second + 1} by words")
        return Verdict(row, cosine, fused / (1 + WORDS_WEIGHT) * weight(row), reasons + _reasons(row))

    def _likeness(self, key: str, cosine: float) -> float:
        if self._forced:
            return cosine
        common = compare(self._query, key)
        likeness = cosine + KEY_COVERED * common.key_covered + QUERY_REPEATED * common.query_repeated
        likeness += VERBS[common.verbs] + NEAR * common.near + CONTRASTED * common.contrasted
        return likeness + NEAR_BUT_OTHER * (common.near and (common.contrasted or common.verbs == "other"))

    def _is_asked_for(self, key: str, cosine: float, misleading: str, nearest: float) -> bool:
        # Where the nearest does the opposite of what was asked, what is less like it is not what was asked either,
        # unless it does the opposite of that one to the same things.
        if self._forced or cosine >= nearest:
            return True
        common = compare(key, misleading)
        return common.key_covered >= _SAME_THINGS and bool(conflict(key, misleading))

    def _misleads(self, row: Row[Any], asked: frozenset[str]) -> bool:
        return is_about_another(asked, row.key_text, row.app) or bool(conflict(self._query, row.key_text))


def _share(place: int) -> float:
    return (RANK_OFFSET + 1) / (RANK_OFFSET + 1 + place)


def weight(source: Provenance | Row[Any]) -> float:
    """Return how much an experience counts beside its place: about 0.8 to 1.2."""
    outcome = {True: 1.06, None: 1.0, False: 0.9}[source.verified]
    # Laplace's rule of succession: nothing is known of what was never used.
    helped = 0.85 + 0.3 * (source.times_worked + 1) / (source.times_used + 2)
    days = max(0.0, (datetime.now(UTC) - (source.last_used_at or source.created_at)).total_seconds() / 86_400)
    fresh = 0.95 + 0.05 * math.exp(-days / _OLD_AFTER_DAYS)
    return outcome * helped * fresh


def _reasons(source: Row[Any]) -> list[str]:
    reasons = []
    if source.verified is not None:
        reasons.append("verified" if source.verified else "its result was found wrong")
    if source.times_used:
        reasons.append(f"worked {source.times_worked} of {source.times_used} times")
    return reasons
