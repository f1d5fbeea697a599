"""Waiting until something holds, by looking at it again and again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock that can wait; a desktop's pauses end early when the user stops everything."""

    now: Callable[[], float] = time.monotonic  # s
    pause: Callable[[float], None] = time.sleep  # s

    def until(self, holds: Callable[[], T], limit_s: float, poll_s: float) -> T:
        """Wait until something holds, at most for a while, and return its last value."""
        deadline = self.now() + limit_s
        while not (held := holds()) and self.now() < deadline:
            self.pause(poll_s)
        return held
