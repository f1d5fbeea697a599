"""Selection and ranking of the candidates of a search.

A candidate is returned only if it is similar enough by meaning and words, is not about another application than the
query names, and does not do the opposite of what the query asks: wrong experience is worse than none. The ranks
by embedding and by words are fused (reciprocal rank fusion; Cormack, Clarke and Buettcher, 2009), and weighted by how
the experience ended, how often it helped and how old it is.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row

from intents.applications import applications_of, is_about_another, names_in, without_applications
from intents.conflicts import Verbs, compare, conflict, with_values_of
from intents.lexicon import stems
from memory_store.records.experience import Provenance

RANK_OFFSET = 20  # the constant of reciprocal rank fusion
WORDS_WEIGHT = 0.2  # weight of the rank by words; the rank by meaning has weight 1

# Terms added to the cosine, fitted by logistic regression on labelled paraphrases (benchmarks/data/memory_labels.txt).
QUERY_COVERED = 0.13  # the key names all things of the query, by whatever word
VERBS: dict[Verbs, float] = {"same": 0.09, "other": -0.07, "unclear": 0.0, "unknown": 0.0}
EACH_WORD, FEWER, MORE = 0.018, 4, 10  # for each word that the query has more than the key, within bounds
OFFSET = -0.05  # brings the sum to the scale of the embedder's threshold, which is one for cosines

# Where a trained model compares query and key, its log-odds take the place of these terms. The numbers were chosen on
# benchmarks/data/memory_heldout.txt, memory_fresh.txt and memory_unseen.txt.
ODDS, ODDS_OFFSET = 0.3, 0.2
MOST_COMPARED = 2  # the most similar candidates; each takes about 10 ms
CLEAR = 1.0  # likeness from which less similar candidates are not compared

ELSEWHERE = 0.05  # how much less similar than an experience in another application a hit may be
LEAST_COSINE = 0.6  # share of the threshold that the cosine alone must reach
_SAME_THINGS = 0.6
_OLD_AFTER_DAYS = 365.0


Same = Callable[[str, str], float | None]
"""Compares a query with a key: the log-odds that it asks for the same, or None if it cannot say."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A candidate that is returned."""

    row: Row[Any]
    cosine: float  # between its key and the query
    score: float  # hits are ordered by it
    reasons: list[str]  # why it is returned, for people


class Judge:
    """Decides which candidates of a search are returned, with scores and reasons.

    Args:
        query: The query.
        floor: Minimum likeness of a hit.
        by_words: The primary keys that the search by words found, best first.
        embedder: Name of the embedder, for the reasons.
        forced: Whether a caller gave the floor, which then holds for the cosine alone.
        same: Compares the query with a key; None where only rules do.
    """

    def __init__(
        self,
        query: str,
        floor: float,
        by_words: Sequence[int],
        embedder: str,
        forced: bool = False,
        same: Same | None = None,
    ) -> None:
        self._query = query
        self._words = stems(without_applications(query))
        self._floor = floor
        self._forced = forced
        self._places = {pk: place for place, pk in enumerate(by_words)}
        self._embedder = embedder
        self._same = same

    def verdicts(self, candidates: Sequence[tuple[Row[Any], float]]) -> list[Verdict]:
        """Return the candidates that may be returned, best first.

        Args:
            candidates: Rows with the cosine between their key and the query.
        """
        asked = applications_of(self._query, {row.app for row, _ in candidates})
        self._named = bool(asked)
        about, elsewhere = [], -1.0
        for row, cosine in candidates:
            if is_about_another(asked, row.key_text, row.app):
                elsewhere = max(elsewhere, cosine)
            else:
                about.append((row, cosine, self._misleads(row.key_text)))
        nearest = max((found for found in about if found[2]), default=None, key=lambda found: found[1])
        asked_for = [
            (row, cosine)
            for row, cosine, misleads in about
            if not misleads
            and (self._forced or cosine >= elsewhere - ELSEWHERE)
            and (nearest is None or self._is_asked_for(row.key_text, cosine, nearest[0].key_text, nearest[1]))
        ]
        kept = [found for found in self._with_likeness(asked_for) if found[2] >= self._floor]
        # Equal keys have the same likeness, up to rounding; of these, verified and new ones come first.
        kept.sort(
            key=lambda found: (
                -round(found[2], 5),
                not found[0].verified,
                -found[0].created_at.timestamp(),
                -found[0].pk,
            )
        )
        # Rejected candidates take no place.
        by_words = sorted((row.pk for row, *_ in kept if row.pk in self._places), key=self._places.__getitem__)
        second = {pk: place for place, pk in enumerate(by_words)}
        found = [self._verdict(row, cosine, first, second.get(row.pk)) for first, (row, cosine, _) in enumerate(kept)]
        return sorted(found, key=lambda verdict: -verdict.score)

    def _verdict(self, row: Row[Any], cosine: float, first: int, second: int | None) -> Verdict:
        reasons = [f"similar meaning, {cosine:.2f} by {self._embedder}"]
        fused = _share(first)
        if second is not None:
            fused += WORDS_WEIGHT * _share(second)
            reasons.append(f"{len(self._words & stems(row.key_text))} shared words, place {second + 1} by words")
        return Verdict(row, cosine, fused / (1 + WORDS_WEIGHT) * weight(row), reasons + _reasons(row))

    def _with_likeness(self, found: Sequence[tuple[Row[Any], float]]) -> list[tuple[Row[Any], float, float]]:
        """Return rows with cosine and likeness; where a model compares, those of the most similar keys only."""
        nearest: dict[str, tuple[Row[Any], float]] = {}
        for row, cosine in sorted(found, key=lambda one: -one[1]):
            nearest.setdefault(row.key_text, (row, cosine))
        likeness: dict[str, float] = {}
        for row, cosine in itertools.islice(nearest.values(), MOST_COMPARED):
            odds = self._odds(row)
            if odds is None:
                return [(row, cosine, self._likeness(row.key_text, cosine)) for row, cosine in found]
            likeness[row.key_text] = cosine + ODDS * odds + ODDS_OFFSET
            if likeness[row.key_text] >= CLEAR:
                break
        return [(row, cosine, likeness[row.key_text]) for row, cosine in found if row.key_text in likeness]

    def _odds(self, row: Row[Any]) -> float | None:
        """Return the log-odds that a key asks for the same, with the values of the query.

        If the query names no application, the key is compared without its own.
        """
        if self._same is None or self._forced:
            return None
        key = row.key_text
        if not self._named:
            key = without_applications(key, names_in(key, (row.app,), any_case=True))
        return self._same(self._query, with_values_of(self._query, key))

    def _likeness(self, key: str, cosine: float) -> float:
        if self._forced:
            return cosine
        common = compare(self._query, key)
        likeness = cosine + QUERY_COVERED * common.query_covered + VERBS[common.verbs]
        return likeness + EACH_WORD * max(-FEWER, min(MORE, common.longer)) + OFFSET

    def _misleads(self, key: str) -> bool:
        """Return whether a key does the opposite of what is asked, or something else with the same things."""
        return bool(conflict(self._query, key)) or (not self._forced and compare(self._query, key).otherwise)

    def _is_asked_for(self, key: str, cosine: float, misleading: str, nearest: float) -> bool:
        # If the nearest does the opposite of the query, a less similar one is not asked for either, unless it does the
        # opposite of the nearest to the same things.
        if self._forced or cosine >= nearest:
            return True
        common = compare(key, misleading)
        return common.key_covered >= _SAME_THINGS and bool(conflict(key, misleading))


def _share(place: int) -> float:
    return (RANK_OFFSET + 1) / (RANK_OFFSET + 1 + place)


def weight(source: Provenance | Row[Any]) -> float:
    """Return the factor of an experience for outcome, use and age: about 0.8 to 1.2."""
    outcome = {True: 1.06, None: 1.0, False: 0.9}[source.verified]
    # Laplace's rule of succession.
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
