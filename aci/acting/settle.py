"""Settling: detects when the screen is at rest after an action.

That is, no accessibility events arrive, no pixels change, and no application is busy.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from aci.acting.activity import Activity
from aci.observation.geometry import Rect
from aci.observation.pixels import CARET_PX

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Frame = NDArray[np.uint32]

Settles = bool | Callable[[], bool]
"""Whether to wait after an action until the screen has settled, or a callback that detects its known effect."""

QUIET_S = 0.15  # the screen is at rest after this time without events and changes; less would miss slow dialogs
FIRST_CHANGE_S = 0.2  # longest wait for the first reaction
EFFECT_S = 0.8  # longest wait for the effect of a target, such as a button, that shows elsewhere
AFTERMATH_S = 0.3  # a network response or the output of a command shows up this long after it arrives
LIMIT_S = 3.0
MINOR_QUIET_S = (
    0.45  # quiet time after an update of a toolbar or status bar; follow-ups come within a third of a second
)
_MINOR = 0.01  # maximum share of the screen that such an update changes
_BUSY_SAMPLE_S = 0.05
_REPORT_S = 0.5  # Chromium reports new places at most this often, the first ones at once
_ARRIVES_S = 0.1  # until such a report has arrived
REPORTED_S = _REPORT_S + _ARRIVES_S  # longest time from a change to its report
_DRAWN_S = 0.1  # longest time that drawing one change takes
_MARGIN_PX = 8  # shadows and focus rings of a target
_SAMPLE_S = 0.02
_NARROW_PX, _LONG_PX = 16, 48  # a narrower and longer change is a fading scroll bar


class Settle:
    """Waits for the screen to settle.

    Consecutive waits share their samples, so that an action of several parts is not waited for from scratch each time.

    Args:
        frame: Returns the current pixels, (H, W) uint32.
        last_event_at: Returns the time of the latest accessibility event, on the clock's scale.
        clock: Monotonic clock, s.
        pause: Sleeps for some seconds.
        activity: Detects whether applications are busy; None to ignore that.
        popups: Returns the areas of menus and other popups that are open, px.
    """

    def __init__(
        self,
        frame: Callable[[], Frame],
        last_event_at: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
        activity: Activity | None = None,
        popups: Callable[[], Sequence[Rect]] = tuple,
    ) -> None:
        self._frame = frame
        self._last_event_at = last_event_at
        self._clock = clock
        self._pause = pause
        self._activity = activity
        self._popups = popups
        self._open_popups: Sequence[Rect] = ()  # at the latest wide change
        self._latest: Frame | None = None
        self._latest_at = self._changed_at = self._changed_widely_at = -math.inf
        self._reported_at = self._reported_at_once_at = -math.inf  # at the latest, if Chromium is on the screen
        self._changed_elsewhere_at = self._rested_from = -math.inf
        self._earlier: deque[Frame] = deque(maxlen=2)  # earlier pictures since the action began
        self._returns = 0  # number of consecutive changes that brought back an earlier picture
        self._gave_up = True  # whether the latest wait ran into its limit

    def look(self, until_idle: bool = False) -> Frame:
        """Return the pixels before an action, to compare with later ones.

        Args:
            until_idle: Whether a later wait will check that applications are idle.
        """
        if until_idle and self._activity is not None:
            self._activity.begin()
        frame = self._sample()
        self._earlier.clear()
        self._returns = 0
        return frame

    def wait(
        self,
        before: Frame,
        started: float,
        quiet_s: float = QUIET_S,
        first_change_s: float = FIRST_CHANGE_S,
        limit_s: float = LIMIT_S,
        by_events: bool = False,
        until_idle: bool = False,
        targets: Sequence[Rect] = (),
        until: Callable[[], bool] | None = None,
    ) -> float:
        """Wait until the screen has settled or a known effect is there.

        Args:
            before: The pixels before the action.
            started: Start of the action, on the clock's scale.
            quiet_s: Time without events and changes after which the screen counts as settled, s.
            first_change_s: Time after the action within which an effect must begin, s.
            limit_s: Longest wait, s.
            by_events: Whether to ignore pixel changes, such as a fading button, once there were events.
            until_idle: Whether to wait also until the applications concerned are idle.
            targets: Areas of a target whose effect shows elsewhere, and of the element that loses the focus to it, px.
                A change within them, such as a pressed button, is not the effect yet.
            until: Callback that detects the known effect, which ends the wait.

        Returns:
            Seconds from the start of the action to the last event or change; 0.0 if there was none.
        """
        if self._latest_at < started:  # no sample since
            self._latest = before
        deadline = self._clock() + limit_s
        activity = self._activity if until_idle else None
        asked_at, waited_at = started, -math.inf
        while True:
            self._sample(targets)
            event_at = self._last_event_at()
            drawn_at = started if by_events and event_at > started else self._changed_at
            changed_at = max(started, drawn_at, event_at)
            rests_at = changed_at + quiet_s if changed_at > started else started + first_change_s
            if targets and self._changed_elsewhere_at <= started:
                rests_at = max(rests_at, started + EFFECT_S)
            if activity is not None and self._latest_at - asked_at >= _BUSY_SAMPLE_S:
                asked_at = self._latest_at
                waited_at = asked_at if activity.is_waiting() else waited_at
            rests_at = max(rests_at, waited_at + max(quiet_s, AFTERMATH_S if changed_at <= waited_at else 0.0))
            if until is not None and until():
                break
            if self._latest_at < min(rests_at, deadline):
                pause_s = min(_SAMPLE_S, rests_at - self._latest_at)
            elif self._latest_at < deadline and activity is not None and _is_busy(activity):
                pause_s = _BUSY_SAMPLE_S
            else:
                break
            self._pause(pause_s)
        if activity is not None:
            activity.end()
            self._gave_up = self._latest_at >= deadline
        self._rested_from = changed_at
        return changed_at - started

    def is_computing(self) -> bool:
        """Return whether the applications in front use more processor time than usual."""
        return self._activity is not None and self._activity.is_computing()

    def is_working(self) -> bool:
        """Return whether the applications in front are busy with the latest action, or it has started another one.

        True if that is unknown.
        """
        return self._activity is None or _is_busy(self._activity) or self._activity.has_started()

    def only_blinks(self, since: Frame) -> bool:
        """Return whether the screen merely alternates between an earlier picture and another one."""
        return self._returns > 1 and not all(is_change(picture, since) for picture in self._earlier)

    def watch(self) -> None:
        """Take a sample of the screen; called repeatedly while waiting for something else."""
        self._sample()

    def wait_for_report(self, deadline: float) -> None:
        """Wait until an application that reports places at intervals has reported those after a series of wide changes.

        Args:
            deadline: The latest end of the wait, on the clock's scale.
        """
        self._sample()
        while self._reported_at > self._reported_at_once_at:
            left_s = min(self._reported_at + _ARRIVES_S, deadline) - self._latest_at
            if left_s <= 0:
                break
            self._pause(min(_BUSY_SAMPLE_S, left_s))
            self._sample()

    def wait_for_late_updates(self, deadline: float, in_menu: bool = False, min_quiet_s: float = 0.0) -> None:
        """Wait while the applications of the latest wait may still make late updates of toolbars and panels.

        The wait lasts for `Activity.quiet_s` after the latest change, but at most `MINOR_QUIET_S` after such an update
        itself. It is extended while an application awaits a response or is busy. The screen may be observed meanwhile.

        Args:
            deadline: The latest end of the wait, on the clock's scale.
            in_menu: Whether a menu is open.
            min_quiet_s: Minimum quiet time after the latest change, s, even without late updates.
        """
        waited_at = -math.inf
        while self._activity is not None:
            self._sample()
            if not self._gave_up and self._activity.is_waiting():
                waited_at = self._latest_at
            quiet_s = max(self._activity.quiet_in_menu_s if in_menu else self._activity.quiet_s, min_quiet_s)
            late_until = max(self._rested_from, self._changed_widely_at) + quiet_s
            late_until = max(late_until, self._changed_at + min(quiet_s, MINOR_QUIET_S), waited_at + AFTERMATH_S)
            if quiet_s and self._activity.is_computing():
                late_until = max(late_until, self._latest_at + _BUSY_SAMPLE_S)
            late_until = min(late_until, deadline)
            if self._latest_at >= late_until:
                break
            self._pause(min(_BUSY_SAMPLE_S, late_until - self._latest_at))

    def _sample(self, targets: Sequence[Rect] = ()) -> Frame:
        frame, now = self._frame(), self._clock()
        if self._latest is not None and is_change(self._latest, frame):
            self._earlier.append(self._latest)
            returns = not all(is_change(picture, frame) for picture in self._earlier)
            self._returns = self._returns + 1 if returns else 0
            if self._returns < 2:  # not just blinking
                self._changed_at = now
                if _is_wide(self._latest, frame):
                    self._changed_widely_at = now
                    popups_before, self._open_popups = self._open_popups, self._popups()
                    if _is_wide(self._latest, frame, besides=[*popups_before, *self._open_popups]):
                        self._expect_report(now)
                if targets and is_change(self._latest, frame, besides=targets):
                    self._changed_elsewhere_at = now
        self._latest, self._latest_at = frame, now
        return frame

    def _expect_report(self, now: float) -> None:
        """Determine when the places after a change that shows now are reported at the latest."""
        at_once_at, second_at = self._reported_at_once_at, self._reported_at_once_at + _REPORT_S
        if now - at_once_at <= _DRAWN_S:
            return
        if now >= self._reported_at + REPORTED_S:
            self._reported_at = self._reported_at_once_at = now
        elif now < second_at - _DRAWN_S:
            self._reported_at = second_at
        else:  # the time of the previous report is not known exactly
            self._reported_at = now + _REPORT_S


def _is_busy(activity: Activity) -> bool:
    return activity.is_waiting() or activity.is_computing()


def is_change(previous: Frame, current: Frame, besides: Sequence[Rect] = ()) -> bool:
    """Return whether two pictures differ by more than a caret or a scroll bar.

    Pictures of different sizes always do. Changes within the areas `besides` and their borders are ignored.
    """
    import numpy as np

    if previous is current:
        return False
    if previous.shape != current.shape:
        return True
    differs = _differences(previous, current, besides)
    columns = np.flatnonzero(differs.any(axis=0))
    if not len(columns) or (width := int(columns[-1] - columns[0])) < CARET_PX:
        return False
    if width >= _NARROW_PX:
        return True
    rows = np.flatnonzero(differs.any(axis=1))
    return int(rows[-1] - rows[0]) < _LONG_PX


def _is_wide(previous: Frame, current: Frame, besides: Sequence[Rect] = ()) -> bool:
    """Return whether two pictures differ in a larger share of the screen than an update of toolbars changes."""
    return previous.shape != current.shape or float(_differences(previous, current, besides).mean()) > _MINOR


def _differences(previous: Frame, current: Frame, besides: Sequence[Rect]) -> NDArray[np.bool_]:
    """Return which pixels differ, except within areas and their borders."""
    differs: NDArray[np.bool_] = previous != current
    for place in besides:
        top, left = max(0, place.y - _MARGIN_PX), max(0, place.x - _MARGIN_PX)
        differs[top : place.bottom + _MARGIN_PX, left : place.right + _MARGIN_PX] = False
    return differs
