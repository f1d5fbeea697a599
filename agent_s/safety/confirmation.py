"""What a person is shown before a risky action: what would be done, where, why it is risky, and a picture."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aci.acting.actions import Action, format_call
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation
from agent_s.replay.grounded_steps import ID_FIELDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SURROUNDINGS = 120
"""Shown around what would be touched, px."""
FRAME = 3
"""Width of the frame around it, px."""
RED = (214, 40, 40)


@dataclass(frozen=True, slots=True)
class Consent:
    """Asks whether an action may be done.

    Attributes:
        action: What would be done.
        target: What it would touch, in words; empty where it names no element.
        window: Title of the window that it would happen in; empty where none is known.
        reason: Why it is risky.
        picture: The part of the screen where it would happen, (H, W, 3) uint8 RGB, with a frame around each element
            that would be touched.
    """

    action: Action
    target: str
    window: str
    reason: str
    picture: NDArray[np.uint8] = field(repr=False, compare=False)

    def __str__(self) -> str:
        """Return all but the picture in one sentence."""
        what = " ".join(filter(None, (format_call(self.action), self.target)))
        where = f", in the window {self.window!r}" if self.window else ""
        return f"{what}{where}: {self.reason}"

    def as_png(self) -> bytes:
        """Return the picture as a file."""
        from PIL import Image

        file = io.BytesIO()
        Image.fromarray(self.picture).save(file, "PNG")
        return file.getvalue()


def consent_for(action: Action, observation: Observation, reason: str) -> Consent:
    """Return what to ask about an action that was chosen on an observation."""
    touched = touched_by(action, observation)
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


def touched_by(action: Action, observation: Observation) -> list[Element]:
    """Return the elements that an action names, as far as they are there."""
    named = [observation.by_id.get(getattr(action, name, None) or -1) for name in ID_FIELDS]
    return [element for element in named if element is not None]


def describe_target(action: Action, observation: Observation) -> str:
    """Describe what an action is about to touch, for people."""
    touched = touched_by(action, observation)
    named = [(element.role, element.name or element.label) for element in touched]
    return " -> ".join(f"{role} {name!r}" if name else role for role, name in named)


def _picture(observation: Observation, parts: list[Rect]) -> NDArray[np.uint8]:
    """Return the screen around some parts of it, each in a frame; all of it where there are none."""
    height, width = observation.screenshot.shape[:2]
    screen = Rect(0, 0, width, height)
    shown = [part for part in (rect.intersection(screen) for rect in parts) if part is not None]
    picture = observation.screenshot.copy()
    for part in shown:
        inside = picture[part.y + FRAME : part.bottom - FRAME, part.x + FRAME : part.right - FRAME].copy()
        picture[part.y : part.bottom, part.x : part.right] = RED
        picture[part.y + FRAME : part.bottom - FRAME, part.x + FRAME : part.right - FRAME] = inside
    if not shown:
        return picture
    top = max(0, min(part.y for part in shown) - SURROUNDINGS)
    left = max(0, min(part.x for part in shown) - SURROUNDINGS)
    bottom = max(part.bottom for part in shown) + SURROUNDINGS
    right = max(part.right for part in shown) + SURROUNDINGS
    return picture[top:bottom, left:right]
