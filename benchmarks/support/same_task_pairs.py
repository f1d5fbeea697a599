"""Pairs of requests to train on: for the same, for opposites, and for things that are easily taken for each other."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

# What begins no command, so that "How to" cannot stand before it.
_NO_COMMAND = re.compile(
    r"^(i|i'm|i'd|it|it's|the|my|there|there's|can|could|what|is|are|do|does|this|that|these|we|no|how|please|too|why"
    r"|where|you|a|an|would|let's|nobody|everyone|everything|nothing|from|for|when|who|people|your|our|to|in|on|at|as"
    r"|not|never|just|one|enough|more|less|some|both|only|after|every|all|with|without|make sure)\b",
    re.IGNORECASE,
)
_VOICES = (
    *("How to {}", "How to {}", "How to {}", "Please {}", "please {}", "Can you {}?", "Could you {} for me?"),
    *("I want to {}", "I'd like to {}", "{}", "{}", "{}", "{} now", "{} please", "we need to {}", "Help me {}"),
    *("I need to {}", "Your task is to {}"),
)
_IN_APPLICATION = (" in {}", " in {}", " using {}", " ({})", " - {}")
_SAME, _LABELLED = 0.44, 0.04  # shares of pairs of the same task, and of labelled ones
_OTHER_APPLICATION = 0.025  # share of pairs that differ only by the application
_NEAREST, _TOO_NEAR = 8, 0.85

_Place = tuple[int, int]  # of a task: number of its paragraph, and its number there


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A task and others that are easily taken for it."""

    applications: tuple[str, ...]
    tasks: list[tuple[str, list[str]]] = field(default_factory=list)  # mark and wordings
    in_voices: bool = True  # whether wordings are still to be put as questions, wishes and so on


def read_paragraphs(path: Path) -> list[Paragraph]:
    """Read a file such as `same_task/general.txt`, which describes its form."""
    found: list[Paragraph] = []
    applications: tuple[str, ...] = ()
    begun = False
    for line in path.read_text(encoding="utf-8").splitlines():
        mark, _, rest = line.partition(" ")
        wordings = [wording.strip() for wording in rest.split("|") if wording.strip()]
        if mark == "app:":
            applications = tuple(wordings)
        if mark in ("+", "!", "?"):
            if not begun:
                found.append(Paragraph(applications))
            found[-1].tasks.append((mark, wordings))
        begun = mark in ("+", "!", "?")
    return found


def read_labels(path: Path) -> list[Paragraph]:
    """Read a file such as `memory_labels.txt` as paragraphs."""
    found: list[Paragraph] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        mark, _, text = line.partition(" ")
        if mark == "+":
            found.append(Paragraph((), [("+", [text])], in_voices=False))
        elif mark == "=":
            found[-1].tasks[0][1].append(text)
        elif mark in ("!", "@", "%", "?"):
            found[-1].tasks.append((mark, [text]))
    return found


class Sampler:
    """Draws pairs of requests, with 1.0 where they ask for the same and 0.0 where they do not.

    Args:
        paragraphs: What to draw from.
        embed: Turns texts into unit vectors; tasks near by these are drawn together.
        seed: Of the random numbers.
        neighbours: Share of pairs of different tasks of one paragraph.
        near: Share of pairs of similar tasks of different paragraphs. What is left is random.
    """

    def __init__(
        self,
        paragraphs: Sequence[Paragraph],
        embed: Callable[[Sequence[str]], Any],
        seed: int = 0,
        neighbours: float = 0.36,
        near: float = 0.11,
    ) -> None:
        self._paragraphs = paragraphs
        self._neighbour_share, self._near_share = neighbours, near
        self._random = random.Random(seed)
        self._applications = sorted({name for one in paragraphs for name in one.applications})
        every = [(number, place) for number, one in enumerate(paragraphs) for place in range(len(one.tasks))]
        self._tasks = [at for at in every if self._mark(at) in "+!?"]
        self._labelled = [at for at in every if self._mark(at) in "%@"]
        self._several = [at for at in self._tasks if len(self._wordings(at)) > 1]
        self._neighbours = [
            places
            for number in range(len(paragraphs))
            if len(places := [at for at in self._tasks if at[0] == number]) > 1
        ]
        self._near = self._find_near(embed)

    def draw(self, count: int) -> list[tuple[str, str, float]]:
        """Return pairs of requests."""
        pairs: list[tuple[str, str, float]] = []
        while len(pairs) < count:
            pair = self._pair()
            if pair is not None:
                one, other, same = pair
                pairs.append((other, one, same) if self._random.random() < 0.5 else (one, other, same))
        return pairs

    def _pair(self) -> tuple[str, str, float] | None:
        kind = self._random.random()
        if kind < _SAME:
            at = self._random.choice(self._several)
            one, other = self._random.sample(self._wordings(at), 2)
            names = self._paragraphs[at[0]].applications
            if kind < _OTHER_APPLICATION and names:
                foreign = self._random.choice(self._applications)
                if foreign in names:
                    return None
                return self._voice(one, at, self._random.choice(names)), self._voice(other, at, foreign), 0.0
            return self._voice(one, at), self._voice(other, at), 1.0
        labelled = _SAME + self._neighbour_share
        if kind < labelled:
            first, second = self._random.sample(self._random.choice(self._neighbours), 2)
            return self._said(first), self._said(second), 0.0
        if kind < labelled + _LABELLED and self._labelled:
            at = self._random.choice(self._labelled)
            return self._said((at[0], 0)), self._said(at), float(self._mark(at) == "%")
        first = self._random.choice(self._tasks)
        near = kind < labelled + _LABELLED + self._near_share and self._near[first]
        second = self._random.choice(near or self._tasks)
        return None if second[0] == first[0] else (self._said(first), self._said(second), 0.0)

    def _mark(self, at: _Place) -> str:
        return self._paragraphs[at[0]].tasks[at[1]][0]

    def _wordings(self, at: _Place) -> list[str]:
        return self._paragraphs[at[0]].tasks[at[1]][1]

    def _find_near(self, embed: Callable[[Sequence[str]], Any]) -> dict[_Place, list[_Place]]:
        vectors = embed([self._wordings(at)[0] for at in self._tasks])
        near: dict[_Place, list[_Place]] = {}
        for at, cosines in zip(self._tasks, vectors @ vectors.T, strict=True):
            order = (-cosines).argsort()[: 3 * _NEAREST]
            others = (self._tasks[other] for other in order if cosines[other] < _TOO_NEAR)
            near[at] = [other for other in others if other[0] != at[0]][:_NEAREST]
        return near

    def _said(self, at: _Place) -> str:
        return self._voice(self._random.choice(self._wordings(at)), at)

    def _voice(self, wording: str, at: _Place, application: str = "") -> str:
        """Put a wording as a question, a wish and so on, in an application or not, perhaps with a typing error."""
        paragraph = self._paragraphs[at[0]]
        if paragraph.in_voices and not _NO_COMMAND.match(wording):
            wording = self._random.choice(_VOICES).format(wording[0].lower() + wording[1:])
        if not application and paragraph.applications and self._random.random() < 0.4:
            application = self._random.choice(paragraph.applications)
        if application:
            wording = wording.rstrip("?.") + self._random.choice(_IN_APPLICATION).format(application)
        kind = self._random.random()
        if kind < 0.12:
            return self._with_error(wording)
        if kind < 0.2:
            return wording.lower()
        return wording[0].upper() + wording[1:] if kind < 0.6 else wording

    def _with_error(self, text: str) -> str:
        at = self._random.randrange(1, max(2, len(text) - 2))
        if len(text) < 12 or not text[at : at + 2].isalpha():
            return text
        swapped = f"{text[at + 1]}{text[at]}"
        return text[:at] + self._random.choice((swapped, text[at], text[at] * 2 + text[at + 1])) + text[at + 2 :]


def fill_templates(path: Path) -> list[Paragraph]:
    """Fill the templates of a file such as `same_task_templates.yaml`, which describes its form."""
    tables: dict[str, list[dict[str, list[Any]]]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    found: list[Paragraph] = []

    def add(asking: Sequence[str], filled: Sequence[str], undoing: Sequence[str], otherwise: Sequence[str]) -> None:
        sides = [("+", [each.format(*filled) for each in asking]), ("!", [each.format(*otherwise) for each in undoing])]
        found.append(Paragraph((), sides))

    for one in tables["opposites"]:
        for thing in one["things"]:
            parts = [thing] if isinstance(thing, str) else thing
            add(one["ask"], parts, one["undo"], parts)
    for one in tables["reversals"]:
        for parts in one["things"]:
            add(one["ask"], parts, one["ask"], [parts[place] for place in one["reverse"]])
    return found
