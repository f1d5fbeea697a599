"""Check what applications answer against the types that AT-SPI declares for each method, and bound its size.

An application may answer anything; readers of the tree only see values of the declared types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dbus_fast import Message, unpack_variants

from aci.accessibility.dbus.messages import Malformed

LONGEST_STRING = 4000  # characters of a name or description; texts have limits of their own
MOST_ATTRIBUTES = 200

# Types of the values that each method returns; no two interfaces that are used share a method name
SIGNATURES = {
    "GetItems": "a((so)(so)(so)iiassusau)",
    "GetChildren": "a(so)",
    "GetRole": "u",
    "GetState": "au",
    "GetInterfaces": "as",
    "GetAttributes": "a{ss}",
    "GetRelationSet": "a(ua(so))",
    "GetChildAtIndex": "(so)",
    "GetIndexInParent": "i",
    "GetKeyBinding": "s",
    "GetExtents": "(iiii)",
    "GetAccessibleAtPoint": "(so)",
    "GetText": "s",
    "GetCharacterExtents": "iiii",
    "GetSelection": "ii",
    "GetNSelections": "i",
    "AddSelection": "b",
    "SetSelection": "b",
    "SetCaretOffset": "b",
    "GrabFocus": "b",
    "SetTextContents": "b",
    "GetSelectedChild": "(so)",
    "GetAccessibleAt": "(so)",
    "GetRowAtIndex": "i",
    "GetColumnAtIndex": "i",
    "Get": "v",
    "GetAll": "a{sv}",
    "GetConnectionUnixProcessID": "u",
    "GetNameOwner": "s",
    "GetApplicationBusAddress": "s",
}


def read_answer(member: str, message: Message) -> list[Any]:
    """Return the values of an answer, variants unpacked.

    Raises:
        Malformed: The values are not of the types that the method returns.
    """
    expected = SIGNATURES.get(member)
    if expected is not None and message.signature != expected:
        raise Malformed(f"it is of type {message.signature!r}, not {expected!r}")
    values: list[Any] = unpack_variants(message.body) if "v" in message.signature else message.body
    return [bounded(member, values[0])] if member in _BOUNDS else values


def bounded(member: str, value: Any) -> Any:
    """Return what a method answered, cut to the size that is kept of it.

    Raises:
        Malformed: Parts of it are missing.
    """
    bound = _BOUNDS.get(member)
    return value if bound is None else bound(value)


def shortened(value: Any) -> Any:
    """Return a value, cut to `LONGEST_STRING` if it is a longer text."""
    return value[:LONGEST_STRING] if isinstance(value, str) else value


def _states(numbers: list[int]) -> list[int]:
    if len(numbers) < 2:
        raise Malformed(f"states are two numbers, not {len(numbers)}")
    return numbers


_BOUNDS: dict[str, Callable[[Any], Any]] = {
    "GetState": _states,
    "GetAll": lambda properties: {key: shortened(value) for key, value in properties.items()},
    "Get": shortened,
    "GetKeyBinding": shortened,
    "GetAttributes": lambda found: {key: shortened(found[key]) for key in list(found)[:MOST_ATTRIBUTES]},
    "GetItems": lambda items: [tuple(map(shortened, item)) for item in items if len(item[-1]) >= 2],
}
