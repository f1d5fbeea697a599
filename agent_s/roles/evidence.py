"""What a citation shows, as values that can be compared with a point."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from aci.observation.observation import Observation
from agent_s.llm.protocol import VerifyContext
from agent_s.records import Step
from intents.dates import holds_day, shows_moment
from intents.lexicon import stem
from intents.numbers import shows
from intents.text import split_camel_case

LONGEST = 4000  # characters of a content that are compared
LONGEST_TOLD = 500  # characters of a content that are told to a model

_WORD = re.compile(r"[^\W\d_]+")


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of the words of a text, also of names such as showLineNumbers."""
    return frozenset(map(stem, _WORD.findall(split_camel_case(text).casefold())))


class NoEvidence(Exception):
    """A citation shows nothing; the message says why."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a citation shows."""

    words: str  # for people
    content: str  # what it says, to be compared with the point
    shows: bool = True  # whether it shows that something is so or there; False for the contrary
    quoted: str = ""  # what else the answer quotes of a file: it shows values, and says nothing about them
    stored: str = ""  # the file or store of settings that it was read from; empty for the screen
    place: str = ""  # titles around it, which are not what it says itself
    drawn: bool = False  # whether it is content of a document, which a file may lack
    filled: bool = False  # whether it is an input field, which says nothing about anything else
    control: bool = False  # whether it is the state of a switch or input field
    exact: bool = False  # whether there is nothing besides
    confirms: bool = False  # whether it is a step that confirmed a dialog or sent a form

    @property
    def told(self) -> str:
        """It, for a model that sees nothing else."""
        title = f"; in the window {self.place!r}" if self.place else ""
        return f"{self.words}; content: {self.content[:LONGEST_TOLD]}{title}"

    @property
    def stems(self) -> frozenset[str]:
        """Stems of its words; a day is a date, whether or not it is called so."""
        return stems_of(f"{self.content} date" if holds_day(self.content) else self.content)

    @property
    def place_stems(self) -> frozenset[str]:
        """Stems of the words of the titles around it."""
        return stems_of(self.place)

    def has(self, value: str) -> bool:
        """Return whether it shows a value, itself or in what else it quotes."""
        return self.says(value) or (bool(self.quoted) and shows(normalized(self.quoted), normalized(value)))

    def says(self, value: str) -> bool:
        """Return whether it shows a value itself."""
        if self.stored and "/" in value:
            return f"/{self.stored.removeprefix('~/')}".endswith(f"/{value.removeprefix('~/').lstrip('/')}")
        if self.stored and value in (PurePosixPath(self.stored).name, PurePosixPath(self.stored).stem):
            return True
        said, wanted = normalized(f"{self.content} {self.place}"), normalized(value)
        return shows(said, wanted) or shows_moment(said, wanted)


def steps_of(context: VerifyContext) -> Iterator[tuple[Step, Observation]]:
    """Yield the steps of the run, each with the screen after it."""
    return _with_screens([step for _, taken in context.done for step in taken], context.end or context.observation)


def looks_of(context: VerifyContext) -> Iterator[tuple[Step, Observation]]:
    """Yield the steps that a judge took to look closer, each with the screen after it."""
    return _with_screens(context.looked, context.observation)


def _with_screens(steps: Sequence[Step], last: Observation) -> Iterator[tuple[Step, Observation]]:
    screens = [*(step.observation for step in steps), last]
    yield from zip(steps, screens[1:], strict=True)


def normalized(text: str) -> str:
    """Return a text without differences in case and blanks."""
    return " ".join(text.split()).casefold()[:LONGEST]
