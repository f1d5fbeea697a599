"""What applications answer, held to the types that AT-SPI gives each method, and to a size.

An application may answer anything. What goes on from here has the declared types, so that no reader of the tree has to
doubt them; all other answers count as refusals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aci.accessibility.dbus.values import Malformed
from aci.accessibility.dbus.wire import Incoming

LARGEST = 2**22
"""Bytes of one answer."""
LARGEST_CACHE = 2**24
"""Bytes of the answer that holds a whole tree: about 80,000 objects. Larger ones are walked as far as can be seen."""
LONGEST_SAID = 4000
"""Characters that are kept of what an object says of itself, such as its name; texts have limits of their own."""
MOST_ATTRIBUTES = 200

SIGNATURES = {
    "GetItems": "a((so)(so)(so)iiassusau)",
    "GetChildren": "a(so)",
    "GetRole": "u",
    "GetState": "au",
    "GetInterfaces": "as",
    "GetAttributes": "a{ss}",
    "GetRelationSet": "a(ua(so))",
    "GetIndexInParent": "i",
    "GetExtents": "(iiii)",
    "GetAccessibleAtPoint": "(so)",
    "GetText": "s",
    "GetCharacterExtents": "iiii",
    "SetTextContents": "b",
    "GetSelectedChild": "(so)",
    "GetAccessibleAt": "(so)",
    "GetRowAtIndex": "i",
    "GetColumnAtIndex": "i",
    "Get": "v",
    "GetAll": "a{sv}",
    "GetConnectionUnixProcessID": "u",
    "GetApplicationBusAddress": "s",
}
"""Types of what each method returns, by its name; each name has one meaning among the interfaces that are used."""


def read_answer(member: str, message: Incoming) -> list[Any]:
    """Return the values of an answer.

    Raises:
        Malformed: They are not of the types that the method returns, or too large.
    """
    expected = SIGNATURES.get(member)
    if expected is not None and message.signature != expected:
        raise Malformed(f"it is of type {message.signature!r}, not {expected!r}")
    if len(message.body) > (LARGEST_CACHE if member == "GetItems" else LARGEST):
        raise Malformed(f"it has {len(message.body)} bytes")
    mend = _MENDS.get(member)
    values = message.values()
    return values if mend is None else [mend(values[0])]


def shortened(value: Any) -> Any:
    """Return what an object says of itself, cut if it is an overlong text."""
    return value[:LONGEST_SAID] if isinstance(value, str) else value


def _states(numbers: list[int]) -> list[int]:
    if len(numbers) < 2:
        raise Malformed(f"states are two numbers, not {len(numbers)}")
    return numbers


def _said(properties: dict[str, Any]) -> dict[str, Any]:
    return {key: shortened(value) for key, value in properties.items()}


def _attributes(attributes: dict[str, str]) -> dict[str, str]:
    return {key: shortened(value) for key, value in list(attributes.items())[:MOST_ATTRIBUTES]}


def _items(items: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [tuple(shortened(part) for part in item) for item in items if len(item[-1]) >= 2]


_MENDS: dict[str, Callable[[Any], Any]] = {
    "GetState": _states,
    "GetAll": _said,
    "Get": shortened,
    "GetAttributes": _attributes,
    "GetItems": _items,
}
