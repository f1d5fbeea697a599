"""Results of primitives that only look: close-ups of the screen, and pages of a text."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from aci.observation.geometry import Rect

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PAGE = 8000
"""Maximum number of characters per page."""
_MAX_SIDE_PX = 1000  # small parts are enlarged up to this side length
_MAX_FACTOR = 4


def close_up(screenshot: NDArray[np.uint8], area: Rect) -> bytes:
    """Return a part of a screenshot as a PNG file; small parts are enlarged by a whole number.

    Args:
        screenshot: (H, W, 3) uint8 RGB.
        area: The part, px; it lies on the screen.
    """
    from PIL import Image

    image = Image.fromarray(screenshot[area.y : area.bottom, area.x : area.right])
    factor = max(1, min(_MAX_FACTOR, _MAX_SIDE_PX // max(image.size)))
    if factor > 1:
        image = image.resize((image.width * factor, image.height * factor), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=6)
    return file.getvalue()


def pages(text: str) -> list[str]:
    """Split a text into pages, at line ends or between words where possible."""
    found: list[str] = []
    while len(text) > PAGE:
        cut = max(text.rfind("\n", PAGE // 2, PAGE), 0) or max(text.rfind(" ", PAGE // 2, PAGE), 0) or PAGE - 1
        found.append(text[: cut + 1])
        text = text[cut + 1 :]
    return [*found, text]
