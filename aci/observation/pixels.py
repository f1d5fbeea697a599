"""Pixel differences between screenshots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aci.observation.geometry import Rect

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK_PX = 16  # side of the compared blocks; a row of a block is two 8-byte words of the mask
MAX_AREAS = 200  # with more areas, the gaps within each row of blocks are filled

CARET_PX = 3  # a narrower change is a blinking caret
MAX_CARET_HEIGHT_PX = 64

_WORD = 8


def changed_areas(previous: NDArray[np.uint32], current: NDArray[np.uint32]) -> tuple[Rect, ...] | None:
    """Return disjoint rectangles that cover all differing pixels, except blinking carets; None for different sizes.

    Both pictures are (H, W) uint32.
    """
    if previous is current:
        return ()
    if previous.shape != current.shape:
        return None
    height, width = current.shape
    screen = Rect(0, 0, width, height)
    differs = previous != current
    scaled = (area.scaled(BLOCK_PX) for area in _areas(_blocks(differs)))
    clipped = (common for area in scaled if (common := area.intersection(screen)) is not None)
    return tuple(area for area in clipped if not _is_caret(differs, area))


def is_changed(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> bool:
    """Return whether two pictures, both (H, W, 3) uint8 RGB, differ in more than a blinking caret."""
    return is_more_than_a_caret(differing(one, other))


def is_more_than_a_caret(differs: NDArray[np.bool_]) -> bool:
    """Return whether any pixel differs, (H, W), other than in one place that is as narrow as a blinking caret."""
    import numpy as np

    columns, rows = np.flatnonzero(differs.any(axis=0)), np.flatnonzero(differs.any(axis=1))
    if not len(columns):
        return False
    narrow = int(columns[-1] - columns[0]) < CARET_PX and int(rows[-1] - rows[0]) < MAX_CARET_HEIGHT_PX
    return not narrow


def differing(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which pixels of two pictures, both (H, W, 3) uint8 RGB, differ, as (H, W).

    Comparing whole rows first, and then channels one by one, is ten times faster than `any` over the last axis.
    """
    import numpy as np

    height, width, channels = one.shape
    rows = np.flatnonzero((one != other).reshape(height, width * channels).any(axis=1))
    apart = one[rows] != other[rows]
    differs = np.zeros((height, width), np.bool_)
    differs[rows] = apart[:, :, 0] | apart[:, :, 1] | apart[:, :, 2]
    return differs


def _is_caret(differs: NDArray[np.bool_], area: Rect) -> bool:
    import numpy as np

    if area.width > 2 * BLOCK_PX or area.height > MAX_CARET_HEIGHT_PX:
        return False
    columns = np.flatnonzero(differs[area.y : area.bottom, area.x : area.right].any(axis=0))
    return len(columns) > 0 and int(columns[-1] - columns[0]) < CARET_PX


def _blocks(differs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    import numpy as np

    height, width = differs.shape
    rows, columns = -(-height // BLOCK_PX), -(-width // BLOCK_PX)
    if (rows * BLOCK_PX, columns * BLOCK_PX) != (height, width):
        whole = np.zeros((rows * BLOCK_PX, columns * BLOCK_PX), dtype=bool)
        whole[:height, :width] = differs
        differs = whole
    words = differs.view(np.uint64).reshape(rows, BLOCK_PX, columns, BLOCK_PX // _WORD)
    blocks: NDArray[np.bool_] = np.bitwise_or.reduce(words, axis=1).any(axis=2)
    return blocks


def _areas(blocks: NDArray[np.bool_]) -> list[Rect]:
    """Return rectangles of changed blocks; scattered changes yield few large ones rather than many tight ones."""
    import numpy as np

    rows = [(int(row), _runs(blocks[row])) for row in np.flatnonzero(blocks.any(axis=1))]
    areas = _merge_rows(rows)
    return areas if len(areas) <= MAX_AREAS else _merge_rows([(row, [(runs[0][0], runs[-1][1])]) for row, runs in rows])


def _merge_rows(rows: Sequence[tuple[int, Sequence[tuple[int, int]]]]) -> list[Rect]:
    finished: list[Rect] = []
    growing: dict[tuple[int, int], Rect] = {}
    for row, runs in rows:
        grown = {}
        for start, end in runs:
            above = growing.pop((start, end), None)
            if above is not None and above.bottom == row:
                grown[start, end] = Rect(above.x, above.y, above.width, above.height + 1)
            else:
                finished += [above] if above is not None else []
                grown[start, end] = Rect(start, row, end - start, 1)
        finished += growing.values()
        growing = grown
    return [*finished, *growing.values()]


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    import numpy as np

    edges = np.flatnonzero(np.diff(flags.view(np.int8), prepend=0, append=0))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]
