"""The part of a run that replays use."""

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
    """The part of a run that a replay uses; `agent_s.loop.session.Session` implements it."""

    steps: int
    clock: Callable[[], float]
    glanced: bool  # whether the latest observation came from a glance
    still_s: float  # for how long `look_again` has seen nothing stir and no application work; 0.0 if that is not known

    def look(self, *, check: bool = True, glanced: bool = False) -> Generator[Event, None, Observation]:
        """Return the current screen; with `check`, the first time after waiting for an action, what came late too.

        With `glanced`, the result of the latest `glance` does.
        """

    def glance(self, ids: Collection[int]) -> Generator[Event, None, Observation | None]:
        """Return the latest observation with its windows, focus and some elements as they are now.

        None if that takes a look.
        """

    def look_again(self, after_s: float) -> Generator[Event, None, Observation]:
        """Wait until the screen changes, or for a moment, and return a new observation."""

    def await_windows(self, expected: Callable[[Sequence[Window]], bool], limit_s: float) -> None:
        """Wait until the windows are as expected, if that can be known without a look; at most for a time."""

    def without_texts(self) -> AbstractContextManager[None]:
        """Do not recognize text that is only pixels."""

    def step(
        self, observation: Observation, response: ActResponse, replayed: bool = False, settle: Settles = True
    ) -> Generator[Event, None, Step]:
        """Carry out one primitive."""

    def windows(self) -> Sequence[Window] | None:
        """Return the visible windows; None if they are not known without a look."""

    def element_now(self, element: Element) -> Element | None:
        """Return an element of the latest observation as it is now; None if it is gone, or cannot be asked."""
