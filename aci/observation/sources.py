"""What a desktop needs from its accessibility bus, and what stands in where there is none."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from aci.errors import ConnectionLost
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Window

BackEnd = Literal["dbus", "pyatspi"]  # own client, or the slow reference


class Reading(Protocol):
    """What the applications say is on the screen."""

    @property
    def elements(self) -> tuple[Element, ...]:
        """Topmost window first, in reading order."""

    @property
    def focus_id(self) -> int | None:
        """Element that has the keyboard, or None."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is missing and why."""

    @property
    def unfilled(self) -> tuple[int, ...]:
        """Windows whose application answers but shows nothing in them yet."""

    @property
    def windowless(self) -> tuple[str, ...]:
        """Names of applications that are there but have none of the windows."""


class Accessibility(Protocol):
    """The accessibility bus; `aci.accessibility.client.AccessibilityClient` is one."""

    def read(
        self,
        windows: Sequence[Window],
        screen: Rect,
        pointer_nudge: Callable[[Window], None] | None = None,
        changed: Sequence[Rect] | None = None,
    ) -> Reading:
        """Return the elements that can be seen.

        `changed` tells where the pixels of the screen differ from those at the latest call; None where that is not
        known.
        """

    def rest(self, after_s: float) -> None:
        """Mend in the background what `read` may have missed, once nothing is asked for this long; returns at once."""

    def stir(self) -> None:
        """End what `rest` began, because somebody is about to act."""

    def last_event_at(self) -> float:
        """Return `time.monotonic()` of the latest event, 0.0 before the first."""

    def element_text(self, element_id: int) -> str | None:
        """Return the text that an element holds now; None where it has none or is gone."""

    def set_text(self, element_id: int, text: str) -> bool:
        """Replace the text of an element; return whether it took it."""

    def locate(self, element_id: int) -> Rect | None:
        """Return where an element is now, px; None when it is gone."""

    def has_focus(self, element_id: int) -> bool:
        """Return whether an element itself has the keyboard now."""

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


@dataclass(frozen=True, slots=True)
class _Nothing:
    notes: tuple[str, ...]
    elements: tuple[Element, ...] = ()
    focus_id: int | None = None
    unfilled: tuple[int, ...] = ()
    windowless: tuple[str, ...] = ()


class NoAccessibility:
    """Stands in where there is no accessibility bus: no elements, and a note in every observation that says why."""

    def __init__(self, reason: str) -> None:
        """Take the reason, for the notes."""
        self._reading = _Nothing(notes=(f"No elements can be seen: {reason}",))

    def read(
        self,
        windows: Sequence[Window],
        screen: Rect,
        pointer_nudge: Callable[[Window], None] | None = None,
        changed: Sequence[Rect] | None = None,
    ) -> Reading:
        """Return no elements."""
        return self._reading

    def rest(self, after_s: float) -> None:
        """Do nothing: there is nothing to mend."""

    def stir(self) -> None:
        """Do nothing."""

    def last_event_at(self) -> float:
        """Return 0.0: there was no event."""
        return 0.0

    def element_text(self, element_id: int) -> str | None:
        """Return None: no element has a text."""
        return None

    def set_text(self, element_id: int, text: str) -> bool:
        """Return False: there is no element."""
        return False

    def locate(self, element_id: int) -> Rect | None:
        """Return None: there is no element."""
        return None

    def has_focus(self, element_id: int) -> bool:
        """Return False: there is no element."""
        return False

    def close(self) -> None:
        """Do nothing."""


class Outlasting:
    """Goes on when the accessibility bus goes away: then nothing is known of elements, and a note says why.

    The bus is tried again at each look, so that its elements are back when it is.
    """

    def __init__(self, accessibility: Accessibility) -> None:
        """Take what may lose its connection."""
        self._inner = accessibility

    def read(
        self,
        windows: Sequence[Window],
        screen: Rect,
        pointer_nudge: Callable[[Window], None] | None = None,
        changed: Sequence[Rect] | None = None,
    ) -> Reading:
        """Return the elements that can be seen; none without the bus."""
        try:
            return self._inner.read(windows, screen, pointer_nudge, changed)
        except ConnectionLost as error:
            return _Nothing(notes=(f"No elements but recognized texts can be seen: {error}",))

    def rest(self, after_s: float) -> None:
        """Mend in the background what `read` may have missed, once nothing is asked for this long."""
        self._inner.rest(after_s)

    def stir(self) -> None:
        """End what `rest` began, because somebody is about to act."""
        self._inner.stir()

    def last_event_at(self) -> float:
        """Return `time.monotonic()` of the latest event, 0.0 before the first."""
        return self._inner.last_event_at()

    def element_text(self, element_id: int) -> str | None:
        """Return the text that an element holds now; None without the bus."""
        try:
            return self._inner.element_text(element_id)
        except ConnectionLost:
            return None

    def set_text(self, element_id: int, text: str) -> bool:
        """Replace the text of an element; return whether it took it."""
        try:
            return self._inner.set_text(element_id, text)
        except ConnectionLost:
            return False

    def locate(self, element_id: int) -> Rect | None:
        """Return where an element is now, px; None without the bus."""
        try:
            return self._inner.locate(element_id)
        except ConnectionLost:
            return None

    def has_focus(self, element_id: int) -> bool:
        """Return whether an element itself has the keyboard now; not without the bus."""
        try:
            return self._inner.has_focus(element_id)
        except ConnectionLost:
            return False

    def close(self) -> None:
        """Disconnect."""
        self._inner.close()
