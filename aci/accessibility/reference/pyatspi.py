"""The accessibility tree as elements by way of pyatspi: the reference that the own client is compared with.

It asks for everything at every look and waits for each answer, so it takes seconds where the own client takes tens of
milliseconds. It does not find out what a page draws over what. Otherwise both give the same elements.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from aci.accessibility.atspi import UNMAPPED, Ref, StateBit, role_name
from aci.accessibility.client import Handle, handle_of, unfilled_windows
from aci.accessibility.elements.placement import Named, place_elements
from aci.accessibility.elements.window_drafts import draft_all
from aci.accessibility.reading import Reading
from aci.accessibility.roles import FIELDS, READ_AS_TEXT, VALUED
from aci.accessibility.tree.capture import corrected_states, showing
from aci.accessibility.tree.libreoffice import revive_input_lines, settle_combo_boxes, settle_input_lines
from aci.accessibility.tree.nodes import Application, Node
from aci.accessibility.tree.table_view import cell_node
from aci.accessibility.tree.tables import is_sheet
from aci.errors import ConnectionLost, MissingDependency
from aci.observation.geometry import Rect
from aci.observation.snapshot import Window
from aci.observation.tracking import IdTracker

SYSTEM_PYTHON = "/usr/bin/python3"
WORKER = Path(__file__).with_name("pyatspi_worker.py")
PACKAGES = "python3-pyatspi gir1.2-atspi-2.0 python3-gi"
INSTALL = f"sudo apt-get install -y --no-install-recommends {PACKAGES}"
RULES = {"fields": sorted(FIELDS), "texts": sorted(READ_AS_TEXT), "values": sorted(VALUED)}
START_LIMIT_S = 10.0
APPLICATION_LIMIT_S = 8.0  # after this long the elements found so far are returned
QUESTION_LIMIT_S = 2.0
GRACE_S = 5.0  # added to each limit: the worker's library is known to hang


class PyatspiClient:
    """Reads and changes elements through a worker process that uses pyatspi.

    Args:
        environment: Of the desktop: it names the display and the session bus.
        ids: Ids that no element has had yet; by default from 1.

    Raises:
        MissingDependency: pyatspi is not installed for the system's Python.
        ConnectionLost: There is no accessibility bus.
    """

    def __init__(self, environment: Mapping[str, str], ids: Iterator[int] | None = None) -> None:
        self._environment = dict(environment)
        self._tracker = IdTracker(ids)
        self._handles: dict[int, Handle] = {}
        self._nudged: set[int] = set()
        self._worker = _Worker(self._environment)

    def read(
        self,
        windows: Sequence[Window],
        screen: Rect,
        pointer_nudge: Callable[[Window], None] | None = None,
        changed: Sequence[Rect] | None = None,
    ) -> Reading:
        """Read what all applications show; see `aci.accessibility.connection.Accessibility.read`.

        Raises:
            ConnectionLost: The accessibility bus went away.
        """
        drafts, unsure, applications, notes = self._scene(windows, screen)
        unsure = [window for window in unsure if window.id not in self._nudged]
        if pointer_nudge is not None and unsure:
            for window in unsure:
                self._nudged.add(window.id)
                pointer_nudge(window)
            drafts, _, applications, notes = self._scene(windows, screen)
        elements, by_id, focus_id = place_elements(drafts, windows, screen, self._tracker)
        self._handles.update((identity, handle_of(draft)) for identity, draft in by_id.items())
        unfilled = unfilled_windows(windows, applications, drafts) if not notes else []
        notes += [f"The window {window.title!r} shows no elements yet." for window in unfilled]
        return Reading(elements, focus_id, tuple(notes), tuple(window.id for window in unfilled))

    def rest(self, after_s: float) -> None:
        """Do nothing: every reading is a whole one."""

    def prepare_for_action(self) -> None:
        """Do nothing."""

    def last_event_at(self) -> float:
        """Return `time.monotonic()` of the latest accessibility event, 0.0 before the first."""
        return self._worker.last_event_at()

    def element_text(self, element_id: int) -> str | None:
        """Return the text that an element holds now; None where it has none or is gone."""
        handle = self._handles.get(element_id)
        lines = self._ask("text", of=handle.text_at) if handle is not None else None
        known = [line for line in lines or () if line is not None]
        return "\n".join(known) if known else None

    def set_text(self, element_id: int, text: str) -> bool:
        """Replace the text of an element; return whether it took it."""
        handle = self._handles.get(element_id)
        if handle is None or len(handle.text_at) > 1:
            return False
        return bool(self._ask("set_text", of=handle.text_at[0], text=text))

    def locate(self, element_id: int) -> Rect | None:
        """Return where an element is now, px; None when it is gone."""
        handle = self._handles.get(element_id)
        found = self._ask("where", of=handle.ref) if handle is not None else None
        if handle is None or found is None or found["states"] & handle.shows != handle.shows:
            return None
        rect = _rect(found["rect"])
        if rect is None or not rect.area:
            return None
        return rect.scaled(handle.scale).moved(*handle.shift)

    def has_focus(self, element_id: int) -> bool:
        """Return whether an element itself has the keyboard now."""
        handle = self._handles.get(element_id)
        found = self._ask("where", of=handle.ref) if handle is not None else None
        return found is not None and bool(found["states"] & StateBit.FOCUSED)

    def close(self) -> None:
        """End the worker."""
        self._worker.close()

    def _scene(
        self, windows: Sequence[Window], screen: Rect
    ) -> tuple[list[Named], list[Window], list[Application], list[str]]:
        """Return drafts, misplaced windows, applications and notes."""
        pids = sorted({window.pid for window in windows if window.pid is not None})
        limit_s = APPLICATION_LIMIT_S * (len(pids) + 1)
        reports = self._ask("read", limit_s, pids=pids, rules=RULES, each_s=APPLICATION_LIMIT_S)
        notes = [] if reports is not None else ["pyatspi did not answer; the elements are missing."]
        drafts: list[Named] = []
        unsure: list[Window] = []
        applications = [_application(one) for one in reports or ()]
        for application in applications:
            found, misplaced = draft_all(application, windows, screen)
            drafts += [(draft, application.name) for one in found for draft in one.drafts]
            unsure += misplaced
        notes += [
            f"{one['name']} does not answer in time; elements of it are missing."
            for one in reports or ()
            if one["silent"]
        ]
        return drafts, unsure, applications, notes

    def _ask(self, question: str, limit_s: float = QUESTION_LIMIT_S, **arguments: object) -> Any:
        """Ask the worker, a new one where it hangs or ended; None where it gives no answer."""
        try:
            return self._worker.ask(question, limit_s, arguments)
        except ConnectionLost:
            self._worker.close()
            self._worker = _Worker(self._environment)
            return None


class _Worker:
    """The process that uses pyatspi."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        if not Path(SYSTEM_PYTHON).exists():
            raise MissingDependency(f"There is no {SYSTEM_PYTHON}, which pyatspi is installed for.", INSTALL)
        self._event_at = 0.0
        self._unread = b""
        self._process = subprocess.Popen(
            [SYSTEM_PYTHON, "-I", str(WORKER)],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            begun = self._next_line(time.monotonic() + START_LIMIT_S)
        except ConnectionLost:
            self.close()
            raise
        if "error" in begun:
            self.close()
            raise MissingDependency(f"pyatspi cannot be used: {begun['error']}.", INSTALL)

    def ask(self, question: str, limit_s: float, arguments: Mapping[str, object]) -> Any:
        """Return the answer to a question.

        Raises:
            ConnectionLost: The worker ended, or gave no answer in time.
        """
        line = json.dumps({"ask": question, "limit_s": limit_s, **arguments}) + "\n"
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
        except OSError as error:
            raise ConnectionLost(f"The process that uses pyatspi ended: {error}") from error
        deadline = time.monotonic() + limit_s + GRACE_S
        while "answer" not in (message := self._next_line(deadline)):
            pass
        return message["answer"]

    def last_event_at(self) -> float:
        """Return `time.monotonic()` of the latest event that it reported."""
        while self._unread or self._readable(0):
            try:
                self._next_line(time.monotonic())
            except ConnectionLost:
                break  # the next question finds out
        return self._event_at

    def close(self) -> None:
        """End it; a second call does nothing."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        self._process.kill()
        self._process.wait()

    def _next_line(self, deadline: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        while b"\n" not in self._unread:
            if not self._readable(deadline - time.monotonic()):
                raise ConnectionLost("The process that uses pyatspi did not answer in time.")
            part = os.read(self._process.stdout.fileno(), 1 << 20)
            if not part:
                raise ConnectionLost("The process that uses pyatspi ended.")
            self._unread += part
        line, _, self._unread = self._unread.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        if "event" in message:
            self._event_at = time.monotonic()
        return message

    def _readable(self, limit_s: float) -> bool:
        assert self._process.stdout is not None
        return bool(select.select([self._process.stdout], [], [], max(0.0, limit_s))[0])


def _application(report: Mapping[str, Any]) -> Application:
    application = Application(Ref(*report["root"]), report["name"], report["pid"], report["toolkit"])
    for line in report["nodes"]:
        parent = application.nodes[Ref(*line["parent"])] if line["parent"] is not None else None
        node = _node(line, parent)
        application.nodes[node.ref] = node
        (application.tops if parent is None else parent.children).append(node)
    revived = revive_input_lines(showing(application))
    settle_input_lines(revived)
    for node in revived:
        lines = [child.text or "" for child in node.children]
        node.text = "\n".join(lines) if node.text_at else None
    settle_combo_boxes(showing(application))
    return application


def _node(report: Mapping[str, Any], parent: Node | None) -> Node:
    if parent is not None and report.get("cell") is not None and is_sheet(parent):
        return cell_node(
            parent, tuple(report["cell"]), Ref(*report["key"]), report.get("text", ""), _rect(report["rect"])
        )
    role = role_name(report["role"])
    return Node(
        ref=Ref(*report["key"]),
        parent=parent.ref if parent is not None else None,
        role=role,
        name=report["name"],
        description=report["description"],
        states=corrected_states(role, report["states"]),
        interfaces=frozenset(report["interfaces"]),
        child_count=report["count"],
        rect=_rect(report["rect"]),
        text=report.get("text"),
        value=report.get("value"),
        choice=report.get("choice"),
        attributes=report.get("attributes", {}),
        labels=tuple(Ref(*key) for key in report.get("labels", ())),
        asked=True,
    )


def _rect(extents: Sequence[int] | None) -> Rect | None:
    if extents is None or UNMAPPED in extents[:2] or min(extents[2:]) < 0:
        return None
    return Rect(*extents)
