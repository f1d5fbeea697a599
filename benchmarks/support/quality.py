"""Reading the labelled paraphrases, and measuring how well a store finds what they ask for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path

from agent_s.llm.scripted import ScriptedModel
from agent_s.records import Task
from agent_s.replay.recall_judged import MAX_JUDGED, MIN_JUDGED_SIMILARITY, Candidate, choose
from agent_s.roles.judge import Judge
from benchmarks.support.labelled_judge import LabelledJudge
from memory_store import MemoryStore

_DATA = Path(__file__).parent.parent / "data"
LABELS = {
    "tuning": _DATA / "memory_labels.txt",
    "measuring": _DATA / "memory_heldout.txt",
    "fresh": _DATA / "memory_fresh.txt",
    "unseen": _DATA / "memory_unseen.txt",
    "spoken": _DATA / "memory_spoken.txt",
    "apart": _DATA / "memory_apart.txt",
}
"""Labelled paraphrases, oldest first; nothing was chosen on the last."""

WITHOUT = {"!": "opposite", "@": "other application", "%": "other value", "?": "other thing"}
"""Marks of queries that nothing stored answers, with what they ask for."""

FALSE = ("opposite", "other application")
"""What must not be answered: experience with another value or the like thing may still help."""

NO_APPLICATION = "Dialogs"
"""Heads what may be asked for in any application."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """Experience to store, and queries with what they are to find."""

    stored: list[tuple[str, str]] = field(default_factory=list)  # application and key of each experience
    # a query and the position of the experience it asks for
    queries: list[tuple[str, int]] = field(default_factory=list)
    # by what they ask for in place of what is stored, the queries that nothing stored answers
    without: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in WITHOUT.values()})


@dataclass(frozen=True, slots=True)
class Quality:
    """How well queries were answered."""

    recall_at_1: float  # share of the queries whose first hit is the right one
    mrr: float  # mean reciprocal rank of the right one, 0 where it is not found
    held_back: float  # share of the queries for which nothing at all was returned
    outranked: float  # share of the queries whose first hit is another one than the right
    false_positive_rate: float  # share of the queries for the opposite or in another application that were answered
    # share of the queries without an answer for which something was returned, by what they ask for
    answered: dict[str, float]
    missed: list[tuple[str, str]]  # queries whose first hit is not the right one, and what it was
    mistaken: list[tuple[str, str]]  # queries without an answer, and what was returned


def read_labelled(path: Path) -> Labelled:
    """Read a file of labels; `memory_labels.txt` describes its form."""
    found = Labelled()
    app = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        mark, _, text = line.partition(" ")
        match mark:
            case "app:":
                app = "" if text == NO_APPLICATION else text
            case "+":
                found.stored.append((app, text))
            case "=":
                found.queries.append((text, len(found.stored) - 1))
            case "!" | "@" | "%" | "?":
                found.without[WITHOUT[mark]].append(text)
    return found


class JudgedSearch:
    """Searches as a replay does where rules are not sure: a judge that knows the labels decides.

    Args:
        labelled: What asks for the same.
        store: What is known.
        error_rate: Share of the judge's answers that are wrong.
    """

    def __init__(self, labelled: Labelled, store: MemoryStore, error_rate: float) -> None:
        labels = {query: labelled.stored[position][1] for query, position in labelled.queries}
        self.model = ScriptedModel({"same": repeat(LabelledJudge(labels, error_rate))})
        self.model.name = f"judge that errs in {error_rate:.0%}"
        self._store = store

    @property
    def calls(self) -> int:
        """Number of calls of the judge."""
        return len(self.model.requests)

    def search(self, query: str) -> list[str]:
        """Return what is the same as the query."""
        least = self._store.embedder.min_similarity * MIN_JUDGED_SIMILARITY
        hits = self._store.search_narrative(query, MAX_JUDGED, min_similarity=least)
        known = [Candidate(hit.experience, hit.experience.query) for hit in hits]
        judge = Judge(self.model, Task(instruction=query), self._store)
        return [one.wording for one, _ in choose(judge, query, known)]


def measure_quality(labelled: Labelled, search: Callable[[str], Sequence[str]]) -> Quality:
    """Ask everything of a search that returns the keys it finds, best first."""
    keys = [key for _, key in labelled.stored]
    ranks: list[int | None] = []
    missed: list[tuple[str, str]] = []
    for query, position in labelled.queries:
        found = list(search(query))
        ranks.append(found.index(keys[position]) if keys[position] in found else None)
        if ranks[-1] != 0:
            missed.append((query, found[0] if found else "(nothing)"))
    mistaken = {
        name: [(query, found[0]) for query in queries if (found := list(search(query)))]
        for name, queries in labelled.without.items()
    }
    asked = max(1, len(ranks))
    held_back = sum(first == "(nothing)" for _, first in missed)
    return Quality(
        recall_at_1=sum(rank == 0 for rank in ranks) / asked,
        mrr=sum(1 / (rank + 1) for rank in ranks if rank is not None) / asked,
        held_back=held_back / asked,
        outranked=(len(missed) - held_back) / asked,
        false_positive_rate=sum(len(mistaken[name]) for name in FALSE)
        / max(1, sum(len(labelled.without[name]) for name in FALSE)),
        answered={name: len(found) / max(1, len(labelled.without[name])) for name, found in mistaken.items()},
        missed=missed,
        mistaken=[pair for found in mistaken.values() for pair in found],
    )
