"""Sheets of tiles, so that an engine reads many small pieces of the screen at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from aci.observation.geometry import Rect
from aci.observation.visibility import bounding, reading_order
from aci.ocr.lines import word_gap
from aci.ocr.text_engine import TextBox

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GAP_X_PX, _GAP_Y_PX = 20, 8  # padding of each piece in its own color, so that neighbours are not read as one line
_SHEET_WIDTH_PX = 640
_MOST_WORK = 60.0  # sum of width by height of the pieces, which is what reading costs: about a dozen labels
_MOST_AREA_PX = 400_000


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """A piece of the screen that may hold text."""

    key: bytes  # stands for its pixels
    pixels: NDArray[np.uint8]  # (h, w, 3) uint8 RGB; what is not to be read has the color of the background
    background: NDArray[np.uint8]  # the color at its edge


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Tiles side by side."""

    pixels: NDArray[np.uint8]  # (H, W, 3) uint8 RGB
    places: tuple[tuple[Tile, Rect], ...]  # each tile and where it is, px

    @property
    def keys(self) -> frozenset[bytes]:
        """The keys of its tiles."""
        return frozenset(tile.key for tile, _ in self.places)

    def by_tile(self, boxes: Iterable[TextBox]) -> dict[bytes, tuple[TextBox, ...]]:
        """Return the texts of each tile by its key, in pixels of the tile."""
        found: dict[bytes, list[TextBox]] = {tile.key: [] for tile, _ in self.places}
        for box in boxes:
            for tile, place in self.places:
                inside = box.rect.intersection(place)
                if inside is not None and place.grown(_GAP_X_PX, _GAP_Y_PX).contains(box.rect.center):
                    found[tile.key].append(TextBox(inside.moved(-place.x, -place.y), box.text, box.confidence))
                    break
        return {key: tuple(_joined(read)) for key, read in found.items()}


def make_tile(pixels: NDArray[np.uint8], wanted: NDArray[np.bool_]) -> Tile:
    """Cut out the `wanted` pixels, (h, w) bool, of a piece, (h, w, 3) uint8 RGB."""
    background = _background(pixels, wanted)
    cut = np.ascontiguousarray(pixels)
    if not wanted.all():
        cut = np.where(wanted[:, :, None], pixels, background)
    key = blake2b(cut.tobytes(), digest_size=16, salt=cut.shape[1].to_bytes(8, "big")).digest()
    return Tile(key, cut, background)


def make_sheets(tiles: Sequence[Tile], readers: int = 1) -> Iterator[Sheet]:
    """Arrange tiles on sheets that are quick to read, in order, so that each of several readers gets one."""
    most_work = min(_MOST_WORK, sum(map(_work, tiles)) / readers)
    batch: list[Tile] = []
    work, area = 0.0, 0
    for tile in tiles:
        height, width = tile.pixels.shape[:2]
        more_work, more_area = _work(tile), (width + 2 * _GAP_X_PX) * (height + 2 * _GAP_Y_PX)
        if batch and (work + more_work > most_work or area + more_area > _MOST_AREA_PX):
            yield _sheet(batch)
            batch, work, area = [], 0.0, 0
        batch.append(tile)
        work, area = work + more_work, area + more_area
    if batch:
        yield _sheet(batch)


def _work(tile: Tile) -> float:
    return float(tile.pixels.shape[1] / tile.pixels.shape[0])


def _sheet(tiles: Sequence[Tile]) -> Sheet:
    width = max(_SHEET_WIDTH_PX, *(tile.pixels.shape[1] + 2 * _GAP_X_PX for tile in tiles))
    places: list[Rect] = []
    left = top = bottom = 0
    for tile in tiles:
        tile_height, tile_width = tile.pixels.shape[0] + 2 * _GAP_Y_PX, tile.pixels.shape[1] + 2 * _GAP_X_PX
        if left + tile_width > width:
            left, top = 0, bottom
        places.append(Rect(left, top, tile_width, tile_height))
        left, bottom = left + tile_width, max(bottom, top + tile_height)
    used = max(place.right for place in places)
    sheet = np.empty((bottom, used, 3), dtype=np.uint8)
    sheet[:] = tiles[0].background
    inner = []
    for tile, place in zip(tiles, places, strict=True):
        sheet[place.y : place.bottom, place.x : place.right] = tile.background
        rect = place.grown(-_GAP_X_PX, -_GAP_Y_PX)
        sheet[rect.y : rect.bottom, rect.x : rect.right] = tile.pixels
        inner.append((tile, rect))
    return Sheet(sheet, tuple(inner))


def _joined(boxes: Sequence[TextBox]) -> list[TextBox]:
    """Join what an engine has read as several words although it stands on one line."""
    lines: list[TextBox] = []
    for index in reading_order([box.rect for box in boxes]):
        box = boxes[index]
        if lines and _continues(lines[-1].rect, box.rect):
            lines[-1] = _both(lines[-1], box)
        else:
            lines.append(box)
    return lines


def _continues(before: Rect, after: Rect) -> bool:
    common = min(before.bottom, after.bottom) - max(before.y, after.y)
    lower = min(before.height, after.height)
    return common * 2 > lower and -lower < after.x - before.right <= word_gap(lower)


def _both(one: TextBox, other: TextBox) -> TextBox:
    lengths = len(one.text), len(other.text)
    confidence = (one.confidence * lengths[0] + other.confidence * lengths[1]) / max(1, sum(lengths))
    return TextBox(bounding([one.rect, other.rect]), f"{one.text} {other.text}", confidence)


def _background(pixels: NDArray[np.uint8], wanted: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return the most frequent color along the edge."""
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    known = np.concatenate([wanted[0], wanted[-1], wanted[:, 0], wanted[:, -1]])
    channels = (edge[known] if known.any() else edge).astype(np.int64)
    colors, counts = np.unique(channels @ (1 << 16, 1 << 8, 1), return_counts=True)
    color = int(colors[int(np.argmax(counts))])
    return np.array((color >> 16, color >> 8 & 255, color & 255), dtype=np.uint8)
