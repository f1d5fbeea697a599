"""Chooses among experience that may be the same as what is asked for in other words: a judge decides.

Rules come first: what `intents.conflicts` proves to be the opposite is never judged, and a judgement counts only if it
accounts for every value of both wordings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from agent_s.llm.protocol import JudgedRequest, KnownRequest, NewValue
from intents.alignment import Parameters, holds
from intents.conflicts import conflict
from intents.lexicon import read_number
from intents.text import tokens
from memory_store import Experience

MAX_JUDGED = 5
"""Maximum number of candidates for one request; the right one was among the best five of 0.99 of labelled requests."""

Judges = Callable[[str, Sequence[KnownRequest]], Sequence[JudgedRequest]]
"""Returns a judgement of each known request, given what is asked for now."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Experience that may be the same as what is asked for."""

    experience: Experience
    wording: str  # the request that it was learned for
    trusted: bool = False  # whether it is used without a judgement


def choose(judges: Judges, asked: str, candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, Parameters]]:
    """Yield the candidates that do what is asked for, best first, with the values to replace.

    Args:
        judges: Asked once, unless rules decide about all candidates.
        asked: What is asked for now.
        candidates: Best first.
    """
    unique: dict[str, Candidate] = {}
    for candidate in candidates:
        if conflict(asked, candidate.wording) is None:
            unique.setdefault(candidate.wording, candidate)
    doubtful = list(unique.values())[:MAX_JUDGED]
    if not doubtful:
        return
    known = [KnownRequest(one.wording, one.experience.provenance.app) for one in doubtful]
    for candidate, judged in zip(doubtful, judges(asked, known), strict=True):
        parameters = None
        if judged.same:
            parameters = parameters_between(candidate.wording, asked, judged.values)
        elif judged.same is None and candidate.trusted:
            parameters = align_values(candidate.wording, asked)
        if parameters is not None:
            yield candidate, parameters


def parameters_between(known: str, asked: str, values: Sequence[NewValue]) -> Parameters | None:
    """Return the values to replace in a known wording; None unless they account for every value of both wordings."""
    pairs = {value.old: value.new for value in values}
    copied = all(holds(known, old) and holds(asked, new) for old, new in pairs.items())
    if not copied or any(pairs[value.old] != value.new for value in values):
        return None
    if _left_out(known, asked, pairs) or _left_out(asked, known, pairs.values()):
        return None
    return Parameters({old: new for old, new in pairs.items() if old != new})


def align_values(old: str, new: str) -> Parameters | None:
    """Match the values of two different wordings; None if it is not clear which became which."""
    left, right = _left_out(old, new), _left_out(new, old)
    if len(left) != len(right) or len(left) > 1:
        return None
    return Parameters(dict(zip(left, right, strict=True)))


def _left_out(one: str, other: str, accounted: Iterable[str] = ()) -> list[str]:
    """Return the values of a wording, by their looks, that neither the other has nor `accounted` does."""
    plain, listed = other.casefold(), list(accounted)
    numbers = {str(read_number(token.value)) for token in tokens(other)}
    values = dict.fromkeys(token.value for token in tokens(one) if token.literal)
    left = (value for value in values if value.casefold() not in plain and value not in numbers)
    return [value for value in left if not any(holds(old, value) for old in listed)]
