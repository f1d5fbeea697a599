"""Answers questions about the accessibility tree by pyatspi; a program of its own, run by the system's Python.

pyatspi is a package of the distribution, for its own Python, and its library may hang: both are reasons to keep it in
another process. This file therefore imports nothing of `aci`. Each line of the standard input is a JSON object with
`ask` and its arguments, each answer one line; lines with `event` come unasked, at most every `EVENTS_EVERY_S`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice, product
from typing import Any

EVENTS = ("object", "window", "focus", "document")
EVENTS_EVERY_S = 0.02
CALL_LIMIT_MS = 1000
DEEPEST = 64
MOST_CHILDREN, MOST_MANAGED, MOST_CELLS, MOST_LINES = 2000, 400, 2500, 200
INSET = 4
LONGEST_TEXT = 20_000
DEFUNCT, EDITABLE, SELECTED, SHOWING, VISIBLE, MANAGES_DESCENDANTS = (1 << bit for bit in (6, 7, 23, 25, 30, 31))
CLOSED_LISTS = ("menu", "list box", "list")

Key = tuple[str, str]  # connection and path of an object


class Silent(Exception):
    """An application did not answer in time."""


class Worker:
    """Walks trees and keeps the objects that it found, for later questions."""

    def __init__(self, pyatspi: Any, gone: type[Exception]) -> None:
        """Take the library, and what it raises when a call fails."""
        self._pyatspi = pyatspi
        self._gone = gone
        self._objects: dict[int, dict[Key, Any]] = {}
        self._names: dict[int, str] = {}
        self._rules: dict[str, list[str]] = {}
        self._deadline = 0.0
        self._chromium = False

    def answer(self, line: str) -> object:
        """Answer one question; None where what it asks for is gone."""
        question = json.loads(line)
        self._deadline = time.monotonic() + question.pop("limit_s")
        match question.pop("ask"):
            case "read":
                return self._read(**question)
            case "text":
                return [self._tried(self._text, self._found(key)) for key in question["of"]]
            case "set_text":
                return self._tried(self._set_text, self._found(question["of"]), question["text"])
            case "where":
                return self._tried(self._where, self._found(question["of"]))
        raise ValueError(f"unknown question {line!r}")

    def _read(self, pids: list[int], rules: dict[str, list[str]], each_s: float) -> list[object]:
        """Return what the applications of some processes show.

        Args:
            pids: Process ids.
            rules: Names of roles: `fields` and `texts` have their text read, `values` their value.
            each_s: Longest time for one application, s.
        """
        self._rules = rules
        applications = []
        for application in self._pyatspi.Registry.getDesktop(0):
            pid = application.get_process_id() if application is not None else None
            if pid in pids:
                self._deadline = time.monotonic() + each_s
                applications.append(self._application(application, pid))
        return applications

    def _application(self, application: Any, pid: int) -> object:
        known: dict[Key, Any] = {}
        nodes: list[object] = []
        unknown = {"name": self._names.get(pid, f"Process {pid}"), "toolkit": "", "silent": False}
        record = {"root": self._key(application), "pid": pid, "nodes": nodes, **unknown}
        try:
            application.clearCache()  # events keep it up to date, but not always in time
            if application.get_child_count() < 0:  # what libatspi makes of no answer
                raise Silent
            record["name"] = self._names[pid] = self._tried(application.get_name) or ""
            record["toolkit"] = toolkit = self._tried(self._toolkit, application) or ""
            self._chromium = toolkit.startswith("Chromium")
            for top in self._children(application):
                nodes.extend(self._walk(top, VISIBLE if toolkit.startswith("GTK 4") else SHOWING, known))
        except Silent:
            record["silent"] = True
        self._objects[pid] = known
        return record

    def _toolkit(self, application: Any) -> str:
        return f"{application.get_toolkit_name()} {application.get_toolkit_version()}"

    def _walk(self, top: Any, shows_by: int, known: dict[Key, Any]) -> Iterator[object]:
        """Yield what can be seen, parents first."""
        pending: list[tuple[Any, Key | None, int]] = [(top, None, 0)]
        while pending:
            node, parent, depth = pending.pop()
            record = self._tried(self._describe, node)
            if record is None or (key := self._key(node)) in known:
                continue
            known[key] = node
            yield {**record, "key": key, "parent": parent}
            if record["states"] & MANAGES_DESCENDANTS and not 0 <= record["count"] <= MOST_MANAGED:
                yield from self._cells(node, key, record, known)
            elif 0 <= record["count"] <= MOST_CHILDREN and depth < DEEPEST:
                shown = [child for child in self._children(node) if self._tried(self._shows, child, record, shows_by)]
                pending += [(child, key, depth + 1) for child in reversed(shown)]

    def _shows(self, child: Any, around: dict[str, Any], shows_by: int) -> bool:
        states = self._states(child)
        if states == DEFUNCT:  # LibreOffice reports this for its input line, which works
            return bool(around["count"] == 1 and child.childCount <= MOST_LINES)
        return bool(states & shows_by or (states & VISIBLE and child.getRoleName() == "viewport"))

    def _describe(self, node: Any) -> dict[str, Any]:
        interfaces, role, states = node.get_interfaces(), node.getRoleName(), self._states(node)
        record: dict[str, Any] = {
            "role": int(node.getRole()),
            "name": node.name or "",
            "description": node.description or "",
            "states": states,
            "interfaces": interfaces,
            "count": node.childCount,
            "rect": self._extents(node),
        }
        field = role in self._rules["fields"]
        if "Text" in interfaces and role != "password text":
            # What Chromium shows as text are nodes of their own, which bear it as their name.
            read_as_text = not self._chromium and not node.name and role in self._rules["texts"]
            if states & EDITABLE or field or read_as_text:
                record["text"] = self._text(node)
        elif "Text" in interfaces:
            record["text"] = "•" * min(node.queryText().characterCount, LONGEST_TEXT)
        if role in self._rules["values"] and "Value" in interfaces:
            record["value"] = node.queryValue().currentValue
        if role == "combo box" and not states & EDITABLE:
            record["choice"] = self._choice(node)
        if field or (self._chromium and not record["count"] and not node.name):
            record["attributes"] = node.get_attributes() or {}
            record["labels"] = self._labels(node)
        return record

    def _cells(self, table: Any, key: Key, record: dict[str, Any], known: dict[Key, Any]) -> Iterator[object]:
        """Yield the cells of a large table that can be seen; it is asked for no others."""
        if "Table" not in record["interfaces"] or record["rect"] is None:
            return
        x, y, width, height = record["rect"]
        grid, whole = table.queryTable(), table.queryComponent()
        first = self._tried(self._cell_at, whole, grid, x + INSET, y + INSET) or (0, 0)
        last = self._tried(self._cell_at, whole, grid, x + width - INSET, y + height - INSET)
        last = last or (grid.nRows - 1, grid.nColumns - 1)
        for row, column in islice(product(range(first[0], last[0] + 1), range(first[1], last[1] + 1)), MOST_CELLS):
            cell = self._tried(grid.getAccessibleAt, row, column)
            described = self._tried(self._describe, cell)
            if described is not None and described["states"] & SHOWING:
                known[self._key(cell)] = cell
                yield {**described, "key": self._key(cell), "parent": key, "cell": [row, column]}

    def _cell_at(self, whole: Any, grid: Any, x: int, y: int) -> tuple[int, int] | None:
        index = whole.getAccessibleAtPoint(x, y, self._pyatspi.DESKTOP_COORDS).getIndexInParent()
        row, column = grid.getRowAtIndex(index), grid.getColumnAtIndex(index)
        return (row, column) if row >= 0 and column >= 0 else None

    def _choice(self, box: Any) -> str | None:
        """Return the name of what a combo box stands on; its closed list may be what knows."""
        for node in (box, *(child for child in self._children(box) if child.getRoleName() in CLOSED_LISTS)):
            if "Selection" in node.get_interfaces():
                chosen = self._tried(node.querySelection().getSelectedChild, 0)
                if chosen is not None and chosen.name:
                    return str(chosen.name)
        return None

    def _where(self, node: Any) -> object:
        node.clearCache()
        return {"rect": self._extents(node), "states": self._states(node)}

    def _set_text(self, node: Any, text: str) -> bool:
        return bool(node.queryEditableText().setTextContents(text))

    def _found(self, key: list[str]) -> Any:
        wanted = (key[0], key[1])
        return next((known[wanted] for known in self._objects.values() if wanted in known), None)

    def _children(self, node: Any) -> list[Any]:
        children = (self._tried(node.getChildAtIndex, index) for index in range(self._tried(node.get_child_count) or 0))
        return [child for child in children if child is not None]

    def _text(self, node: Any) -> str:
        """Return all text; entries of GTK 4 do not understand that -1 means all."""
        text = node.queryText()
        return str(text.getText(0, -1) or text.getText(0, text.characterCount))[:LONGEST_TEXT]

    def _labels(self, node: Any) -> list[Key]:
        wanted = self._pyatspi.RELATION_LABELLED_BY
        relations = [relation for relation in node.getRelationSet() if relation.getRelationType() == wanted]
        return [self._key(relation.getTarget(i)) for relation in relations for i in range(relation.getNTargets())]

    def _extents(self, node: Any) -> list[int] | None:
        if "Component" not in node.get_interfaces():
            return None
        box = node.queryComponent().getExtents(self._pyatspi.DESKTOP_COORDS)
        return [box.x, box.y, box.width, box.height]

    def _states(self, node: Any) -> int:
        return sum(1 << int(state) for state in node.getState().getStates())

    def _key(self, node: Any) -> Key:
        return str(node.app.bus_name), str(node.path)

    def _tried(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Call something; None where the object is gone.

        Raises:
            Silent: Its application does not answer, or the time for it is over.
        """
        if time.monotonic() > self._deadline:
            raise Silent
        try:
            return call(*arguments)
        except (self._gone, AttributeError, NotImplementedError) as error:
            # Of what is gone libatspi returns None, which has no attributes, or an error of its own; pyatspi raises the
            # third for an interface that an object has no longer.
            if "timeout" in str(error).lower():
                raise Silent from error
            return None


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
    sent_at = 0.0

    def note(_event: object) -> None:
        nonlocal sent_at
        if (now := time.monotonic()) - sent_at >= EVENTS_EVERY_S:
            sent_at = now
            send({"event": True})

    def reply(_channel: object, _condition: object) -> bool:
        line = sys.stdin.readline()
        if not line:
            os._exit(0)  # libatspi may hang when it is torn down
        try:
            send({"answer": worker.answer(line)})
        except Silent:
            send({"answer": None})
        return True

    pyatspi.Registry.registerEventListener(note, *EVENTS)
    GLib.io_add_watch(GLib.IOChannel.unix_new(0), GLib.IO_IN | GLib.IO_HUP, reply)
    send({"ready": True})
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
