"""Answers calls about accessible objects by pyatspi; a program of its own, run by the system's Python.

pyatspi is a package of the distribution, for its own Python, and its library may hang: both are reasons to keep it in
another process. This file therefore imports nothing of `aci`.

Each line of the standard input is a JSON list of a serial number and calls; a call is a list of a connection, an
object's path, an AT-SPI member and its arguments. Each is answered by a line with `serial` and `answers`: a list of
values, null for a call that was refused, and "silent" for one that was not answered in time. Lines with `event` come
unasked, at most every `EVENTS_EVERY_S`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

EVENTS = ("object", "window", "focus", "document")
EVENTS_EVERY_S = 0.02
CALL_LIMIT_MS = 1000
ROOT_PATH = "/org/a11y/atspi/accessible/root"
REGISTRY, BUS = "org.a11y.atspi.Registry", "org.freedesktop.DBus"
PREFIX = "org.a11y.atspi."

MEMBERS: dict[str, Callable[..., Any]] = {
    "GetRole": lambda node: int(node.getRole()),
    "GetState": lambda node: _halves(sum(1 << int(state) for state in node.getState().getStates())),
    "GetInterfaces": lambda node: [PREFIX + name for name in node.get_interfaces()],
    "GetAttributes": lambda node: dict(node.get_attributes() or {}),
    "GetRelationSet": lambda node: [_relation(relation) for relation in node.getRelationSet()],
    "GetIndexInParent": lambda node: node.getIndexInParent(),
    "GetExtents": lambda node, origin: list(node.queryComponent().getExtents(origin)),
    "GetAccessibleAtPoint": lambda node, *place: node.queryComponent().getAccessibleAtPoint(*place),
    "GetText": lambda node, start, end: node.queryText().getText(start, end),
    "GetSelection": lambda node, number: list(node.queryText().getSelection(number)),
    "SetTextContents": lambda node, text: bool(node.queryEditableText().setTextContents(text)),
    "GetSelectedChild": lambda node, index: node.querySelection().getSelectedChild(index),
    "GetAccessibleAt": lambda node, row, column: node.queryTable().getAccessibleAt(row, column),
    "GetRowAtIndex": lambda node, index: node.queryTable().getRowAtIndex(index),
    "GetColumnAtIndex": lambda node, index: node.queryTable().getColumnAtIndex(index),
    "GetColumnHeader": lambda node, column: node.queryTable().getColumnHeader(column),
    "GetKeyBinding": lambda node, index: node.queryAction().getKeyBinding(index),
    "GetURI": lambda node, anchor: node.queryHyperlink().getURI(anchor),
    "Get": lambda node, _, name: PROPERTIES[name](node),
    "GetAll": lambda node, _: {name: PROPERTIES[name](node) for name in ("Name", "Description", "ChildCount")},
}
PROPERTIES: dict[str, Callable[[Any], Any]] = {
    "Name": lambda node: node.name or "",
    "Description": lambda node: node.description or "",
    "ChildCount": lambda node: node.childCount,
    "Parent": lambda node: node.parent,
    "ToolkitName": lambda node: node.get_toolkit_name(),
    "Version": lambda node: node.get_toolkit_version(),
    "CaretOffset": lambda node: node.queryText().caretOffset,
    "CharacterCount": lambda node: node.queryText().characterCount,
    "CurrentValue": lambda node: node.queryValue().currentValue,
    "NRows": lambda node: node.queryTable().nRows,
    "NColumns": lambda node: node.queryTable().nColumns,
}


class Silent(Exception):
    """An application did not answer in time."""


class Worker:
    """Answers calls, and keeps the objects that answers named, for later calls."""

    def __init__(self, pyatspi: Any, gone: type[Exception]) -> None:
        """Take the library, and what it raises when a call fails."""
        self._accessible = pyatspi.Accessible
        self._gone = (gone, AttributeError, NotImplementedError)
        self._registry = pyatspi.Registry
        self._objects: dict[str, dict[str, Any]] = {}

    def answers(self, calls: list[list[Any]]) -> list[object]:
        """Return the answers; an application that was silent is not called again."""
        silent = set()
        found: list[object] = []
        for name, path, member, arguments in calls:
            try:
                found.append("silent" if name in silent else self._answer(name, path, member, arguments))
            except Silent:
                silent.add(name)
                found.append("silent")
        return found

    def _answer(self, name: str, path: str, member: str, arguments: list[Any]) -> object:
        try:
            if name == BUS and member == "GetConnectionUnixProcessID":
                return [self._objects[arguments[0]][ROOT_PATH].get_process_id()]
            if name == REGISTRY and path == ROOT_PATH:
                self._objects[REGISTRY] = {ROOT_PATH: self._registry.getDesktop(0)}
            node = self._objects[name][path]
            if member == "GetState" or path == ROOT_PATH:
                node.clearCache()  # events keep it up to date, but not always in time
            if member == "GetChildren":
                return [self._encoded(self._children(node, name, path))]
            value = MEMBERS[member](node, *arguments)
        except KeyError:
            return None
        except self._gone as error:
            # Of what is gone libatspi returns None, which has no attributes, or an error of its own; pyatspi raises
            # NotImplementedError for an interface that an object has no longer.
            if "timeout" in str(error).lower():
                raise Silent from error
            return None
        return None if value is None else [self._encoded(value)]

    def _children(self, node: Any, name: str, path: str) -> list[Any]:
        count = node.get_child_count()
        if count < 0:  # what libatspi makes of no answer
            raise Silent
        if path == ROOT_PATH and name != REGISTRY:  # what follows reads the whole application again
            self._objects[name] = {path: node}
        return [child for child in (node.getChildAtIndex(index) for index in range(count)) if child is not None]

    def _encoded(self, value: Any) -> Any:
        """Return a value as JSON, objects as a list of connection and path."""
        if isinstance(value, self._accessible):
            name, path = str(value.app.bus_name), str(value.path)
            self._objects.setdefault(name, {})[path] = value
            return [name, path]
        return [self._encoded(item) for item in value] if isinstance(value, list) else value


def _halves(states: int) -> list[int]:
    return [states & 0xFFFFFFFF, states >> 32]


def _relation(relation: Any) -> list[Any]:
    return [int(relation.getRelationType()), [relation.getTarget(at) for at in range(relation.getNTargets())]]


def send(answer: object) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Answer until the input ends."""
    try:
        # The distribution's own Python has these; where types are checked they are not installed.
        import gi  # type: ignore[import-not-found]

        gi.require_version("Atspi", "2.0")
        import pyatspi  # type: ignore[import-not-found]
        from gi.repository import GLib  # type: ignore[import-not-found]
    except (ImportError, ValueError) as error:
        send({"error": str(error)})
        return
    pyatspi.setTimeout(CALL_LIMIT_MS, CALL_LIMIT_MS)
    worker = Worker(pyatspi, GLib.GError)
    unread = b""
    sent_at = 0.0

    def note(_event: object) -> None:
        nonlocal sent_at
        if (now := time.monotonic()) - sent_at >= EVENTS_EVERY_S:
            sent_at = now
            send({"event": True})

    def reply(_channel: object, _condition: object) -> bool:
        nonlocal unread
        part = os.read(0, 1 << 20)
        if not part:
            os._exit(0)  # libatspi may hang when it is torn down
        *lines, unread = (unread + part).split(b"\n")
        for line in lines:
            serial, calls = json.loads(line)
            send({"serial": serial, "answers": worker.answers(calls)})
        return True

    pyatspi.Registry.registerEventListener(note, *EVENTS)
    GLib.io_add_watch(GLib.IOChannel.unix_new(0), GLib.IO_IN | GLib.IO_HUP, reply)
    send({"ready": True})
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
