"""The accessibility bus of a desktop: the protocol, the connection, and its replacement where there is no bus."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from aci.accessibility.reading import Reading
from aci.errors import ConnectionLost
from aci.observation.geometry import Rect
from aci.observation.snapshot import Window

BackEnd = Literal["dbus", "pyatspi"]  # own client, or the slow reference


Result = TypeVar("Result")


class Accessibility(Protocol):
    """The accessibility bus; `aci.accessibility.client.AccessibilityClient` is one."""

    def read(
        self,
        windows: Sequence[Window],
        screen: Rect,
        pointer_nudge: Callable[[Window], None] | None = None,
        changed: Sequence[Rect] | None = None,
    ) -> Reading:
        """Return the visible elements; `changed` are the areas that differ from the latest call, None if unknown."""

    def rest(self, after_s: float) -> None:
        """After an idle time, correct in the background what `read` may have missed; return at once."""

    def prepare_for_action(self) -> None:
        """End what `rest` began, because an action follows."""

    def last_event_at(self) -> float:
        """Return `time.monotonic()` of the latest event, 0.0 before the first."""

    def element_text(self, element_id: int) -> str | None:
        """Return the current text of an element; None if it has none or is gone."""

    def set_text(self, element_id: int, text: str) -> bool:
        """Replace the text of an element; return whether that was accepted."""

    def locate(self, element_id: int) -> Rect | None:
        """Return the current extents of an element, px; None if it is gone."""

    def has_focus(self, element_id: int) -> bool:
        """Return whether an element has the keyboard focus now."""

    def close(self) -> None:
        """Disconnect."""


def connect_accessibility(
    back_end: BackEnd, environment: Mapping[str, str], ids: Iterator[int] | None = None
) -> Accessibility:
    """Connect to the accessibility bus of a desktop.

    Args:
        back_end: What reads it.
        environment: Environment of the desktop's applications; names the session bus.
        ids: Unused element ids; by default from 1.

    Raises:
        ConnectionLost: There is none.
        MissingDependency: The back end is not installed.
    """
    if back_end == "pyatspi":
        from aci.accessibility.reference.pyatspi import PyatspiClient

        return PyatspiClient(environment, ids)
    from aci.accessibility.client import AccessibilityClient, accessibility_bus_address

    return AccessibilityClient(accessibility_bus_address(_session_bus(environment)), ids)


def _session_bus(environment: Mapping[str, str]) -> str:
    named = environment.get("DBUS_SESSION_BUS_ADDRESS")
    if named:
        return named
    usual = Path(environment.get("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")) / "bus"
    if not usual.is_socket():
        raise ConnectionLost(
            f"There is no session bus: DBUS_SESSION_BUS_ADDRESS is not set, and there is none at {usual}. Start this "
            "from a terminal of the desktop session, or use a virtual desktop (`--virtual`)."
        )
    return f"unix:path={usual}"


class ResilientAccessibility:
    """Accessibility without elements, but with a note in each reading, while there is no accessibility bus.

    A lost bus (`inner`) is tried again at each reading; if there never was one, `reason` says why.
    """

    def __init__(self, inner: Accessibility | None, reason: str = "") -> None:
        self._inner = inner
        self._reason = reason

    def read(
        self,
        windows: Sequence[Window],
        screen: Rect,
        pointer_nudge: Callable[[Window], None] | None = None,
        changed: Sequence[Rect] | None = None,
    ) -> Reading:
        """Return the visible elements; none without the bus."""
        if self._inner is None:
            return Reading(notes=(f"No elements can be seen: {self._reason}",))
        try:
            return self._inner.read(windows, screen, pointer_nudge, changed)
        except ConnectionLost as error:
            return Reading(notes=(f"No elements but recognized texts can be seen: {error}",))

    def rest(self, after_s: float) -> None:
        """Re-read in the background after an idle time."""
        self._attempt(lambda inner: inner.rest(after_s), None)

    def prepare_for_action(self) -> None:
        """End what `rest` began, because an action follows."""
        self._attempt(lambda inner: inner.prepare_for_action(), None)

    def last_event_at(self) -> float:
        """Return `time.monotonic()` of the latest event, 0.0 before the first."""
        return self._attempt(lambda inner: inner.last_event_at(), 0.0)

    def element_text(self, element_id: int) -> str | None:
        """Return the current text of an element; None without the bus."""
        return self._attempt(lambda inner: inner.element_text(element_id), None)

    def set_text(self, element_id: int, text: str) -> bool:
        """Replace the text of an element; return whether that was accepted."""
        return self._attempt(lambda inner: inner.set_text(element_id, text), False)

    def locate(self, element_id: int) -> Rect | None:
        """Return the current extents of an element; None without the bus."""
        return self._attempt(lambda inner: inner.locate(element_id), None)

    def has_focus(self, element_id: int) -> bool:
        """Return whether an element has the keyboard focus; False without the bus."""
        return self._attempt(lambda inner: inner.has_focus(element_id), False)

    def close(self) -> None:
        """Disconnect."""
        if self._inner is not None:
            self._inner.close()

    def _attempt(self, call: Callable[[Accessibility], Result], otherwise: Result) -> Result:
        try:
            return otherwise if self._inner is None else call(self._inner)
        except ConnectionLost:
            return otherwise
