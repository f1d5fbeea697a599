"""The comparer, which chooses the best of several attempts at a task by one model call, or by a rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agent_s.errors import LimitReached, ModelError
from agent_s.llm.protocol import Attempt, CitedFact, CompareContext, CompareResponse, Model, ask
from agent_s.records import Task

RULE = "the verified attempt, then one that ended as done, then one that did not break off, then the fewest steps"


@dataclass(frozen=True, slots=True)
class Choice:
    """The attempt that was chosen."""

    number: int
    by: Literal["model", "rule"]
    reason: str  # why, for a person
    citations: tuple[CitedFact, ...] = ()  # citations that were checked and hold


def choose(model: Model, task: Task, attempts: Mapping[int, Attempt]) -> Choice:
    """Return the best attempt, as judged by a model if facts support its choice, otherwise by `RULE`.

    The model is called once, and only if the attempts differ. Its choice counts if at least one citation is a fact of
    the chosen attempt, and at least one quotes words that the facts of some other attempt lack.
    """
    if len({attempt.facts for attempt in attempts.values()}) == 1:
        return _by_rule(attempts, "there is nothing to choose from" if len(attempts) == 1 else "the attempts are alike")
    try:
        answer = ask(model, CompareContext(task, dict(attempts)), CompareResponse)
    except (ModelError, LimitReached) as error:
        return _by_rule(attempts, f"no judgement: {error}")
    if answer.best is None:
        return _by_rule(attempts, f"the judge is undecided: {answer.reason}" if answer.reason else "a tie")
    if answer.best not in attempts:
        return _by_rule(attempts, f"the judge chose attempt {answer.best}, which does not exist")
    held = tuple(citation for citation in answer.citations if _holds(citation, attempts))
    if not any(citation.attempt == answer.best for citation in held):
        return _by_rule(attempts, f"the judge chose attempt {answer.best}, but cites no fact of it that exists")
    if not any(_distinguishes(citation, attempts) for citation in held):
        return _by_rule(attempts, f"what the judge cites for attempt {answer.best} holds for all attempts")
    return Choice(answer.best, "model", answer.reason, held)


def _by_rule(attempts: Mapping[int, Attempt], why: str) -> Choice:
    def rank(number: int) -> tuple[bool, bool, bool, int]:
        one = attempts[number]
        return one.verified is not True, one.status != "done", one.status == "error", one.steps

    return Choice(min(attempts, key=rank), "rule", f"{why}; rule: {RULE}")


def _holds(citation: CitedFact, attempts: Mapping[int, Attempt]) -> bool:
    """Return whether a cited fact exists and contains the quoted words."""
    if citation.attempt not in attempts or not _normalized(citation.quote):
        return False
    facts = attempts[citation.attempt].facts
    return citation.fact <= len(facts) and _normalized(citation.quote) in _normalized(facts[citation.fact - 1])


def _distinguishes(citation: CitedFact, attempts: Mapping[int, Attempt]) -> bool:
    quoted = _normalized(citation.quote)
    return not all(any(quoted in _normalized(fact) for fact in attempt.facts) for attempt in attempts.values())


def _normalized(text: str) -> str:
    """Return a text with normalized spaces and case, for comparisons."""
    return " ".join(text.split()).casefold()
