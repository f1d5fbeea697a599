"""Observations: the screen at one moment, with its text and picture forms for a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aci.observation.snapshot import Element, Snapshot, Source, State, Window

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Element", "Observation", "Source", "State", "Window"]


@dataclass(frozen=True)
class Observation(Snapshot):
    """The screen at one moment, with the fields of `Snapshot`."""

    def to_text(self) -> str:
        """Return the windows and elements as a compact table for a model."""
        from aci.observation.text import render_observation

        return render_observation(self)

    def changes_since(self, previous: Observation, earlier: Sequence[Observation] = ()) -> str:
        """Return the differences from a previous observation, as text for a model that also knows `earlier` ones."""
        from aci.observation.changes import render_changes

        return render_changes(previous, self, earlier)

    def marked_screenshot(self) -> NDArray[np.uint8]:
        """Return the screenshot with a numbered mark at each element, (H, W, 3) uint8 RGB."""
        from aci.observation.marks import draw_marks

        return draw_marks(self)
