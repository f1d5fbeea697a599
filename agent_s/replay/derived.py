"""Derived values: typed text that came from the screen, and the places from which a replay can read it again.

Typed text comes from the wording of the task, from the screen, or from the model. A value derived from the screen, such
as a sum or a copied code, is read again from the place that showed it. A place counts as the source only if there is
evidence for it: an earlier step made the value appear there, the wording names the place, or the value is too
distinctive for a coincidence. All other typed text is not replayed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aci.acting.actions import Action, Hotkey, Type
from agent_s.records import Derived, GroundedStep, Step
from agent_s.replay.grounded_steps import acted_on, learnable_steps, typed_text
from agent_s.replay.seen_texts import Place, SeenTexts, Sight, occurrences_in, places_of
from agent_s.replay.value_forms import has_context, index_keys, is_distinctive
from intents.alignment import holds
from intents.lexicon import read_number, read_ordinal, stems
from intents.numbers import is_number

_PIECE = re.compile(r"(?:(?<![\w)])[-+−](?=\d))?\w+(?:[.,:'’@/-]\w+)*")
_PART = re.compile(r"\w+")
_SUFFIX = re.compile(r"[^\W\d_]\w{0,4}")  # suffix of a file name whose stem is in the wording
_GROUPED = re.compile(r"(?<=\d)[, \u00a0\u202f\u2009'’](?=\d{3}(?!\d))")
"""Separators of digit groups, which a wording and a typed text may write differently."""


def not_in_wording(text: str, wording: str) -> list[str]:
    """Return the pieces of a typed text that a wording lacks; punctuation counts if there is nothing else."""
    return [text[begins:ends] for begins, ends in _spans_not_in_wording(text, wording)]


def entered_text(action: Action) -> str:
    """Return the text that a primitive enters, including a single digit key."""
    if isinstance(action, Hotkey) and len(action.keys) == 1 and action.keys[0].isdecimal():
        return action.keys[0]
    return typed_text(action)


def unexplained_pieces(step: GroundedStep, wording: str) -> list[str]:
    """Return the pieces of the typed text of a step that come neither from the wording nor from a known source."""
    pieces = not_in_wording(entered_text(step.action), wording) if not step.fixed else []
    if not isinstance(step.action, Type):
        return pieces  # single keys cannot be replaced by another value
    shown = " \n ".join(one.typed for one in step.derived or ())
    return [piece for piece in pieces if not holds(shown, piece)]


class Derivation:
    """Finds the sources of the values that a run typed.

    Args:
        seen: The texts that the run has seen.
    """

    def __init__(self, seen: SeenTexts) -> None:
        self._seen = seen
        self._typed: list[tuple[int, str]] = []
        self._index: dict[str, list[tuple[Place, list[Sight], int]]] = {}  # sights by a word or number in them
        self._typed_into: set[tuple[Place, str]] = set()  # fields that were typed into, with the typed lines

    def derive(self, steps: Sequence[Step], grounded: Sequence[GroundedStep], wording: str) -> tuple[GroundedStep, ...]:
        """Return learned steps with the sources of typed text that the wording does not contain.

        Args:
            steps: All steps, including refused ones.
            grounded: The steps to store.
            wording: The wording of the task.
        """
        done = learnable_steps(steps)
        for step in done:
            text = entered_text(step.response.action)
            self._typed.append((step.number, text))
            element = acted_on(step.response.action, step.observation) if text else None
            places = places_of(element.id, step.observation) if element is not None else ()
            self._typed_into |= {(place, line.strip()) for place in places for line in text.splitlines()}
        numbers = [step.number for step in done]
        self._index = defaultdict(list)
        for place, sights in self._seen.sights():
            for at, sight in enumerate(sights):
                for key in {key for text in sight.texts for key in index_keys(text)}:
                    self._index[key].append((place, sights, at))
        return tuple(
            known.model_copy(update={"derived": tuple(self._derived(known.action, number, numbers, wording))})
            for known, number in zip(grounded, numbers, strict=True)
        )

    def _derived(self, action: Action, number: int, numbers: Sequence[int], wording: str) -> Iterator[Derived]:
        text = entered_text(action)
        spans = _spans_not_in_wording(text, wording)
        at = 0
        while at < len(spans):
            # Prefer the longest text that one place showed, such as a first name with a surname.
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
        """Return the places with the best evidence that showed a piece before it was typed.

        If one of these cannot be found again, it is unclear which one was meant, and the result is empty.
        """
        typed = min((at for at, text in self._typed if holds(text.casefold(), piece.casefold())), default=number)
        until = number if said else min(typed, number)
        found = [
            _Candidate(place, sights, at, value, around)
            for place, sights, at in self._showing(piece)
            if sights[at].steps < until and not (said and self._echoes(place, sights[at]))
            for value, around in dict.fromkeys(occurrences_in(sights[at], piece))
        ]
        names = stems(wording)
        changed = [one for one in found if one.changed(piece)]
        best = [one for one in changed or found if one.is_named(names)] or changed
        if not best and not said and is_distinctive(piece):
            best = found
        sources = [one.source(piece, number, numbers) for one in best]
        return [] if None in sources and not said else [one for one in sources if one is not None]

    def _showing(self, piece: str) -> Sequence[tuple[Place, list[Sight], int]]:
        """Return the sights that may contain a piece."""
        return self._index.get(next(iter(index_keys(piece)), ""), ())

    def _was_shown(self, piece: str) -> bool:
        return any(True for _, sights, at in self._showing(piece) for _ in occurrences_in(sights[at], piece))

    def _echoes(self, place: Place, sight: Sight) -> bool:
        """Return whether a field only shows what was typed into it."""
        return all((place, text.strip()) in self._typed_into for text in sight.texts)


class _Candidate(NamedTuple):
    """A place that may be the source of a piece."""

    place: Place
    sights: list[Sight]
    at: int
    value: str
    around: tuple[str, str]

    def changed(self, piece: str) -> bool:
        """Return whether a step made the piece appear in the place."""
        return (
            self.at > 0 and self.sights[self.at].steps > 0 and not any(occurrences_in(self.sights[self.at - 1], piece))
        )

    def is_named(self, names: frozenset[str]) -> bool:
        """Return whether the wording names the place, by the words around the value or the name of the element."""
        words = stems(" ".join(self.around) if has_context(self.around) else self.place.beside)
        return any(not word.isdecimal() for word in words & names)

    def source(self, piece: str, number: int, numbers: Sequence[int]) -> Derived | None:
        """Return the source for a replay; None if it showed the value too early or cannot be identified."""
        sight = self.sights[self.at]
        within = [at for at, own in enumerate(numbers) if sight.steps < own] if sight.steps >= numbers[0] - 1 else []
        if not within and _last_sight(self.sights, numbers[0]) is not sight:
            return None
        if len(sight.texts) > 1 and not has_context(self.around):
            return None
        return Derived(
            typed=piece,
            value=self.value,
            around=self.around,
            shown_at=within[0] if within else None,
            changed=self.changed(piece),
            stayed=_last_sight(self.sights, number) is sight,
            **self.place._asdict(),
        )


def _last_sight(sights: Sequence[Sight], before: int) -> Sight | None:
    """Return the last sight of a place before a step."""
    return next((sight for sight in reversed(sights) if sight.steps < before), None)


def _spans_not_in_wording(text: str, wording: str) -> list[tuple[int, int]]:
    said = _known_pieces(wording)
    marks = text.strip()
    if marks and not _PART.search(marks):
        begins = text.index(marks)
        return [] if marks in wording else [(begins, begins + len(marks))]
    return [span for match in _PIECE.finditer(text) for span in _unmatched_spans(match[0], match.start(), said)]


def _known_pieces(wording: str) -> set[str]:
    pieces = [_normalized(match[0]) for match in _PIECE.finditer(wording)]
    parts = {part for piece in pieces if not is_number(piece) for part in _PART.findall(piece)}
    numbers = {str(count) for one in (*pieces, *parts) for count in (read_number(one), read_ordinal(one)) if count}
    return {*pieces, *parts, *(numbers - {"1"} if "1" not in pieces else numbers)}


def _unmatched_spans(piece: str, start: int, said: set[str]) -> list[tuple[int, int]]:
    whole = [(start, start + len(piece))]
    if _normalized(piece) in said:
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


def _normalized(piece: str) -> str:
    return _GROUPED.sub("", piece).replace("−", "-").casefold()
