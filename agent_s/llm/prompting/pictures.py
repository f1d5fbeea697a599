"""Screenshots for models.

Actions name elements, never pixels, so a picture may have any size.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from aci.observation.geometry import Rect
from agent_s.llm.conversation import Picture

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aci.observation.observation import Observation

LONGEST_EDGE = 1568  # longest edge that every current model takes unscaled, px
MARGIN = 40  # around a part of the screen, px
INVISIBLE = 8  # invisible difference in brightness; redrawing the same text may differ by a few steps


def encode(
    observation: Observation, longest_edge: int = LONGEST_EDGE, part: Rect | None = None, marked: bool = False
) -> Picture:
    """Return the screenshot as PNG; the same observation always gives the same bytes.

    Args:
        observation: The screen.
        longest_edge: Larger pictures are shrunk to this, px.
        part: Part of the screen; None for all.
        marked: Whether each element has a numbered mark.
    """
    from PIL import Image

    pixels = observation.marked_screenshot() if marked else observation.screenshot
    if part is not None:
        pixels = pixels[part.y : part.bottom, part.x : part.right]
    image = Image.fromarray(pixels)
    scale = longest_edge / max(image.size)
    if scale < 1:
        width, height = (max(1, round(edge * scale)) for edge in image.size)
        image = image.resize((width, height), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=6)
    return Picture(file.getvalue(), "image/png", image.width, image.height)


def as_picture(png: bytes) -> Picture:
    """Return a PNG file as it is."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as image:
        return Picture(png, "image/png", image.width, image.height)


def changed_part(before: Observation, after: Observation) -> Rect | None:
    """Return the part of the screen that changed visibly, with a margin; None if none did."""
    import numpy as np

    height, width = after.screenshot.shape[:2]
    if before.screenshot is after.screenshot:
        return None
    if before.screenshot.shape != after.screenshot.shape:
        return Rect(0, 0, width, height)
    old, new = before.screenshot, after.screenshot
    differs: NDArray[np.bool_] = np.any(np.maximum(old, new) - np.minimum(old, new) > INVISIBLE, axis=2)
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    if not rows.size:
        return None
    left, top = max(0, int(columns[0]) - MARGIN), max(0, int(rows[0]) - MARGIN)
    right, bottom = min(width, int(columns[-1]) + MARGIN), min(height, int(rows[-1]) + MARGIN)
    return Rect(left, top, right - left, bottom - top)
