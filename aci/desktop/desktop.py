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
    """The least that a custom desktop needs; `as_desktop` adds the rest of `Desktop`."""

    def observe(self) -> Observation:
        """Look at the screen."""

    def perform(self, action: Action) -> ActionResult:
        """Carry out one primitive and wait until the screen has settled."""


class Desktop(Protocol):
    """A screen to look at and an input to act with.

    A custom desktop that inherits from this class implements `observe` and `perform`, and overrides what else it
    supports.
    """

    @property
    def display(self) -> str:
        """Name of the X display, or address of the machine (`http://...`); empty if there is neither."""
        return ""

    @property
    def private(self) -> bool:
        """Whether the desktop belongs to the agent alone, so that nothing on it can be harmed."""
        return False

    @property
    def home(self) -> Path | None:
        """Home folder of the desktop's applications; None if their files cannot be read from here."""
        return None

    @property
    def halt(self) -> Halt | None:
        """The emergency stop; None if the desktop has none."""
        return None

    def observe(self, read_texts: bool = True, check: bool = True) -> Observation:
        """Look at the screen.

        Args:
            read_texts: Whether to recognize text that is only pixels.
            check: Whether the first look after an action that was waited for also waits for what comes late. A caller
                that knows what to expect, and looks until it is there, can do without.

        Raises:
            ConnectionLost: The screen or the accessibility bus went away.
        """

    def perform(self, action: Action, settle: Settles = True) -> ActionResult:
        """Carry out one primitive.

        Args:
            action: The primitive; its element ids are those of the latest observation.
            settle: Whether to wait until the screen has settled. What returns whether a known effect is there ends a
                shorter wait early.

        Raises:
            ConnectionLost: The screen or the accessibility bus went away.
        """

    def windows(self) -> Sequence[Window] | None:
        """Return the visible windows, topmost first; None if they cannot be listed without a look at the screen.

        Raises:
            ConnectionLost: The screen went away.
        """
        return None

    def element_now(self, element: Element) -> Element | None:
        """Return an element of the latest observation with its current states, text and value, without a look.

        None if it is gone, or cannot be asked.

        Raises:
            ConnectionLost: The screen went away.
        """
        return None

    def glance(self, ids: Collection[int]) -> Observation | None:
        """Return the latest observation with its pixels, windows, focus and some elements as they are now.

        All else is as it was. None if it takes a look: if a window has opened, closed or moved, or an element is gone.

        Args:
            ids: Ids of the elements.

        Raises:
            ConnectionLost: The screen went away.
        """
        return None

    def machine(self) -> Machine | None:
        """Return facts about the machine and the user's folders, as they are now; None if they are not known.

        Raises:
            ConnectionLost: The screen went away.
        """
        return None

    def clear_buffer(self) -> None:
        """Forget the texts kept by `save_to_buffer`; they belong to one task."""
        return

    def release_all(self) -> None:
        """Release every key and button that is held."""
        return


class DesktopWrapper(Desktop):
    """Passes everything on to another desktop; subclasses override what they change.

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
    """Return an object as a full `Desktop`; what it lacks gets the defaults of `Desktop`."""
    return cast(Desktop, desktop) if isinstance(desktop, _Complete) else _AdaptedDesktop(desktop)


@runtime_checkable
class _Complete(Protocol):
    """Methods that only a full `Desktop` has; no properties, which may fail before a desktop is started."""

    def clear_buffer(self) -> None: ...

    def release_all(self) -> None: ...


class _AdaptedDesktop(Desktop):
    def __init__(self, desktop: SimpleDesktop) -> None:
        self._desktop = desktop

    def observe(self, read_texts: bool = True, check: bool = True) -> Observation:
        return self._desktop.observe()

    def perform(self, action: Action, settle: Settles = True) -> ActionResult:
        return self._desktop.perform(action)
