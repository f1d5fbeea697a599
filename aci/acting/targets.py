"""Targets of primitives: an element, a place inside it, a span of its text, or a pixel of the screen.

On the wire, a target consists of two fields: the id of an element, and the position `at`. With an element, `at` is a
pair of fractions of its visible box (`[0.5, 0]` is the middle of its upper edge) or words of its text; without one, it
is a pixel of the screen. Code uses the typed `Target` that `target_of` builds from these fields.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag
from typing_extensions import TypeAliasType

from aci.observation.geometry import Point, Rect

if TYPE_CHECKING:
    from aci.observation.snapshot import Element, Snapshot, Window

MAX_ID = 2**53
MAX_PIXEL = 2**15 - 1
"""Largest coordinate of an X screen."""
MAX_SPAN = 20_000
MAX_OCCURRENCE = 100_000

ElementId = Annotated[
    int, Field(ge=0, le=MAX_ID, strict=True, description="id of an element of the latest observation")
]


def _whole(number: float) -> float:
    return int(number) if number.is_integer() else number


Number = Annotated[float, Field(strict=True, allow_inf_nan=False), AfterValidator(_whole)]
Pair = tuple[Number, Number]
"""Fractions of an element's box, or a pixel of the screen: from the left, from the top."""


class Words(BaseModel):
    """Words of an element's text, and which of their occurrences is meant, counted from 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: Annotated[str, Field(min_length=1, max_length=MAX_SPAN)]
    occurrence: Annotated[int, Field(ge=1, le=MAX_OCCURRENCE, strict=True)] = 1


def _words(value: object) -> object:
    return {"text": value} if isinstance(value, str) else value


def _kind(value: object) -> str | None:
    return "pair" if isinstance(value, list | tuple) else "words" if isinstance(value, dict | Words) else None


# named types, so that a schema defines them once
MaybeId = TypeAliasType("MaybeId", ElementId | None)
At = TypeAliasType(
    "At",
    Annotated[
        Annotated[Pair, Tag("pair")] | Annotated[Words, Tag("words")],
        Discriminator(
            _kind,
            custom_error_type="at",
            custom_error_message='it is a pair, such as [0.5, 0.5], or words, such as {"text": "..."}',
        ),
        BeforeValidator(_words),
    ]
    | None,
)


@dataclass(frozen=True, slots=True)
class Whole:
    """An element as a whole; the best point in it is chosen."""

    element_id: int


@dataclass(frozen=True, slots=True)
class Place:
    """A place inside an element, as fractions of its visible box, from 0 to 1 inclusive."""

    element_id: int
    x: float
    y: float

    def inside(self, box: Rect) -> Point:
        """Return the pixel within a box; 1 is its last row or column."""
        column = min(math.floor(self.x * box.width), box.width - 1)
        row = min(math.floor(self.y * box.height), box.height - 1)
        return Point(box.x + column, box.y + row)


@dataclass(frozen=True, slots=True)
class Span:
    """A part of an element's text; the occurrence counts from 1."""

    element_id: int
    text: str
    occurrence: int = 1


@dataclass(frozen=True, slots=True)
class Described:
    """A description in words, which a grounding model replaces by a pixel."""

    text: str


Target = Whole | Place | Span | Point | Described
"""A `Point` is a pixel of the screen."""


def target_of(element_id: int | None, at: Pair | Words | None) -> Target | None:
    """Build the target from two fields of a primitive; None if both are None.

    Raises:
        ValueError: The fields contradict each other; the message says what is expected.
    """
    match element_id, at:
        case None, None:
            return None
        case int(), None:
            return Whole(element_id)
        case int(), Words(text=text, occurrence=occurrence):
            return Span(element_id, text, occurrence)
        case None, Words(text=text):
            return Described(text)
        case int(), (x, y):
            return Place(element_id, *_fractions(x, y))
        case _, (x, y):
            return _pixel(x, y)
    raise AssertionError(at)


def path_of(element_id: int | None, points: Sequence[Pair]) -> tuple[Place | Point, ...]:
    """Build the points of a path: fractions of an element's box if there is one, else pixels of the screen.

    Raises:
        ValueError: The points are out of range.
    """
    if element_id is None:
        return tuple(_pixel(x, y) for x, y in points)
    return tuple(Place(element_id, *_fractions(x, y)) for x, y in points)


def fractions(point: Point, box: Rect) -> tuple[float, float]:
    """Return the middle of a pixel as a place in a box; `Place.inside` gives the pixel back."""
    return (point.x - box.x + 0.5) / box.width, (point.y - box.y + 0.5) / box.height


def element_meant(target: Target, seen: Snapshot) -> Element | None:
    """Return the element of a target, or the one at its pixel; None if it is unknown."""
    if isinstance(target, Described):
        return None
    return element_at(target, seen) if isinstance(target, Point) else seen.by_id.get(target.element_id)


def element_at(point: Point, seen: Snapshot) -> Element | None:
    """Return the smallest element at a pixel, of the topmost window there; None if none is known."""
    return min(elements_at(point, seen), key=lambda element: element.rect.area, default=None)


def elements_at(point: Point, seen: Snapshot) -> list[Element]:
    """Return all elements of the topmost window at a pixel that lie there."""
    window = window_at(point, seen)
    return [
        element
        for element in seen.elements
        if element.point is not None
        and element.rect.contains(point)
        and (window is None or element.window_id == window.id)
    ]


def window_at(point: Point, seen: Snapshot) -> Window | None:
    """Return the topmost window at a pixel, its title bar included."""
    return next((window for window in seen.windows if (window.frame or window.rect).contains(point)), None)


def _fractions(x: float, y: float) -> tuple[float, float]:
    if not (0 <= x <= 1 and 0 <= y <= 1):
        raise ValueError(
            f"inside an element a place is two fractions from 0 to 1, not [{x:g}, {y:g}]; leave the element's id out "
            "to name a pixel of the screen"
        )
    return x, y


def _pixel(x: float, y: float) -> Point:
    if x != int(x) or y != int(y) or not (0 <= x <= MAX_PIXEL and 0 <= y <= MAX_PIXEL):
        raise ValueError(
            f"a pixel of the screen is two whole numbers from 0, not [{x:g}, {y:g}]; give an element's id, too, to "
            "name a place inside it by fractions"
        )
    return Point(int(x), int(y))
