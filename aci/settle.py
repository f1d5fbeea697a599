"""When a screen has come to rest after an action: accessibility events quiet and pixels still."""

from __future__ import annotations

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
    """Waits for the screen to come to rest."""

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

    def look(self) -> Frame:
        """Return the pixels to compare with later; to be called before the action."""
        return self._frame()

    def wait(
        self,
        before: Frame,
        started: float,
        quiet_s: float = QUIET_S,
        first_change_s: float = FIRST_CHANGE_S,
        limit_s: float = LIMIT_S,
    ) -> float:
        """Wait until nothing has changed for a while.

        Args:
            before: The pixels before the action.
            started: When the action began, on the clock's scale.
            quiet_s: Seconds without event or change that count as rest.
            first_change_s: Seconds after the action within which it must show an effect to be waited for.
            limit_s: Seconds from now after which the screen is taken as it is.

        Returns:
            Seconds from the start of the action to the last event or change; 0.0 where there was none.
        """
        previous, changed_at = before, started
        deadline = self._clock() + limit_s
        while True:
            current, now = self._frame(), self._clock()
            if is_change(previous, current):
                changed_at = now
            previous = current
            changed_at = max(changed_at, self._last_event_at())
            seen = changed_at > started
            waited = now - (changed_at if seen else started)
            if waited >= (quiet_s if seen else first_change_s) or now >= deadline:
                return max(0.0, changed_at - started)
            self._pause(_SAMPLE_S)


def is_change(previous: Frame, current: Frame) -> bool:
    """Tell whether two pictures differ by more than a caret; pictures of different size always do."""
    import numpy as np

    if previous.shape != current.shape:
        return True
    differs = previous != current
    columns = np.flatnonzero(differs.any(axis=0))
    return len(columns) > 0 and int(columns[-1] - columns[0]) >= _NARROW_PX
