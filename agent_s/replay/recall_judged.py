"""Recall by a judge, which decides whether experience in other words means the same as the request.

Rules take precedence: a conflict (`intents.conflicts`) rules out a candidate, and a judgement counts only if it
accounts for every value of both wordings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from agent_s.llm.protocol import JudgedRequest, KnownRequest, NewValue
from intents.alignment import Parameters, holds
from intents.conflicts import conflict
from intents.lexicon import read_number, read_ordinal
from intents.numbers import NUMBER, numbers_in, value_of
from intents.text import Sort, tokens
from memory_store import Experience

MAX_JUDGED = 5
"""Maximum number of candidates for one request; for 99% of labelled requests, the right one was among the best five."""

MIN_JUDGED_SIMILARITY = 0.4
"""Minimum cosine of a candidate, as a share of the embedder's threshold."""

Judges = Callable[[str, Sequence[KnownRequest]], Sequence[JudgedRequest]]
"""Returns a judgement of each known request, given the current one."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Experience that may match the current request."""

    experience: Experience
    wording: str  # the request that it was learned for
    trusted: bool = False  # whether it may be used if the judge is undecided


def choose(judges: Judges, asked: str, candidates: Sequence[Candidate]) -> Iterator[tuple[Candidate, Parameters]]:
    """Yield the candidates that match the request, best first, with the values to replace.

    Args:
        judges: Judge, called once, unless rules exclude all candidates.
        asked: The current request.
        candidates: The candidates, best first.
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
    equal = {value.old for value in values if value.equal}
    if any(_are_different(known, old, asked, pairs[old]) for old in equal):
        return None
    if _unmatched_values(known, asked, pairs) or _unmatched_values(asked, known, pairs.values()):
        return None
    return Parameters({old: new for old, new in pairs.items() if old != new and old not in equal})


def _are_different(known: str, old: str, asked: str, new: str) -> bool:
    """Return whether the values of two wordings cannot be equal: other numbers of one unit, or other literal texts."""
    if old != new and _literal_sorts(known, old) & _literal_sorts(asked, new):
        return True
    (unit, numbers), (other_unit, other_numbers) = _measure(old), _measure(new)
    return unit == other_unit and numbers != other_numbers


def _literal_sorts(wording: str, value: str) -> set[Sort]:
    """Return as what a wording names a value: a quotation, a file or the like; numbers may have several forms."""
    return {token.sort for token in tokens(wording) if token.literal and token.value == value} - {"number"}


def _measure(value: str) -> tuple[str, list[Decimal | int | None]]:
    """Split a value such as "10 px" into its unit and its numbers."""
    for read in (read_number, read_ordinal):
        if (number := read(value)) is not None:
            return "", [number]
    unit = re.sub(NUMBER, "", value)
    return "".join(unit.split()).casefold(), [value_of(match[0]) for match in numbers_in(value)]


def align_values(old: str, new: str) -> Parameters | None:
    """Match the values of two different wordings; None if the mapping is ambiguous."""
    left, right = _unmatched_values(old, new), _unmatched_values(new, old)
    if len(left) != len(right) or len(left) > 1:
        return None
    return Parameters(dict(zip(left, right, strict=True)))


def _unmatched_values(one: str, other: str, accounted: Iterable[str] = ()) -> list[str]:
    """Return the literal values of a wording that occur neither in the other one nor in `accounted`."""
    plain, listed = other.casefold(), list(accounted)
    found = (read(token.value) for token in tokens(other) for read in (read_number, read_ordinal))
    numbers = {str(number) for number in found if number is not None}
    values = dict.fromkeys(token.value for token in tokens(one) if token.literal)
    left = (value for value in values if value.casefold() not in plain and value not in numbers)
    return [value for value in left if not any(holds(old, value) for old in listed)]
