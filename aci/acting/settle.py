"""When a screen has come to rest after an action: accessibility events quiet and pixels still."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Frame = NDArray[np.uint32]

QUIET_S = 0.15
"""Neither events nor changes for this long count as rest; shorter ones end before slow dialogs are drawn."""
FIRST_CHANGE_S = 0.2
"""How long a first sign of life is waited for."""
LIMIT_S = 3.0
_SAMPLE_S = 0.02
_NARROW_PX = 16
"""A change no wider than this is taken for a blinking caret or a scroll bar that fades."""


class Settle:
    """Waits for the screen to come to rest.

    What one wait saw the next one knows: that the pixels have been still since a certain time counts in both, so that
    an action of several parts, each with a wait of its own, is not waited for from the beginning at its end.
    """

    def __init__(
        self,
        frame: Callable[[], Frame],
        last_event_at: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Take the senses.

        Args:
            frame: Returns the pixels now, (H, W) uint32.
            last_event_at: Returns when the latest accessibility event came, on the clock's scale.
            clock: Seconds on a steady clock.
            pause: Waits for some seconds.
        """
        self._frame = frame
        self._last_event_at = last_event_at
        self._clock = clock
        self._pause = pause
        self._latest: Frame | None = None
        self._latest_at = self._changed_at = -math.inf

    def look(self) -> Frame:
        """Return the pixels to compare with later; to be called before the action."""
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
            started: When the action began, on the clock's scale.
            quiet_s: Seconds without event or change that count as rest.
            first_change_s: Seconds after the action within which it must show an effect to be waited for.
            limit_s: Seconds from now after which the screen is taken as it is.
            by_events: Whether pixels count only as long as there are no events: what an application only draws, such as
                a button that fades, is then not waited for.

        Returns:
            Seconds from the start of the action to the last event or change; 0.0 where there was none.
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
        """Take the pixels; what differs from the latest ones has changed by now."""
        frame, now = self._frame(), self._clock()
        if self._latest is not None and is_change(self._latest, frame):
            self._changed_at = now
        self._latest, self._latest_at = frame, now
        return frame


def is_change(previous: Frame, current: Frame) -> bool:
    """Tell whether two pictures differ by more than a caret; pictures of different size always do."""
    import numpy as np

    if previous.shape != current.shape:
        return True
    differs = previous != current
    columns = np.flatnonzero(differs.any(axis=0))
    return len(columns) > 0 and int(columns[-1] - columns[0]) >= _NARROW_PX
