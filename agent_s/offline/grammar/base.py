"""How the grammar is written down: rules that are tried in order, each a pattern and what to make of its parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agent_s.offline.intents import Intent
from agent_s.offline.quoting import PLACEHOLDER, Guarded
from agent_s.offline.targets import TargetQuery, parse_target

Q = PLACEHOLDER
CELL = r"\$?[A-Za-z]{1,3}\$?[1-9]\d{0,6}"
THE = r"(?:(?:the|a|an|my|your|this|that|its)\s+)?"


@dataclass(frozen=True, slots=True)
class Found:
    """The parts of a clause that a pattern found.

    Attributes:
        words: The whole clause, for its quoted parts.
        match: The match of the pattern.
    """

    words: Guarded
    match: re.Match[str]

    def __getitem__(self, name: str) -> str:
        """Return a part with placeholders, "" where the pattern did not need it."""
        return (self.match[name] or "").strip()

    def part(self, name: str) -> Guarded:
        """Return a part that knows its quoted texts."""
        return self.words.part(self[name])

    def plain(self, name: str) -> str:
        """Return a part as it reads without quotes."""
        return self.part(name).plain.strip()

    def target(self, name: str) -> TargetQuery:
        """Return a part read as the description of an element."""
        return parse_target(self.part(name))


Build = Callable[[Found], Intent | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern that a whole clause must match, and what it means; None passes the clause on to the next rule."""

    pattern: re.Pattern[str]
    build: Build


def rule(pattern: str, build: Build) -> Rule:
    """Compile a rule; a space in the pattern stands for any white space, " ?" for none as well."""
    return Rule(re.compile(pattern.replace(" ?", r"\s*").replace(" ", r"\s+"), re.IGNORECASE | re.DOTALL), build)


def first_reading(rules: Iterable[Rule], words: Guarded) -> Intent | None:
    """Return what the first rule makes of a clause, None where no rule has a reading."""
    for candidate in rules:
        match = candidate.pattern.fullmatch(words.text)
        intent = candidate.build(Found(words, match)) if match else None
        if intent is not None:
            return intent
    return None


def always(intent: Intent) -> Build:
    """Return a builder that does not look at the parts."""
    return lambda _: intent
