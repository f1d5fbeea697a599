"""Screenshots as a model gets them.

Actions name elements, never pixels, so a picture may have any size; it is only for looking.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from agent_s.llm.conversation import Picture

if TYPE_CHECKING:
    from aci.observation import Observation

LONGEST_EDGE = 1568
"""Longest edge that every current model takes unscaled, px."""


def encode(observation: Observation, longest_edge: int = LONGEST_EDGE, marked: bool = True) -> Picture:
    """Return the screenshot as PNG, shrunk where it is larger; the same observation always gives the same bytes.

    Args:
        observation: What was seen.
        longest_edge: px.
        marked: Whether elements carry their numbers.
    """
    from PIL import Image

    pixels = observation.marked_screenshot() if marked else observation.screenshot
    image = Image.fromarray(pixels)
    scale = longest_edge / max(image.size)
    if scale < 1:
        width, height = (max(1, round(edge * scale)) for edge in image.size)
        image = image.resize((width, height), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=6)
    return Picture(file.getvalue(), "image/png", image.width, image.height)


def same_pixels(one: Observation, other: Observation) -> bool:
    """Tell whether two screenshots are equal."""
    import numpy as np

    return one.screenshot is other.screenshot or bool(np.array_equal(one.screenshot, other.screenshot))
