"""The protocol between an agent and a desktop."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol, cast, runtime_checkable

from aci.acting.actions import Action
from aci.acting.result import ActionResult
from aci.acting.settle import Settles
from aci.desktop.machine import Machine
from aci.observation.observation import Element, Observation, Window
from aci.screen.emergency_stop import Halt

__all__ = ["ActionResult", "Desktop", "DesktopWrapper", "Settles", "SimpleDesktop", "as_desktop"]


class SimpleDesktop(Protocol):
    """The minimum that a custom desktop provides; `as_desktop` adds the rest of `Desktop`."""

    def observe(self) -> Observation:
        """Return a new observation of the screen."""

    def perform(self, action: Action) -> ActionResult:
        """Carry out one primitive and wait until the screen has settled."""


class Desktop(Protocol):
    """A desktop that can be observed and acted on.

    A custom desktop that inherits from this class implements `observe` and `perform`, and overrides whatever else it
    supports.
    """

    @property
    def display(self) -> str:
        """Name of the X display, or address of the machine (`http://...`); empty if there is neither."""
        return ""

    @property
    def private(self) -> bool:
        """Whether the desktop belongs to the agent alone, so that it can do no harm there."""
        return False

    @property
    def home(self) -> Path | None:
        """Home directory of the desktop's applications; None if their files cannot be read from here."""
        return None

    @property
    def halt(self) -> Halt | None:
        """The emergency stop; None if the desktop has none."""
        return None

    def observe(self, read_texts: bool = True, check: bool = True) -> Observation:
        """Return a new observation of the screen.

        Args:
            read_texts: Whether to recognize text that is only pixels, by OCR.
            check: Whether the first observation after an action also waits for late changes. A caller that knows what
                to expect, and polls for it, can turn this off.

        Raises:
            ConnectionLost: The screen or the accessibility bus went away.
        """

    def perform(self, action: Action, settle: Settles = True) -> ActionResult:
        """Carry out one primitive.

        Args:
            action: The primitive; its element ids are those of the latest observation.
            settle: Whether to wait until the screen has settled; otherwise the wait is short, and a callback that
                detects the known effect ends it early.

        Raises:
            ConnectionLost: The screen or the accessibility bus went away.
        """

    def windows(self) -> Sequence[Window] | None:
        """Return the visible windows, topmost first; None if that requires a full observation.

        Raises:
            ConnectionLost: The screen went away.
        """
        return None

    def element_now(self, element: Element) -> Element | None:
        """Return an element of the latest observation with its current states, text and value.

        None if it is gone or cannot be queried. No full observation is made.

        Raises:
            ConnectionLost: The screen went away.
        """
        return None

    def glance(self, ids: Collection[int]) -> Observation | None:
        """Return the latest observation with its pixels, windows, focus and the given elements refreshed.

        Everything else is unchanged. None if a full observation is required: a window has opened, closed or moved, or
        an element is gone.

        Args:
            ids: Ids of the elements to refresh.

        Raises:
            ConnectionLost: The screen went away.
        """
        return None

    def machine(self) -> Machine | None:
        """Return current facts about the machine and the user's folders; None if they are unknown.

        Raises:
            ConnectionLost: The screen went away.
        """
        return None

    def clear_buffer(self) -> None:
        """Clear the texts kept by `save_to_buffer`, which belong to one task."""
        return

    def release_all(self) -> None:
        """Release every key and button that is held."""
        return


class DesktopWrapper(Desktop):
    """Delegates to another desktop; subclasses override what they change.

    Args:
        desktop: The wrapped desktop.
    """

    def __init__(self, desktop: Desktop) -> None:
        self._desktop = desktop

    @property
    def _wrapped(self) -> Desktop:
        return self._desktop

    @property
    def display(self) -> str:
        """See `Desktop.display`."""
        return self._wrapped.display

    @property
    def private(self) -> bool:
        """See `Desktop.private`."""
        return self._wrapped.private

    @property
    def home(self) -> Path | None:
        """See `Desktop.home`."""
        return self._wrapped.home

    @property
    def halt(self) -> Halt | None:
        """See `Desktop.halt`."""
        return self._wrapped.halt

    def observe(self, read_texts: bool = True, check: bool = True) -> Observation:
        """See `Desktop.observe`."""
        return self._wrapped.observe(read_texts, check)

    def windows(self) -> Sequence[Window] | None:
        """See `Desktop.windows`."""
        return self._wrapped.windows()

    def element_now(self, element: Element) -> Element | None:
        """See `Desktop.element_now`."""
        return self._wrapped.element_now(element)

    def glance(self, ids: Collection[int]) -> Observation | None:
        """See `Desktop.glance`."""
        return self._wrapped.glance(ids)

    def perform(self, action: Action, settle: Settles = True) -> ActionResult:
        """See `Desktop.perform`."""
        return self._wrapped.perform(action, settle)

    def machine(self) -> Machine | None:
        """See `Desktop.machine`."""
        return self._wrapped.machine()

    def clear_buffer(self) -> None:
        """See `Desktop.clear_buffer`."""
        self._wrapped.clear_buffer()

    def release_all(self) -> None:
        """See `Desktop.release_all`."""
        self._wrapped.release_all()


def as_desktop(desktop: SimpleDesktop) -> Desktop:
    """Return an object as a full `Desktop`, adapted with the defaults of `Desktop` if necessary."""
    return cast(Desktop, desktop) if isinstance(desktop, _FullDesktop) else _AdaptedDesktop(desktop)


@runtime_checkable
class _FullDesktop(Protocol):
    """Methods that tell a full `Desktop` from a simple one; not properties, which may fail before it is started."""

    def clear_buffer(self) -> None: ...

    def release_all(self) -> None: ...


class _AdaptedDesktop(Desktop):
    def __init__(self, desktop: SimpleDesktop) -> None:
        self._desktop = desktop

    def observe(self, read_texts: bool = True, check: bool = True) -> Observation:
        return self._desktop.observe()

    def perform(self, action: Action, settle: Settles = True) -> ActionResult:
        return self._desktop.perform(action)
