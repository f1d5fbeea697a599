"""The protocol through which a replay uses the run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from aci.acting.settle import Settles
from aci.observation.observation import Element, Observation, Window
from agent_s.events import Event
from agent_s.llm.protocol import ActResponse
from agent_s.records import Step


class Screen(Protocol):
    """What a replay needs of a run; implemented by `agent_s.loop.session.Session`."""

    steps: int  # primitives performed so far
    clock: Callable[[], float]  # monotonic clock, s
    glanced: bool  # whether the latest observation came from `glance`
    still_s: float  # how long `look_again` has seen an unchanging screen and idle applications, s; 0.0 if unknown

    def look(self, *, check: bool = True, glanced: bool = False) -> Generator[Event, None, Observation]:
        """Return the current screen.

        Args:
            check: Whether the first look after an action that ended by a known sign of its effect also waits for late
                changes.
            glanced: Whether the result of the latest `glance` is good enough.
        """

    def glance(self, ids: Collection[int]) -> Generator[Event, None, Observation | None]:
        """Return the latest observation with its windows, its focus and the given elements refreshed.

        None if that requires a full observation (`look`).
        """

    def look_again(self, after_s: float) -> Generator[Event, None, Observation]:
        """Wait until the screen changes, or for a moment, and return a new observation."""

    def await_windows(self, expected: Callable[[Sequence[Window]], bool], limit_s: float) -> None:
        """Wait until the windows are as expected or the limit has passed; returns at once if they cannot be listed."""

    def without_ocr(self) -> AbstractContextManager[None]:
        """Observe without OCR within the block."""

    def step(
        self, observation: Observation, response: ActResponse, replayed: bool = False, settle: Settles = True
    ) -> Generator[Event, None, Step]:
        """Carry out one primitive."""

    def windows(self) -> Sequence[Window] | None:
        """Return the visible windows; None if that requires a full observation."""

    def element_now(self, element: Element) -> Element | None:
        """Return the current state of an element of the latest observation; None if it is gone or cannot be queried."""
