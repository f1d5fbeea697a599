"""Values that stand in no wording: where a step read them when it was learned, and whether they can be read again.

What a step types is said by the wording of the task, derived from the screen, or chosen by the model. A derived value,
such as a sum or a copied code, is read again from the place that showed it. A place counts only if there is evidence
that the value came from there: an earlier step made it show the value, the wording names it, or the value is too
special for a coincidence. Whatever else was typed is not replayed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aci.acting.actions import Action, Hotkey, Type
from agent_s.records import Derived, GroundedStep, Step
from agent_s.replay.grounded_steps import acted_on, learnable, typed_text
from agent_s.replay.seen_texts import Place, SeenTexts, Sight, holding, places_of
from agent_s.replay.value_forms import is_anchored, is_telling, keys_of
from intents.alignment import holds
from intents.lexicon import read_number, read_ordinal, stems
from intents.numbers import is_number

_PIECE = re.compile(r"(?:(?<![\w)])[-+−](?=\d))?\w+(?:[.,:'’@/-]\w+)*")
_PART = re.compile(r"\w+")
_SUFFIX = re.compile(r"[^\W\d_]\w{0,4}")  # suffix of a file name whose stem the wording says
_GROUPED = re.compile(r"(?<=\d)[, \u00a0\u202f\u2009'’](?=\d{3}(?!\d))")
"""Separators of digit groups, in which a wording and a typed text may differ."""


def unsaid(text: str, wording: str) -> list[str]:
    """Return the pieces of a typed text that a wording does not say; marks count if nothing else is typed."""
    return [text[begins:ends] for begins, ends in _unsaid_spans(text, wording)]


def entered(action: Action) -> str:
    """Return the text that a primitive enters, that of a single digit key included."""
    if isinstance(action, Hotkey) and len(action.keys) == 1 and action.keys[0].isdecimal():
        return action.keys[0]
    return typed_text(action)


def without_source(step: GroundedStep, wording: str) -> list[str]:
    """Return the pieces of what a step types that neither the wording says nor a known place showed."""
    pieces = unsaid(entered(step.action), wording) if not step.fixed else []
    if not isinstance(step.action, Type):
        return pieces  # keys are pressed one by one, so no other value can be typed with them
    shown = " \n ".join(one.typed for one in step.derived or ())
    return [piece for piece in pieces if not holds(shown, piece)]


class Derivation:
    """Finds the places of the values that the steps of a run typed.

    Args:
        seen: What the run has seen.
    """

    def __init__(self, seen: SeenTexts) -> None:
        self._seen = seen
        self._typed: list[tuple[int, str]] = []
        self._index: dict[str, list[tuple[Place, list[Sight], int]]] = {}  # what was shown, by a word or number in it
        self._own: set[tuple[Place, str]] = set()  # the fields that were typed into, each with what was typed

    def derive(self, steps: Sequence[Step], grounded: Sequence[GroundedStep], wording: str) -> tuple[GroundedStep, ...]:
        """Return learned steps with the places of what they typed and the wording does not say.

        Args:
            steps: All steps, refused ones included.
            grounded: The steps to store.
            wording: The task.
        """
        done = learnable(steps)
        for step in done:
            text = entered(step.response.action)
            self._typed.append((step.number, text))
            element = acted_on(step.response.action, step.observation) if text else None
            places = places_of(element.id, step.observation) if element is not None else ()
            self._own |= {(place, line.strip()) for place in places for line in text.splitlines()}
        numbers = [step.number for step in done]
        self._index = defaultdict(list)
        for place, sights in self._seen.sights():
            for at, sight in enumerate(sights):
                for key in {key for text in sight.texts for key in keys_of(text)}:
                    self._index[key].append((place, sights, at))
        return tuple(
            known.model_copy(update={"derived": tuple(self._derived(known.action, number, numbers, wording))})
            for known, number in zip(grounded, numbers, strict=True)
        )

    def _derived(self, action: Action, number: int, numbers: Sequence[int], wording: str) -> Iterator[Derived]:
        text = entered(action)
        spans = _unsaid_spans(text, wording)
        at = 0
        while at < len(spans):
            # The longest text from here that one place showed, such as a first name and a surname.
            last = at
            while last < len(spans) and self._was_shown(text[spans[at][0] : spans[last][1]]):
                last += 1
            for end in range(last, at, -1):
                found = self._sources(text[spans[at][0] : spans[end - 1][1]], number, numbers, wording)
                if found:
                    yield from found
                    at = end - 1
                    break
            at += 1
        typed = text.strip()
        if not spans and any(char.isdigit() for char in typed):
            rivals = self._sources(typed, number, numbers, wording, said=True)
            yield from (one.model_copy(update={"said": True}) for one in rivals)

    def _sources(
        self, piece: str, number: int, numbers: Sequence[int], wording: str, said: bool = False
    ) -> list[Derived]:
        """Return the places that showed a piece before it was typed, of those with the best evidence.

        If one of these cannot be found again, there is no telling which one was meant, so there are none.
        """
        typed = min((at for at, text in self._typed if holds(text.casefold(), piece.casefold())), default=number)
        until = number if said else min(typed, number)
        found = [
            _Candidate(place, sights, at, value, around)
            for place, sights, at in self._showing(piece)
            if sights[at].steps < until and not (said and self._echoes(place, sights[at]))
            for value, around in dict.fromkeys(holding(sights[at], piece))
        ]
        names = stems(wording)
        changed = [one for one in found if one.changed(piece)]
        best = [one for one in changed or found if one.is_named(names)] or changed
        if not best and not said and is_telling(piece):
            best = found
        sources = [one.source(piece, number, numbers) for one in best]
        return [] if None in sources and not said else [one for one in sources if one is not None]

    def _showing(self, piece: str) -> Sequence[tuple[Place, list[Sight], int]]:
        """Return what may hold a piece."""
        return self._index.get(next(iter(keys_of(piece)), ""), ())

    def _was_shown(self, piece: str) -> bool:
        return any(True for _, sights, at in self._showing(piece) for _ in holding(sights[at], piece))

    def _echoes(self, place: Place, sight: Sight) -> bool:
        """Return whether a field shows no more than what was typed into it."""
        return all((place, text.strip()) in self._own for text in sight.texts)


class _Candidate(NamedTuple):
    """A place that showed a piece for some time."""

    place: Place
    sights: list[Sight]
    at: int
    value: str
    around: tuple[str, str]

    def changed(self, piece: str) -> bool:
        """Return whether a step made the place show the piece in place of something else."""
        return self.at > 0 and self.sights[self.at].steps > 0 and not any(holding(self.sights[self.at - 1], piece))

    def is_named(self, names: frozenset[str]) -> bool:
        """Return whether the wording names the place: the words around the value, else the name of the element."""
        words = stems(" ".join(self.around) if is_anchored(self.around) else self.place.beside)
        return any(not word.isdecimal() for word in words & names)

    def source(self, piece: str, number: int, numbers: Sequence[int]) -> Derived | None:
        """Return the place for a replay; None if it showed the value too early, or cannot be told from others."""
        sight = self.sights[self.at]
        within = [at for at, own in enumerate(numbers) if sight.steps < own] if sight.steps >= numbers[0] - 1 else []
        if not within and _last(self.sights, numbers[0]) is not sight:
            return None
        if len(sight.texts) > 1 and not is_anchored(self.around):
            return None
        return Derived(
            typed=piece,
            value=self.value,
            around=self.around,
            shown_at=within[0] if within else None,
            changed=self.changed(piece),
            stayed=_last(self.sights, number) is sight,
            **self.place._asdict(),
        )


def _last(sights: Sequence[Sight], before: int) -> Sight | None:
    """Return what a place showed last before a step."""
    return next((sight for sight in reversed(sights) if sight.steps < before), None)


def _unsaid_spans(text: str, wording: str) -> list[tuple[int, int]]:
    said = _said(wording)
    marks = text.strip()
    if marks and not _PART.search(marks):
        begins = text.index(marks)
        return [] if marks in wording else [(begins, begins + len(marks))]
    return [span for match in _PIECE.finditer(text) for span in _unsaid(match[0], match.start(), said)]


def _said(wording: str) -> set[str]:
    pieces = [_plain(match[0]) for match in _PIECE.finditer(wording)]
    parts = {part for piece in pieces if not is_number(piece) for part in _PART.findall(piece)}
    numbers = {str(count) for one in (*pieces, *parts) for count in (read_number(one), read_ordinal(one)) if count}
    return {*pieces, *parts, *(numbers - {"1"} if "1" not in pieces else numbers)}


def _unsaid(piece: str, start: int, said: set[str]) -> list[tuple[int, int]]:
    whole = [(start, start + len(piece))]
    if _plain(piece) in said:
        return []
    parts = list(_PART.finditer(piece))
    if is_number(piece) or len(parts) < 2:
        return whole
    unknown = [part for part in parts if part[0].casefold() not in said]
    if unknown == parts:
        return whole
    last = parts[-1][0]
    if unknown == parts[-1:] and piece.endswith(f".{last}") and _SUFFIX.fullmatch(last):
        return []
    return [(start + part.start(), start + part.end()) for part in unknown]


def _plain(piece: str) -> str:
    return _GROUPED.sub("", piece).replace("−", "-").casefold()
