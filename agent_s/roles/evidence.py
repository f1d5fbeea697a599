"""Evidence: what a citation shows, in a form that can be compared with a point."""

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

MAX_COMPARED = 4000  # maximum number of characters of a content to compare
MAX_FOR_MODEL = 500  # maximum number of characters of a content in a prompt

_WORD = re.compile(r"[^\W\d_]+")


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of the words of a text; names such as showLineNumbers are split."""
    return frozenset(map(stem, _WORD.findall(split_camel_case(text).casefold())))


class NoEvidence(Exception):
    """A citation shows nothing; the message says why."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a citation shows."""

    words: str  # description for people
    content: str  # content to compare with the point
    shows: bool = True  # whether it shows that something is true or exists; False for the opposite
    quoted: str = ""  # a further quote from a file, which shows values without saying what they are for
    stored: str = ""  # the file or settings store that it was read from; empty for the screen
    place: str = ""  # titles around it, which are not part of its content
    drawn: bool = False  # whether it is document content on the screen, which the file may lack
    filled: bool = False  # whether it is an input field, which is evidence of nothing but itself
    control: bool = False  # whether it is the state of a switch or input field
    exact: bool = False  # whether it shows that there is nothing else
    confirms: bool = False  # whether it is a step that confirmed a dialog or sent a form

    @property
    def for_model(self) -> str:
        """Self-contained description for a prompt."""
        title = f"; in the window {self.place!r}" if self.place else ""
        return f"{self.words}; content: {self.content[:MAX_FOR_MODEL]}{title}"

    @property
    def stems(self) -> frozenset[str]:
        """Stems of its words, and of "date" if it contains a day."""
        return stems_of(f"{self.content} date" if holds_day(self.content) else self.content)

    @property
    def place_stems(self) -> frozenset[str]:
        """Stems of the words of the titles around it."""
        return stems_of(self.place)

    def has(self, value: str) -> bool:
        """Return whether its content or its further quote shows a value."""
        return self.says(value) or (bool(self.quoted) and shows(normalized(self.quoted), normalized(value)))

    def says(self, value: str) -> bool:
        """Return whether its own content shows a value."""
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
    """Yield the steps in which the evaluator looked closer, each with the screen after it."""
    return _with_screens(context.looked, context.observation)


def _with_screens(steps: Sequence[Step], last: Observation) -> Iterator[tuple[Step, Observation]]:
    screens = [*(step.observation for step in steps), last]
    yield from zip(steps, screens[1:], strict=True)


def normalized(text: str) -> str:
    """Return a text with normalized case and whitespace, truncated for comparisons."""
    return " ".join(text.split()).casefold()[:MAX_COMPARED]
