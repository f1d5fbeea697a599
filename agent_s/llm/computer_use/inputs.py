"""Conversion of models' mouse and keyboard inputs to primitives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from aci.acting.actions import (
    MAX_WAIT_S,
    Action,
    Button,
    Click,
    DragAndDrop,
    HoldAndPress,
    Hotkey,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
    Move,
    Scroll,
    Type,
    Wait,
    Zoom,
)
from aci.input.keys import UnknownKey, chord
from aci.observation.geometry import Point
from agent_s.llm.computer_use.frames import Frame
from agent_s.llm.providers.structured import Unreadable

Actions = tuple[Action, ...]

MAX_PRESSES = 64  # maximum number of keys in one `hold_and_press`
MAX_REPEATS = 100  # maximum number of repetitions of a key
MAX_CLICKS = 100  # maximum number of wheel clicks in one `scroll`
MAX_TURNED = 10_000  # maximum number of wheel clicks in one action of a model
WHEEL_PX = 100  # distance of one click of the wheel, for models that scroll by pixels


@dataclass(slots=True)
class Hand:
    """Converts a model's inputs to primitives, and tracks the position of the pointer.

    Methods raise `Unreadable` for invalid inputs.
    """

    frame: Frame  # the picture shown to the model
    pointer: Point | None = None  # position of the pointer; None if it was not moved yet
    _began: Point | None = field(init=False)

    def __post_init__(self) -> None:
        self._began = self.pointer

    def left_at(self, carried_out: Iterable[Action]) -> Point | None:
        """Return the position of the pointer if only some primitives were carried out; None if it was not moved yet."""
        places = [target for action in carried_out for target in action.targets() if isinstance(target, Point)]
        return places[-1] if places else self._began

    def at(self, place: object) -> Point:
        """Return the pixel at a pair of coordinates, and store it as the pointer's position."""
        if not isinstance(place, Sequence) or len(place) != 2 or not all(map(_is_number, place)):
            raise Unreadable(f"a coordinate is two numbers, [x, y], not {str(place)[:60]!r}")
        self.pointer = self.frame.point(*place)
        return self.pointer

    def click(self, place: object, count: int = 1, button: Button = "left", keys: object = ()) -> Actions:
        """Click at a position; None for the pointer's position."""
        held = key_names(keys)
        if place is not None:
            self.at(place)
        if self.pointer is not None:
            return (Click(at=_pair(self.pointer), num_clicks=count, button_type=button, hold_keys=held),)
        clicks = (MouseDown(button_type=button), MouseUp(button_type=button)) * count
        return (KeyDown(keys=held), *clicks, KeyUp(keys=held)) if held else clicks

    def move(self, place: object, keys: object = ()) -> Actions:
        """Move the pointer."""
        held = key_names(keys)
        move = Move(at=_pair(self.at(place)))
        return (KeyDown(keys=held), move, KeyUp(keys=held)) if held else (move,)

    def drag(self, places: Sequence[object], keys: object = ()) -> Actions:
        """Drag with the left button from the first position along the others; from the pointer if there is only one."""
        start = self.pointer
        points = [self.at(place) for place in places]
        if len(points) == 1 and start is not None:
            points.insert(0, start)
        if len(points) < 2:
            raise Unreadable("a drag needs a place to start from: move the pointer there first")
        way = tuple(map(_pair, points[1:-1]))
        drag: dict[str, Any] = {"from_at": _pair(points[0]), "drop_at": _pair(points[-1]), "path": way}
        return (_checked(DragAndDrop, hold_keys=key_names(keys), **drag),)

    def button(self, down: bool, button: Button = "left") -> Actions:
        """Press a button at the pointer's position and keep it down, or release it."""
        at = _pair(self.pointer) if self.pointer is not None else None
        return ((MouseDown if down else MouseUp)(at=at, button_type=button),)

    def scroll(self, place: object, up: float = 0, right: float = 0, keys: object = ()) -> Actions:
        """Turn the wheel by a number of clicks at a position; None for the pointer's position."""
        if place is not None:
            self.at(place)
        if self.pointer is None:
            raise Unreadable("the pointer was not moved yet: give a coordinate to scroll at")
        held, at = key_names(keys), _pair(self.pointer)
        if not all(_is_number(clicks) and abs(clicks) <= MAX_TURNED for clicks in (up, right)):
            raise Unreadable(f"a scroll takes a number, of at most {MAX_TURNED} clicks of the wheel")
        turns = [(_whole(clicks), horizontal) for clicks, horizontal in ((up, False), (right, True)) if clicks]
        if not turns:
            raise Unreadable("a scroll needs a distance other than 0")
        return tuple(
            Scroll(at=at, clicks=part, horizontal=horizontal, hold_keys=held)
            for clicks, horizontal in turns
            for part in _parts(clicks, MAX_CLICKS)
        )

    def press(self, keys: object, times: int = 1) -> Actions:
        """Press keys together, once or several times."""
        *modifiers, last = names = key_names(keys)
        if not names:
            raise Unreadable("a key press names at least one key")
        if not isinstance(times, int) or not 1 <= times <= MAX_REPEATS:
            raise Unreadable(f"a key is repeated 1 to {MAX_REPEATS} times")
        if times == 1:
            return (Hotkey(keys=names),)
        return tuple(
            HoldAndPress(hold_keys=tuple(modifiers), press_keys=(last,) * part) for part in _parts(times, MAX_PRESSES)
        )

    def hold(self, keys: object, seconds: float) -> Actions:
        """Hold keys for a time."""
        names = key_names(keys)
        return (_checked(KeyDown, keys=names), *self.wait(seconds), KeyUp(keys=names))

    def key(self, keys: object, down: bool) -> Actions:
        """Press keys and keep them down, or release them."""
        return (_checked(KeyDown if down else KeyUp, keys=key_names(keys)),)

    def type(self, text: object) -> Actions:
        """Type a text at the focus."""
        if not isinstance(text, str) or not text:
            raise Unreadable("there is no text to type")
        return (_checked(Type, text=text),)

    def wait(self, seconds: object) -> Actions:
        """Wait; long times are split into several steps."""
        if not isinstance(seconds, int | float) or not 0 <= seconds <= 300:
            raise Unreadable("a wait takes from 0 to 300 seconds")
        waits = [Wait(time=MAX_WAIT_S)] * int(seconds // MAX_WAIT_S)
        rest = seconds % MAX_WAIT_S
        return (*waits, Wait(time=rest)) if rest or not waits else tuple(waits)

    def zoom(self, region: object) -> Actions:
        """Show a region in full resolution."""
        if not isinstance(region, Sequence) or len(region) != 4 or not all(map(_is_number, region)):
            raise Unreadable("a region is four numbers: left, top, right, bottom")
        part = self.frame.region(*region)
        return (Zoom(region=(part.x, part.y, part.right, part.bottom)),)


Fields = Mapping[str, Any]
Acts = Callable[[Hand, Fields], Actions]


def act(name: str, fields: Fields, hand: Hand, table: Mapping[str, Acts]) -> Actions:
    """Convert one action of a model to primitives, by a table of actions.

    Raises:
        Unreadable: There is no such action, or its arguments are missing or wrong.
    """
    if name not in table:
        raise Unreadable(f"there is no action {name!r}; there are: {', '.join(table)}")
    try:
        return table[name](hand, fields)
    except Unreadable:
        raise
    except KeyError as missing:
        raise Unreadable(f"{name} lacks the argument {missing}") from missing
    except ValidationError as error:
        raise Unreadable(f"{name}: {explain(error)}") from error
    except (TypeError, ValueError, OverflowError) as error:
        raise Unreadable(f"{name}: {error}") from error


def key_names(keys: object) -> tuple[str, ...]:
    """Return the names of keys that a model gives as `ctrl+s`, as a list, or as None.

    Raises:
        Unreadable: There is no such key.
    """
    given = [keys] if isinstance(keys, str) else list(keys) if isinstance(keys, Sequence) else []
    names = [part for key in given for part in _split(str(key))]
    try:
        chord(names)
    except UnknownKey as error:
        raise Unreadable(str(error)) from error
    if len(names) > 8:
        raise Unreadable("at most 8 keys can be pressed together")
    return tuple(names)


def _split(keys: str) -> list[str]:
    """Return the keys of `ctrl+s` or `ctrl s`; a plus or a space on its own is a key."""
    if len(keys) < 2:
        return [keys] if keys else []
    parts = [part.strip() for part in keys.replace("++", "+plus").replace(" ", "+").split("+")]
    return [part for part in parts if part]


def _checked(primitive: Any, **fields: Any) -> Action:
    try:
        action: Action = primitive(**fields)
    except ValidationError as error:
        raise Unreadable(explain(error)) from error
    return action


def explain(error: ValidationError) -> str:
    """Return the validation errors of a primitive, for the model."""
    return "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())


def _pair(point: Point) -> tuple[float, float]:
    return point.x, point.y


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _whole(clicks: float) -> int:
    """Return a number of clicks of the wheel; less than one counts as one."""
    return round(clicks) or (1 if clicks > 0 else -1)


def _parts(number: int, most: int) -> list[int]:
    """Return a number in parts of at most `most`, with its sign."""
    sign = 1 if number > 0 else -1
    whole, rest = divmod(abs(number), most)
    return [sign * most] * whole + ([sign * rest] if rest else [])
