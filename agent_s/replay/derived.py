"""Values that came from the screen: where a step read them, and whether the screen still shows them there.

What a step types is said by the wording of the task, derived from the screen, or chosen by the model. A derived value,
such as a sum or a copied code, is right only for the screen that it was read from. It is replayed only if the same
place shows it again, and never for a task with other values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aci.acting.actions import Action, Hotkey
from aci.observation.observation import Element, Observation
from agent_s.records import Derived, GroundedStep, Step
from agent_s.replay.grounded_steps import typed_text
from intents.alignment import holds

_PIECE = re.compile(r"\w+(?:[.,:'’@/-]\w+)*")
_PART = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_SUFFIX = re.compile(r"[^\W\d_]\w{0,4}")  # suffix of a file name whose stem the wording says
_GROUPED = re.compile(r"(?<=\d)[, \u00a0\u202f\u2009'’](?=\d{3}(?!\d))")
"""Separators of digit groups, which a screen shows and nobody types."""
_AROUND_CHARS = 40
_NEAR = 6  # number of preceding texts that may name the place of a text


def unsaid(text: str, wording: str) -> list[str]:
    """Return the pieces of a typed text that a wording does not say; marks count if nothing else is typed."""
    said = _said(wording)
    marks = text.strip()
    if marks and not _PART.search(marks):
        return [] if marks in wording else [marks]
    return [piece for match in _PIECE.finditer(_ungrouped(text)) for piece in _unsaid(match[0], said)]


def entered(action: Action) -> str:
    """Return the text that a primitive enters, that of a single digit key included."""
    if isinstance(action, Hotkey) and len(action.keys) == 1 and action.keys[0].isdecimal():
        return action.keys[0]
    return typed_text(action)


def refusal(steps: Sequence[GroundedStep], wording: str, varied: bool) -> str:
    """Return which typed text must not be replayed, whatever the screen shows; empty if all may be.

    Args:
        steps: The steps, with the current values.
        wording: The task.
        varied: Whether its values differ from the learned ones.
    """
    for step in steps:
        if varied and step.derived:
            return f"{step.derived[0].value!r} was read from the screen then, and the task has other values now"
        pieces = unsaid(entered(step.action), wording) if varied or step.derived is None else []
        if pieces:
            return f"{pieces[0]!r} was typed then, and nothing in the task says so"
    return ""


def chosen(steps: Sequence[GroundedStep], wording: str) -> list[str]:
    """Return what steps type that neither the wording says nor the screen showed."""
    found: list[str] = []
    for step in steps:
        shown = {one.typed for one in step.derived or ()}
        pieces = unsaid(entered(step.action), wording)
        found += (piece for piece in pieces if piece not in shown and not set(_PART.findall(piece)) <= shown)
    return found


class _Place(NamedTuple):
    app: str
    role: str
    field: str
    beside: str


class _Sighting(NamedTuple):
    steps: int  # number of steps before it was first seen
    look: int  # number of the look that saw it last


class SeenTexts:
    """The texts that a run has seen, by their place."""

    def __init__(self) -> None:
        self._looks = 0
        self._texts: dict[_Place, dict[str, _Sighting]] = {}
        self._typed: list[tuple[int, str]] = []

    def add(self, seen: Observation, steps: int) -> None:
        """Remember what a screen shows.

        Args:
            seen: The screen.
            steps: Number of steps before it.
        """
        self._looks += 1
        for place, text in _shown(seen):
            texts = self._texts.setdefault(place, {})
            first = texts[text].steps if text in texts else steps
            texts[text] = _Sighting(first, self._looks)

    def derive(self, steps: Sequence[Step], grounded: Sequence[GroundedStep], wording: str) -> tuple[GroundedStep, ...]:
        """Return learned steps with the values that they typed and that came from the screen, not from the wording.

        Args:
            steps: All steps, refused ones included.
            grounded: The steps to store.
            wording: The task.
        """
        done = [step for step in steps if step.result.ok]
        self._typed += [(step.number, entered(step.response.action)) for step in done]
        numbers = [step.number for step in done]
        return tuple(
            known.model_copy(update={"derived": tuple(self._derived(known.action, number, numbers, wording))})
            for known, number in zip(grounded, numbers, strict=True)
        )

    def shows(self, derived: Derived) -> bool:
        """Return whether the place of a value showed it when it was last seen in this run."""
        texts = self._texts.get(_Place(derived.app, derived.role, derived.field, derived.beside), {})
        latest = max((sighting.look for sighting in texts.values()), default=0)
        now = [text for text, sighting in texts.items() if sighting.look == latest]
        return len(now) == 1 and (derived.value, derived.around) in _found(now[0], derived.value)

    def _derived(self, action: Action, number: int, numbers: Sequence[int], wording: str) -> Iterator[Derived]:
        for piece in unsaid(entered(action), wording):
            parts = _PART.findall(piece)
            whole = self._source(piece, number, numbers)
            yield from (
                one
                for part in ([piece] if whole or len(parts) < 2 else parts)
                if (one := self._source(part, number, numbers)) is not None
            )
        typed = entered(action).strip()
        if not unsaid(typed, wording) and (result := self._coinciding_result(typed, number)) is not None:
            yield result

    def _coinciding_result(self, typed: str, number: int) -> Derived | None:
        """Return where a number that the wording says was shown as a result of earlier steps, if anywhere.

        Such a number is a value of the task only by coincidence: 1 * 5 is 5.
        """
        if not _NUMBER.fullmatch(typed) or any(text.strip() == typed and at < number for at, text in self._typed):
            return None
        for place, texts in self._texts.items():
            for text, sighting in texts.items():
                # A place of results showed something else before; what only opens may show any number.
                changed = any(other.steps < sighting.steps for other in texts.values())
                if text.strip() == typed and 0 < sighting.steps < number and changed:
                    return Derived(typed=typed, value=text, around=("", ""), **place._asdict())
        return None

    def _source(self, piece: str, number: int, numbers: Sequence[int]) -> Derived | None:
        """Return where a piece was first seen before it was first typed; None if it was not."""
        typed = min((at for at, text in self._typed if holds(text.casefold(), piece.casefold())), default=number)
        found = [
            (sighting.steps, len(text), place, text)
            for place, texts in self._texts.items()
            for text, sighting in texts.items()
            if sighting.steps < min(typed, number) and _found(text, piece)
        ]
        if not found:
            return None
        steps, _, place, text = min(found, key=lambda one: one[:2])
        value, around = _found(text, piece)[0]
        within = [at for at, own in enumerate(numbers) if steps < own] if steps >= numbers[0] - 1 else []
        return Derived(
            typed=piece, value=value, around=around, shown_at=within[0] if within else None, **place._asdict()
        )


def _shown(seen: Observation) -> Iterator[tuple[_Place, str]]:
    """Yield the texts of a screen with their places: the element that has them, and the text before it."""
    for window in seen.windows:
        if window.title:
            yield _Place(window.app, "window", "title", ""), _ungrouped(window.title)
    before: dict[int, list[str]] = {}
    for element in seen.elements:
        earlier = before.setdefault(element.window_id, [])
        own = element.name or element.label
        for field, text in _texts(element):
            # Containers and contents share the text, so they do not name its place.
            others = (other for other in earlier[: -_NEAR - 1 : -1] if other not in text and text not in other)
            beside = own if field != "name" and own and own not in text and text not in own else next(others, "")
            yield _Place(element.app, element.role, field, beside[:_AROUND_CHARS]), _ungrouped(text)
        earlier += [text for text in (element.name, element.text) if text and text.strip()]


def _texts(element: Element) -> Iterator[tuple[str, str]]:
    texts = {"name": element.name, "text": element.text, "label": element.label, "description": element.description}
    yield from ((field, text) for field, text in texts.items() if text and text.strip())
    if element.value is not None:
        yield "value", f"{element.value:g}"


def _found(text: str, piece: str) -> list[tuple[str, tuple[str, str]]]:
    """Return each whole-word occurrence of a piece in a text, as written there, and the text around it."""
    if piece.casefold() not in text.casefold():
        return []
    number = _NUMBER.fullmatch(piece) is not None
    begins, ends = (r"(?<![\w.,])", r"(?!\w|[.,]\d)") if number else (r"(?<!\w)", r"(?!\w)")
    matches = re.finditer(f"{begins}{re.escape(piece)}{ends}", text, re.IGNORECASE)
    return [
        (
            match[0],
            (text[max(0, match.start() - _AROUND_CHARS) : match.start()], text[match.end() :][:_AROUND_CHARS]),
        )
        for match in matches
    ]


def _said(wording: str) -> set[str]:
    pieces = [match[0].casefold() for match in _PIECE.finditer(_ungrouped(wording))]
    return {*pieces, *(part for piece in pieces if not _NUMBER.fullmatch(piece) for part in _PART.findall(piece))}


def _unsaid(piece: str, said: set[str]) -> list[str]:
    if piece.casefold() in said:
        return []
    parts = _PART.findall(piece)
    if _NUMBER.fullmatch(piece) or len(parts) < 2:
        return [piece]
    unknown = [part for part in parts if part.casefold() not in said]
    if unknown == parts:
        return [piece]
    suffix = unknown == parts[-1:] and piece.endswith(f".{parts[-1]}") and _SUFFIX.fullmatch(parts[-1])
    return [] if suffix else unknown


def _ungrouped(text: str) -> str:
    return _GROUPED.sub("", text)
