"""Recognition of gestures in mouse and keyboard events, such as a double click or a typed word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import hypot

from aci.acting.actions import Button
from aci.observation.geometry import Point
from aci.recording.listener import Input

MULTIPLE_CLICK_S = 0.45  # longest time between the presses of a double click
_STILL_PX = 5  # smaller movements are jitter of the hand
_CROOKED_PX = 12  # minimum deviation of a drag from a straight line for its path to matter
_PATH_POINTS = 60
_BUTTONS: dict[int, Button] = {1: "left", 2: "middle", 3: "right"}
_WHEEL = {4: (1, False), 5: (-1, False), 6: (-1, True), 7: (1, True)}  # direction; whether it is horizontal


@dataclass(frozen=True, slots=True)
class Press:
    """A click, or a drag if it ends elsewhere."""

    at: float  # when the button was pressed, s
    button: Button
    start: Point  # where it was pressed, px
    end: Point  # where it was released, px
    times: int = 1  # number of clicks
    path: tuple[Point, ...] = ()  # points in between, px; empty if the path does not matter
    held: tuple[str, ...] = ()  # the modifiers that were held

    @property
    def is_drag(self) -> bool:
        """Whether the pointer was moved while the button was held."""
        return _far(self.start, self.end) or bool(self.path)


@dataclass(frozen=True, slots=True)
class Wheel:
    """Turns of the wheel at one position; up and right are positive."""

    at: float
    point: Point
    clicks: int
    horizontal: bool
    held: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys that enter or edit text: characters, and keys that move the caret or delete."""

    at: float  # when the first one was pressed, s
    typed: str  # the text that follows from the keys alone; Return is a line break
    keys: tuple[tuple[str, ...], ...]  # each key with the modifiers that were held
    plain: bool = True  # whether there are only characters, Return and BackSpace

    def then(self, new: Keys) -> Keys:
        """Return these keys followed by further ones."""
        typed, plain = self.typed + new.typed, self.plain and new.plain
        while "\b" in typed:
            at = typed.index("\b")
            plain = plain and at > 0
            typed = typed[: max(0, at - 1)] + typed[at + 1 :]
        return Keys(self.at, typed, self.keys + new.keys, plain)


@dataclass(frozen=True, slots=True)
class Chord:
    """Any other key, with the held modifiers."""

    at: float
    keys: tuple[str, ...]


Gesture = Press | Wheel | Keys | Chord
_TYPES = {("Return",): "\n", ("BackSpace",): "\b", ("shift", "BackSpace"): "\b"}
_IN_TEXT = frozenset({"Left", "Right", "Home", "End", "Delete"})


def read_gestures(events: Sequence[Input]) -> list[Gesture]:
    """Group events into gestures, oldest first; pointer movements are not gestures."""
    found: list[Gesture] = []
    moved: list[Point] = []
    pressed: Input | None = None
    for event in events:
        match event.kind:
            case "press" if event.button in _WHEEL:
                _add(found, _wheel(event))
            case "press" if event.button in _BUTTONS:
                pressed, moved = event, []
            case "motion":
                moved.append(event.point)
            case "release" if pressed is not None and event.button == pressed.button:
                _add(found, _press(pressed, event, moved))
                pressed = None
            case "key":
                _add(found, _key(event))
    return found


def _add(found: list[Gesture], new: Gesture) -> None:
    """Append a gesture, or merge it with the last one."""
    match found[-1] if found else None, new:
        case Press() as last, Press() if _is_again(last, new):
            found[-1] = replace(last, times=last.times + 1)
        case Wheel() as last, Wheel() if (last.horizontal, last.held) == (new.horizontal, new.held) and not _far(
            last.point, new.point
        ):
            found[-1] = replace(last, clicks=last.clicks + new.clicks)
        case Keys() as last, Keys():
            found[-1] = last.then(new)
        case _, Keys():
            found.append(Keys(new.at, "", ()).then(new))
        case _:
            found.append(new)


def _is_again(last: Press, new: Press) -> bool:
    alike = (last.button, last.held) == (new.button, new.held) and not (last.is_drag or new.is_drag)
    return alike and not _far(last.start, new.start) and new.at - last.at < MULTIPLE_CLICK_S * last.times


def _press(pressed: Input, released: Input, moved: Sequence[Point]) -> Press:
    crooked = any(_distance(point, pressed.point, released.point) > _CROOKED_PX for point in moved)
    step = max(1, len(moved) // _PATH_POINTS)
    path = tuple(moved[::step]) if crooked else ()
    return Press(pressed.at, _BUTTONS[pressed.button], pressed.point, released.point, path=path, held=pressed.held)


def _wheel(event: Input) -> Wheel:
    clicks, horizontal = _WHEEL[event.button]
    return Wheel(event.at, event.point, clicks, horizontal, event.held)


def _key(event: Input) -> Gesture:
    keys = (*event.held, event.key)
    if event.text:
        return Keys(event.at, event.text, (keys,))
    if keys in _TYPES:
        return Keys(event.at, _TYPES[keys], (keys,))
    if (event.key in _IN_TEXT and set(event.held) <= {"shift"}) or keys == ("ctrl", "a"):
        return Keys(event.at, "", (keys,), plain=False)
    return Chord(event.at, keys)


def _far(one: Point, other: Point) -> bool:
    return hypot(one.x - other.x, one.y - other.y) > _STILL_PX


def _distance(point: Point, start: Point, end: Point) -> float:
    """Return the distance of a point from a line, px."""
    across, down = end.x - start.x, end.y - start.y
    length = hypot(across, down)
    if not length:
        return hypot(point.x - start.x, point.y - start.y)
    along = ((point.x - start.x) * across + (point.y - start.y) * down) / length**2
    along = min(1.0, max(0.0, along))
    return hypot(point.x - start.x - along * across, point.y - start.y - along * down)
