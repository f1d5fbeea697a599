"""Primitives that are not sent to another machine: those that need no input, and those that cannot be carried out."""

from __future__ import annotations

from aci.acting.actions import Action, CallUser, Done, Fail, Read, SaveToBuffer, SelectText, Type, Zoom
from aci.acting.result import ActionResult, Refusal
from aci.acting.targets import Described
from aci.acting.values import SET_BY_VALUE
from aci.acting.wording import no_element
from aci.observation.geometry import Point
from aci.observation.observation import Element, Observation


def done_without_input(action: Action, buffer: list[str]) -> ActionResult | None:
    """Return the result of a primitive that another machine gets no input for; None for any other.

    Args:
        action: The primitive.
        buffer: Gets the text of `save_to_buffer`.
    """
    match action:
        case Done() | Fail() | CallUser():
            return ActionResult(ok=True)
        case SaveToBuffer():
            buffer.append(action.text)
            return ActionResult(ok=True)
        case Zoom() | Read() | SelectText():
            return refused(f"{action.action} is not possible on a machine.", "not_allowed")
    return None


def elements_of(action: Action, seen: Observation) -> list[Element]:
    """Return the elements that an action names, as far as the observation has them."""
    ids = [target.element_id for target in action.targets() if not isinstance(target, Point | Described)]
    return [seen.by_id[number] for number in ids if number in seen.by_id]


def unusable_target(action: Action, seen: Observation) -> ActionResult | None:
    """Return the refusal of an action that names an element which is not there, or covered; None if all can be used."""
    for target in action.targets():
        if isinstance(target, Point):
            continue
        if isinstance(target, Described):
            return refused(f"{target.text!r} was not found on the screen.", "unknown_id")
        element = seen.by_id.get(target.element_id)
        if element is None:
            return refused(no_element(target.element_id, seen), "unknown_id")
        if element.point is None:
            return refused(f"Element {target.element_id} is covered.", "covered")
        if isinstance(action, Type) and element.role in SET_BY_VALUE:
            what = f"Element {target.element_id}, a {element.role},"
            return refused(f"{what} takes no text here. Press arrow keys in it, or drag its handle.", "not_allowed")
    return None


def refused(message: str, refusal: Refusal) -> ActionResult:
    """Return the result of an action that was not carried out."""
    return ActionResult(ok=False, error=message, refusal=refusal)
