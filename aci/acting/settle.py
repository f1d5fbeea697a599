"""Detection of rest after an action: no accessibility events and no changing pixels."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Frame = NDArray[np.uint32]

QUIET_S = 0.15  # no event and no change for this long is rest; shorter times end before slow dialogs appear
FIRST_CHANGE_S = 0.2  # wait for the first reaction
LIMIT_S = 3.0
_SAMPLE_S = 0.02
_NARROW_PX = 16  # narrower changes are a blinking caret or a fading scroll bar


class Settle:
    """Waits for the screen to come to rest.

    Consecutive waits share what they saw, so that an action of several parts is not waited for from the beginning.

    Args:
        frame: Returns the current pixels, (H, W) uint32.
        last_event_at: Returns the time of the latest accessibility event, on the clock's scale.
        clock: Monotonic clock, s.
        pause: Sleeps for some seconds.
    """

    def __init__(
        self,
        frame: Callable[[], Frame],
        last_event_at: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._frame = frame
        self._last_event_at = last_event_at
        self._clock = clock
        self._pause = pause
        self._latest: Frame | None = None
        self._latest_at = self._changed_at = -math.inf

    def look(self) -> Frame:
        """Return the pixels before an action, to compare with later ones."""
        return self._sample()

    def wait(
        self,
        before: Frame,
        started: float,
        quiet_s: float = QUIET_S,
        first_change_s: float = FIRST_CHANGE_S,
        limit_s: float = LIMIT_S,
        by_events: bool = False,
    ) -> float:
        """Wait until nothing has changed for a while.

        Args:
            before: The pixels before the action.
            started: Start of the action, on the clock's scale.
            quiet_s: Seconds without event or change that count as rest.
            first_change_s: Seconds after the action within which an effect must begin.
            limit_s: Longest wait.
            by_events: Whether to ignore pixel changes, such as a fading button, once there were events.

        Returns:
            Seconds from the start of the action to the last event or change; 0.0 if there was none.
        """
        if self._latest_at < started:  # nothing was looked at since, so that the pixels before are the latest
            self._latest = before
        deadline = self._clock() + limit_s
        while True:
            self._sample()
            event_at = self._last_event_at()
            drawn_at = started if by_events and event_at > started else self._changed_at
            changed_at = max(started, drawn_at, event_at)
            seen = changed_at > started
            rests_at = changed_at + quiet_s if seen else started + first_change_s
            if self._latest_at >= min(rests_at, deadline):
                return changed_at - started
            self._pause(min(_SAMPLE_S, rests_at - self._latest_at))

    def _sample(self) -> Frame:
        frame, now = self._frame(), self._clock()
        if self._latest is not None and is_change(self._latest, frame):
            self._changed_at = now
        self._latest, self._latest_at = frame, now
        return frame


def is_change(previous: Frame, current: Frame) -> bool:
    """Return whether two pictures differ by more than a caret; pictures of different size always do."""
    import numpy as np

    if previous.shape != current.shape:
        return True
    differs = previous != current
    columns = np.flatnonzero(differs.any(axis=0))
    return len(columns) > 0 and int(columns[-1] - columns[0]) >= _NARROW_PX
