"""Where two pictures of the screen differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aci.geometry import Rect

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK_PX = 16
"""Width and height of the squares that are compared; a row of one is two words of eight bytes of the mask."""
MOST_AREAS = 200
"""With more areas than this the gaps between those of one row of blocks are filled."""

_WORD = 8


def changed_areas(previous: NDArray[np.uint32], current: NDArray[np.uint32]) -> tuple[Rect, ...] | None:
    """Return rectangles that together cover all pixels that differ.

    Args:
        previous: The earlier picture, (H, W) uint32.
        current: The later one.

    Returns:
        Disjoint rectangles made of blocks, clipped to the picture; None for pictures of different size.
    """
    if previous.shape != current.shape:
        return None
    height, width = current.shape
    areas = _areas(_changed_blocks(previous, current))
    screen = Rect(0, 0, width, height)
    found = (
        Rect(area.x * BLOCK_PX, area.y * BLOCK_PX, area.width * BLOCK_PX, area.height * BLOCK_PX) for area in areas
    )
    return tuple(clipped for area in found if (clipped := area.intersection(screen)) is not None)


def _changed_blocks(previous: NDArray[np.uint32], current: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return which blocks differ, (rows, columns) bool."""
    import numpy as np

    differs = previous != current
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
    """Return rectangles of blocks, few rather than tight where the changes are scattered."""
    import numpy as np

    rows = [(int(row), _runs(blocks[row])) for row in np.flatnonzero(blocks.any(axis=1))]
    areas = _joined(rows)
    return areas if len(areas) <= MOST_AREAS else _joined([(row, [(runs[0][0], runs[-1][1])]) for row, runs in rows])


def _joined(rows: Sequence[tuple[int, Sequence[tuple[int, int]]]]) -> list[Rect]:
    """Return the runs of each row as rectangles, joined with equal runs of the row above."""
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
    """Return start and end of each run of set flags."""
    import numpy as np

    edges = np.flatnonzero(np.diff(flags.view(np.int8), prepend=0, append=0))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]
