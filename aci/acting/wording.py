"""Text descriptions of actions and their results, for models, reports and people.

Text from the screen is quoted, with control characters escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from aci.acting.actions import (
    Action,
    CallUser,
    Click,
    Done,
    DragAndDrop,
    Fail,
    HoldAndPress,
    Hotkey,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseUp,
    Move,
    Read,
    SaveToBuffer,
    Scroll,
    SelectText,
    SwitchApplications,
    Type,
    Wait,
    Zoom,
)
from aci.acting.result import ActionResult, Difference, DifferenceKind, Remark
from aci.acting.targets import Described, Place, Span, Target, element_meant
from aci.input.read_back import Delivery, DeliveryState, Unread
from aci.observation.geometry import Point
from aci.observation.quoting import quote

if TYPE_CHECKING:
    from aci.observation.snapshot import Element, Snapshot

_MAX_NAME, _MAX_TEXT = 80, 200
_MAX_DIFFERENCES = 3

CARRIED_OUT = "carried out"
NAMELESS = "without a name"

_CLICKS = {1: "click", 2: "double-click", 3: "triple-click"}
_REMARKS: Mapping[Remark, str] = {
    "": "nothing changed on the screen",
    "already": "it is so already",
    "disabled": "it is disabled",
    "not_switched": "its state is the same as before",
    "focus_elsewhere": "the keyboard is not in the field that was clicked",
    "no_window": "no window of the application came",
    "unasked_window": "a dialog opened that the action does not ask for",
    "alert": "the application reports an error, or warns of something",
    "crashed": "an application crashed",
    "invalid": "the field is marked as invalid",
}
_DELIVERIES: Mapping[DeliveryState, str] = {
    "exact": "read back exactly",
    "shown": "the screen shows the text",
    "rewritten": "taken; the application shows it as {reads}",
    "different": "the field reads {reads} now",
    "unread": "not read back, since {unread}: make sure that the text arrived",
}
_UNREAD: Mapping[Unread, str] = {
    "": "the field gives no text",
    "no_window": "no window is open",
    "no_field": "no field is known to have the keyboard",
    "password": "it is a password",
    "terminal": "it is a terminal",
    "cell": "a cell gives its text only once it has been entered",
    "lines": "the field holds the first lines only",
    "no_text": "the field gives no text",
}
_DIFFERENCES: Mapping[DifferenceKind, str] = {
    "opened": "{what} opened",
    "closed": "{what} closed",
    "title": "the title became {after}",
    "front": "{what} came to the front",
    "states": "{what} is {after} now",
    "text": "{what} reads {after} now",
    "value": "{what} went from {before} to {after}",
    "focus": "the keyboard is on {what}",
    "appeared": "{what} appeared",
    "vanished": "{what} vanished",
    "moved": "{what} moved",
    "caret": "the caret moved",
    "selection": "the selection changed",
    "clipboard": "the clipboard changed",
    "pixels": "the picture changed at {what}",
}
_COVERED_BY_DELIVERY = frozenset({"text", "value", "caret", "selection", "pixels", "focus", "moved"})


def describe_element(element: Element) -> str:
    """Return the role and name of an element."""
    called = element.name or element.label or element.description or element.text or ""
    return f"{element.role} {quote(called, _MAX_NAME)}" if called else f"{element.role} {NAMELESS}"


def no_element(element_id: int, seen: Snapshot | None) -> str:
    """Return why an action on an element that an observation does not have was refused, and what to do instead."""
    missing = f"There is no element {element_id} on the screen"
    if seen is not None and not seen.windows:
        return f"{missing}, since no window is open. switch_applications starts an application."
    return f"{missing}. Take the id of an element that it lists."


def describe_target(action: Action, seen: Snapshot) -> str:
    """Return the targets of an action in words; empty if they are unknown elements."""
    return _joined([_at(target, element_meant(target, seen)) for target in _ends(action)])


def _ends(action: Action) -> tuple[Target, ...]:
    """Return the targets of an action; of a path, only its ends."""
    targets = action.targets()
    return (targets[0], targets[-1]) if len(targets) > 1 else targets


def _joined(targets: Sequence[str]) -> str:
    return " to ".join(target for target in targets if target)


def _at(target: Target, element: Element | None, unknown: str = "") -> str:
    """Return a target in words; `unknown` stands for an element that is not known."""
    named = describe_element(element) if element is not None else unknown
    match target:
        case Point():
            return f"the pixel {target.x},{target.y}" + (f" on {named}" if named else "")
        case Place():
            return f"the place {target.x:.0%} across and {target.y:.0%} down {named}" if named else ""
        case Described():
            return quote(target.text, _MAX_NAME)
        case Span():
            which = f" (occurrence {target.occurrence})" if target.occurrence > 1 else ""
            return f"{quote(target.text, _MAX_NAME)}{which} in {named}" if named else ""
    return named


def describe_action(action: Action, target: str = "") -> str:  # noqa: C901 - one case per primitive
    """Return what an action does, in words.

    Args:
        action: The primitive.
        target: Its targets in words (`describe_target`); empty to name elements by their ids.
    """
    if not target:
        target = _joined(
            [
                _at(one, None, "" if isinstance(one, Point | Described) else f"element {one.element_id}")
                for one in _ends(action)
            ]
        )
    match action:
        case Click():
            button = "" if action.button_type == "left" else f"{action.button_type}-"
            clicks = _CLICKS.get(action.num_clicks, f"click {action.num_clicks} times")
            return f"{button}{clicks} {target}{_holding(action.hold_keys)}"
        case Type():
            place = f" {'over the content of' if action.overwrite else 'into'} {target}" if target else ""
            enter = " and press Return" if action.enter else ""
            return f"type {quote(action.text, _MAX_TEXT)}{place}{enter}"
        case Scroll():
            if action.to is not None:
                return f"scroll {'sideways ' if action.horizontal else ''}to {action.to:g}% of {target}"
            ways = ("right", "left") if action.horizontal else ("up", "down")
            turns = action.clicks or 0
            return f"scroll {ways[0 if turns > 0 else 1]} by {abs(turns)} on {target}{_holding(action.hold_keys)}"
        case Hotkey():
            return f"press {_keys('+'.join(action.keys))}"
        case HoldAndPress():
            pressed = " ".join(action.press_keys)
            return f"press {_keys(pressed)}{_holding(action.hold_keys)}"
        case DragAndDrop():
            along = f" along a path of {len(action.path)} points" if len(action.path) > 1 else ""
            return f"drag {target}{along}{_holding(action.hold_keys)}"
        case Move():
            return f"move the pointer to {target}"
        case MouseDown() | MouseUp():
            what = "press" if isinstance(action, MouseDown) else "release"
            return f"{what} the {action.button_type} button" + (f" on {target}" if target else "")
        case KeyDown() | KeyUp():
            keys = _keys("+".join(action.keys))
            return f"press {keys} and keep it down" if isinstance(action, KeyDown) else f"release {keys}"
        case SelectText():
            until = f" until {quote(action.until, _MAX_NAME)}" if action.until else ""
            return f"select {target}{until}"
        case Zoom():
            return f"look closely at {target}"
        case Read():
            page = f", page {action.page}" if action.page > 1 else ""
            return f"read {target or 'the window in front'}{page}"
        case SaveToBuffer():
            return f"save {quote(action.text, _MAX_TEXT)} in the buffer"
        case SwitchApplications():
            return f"switch to {quote(action.app_code)}"
        case Wait():
            return f"wait {action.time:g} s"
        case CallUser():
            return f"ask the user {quote(action.question)}"
        case Fail():
            return f"give up: {quote(action.reason)}"
        case Done():
            return "done"


def describe_result(result: ActionResult) -> str:
    """Return the result of an action, in words."""
    if not result.ok:
        return f"refused: {quote(result.error or '')}"
    parts = [
        f"started {quote(result.started)}" if result.started else "",
        f"brought the window {quote(result.switched_to, _MAX_NAME)} to the front" if result.switched_to else "",
        f"the user answers {quote(result.answer)}" if result.answer else "",
        f"selected {quote(result.selected, _MAX_TEXT)}" if result.selected else "",
        f"page {result.page[0]} of {result.page[1]}" if result.text else "",
        f"{result.area.width}x{result.area.height} px at {result.area.x},{result.area.y}" if result.area else "",
        describe_delivery(result.delivery) if result.delivery is not None else "",
        describe_effect(result),
        quote(result.note) if result.note else "",
    ]
    return "; ".join(part for part in parts if part) or CARRIED_OUT


def describe_delivery(delivery: Delivery) -> str:
    """Return how typed text arrived, in words."""
    unread = _UNREAD[delivery.unread]
    return _DELIVERIES[delivery.state].format(reads=quote(delivery.reads, _MAX_TEXT), unread=unread)


def describe_effect(result: ActionResult) -> str:
    """Return what an action changed, in words; empty if that is unknown, or covered by how its text arrived."""
    effect, delivery = result.effect, result.delivery
    if effect is None:
        return ""
    if effect.kind == "none":
        return "" if delivery is not None and delivery.confirmed else f"no effect: {_REMARKS[effect.remark]}"
    told = _COVERED_BY_DELIVERY if delivery is not None and delivery.confirmed else frozenset()
    changes = [_describe_difference(one) for one in effect.differences if one.kind not in told]
    more = len(changes) - _MAX_DIFFERENCES
    words = ", ".join(changes[:_MAX_DIFFERENCES]) + (f" and {more} more change{'s' * (more > 1)}" if more > 0 else "")
    if effect.kind == "other":
        return f"another effect than expected: {'; '.join(filter(None, (_REMARKS[effect.remark], words)))}"
    return words


def _describe_difference(difference: Difference) -> str:
    words = _DIFFERENCES[difference.kind].format(what=difference.what, before=difference.before, after=difference.after)
    more = difference.count - 1
    return f"{words} and {more} more element{'s' * (more > 1)}" if more else words


def _holding(keys: tuple[str, ...]) -> str:
    return f" holding {_keys('+'.join(keys))}" if keys else ""


def _keys(names: str) -> str:
    return names if names.isprintable() and len(names) <= _MAX_NAME else quote(names, _MAX_NAME)
