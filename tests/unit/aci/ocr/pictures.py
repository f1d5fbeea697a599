"""Pictures whose "text" a fake engine can read, and that engine."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from aci.errors import RecognitionFailed
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Window
from aci.ocr.text_engine import TextBox

INK = 200
"""Blue of what is written; red tells which word it is, and there is no green."""
SCREEN = Rect(0, 0, 400, 300)


def blank(width: int = SCREEN.width, height: int = SCREEN.height, shade: int = 255) -> NDArray[np.uint8]:
    return np.full((height, width, 3), shade, dtype=np.uint8)


def write(pixels: NDArray[np.uint8], word: int, rect: Rect) -> None:
    """Write a word from 1 to 255, as upright strokes."""
    pixels[rect.y : rect.bottom, rect.x : rect.right : 3] = (word, 0, INK)


def wiped(pixels: NDArray[np.uint8], rect: Rect) -> NDArray[np.uint8]:
    copy = pixels.copy()
    copy[rect.y : rect.bottom, rect.x : rect.right] = 255
    return copy


def window(identity: int = 1, rect: Rect = SCREEN, title: str = "Window") -> Window:
    return Window(identity, title, "app", rect)


def element(
    identity: int, name: str, rect: Rect, role: str = "label", text: str | None = None, window_id: int = 1
) -> Element:
    return Element(identity, role, name, rect, rect.center, window_id, "app", text)


class FakeEngine:
    """Reads what `write` has written as "word N" and what `after` says, or as `readings` says; can be made to stand
    still or to fail.
    """

    def __init__(self, failure: Exception | None = None) -> None:
        self.sheets: list[NDArray[np.uint8]] = []
        self.failure = failure
        self.confidence = 1.0
        self.after = ""
        self.readings: dict[int, str] = {}
        self.go = threading.Event()
        self.go.set()

    def recognize(self, pixels: NDArray[np.uint8]) -> list[TextBox]:
        assert self.go.wait(20)
        if self.failure is not None:
            raise self.failure
        written = (pixels[:, :, 1] == 0) & (pixels[:, :, 2] == INK)
        words = [int(word) for word in np.unique(pixels[:, :, 0][written])]
        if words:
            self.sheets.append(pixels)
        return [
            TextBox(
                _around(written & (pixels[:, :, 0] == word)),
                self.readings.get(word, f"word {word}{self.after}"),
                self.confidence,
            )
            for word in words
        ]

    @property
    def read(self) -> list[int]:
        """The words that it was shown, once for each time."""
        return [int(word) for sheet in self.sheets for word in np.unique(sheet[:, :, 0][(sheet[:, :, 1] == 0)]) if word]


def unreadable() -> RecognitionFailed:
    return RecognitionFailed("out of paper")


def _around(mask: NDArray[np.bool_]) -> Rect:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    left, top = int(columns[0]), int(rows[0])
    return Rect(left, top, int(columns[-1]) + 1 - left, int(rows[-1]) + 1 - top)
