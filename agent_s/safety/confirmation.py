"""Consent requests for risky actions: what the action does and where, why it is risky, and a picture."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aci.acting.actions import Action
from aci.acting.wording import describe_action, describe_target
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation
from agent_s.records import ID_FIELDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MARGIN = 120  # around the target, px
FRAME = 3  # px
RED = (214, 40, 40)


@dataclass(frozen=True, slots=True)
class Consent:
    """A risky action that a person is asked to confirm."""

    action: Action  # the action
    target: str  # its target in words; empty if it has none
    window: str  # title of the affected window; empty if unknown
    reason: str  # why it is risky
    # the affected part of the screen, (H, W, 3) uint8 RGB, with a frame around each target
    picture: NDArray[np.uint8] = field(repr=False, compare=False)

    def __str__(self) -> str:
        """Return the request in one sentence."""
        what = describe_action(self.action, self.target)
        where = f", in the window {self.window!r}" if self.window else ""
        return f"{what}{where}: {self.reason}"

    def as_png(self) -> bytes:
        """Return the picture as a PNG file."""
        from PIL import Image

        file = io.BytesIO()
        Image.fromarray(self.picture).save(file, "PNG")
        return file.getvalue()


def consent_for(action: Action, observation: Observation, reason: str) -> Consent:
    """Return the request to confirm an action that was chosen on an observation."""
    touched = targets_of(action, observation)
    ids = {element.window_id for element in touched}
    windows = [window for window in observation.windows if window.id in ids]
    if not touched and (active := observation.active_window) is not None:
        windows = [active]
    return Consent(
        action=action,
        target=describe_target(action, observation),
        window=" and ".join(window.title or window.app for window in windows),
        reason=reason,
        picture=_picture(observation, [element.rect for element in touched] or [window.rect for window in windows]),
    )


def targets_of(action: Action, observation: Observation) -> list[Element]:
    """Return the existing target elements of an action."""
    named = [observation.by_id.get(getattr(action, name, None) or -1) for name in ID_FIELDS]
    return [element for element in named if element is not None]


def _picture(observation: Observation, parts: list[Rect]) -> NDArray[np.uint8]:
    """Return the screen around the given areas, with a frame around each; the whole screen if there are none."""
    shown = [part for part in (rect.intersection(observation.screen) for rect in parts) if part is not None]
    picture = observation.screenshot.copy()
    for part in shown:
        inside = picture[part.y + FRAME : part.bottom - FRAME, part.x + FRAME : part.right - FRAME].copy()
        picture[part.y : part.bottom, part.x : part.right] = RED
        picture[part.y + FRAME : part.bottom - FRAME, part.x + FRAME : part.right - FRAME] = inside
    if not shown:
        return picture
    top = max(0, min(part.y for part in shown) - MARGIN)
    left = max(0, min(part.x for part in shown) - MARGIN)
    bottom = max(part.bottom for part in shown) + MARGIN
    right = max(part.right for part in shown) + MARGIN
    return picture[top:bottom, left:right]
