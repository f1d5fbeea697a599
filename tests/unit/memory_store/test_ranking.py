from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from memory_store.search.ranking import CLEAR, MOST_COMPARED, ODDS, ODDS_OFFSET, Judge

FLOOR = 0.5
Compared = list[tuple[str, str]]


def row(pk: int, key: str, app: str) -> Any:
    """Return a row as a search loads it."""
    now = datetime.now(UTC)
    used = {"times_used": 0, "times_worked": 0, "created_at": now, "last_used_at": None}
    return SimpleNamespace(pk=pk, key_text=key, app=app, verified=None, success=True, **used)


def found(query: str, odds: Callable[[str, str], float], *candidates: tuple[Any, float]) -> tuple[list[str], Compared]:
    """Return the keys that are returned, best first, and what was compared."""
    compared: Compared = []

    def same(query: str, key: str) -> float:
        compared.append((query, key))
        return odds(query, key)

    judge = Judge(query, FLOOR, (), "minilm", same=same)
    return [verdict.row.key_text for verdict in judge.verdicts(candidates)], compared


NUMBERS = row(1, "How to show line numbers in Mousepad", "Mousepad")
WRAP = row(2, "How to wrap long lines in Mousepad", "Mousepad")
SPELL = row(3, "How to check the spelling in Mousepad", "Mousepad")


def test_application_is_left_out_of_the_comparison_unless_the_query_names_one() -> None:
    _, bare = found("I need to know which line I'm in", lambda *_: 0.0, (NUMBERS, 0.4))
    assert bare == [("I need to know which line I'm in", "How to show line numbers")]
    _, named = found("I need to know which line I'm in in Mousepad", lambda *_: 0.0, (NUMBERS, 0.4))
    assert named == [("I need to know which line I'm in in Mousepad", NUMBERS.key_text)]


def test_application_that_is_not_known_is_left_out_too() -> None:
    unknown = row(1, "How to show line numbers in Quillomat", "Quillomat")
    _, compared = found("I need to know which line I'm in", lambda *_: 0.0, (unknown, 0.4))
    assert compared == [("I need to know which line I'm in", "How to show line numbers")]


def test_less_similar_ones_are_compared_only_until_one_is_clearly_the_same() -> None:
    sure = (CLEAR - ODDS_OFFSET - 0.5) / ODDS
    candidates = ((NUMBERS, 0.5), (WRAP, 0.4), (SPELL, 0.3))
    hits, compared = found("I need to know which line I'm in", lambda *_: sure + 0.1, *candidates)
    assert (hits, len(compared)) == ([NUMBERS.key_text], 1)
    hits, compared = found("I need to know which line I'm in", lambda *_: sure - 0.1, *candidates)
    assert (hits, len(compared)) == ([NUMBERS.key_text, WRAP.key_text], MOST_COMPARED)


@pytest.mark.parametrize(("odds", "expected"), [(0.0, [NUMBERS.key_text]), (-1.0, [])])
def test_little_similarity_is_enough_where_the_same_is_as_likely_as_not(odds: float, expected: list[str]) -> None:
    assert found("I need to know which line I'm in", lambda *_: odds, (NUMBERS, 0.31))[0] == expected


def test_comparison_does_not_overrule_an_opposite() -> None:
    assert found("hide the line numbers", lambda *_: 9.0, (NUMBERS, 0.8)) == ([], [])
