"""The bounded action space: Table 5 of the Agent S paper, `call_user` of OS-MAP, and what a mouse and eyes can do.

Primitives are values, never code. They are read from JSON (`{"action": "click", "element_id": 41}`) or from the
paper's call form (`agent.click(41, 1, "left")`), the latter with `ast` as literals only. What they point at is
described in `aci.acting.targets`.
"""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from aci.acting.targets import (
    MAX_OCCURRENCE,
    MAX_SPAN,
    At,
    ElementId,
    MaybeId,
    Number,
    Pair,
    Span,
    Target,
    Words,
    path_of,
    target_of,
)
from aci.errors import MalformedAction

MAX_TEXT = 100_000
MAX_WAIT_S = 60.0
MAX_CLICKS = 100
MAX_PATH = 2000
KeyName = Annotated[str, Field(min_length=1, max_length=32, description="a key, such as ctrl, a, F5 or Return")]
Keys = Annotated[tuple[KeyName, ...], Field(max_length=8)]
SomeKeys = Annotated[tuple[KeyName, ...], Field(min_length=1, max_length=8)]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Button = Literal["left", "middle", "right"]


class Primitive(BaseModel):
    """Base of all primitives: immutable, without undeclared fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def targets(self) -> tuple[Target, ...]:
        """Return what it points at, in order; () if it uses the keyboard, the pointer where it is, or nothing.

        Raises:
            ValueError: Its fields contradict each other, which is found out when it is made.
        """
        return ()

    @model_validator(mode="after")
    def _check_targets(self) -> Self:
        self.targets()
        return self


def _somewhere(element_id: int | None, at: Pair | Words | None) -> Target:
    target = target_of(element_id, at)
    if target is None:
        raise ValueError(
            "it needs a target: element_id, an integer, or at, a pixel of the screen as [x, y] of whole numbers"
        )
    return target


class Click(Primitive):
    """Click an element, a place in it, words of its text, or a pixel of the screen."""

    action: Literal["click"] = "click"
    element_id: MaybeId = None
    num_clicks: Annotated[int, Field(ge=1, le=MAX_CLICKS, strict=True)] = 1
    button_type: Button = "left"
    hold_keys: Keys = ()
    at: At = None

    @property
    def target(self) -> Target:
        """What is clicked."""
        return _somewhere(self.element_id, self.at)

    def targets(self) -> tuple[Target, ...]:
        """See `Primitive.targets`."""
        return (self.target,)


class Type(Primitive):
    """Type text at the focus, or where it clicks first; `enter` presses Return at the end.

    `overwrite` replaces what is there: the whole content of a field, or the words that `at` names. A slider or dial is
    set to the number, or to a percentage of its range such as "50%". From a cell of a sheet on, tabs go to the next
    column and line breaks to the next row.
    """

    action: Literal["type"] = "type"
    text: Text
    element_id: MaybeId = None
    overwrite: bool = False
    enter: bool = False
    at: At = None

    @property
    def target(self) -> Target | None:
        """Where it is typed; None for the focus."""
        return target_of(self.element_id, self.at)

    def targets(self) -> tuple[Target, ...]:
        """See `Primitive.targets`."""
        return _given(self.target)


class Scroll(Primitive):
    """Turn the wheel: positive clicks scroll up, negative ones down; `horizontal`, to the right and to the left.

    With `to` in place of clicks, the scroll bar of an element goes to a position: 0 is the beginning, 100 the end.
    """

    action: Literal["scroll"] = "scroll"
    element_id: MaybeId = None
    clicks: Annotated[int, Field(ge=-100, le=100, strict=True)] | None = None
    to: Annotated[float, Field(ge=0, le=100)] | None = None
    at: At = None
    horizontal: bool = False
    hold_keys: Keys = ()

    @model_validator(mode="after")
    def _check_amount(self) -> Self:
        if (self.clicks is None) == (self.to is None):
            raise ValueError("scroll takes either clicks or a position to scroll to")
        if self.to is not None and (self.hold_keys or self.at is not None or self.element_id is None):
            raise ValueError("scroll to a position takes an element and nothing but the direction besides")
        return self

    @property
    def target(self) -> Target:
        """Where the pointer is when the wheel is turned."""
        return _somewhere(self.element_id, self.at)

    def targets(self) -> tuple[Target, ...]:
        """See `Primitive.targets`."""
        return (self.target,)


class Hotkey(Primitive):
    """Press keys together, such as ctrl+s."""

    action: Literal["hotkey"] = "hotkey"
    keys: SomeKeys


class HoldAndPress(Primitive):
    """Hold some keys while others are pressed one after another."""

    action: Literal["hold_and_press"] = "hold_and_press"
    hold_keys: Keys
    press_keys: Annotated[tuple[KeyName, ...], Field(min_length=1, max_length=64)]


class DragAndDrop(Primitive):
    """Drag something onto something else, or along a path; without a place to drop on, it ends where the path does.

    The points of the path are fractions of the box of the element that `drag_from_id` names, or pixels of the screen if
    it names none.
    """

    action: Literal["drag_and_drop"] = "drag_and_drop"
    drag_from_id: MaybeId = None
    drop_on_id: MaybeId = None
    hold_keys: Keys = ()
    from_at: At = None
    drop_at: At = None
    path: Annotated[tuple[Pair, ...], Field(max_length=MAX_PATH)] = ()

    def targets(self) -> tuple[Target, ...]:
        """Return where the button is pressed, the points of the path, and where it is released."""
        start, end = target_of(self.drag_from_id, self.from_at), target_of(self.drop_on_id, self.drop_at)
        if start is None:
            raise ValueError("it needs a start: drag_from_id, or from_at, a pixel of the screen as [x, y]")
        if end is None and not self.path:
            raise ValueError("it needs an end: drop_on_id, or drop_at, a pixel of the screen as [x, y], or a path")
        return (start, *path_of(self.drag_from_id, self.path), *_given(end))


class Move(Primitive):
    """Move the pointer there and leave it, so that what shows under a pointer comes up."""

    action: Literal["move"] = "move"
    element_id: MaybeId = None
    at: At = None

    @property
    def target(self) -> Target:
        """Where the pointer goes."""
        return _somewhere(self.element_id, self.at)

    def targets(self) -> tuple[Target, ...]:
        """See `Primitive.targets`."""
        return (self.target,)


class MouseDown(Primitive):
    """Press a button of the mouse and keep it down; without a target, where the pointer is."""

    action: Literal["mouse_down"] = "mouse_down"
    element_id: MaybeId = None
    at: At = None
    button_type: Button = "left"

    def targets(self) -> tuple[Target, ...]:
        """See `Primitive.targets`."""
        return _given(target_of(self.element_id, self.at))


class MouseUp(Primitive):
    """Release a button of the mouse that is down; without a target, where the pointer is."""

    action: Literal["mouse_up"] = "mouse_up"
    element_id: MaybeId = None
    at: At = None
    button_type: Button = "left"

    def targets(self) -> tuple[Target, ...]:
        """See `Primitive.targets`."""
        return _given(target_of(self.element_id, self.at))


class KeyDown(Primitive):
    """Press keys and keep them down for the primitives that follow."""

    action: Literal["key_down"] = "key_down"
    keys: SomeKeys


class KeyUp(Primitive):
    """Release keys that are down."""

    action: Literal["key_up"] = "key_up"
    keys: SomeKeys


class SelectText(Primitive):
    """Select words of an element's text, or all from their beginning to the end of the next `until`."""

    action: Literal["select_text"] = "select_text"
    element_id: ElementId
    text: Annotated[str, Field(min_length=1, max_length=MAX_SPAN)]
    occurrence: Annotated[int, Field(ge=1, le=MAX_OCCURRENCE, strict=True)] = 1
    until: Annotated[str, Field(max_length=MAX_SPAN)] = ""

    def targets(self) -> tuple[Target, ...]:
        """Return the words with which the selection begins."""
        return (Span(self.element_id, self.text, self.occurrence),)


class Zoom(Primitive):
    """Show an element, or a region as left, top, right and bottom, in full resolution.

    A region is in fractions of the element's box if one is named, else in pixels of the screen.
    """

    action: Literal["zoom"] = "zoom"
    element_id: MaybeId = None
    region: tuple[Number, Number, Number, Number] | None = None

    def targets(self) -> tuple[Target, ...]:
        """Return the element, or the first and the last corner of the region."""
        if self.region is None:
            return (_somewhere(self.element_id, None),)
        left, top, right, bottom = self.region
        if right <= left or bottom <= top:
            raise ValueError("a region is [left, top, right, bottom]; right and bottom are larger than left and top")
        return path_of(self.element_id, ((left, top), (right, bottom)))


class Read(Primitive):
    """Read all of the text of an element, or of the window in front, also what is out of sight; page by page.

    An element without a text gives its name. The description follows, except after the content of a field.
    """

    action: Literal["read"] = "read"
    element_id: MaybeId = None
    page: Annotated[int, Field(ge=1, le=10_000, strict=True)] = 1

    def targets(self) -> tuple[Target, ...]:
        """See `Primitive.targets`."""
        return _given(target_of(self.element_id, None))


def _given(target: Target | None) -> tuple[Target, ...]:
    return () if target is None else (target,)


class SaveToBuffer(Primitive):
    """Keep a text for later steps and subtasks of the same task."""

    action: Literal["save_to_buffer"] = "save_to_buffer"
    text: Text


class SwitchApplications(Primitive):
    """Bring an application to the front, and start it if it has no window."""

    action: Literal["switch_applications"] = "switch_applications"
    app_code: Annotated[str, Field(min_length=1, max_length=200)]


class Wait(Primitive):
    """Do nothing for some seconds."""

    action: Literal["wait"] = "wait"
    time: Annotated[float, Field(ge=0, le=MAX_WAIT_S, allow_inf_nan=False)]


class Done(Primitive):
    """Claim that the subtask is finished."""

    action: Literal["done"] = "done"


class Fail(Primitive):
    """Give the subtask up."""

    action: Literal["fail"] = "fail"
    reason: Annotated[str, Field(max_length=4000)] = ""


class CallUser(Primitive):
    """Ask the person at the screen."""

    action: Literal["call_user"] = "call_user"
    question: Annotated[str, Field(min_length=1, max_length=4000)]


Action = (
    Click | Type | Scroll | Hotkey | HoldAndPress | DragAndDrop | SaveToBuffer | SwitchApplications | Wait | Done | Fail
    | CallUser | Move | MouseDown | MouseUp | KeyDown | KeyUp | SelectText | Zoom | Read
)  # fmt: skip
AnyAction = Annotated[Action, Field(discriminator="action")]
ID_FIELDS = ("element_id", "drag_from_id", "drop_on_id")
"""The fields of primitives that name an element."""
LOOKS = (Zoom, Read)
"""Primitives that only look: they change nothing."""

ACTION_ADAPTER: TypeAdapter[Action] = TypeAdapter(AnyAction)

# primitive classes by their names on the wire
PRIMITIVES: dict[str, type[Primitive]] = {cls.model_fields["action"].default: cls for cls in get_args(Action)}


def parse_action(text: str) -> Action:
    """Read a primitive from JSON, `{"action": "click", "element_id": 41}`, or a call, `agent.click(41, 1, "left")`.

    Raises:
        MalformedAction: The text is neither, names an unknown primitive, or exceeds a bound.
    """
    stripped = text.strip()
    fields = _json_fields(stripped) if stripped.startswith("{") else _call_fields(stripped)
    try:
        return ACTION_ADAPTER.validate_python(fields)
    except ValidationError as error:
        details = "; ".join(f"{'.'.join(map(str, item['loc'])) or 'action'}: {item['msg']}" for item in error.errors())
        raise MalformedAction(f"Not a valid primitive: {details}") from error


def format_call(action: Action) -> str:
    """Return a primitive in the paper's call form, without default values."""
    given = action.model_dump(exclude={"action"}, exclude_defaults=True)
    return f"agent.{action.action}({', '.join(f'{name}={_listed(value)!r}' for name, value in given.items())})"


def _listed(value: Any) -> Any:
    return [_listed(item) for item in value] if isinstance(value, tuple) else value


def _json_fields(text: str) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) != len(pairs):
            raise MalformedAction("A primitive names one of its fields twice.")
        return fields

    try:
        fields = json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits too
        raise MalformedAction(f"Not valid JSON: {error}") from error
    if not isinstance(fields, dict):
        raise MalformedAction("A primitive is one JSON object.")
    return fields


def _call_fields(text: str) -> dict[str, Any]:
    call = _single_call(text)
    function = call.func
    if not (
        isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "agent"
    ):
        raise MalformedAction("A primitive is written agent.NAME(...).")
    primitive = PRIMITIVES.get(function.attr)
    if primitive is None:
        raise MalformedAction(f"Unknown primitive {function.attr!r}; there are: {', '.join(PRIMITIVES)}.")
    names = [name for name in primitive.model_fields if name != "action"]
    if len(call.args) > len(names):
        raise MalformedAction(f"{function.attr} takes at most {len(names)} arguments, not {len(call.args)}.")
    fields: dict[str, Any] = {"action": function.attr}
    for name, argument in zip(names, call.args, strict=False):
        fields[name] = _literal(argument)
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in fields:
            raise MalformedAction(f"{function.attr} got {keyword.arg or '**'} twice or unpacked.")
        fields[keyword.arg] = _literal(keyword.value)
    return fields


def _single_call(text: str) -> ast.Call:
    tree = _guarded(lambda: ast.parse(text, mode="eval"), "Not a primitive")
    if not isinstance(tree, ast.Expression) or not isinstance(tree.body, ast.Call):
        raise MalformedAction("A step is exactly one primitive, as JSON or as agent.NAME(...).")
    return tree.body


def _literal(node: ast.expr) -> Any:
    return _guarded(lambda: ast.literal_eval(node), "Arguments are plain literals")


def _guarded(read: Callable[[], Any], what: str) -> Any:
    """Run a reader of `ast`, turning its five kinds of errors into `MalformedAction`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # of a model's text, not of this program
            return read()
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        raise MalformedAction(f"{what}: {error}") from error
