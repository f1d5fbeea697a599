"""Screenshots for models.

Primitives refer to elements or to pixels of the screen, so pictures may have any size. If the text of an observation
covers everything that is visible, the picture needs no detail and is sent at half its size, as an overview.
"""

from __future__ import annotations

import io
from functools import reduce
from typing import TYPE_CHECKING

from aci.observation.geometry import Rect
from aci.observation.observation import Observation
from agent_s.llm.conversation import Picture

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONGEST_EDGE = 1568  # longest edge that every current model takes unscaled, px
MARGIN = 40  # around a part of the screen, px
INVISIBLE = 8  # invisible difference in brightness; redrawn text may differ by a few steps
OVERVIEW_EDGE = 400  # longest edge below which no picture is halved, px

BLOCK = 8  # side of the blocks that are counted, px
DRAWN = 40  # minimum difference in brightness within a block that contains a drawing
BLOCKS_OF_A_CHARACTER, BLOCKS_OF_AN_ICON = 4, 40  # number of blocks that a named element may fill
BLOCKS_OF_A_PICTURE = 160  # about 100x100 px; with fewer drawn blocks outside text elements, the text covers everything


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

    if before.screenshot is after.screenshot:
        return None
    if before.screenshot.shape != after.screenshot.shape:
        return after.screen
    old, new = before.screenshot, after.screenshot
    differs: NDArray[np.bool_] = np.any(np.maximum(old, new) - np.minimum(old, new) > INVISIBLE, axis=2)
    rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    if not rows.size:
        return None
    left, top, right, bottom = int(columns[0]), int(rows[0]), int(columns[-1]), int(rows[-1])
    return Rect(left, top, right - left, bottom - top).grown(MARGIN, MARGIN).intersection(after.screen)


def is_all_text(seen: Observation, part: Rect | None = None) -> bool:
    """Return whether the text of an observation covers what a part of the screen, or all of it, shows.

    It does unless much is drawn outside of text elements: photos, charts, drawings, unread texts, and pictures that
    have only a short name.
    """
    drawn = _drawn(seen.screenshot)
    for element in sorted(seen.elements, key=lambda one: one.rect.area):
        characters = sum(map(len, (element.name, element.label, element.text or "")))
        blocks = drawn[_blocks(element.rect, margin=BLOCK // 2)]
        border = 2 * (element.rect.width + element.rect.height) // BLOCK
        if characters and blocks.sum() <= BLOCKS_OF_A_CHARACTER * characters + BLOCKS_OF_AN_ICON + border:
            blocks[:] = False
    for window in seen.windows:
        frame = window.frame or window.rect
        for edge in _edges(frame, window.rect.y - frame.y):
            drawn[_blocks(edge, margin=BLOCK)] = False
    return int((drawn if part is None else drawn[_blocks(part)]).sum()) <= BLOCKS_OF_A_PICTURE


def _drawn(screenshot: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return a mask of the blocks of a screenshot that contain a drawing, (H / 8, W / 8)."""
    import numpy as np

    height, width = (size // BLOCK * BLOCK for size in screenshot.shape[:2])
    brightest, darkest = screenshot[:height, :width], screenshot[:height, :width]
    brightest = reduce(np.maximum, (brightest[row::BLOCK] for row in range(BLOCK)))
    darkest = reduce(np.minimum, (darkest[row::BLOCK] for row in range(BLOCK)))
    brightest = reduce(np.maximum, (brightest[:, column::BLOCK] for column in range(BLOCK)))
    darkest = reduce(np.minimum, (darkest[:, column::BLOCK] for column in range(BLOCK)))
    drawn: NDArray[np.bool_] = np.any(brightest - darkest > DRAWN, axis=2)
    return drawn


def _blocks(area: Rect, margin: int = 0) -> tuple[slice, slice]:
    """Return the blocks that an area touches."""
    left, top = max(0, area.x - margin) // BLOCK, max(0, area.y - margin) // BLOCK
    right, bottom = max(0, area.right + margin), max(0, area.bottom + margin)
    return slice(top, -(-bottom // BLOCK)), slice(left, -(-right // BLOCK))


def _edges(frame: Rect, title_height: int) -> tuple[Rect, ...]:
    """Return the areas of a window's title bar and borders."""
    return (
        Rect(frame.x, frame.y, frame.width, max(1, title_height)),
        Rect(frame.x, frame.bottom, frame.width, 1),
        Rect(frame.x, frame.y, 1, frame.height),
        Rect(frame.right, frame.y, 1, frame.height),
    )
