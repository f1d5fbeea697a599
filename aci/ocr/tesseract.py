"""Tesseract 5 as a program; weaker on small labels than the other engines, but in every distribution."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from collections.abc import Iterable
from typing import TYPE_CHECKING

from aci.errors import MissingDependency, RecognitionFailed
from aci.observation.geometry import Rect
from aci.observation.visibility import bounding
from aci.ocr.text_engine import TextBox

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_INSTALL = "sudo apt-get install -y --no-install-recommends tesseract-ocr"
_ENLARGED = 2  # labels on screens are half as large as the letters its models know
_MARGIN_PX = 8
_LIMIT_S = 60.0
_LEAST_CONFIDENCE = 0.3
_WORD_LEVEL = "5"

_Row = dict[str, str]


class Tesseract:
    """Reads text with the program `tesseract` and the models of a language, as its option `-l` takes them.

    Raises:
        MissingDependency: The program is not installed.
    """

    def __init__(self, language: str = "eng") -> None:
        program = shutil.which("tesseract")
        if program is None:
            raise MissingDependency("The program tesseract is not installed.", _INSTALL)
        self._program = program
        self._language = language

    def recognize(self, pixels: NDArray[np.uint8]) -> list[TextBox]:
        """Find and read the text in a picture; see `aci.ocr.engines.TextEngine`."""
        rows = csv.DictReader(io.StringIO(self._run(_as_png(pixels))), delimiter="\t", quoting=csv.QUOTE_NONE)
        lines: dict[tuple[str, ...], list[_Row]] = {}
        for row in rows:
            if row["level"] == _WORD_LEVEL and row["text"].strip():
                lines.setdefault((row["block_num"], row["par_num"], row["line_num"]), []).append(row)
        boxes = [_line(words) for line in lines.values() for words in _apart(line)]
        frame = Rect(0, 0, pixels.shape[1], pixels.shape[0])
        return [
            TextBox(rect, box.text, box.confidence)
            for box in boxes
            if box.confidence >= _LEAST_CONFIDENCE and (rect := box.rect.intersection(frame)) is not None
        ]

    def _run(self, png: bytes) -> str:
        # Page segmentation mode 11 looks for text anywhere, in no order.
        argv = [self._program, "stdin", "stdout", "-l", self._language, "--psm", "11", "--dpi", "150", "tsv"]
        try:
            done = subprocess.run(argv, input=png, capture_output=True, timeout=_LIMIT_S, check=True)
        except FileNotFoundError as error:
            raise MissingDependency("The program tesseract is gone.", _INSTALL) from error
        except subprocess.TimeoutExpired as error:
            raise RecognitionFailed(f"Tesseract took longer than {_LIMIT_S:g} s.") from error
        except subprocess.CalledProcessError as error:
            raise RecognitionFailed(f"Tesseract failed: {error.stderr.decode(errors='replace').strip()}") from error
        return done.stdout.decode()


def _as_png(pixels: NDArray[np.uint8]) -> bytes:
    from PIL import Image, ImageOps

    image = Image.fromarray(pixels).convert("L")
    image = image.resize((image.width * _ENLARGED, image.height * _ENLARGED), Image.Resampling.BICUBIC)
    corners = [(x, y) for x in (0, image.width - 1) for y in (0, image.height - 1)]
    # A pixel of a grey picture is a single number, which the type of `getpixel` does not include.
    background = sorted(int(image.getpixel(corner)) for corner in corners)[1]  # type: ignore[arg-type]
    if background < 128:
        image, background = ImageOps.invert(image), 255 - background
    data = io.BytesIO()
    ImageOps.expand(image, _MARGIN_PX * _ENLARGED, background).save(data, "png", compress_level=1)
    return data.getvalue()


def _apart(words: Iterable[_Row]) -> list[list[_Row]]:
    """Split a line at gaps wider than the letters are tall: those separate labels."""
    parts: list[list[_Row]] = []
    for word in words:
        if parts:
            last = parts[-1][-1]
            gap = int(word["left"]) - int(last["left"]) - int(last["width"])
            if gap <= 1.5 * max(int(last["height"]), int(word["height"])):
                parts[-1].append(word)
                continue
        parts.append([word])
    return parts


def _line(words: list[_Row]) -> TextBox:
    rect = bounding([Rect(*(int(word[side]) for side in ("left", "top", "width", "height"))) for word in words])
    corner = (rect.x // _ENLARGED - _MARGIN_PX, rect.y // _ENLARGED - _MARGIN_PX)
    confidence = min(float(word["conf"]) for word in words) / 100
    return TextBox(
        Rect(*corner, -(-rect.width // _ENLARGED), -(-rect.height // _ENLARGED)),
        " ".join(word["text"].strip() for word in words),
        confidence,
    )
