"""The protocol of OCR engines, and what they share."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from aci.errors import MissingDependency
from aci.observation.geometry import Rect

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SAMPLE_TEXT = "Open file"
_TWO_DOTS = re.compile(r"(?<=\w)\.\.$")


@dataclass(frozen=True, slots=True)
class TextBox:
    """A line of text, or a part of one."""

    rect: Rect  # around the letters and up to a few pixels more, in pixels of the picture
    text: str  # what it says
    confidence: float  # 0 to 1


class TextEngine(Protocol):
    """Recognizes text in pixels; usable from several threads."""

    def recognize(self, pixels: NDArray[np.uint8]) -> list[TextBox]:
        """Find and read the text in a picture.

        Args:
            pixels: (H, W, 3) uint8 RGB.

        Raises:
            MissingDependency: What the engine needs has been removed since it was built.
            RecognitionFailed: The engine could not deal with the picture.
        """


def restore_ellipsis(text: str) -> str:
    """Return a recognized text with the third dot of a final ellipsis, which is often lost."""
    return _TWO_DOTS.sub("...", text)


def sample_picture() -> NDArray[np.uint8]:
    """Return a small picture of `SAMPLE_TEXT`, (H, W, 3) uint8 RGB."""
    import numpy as np
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (160, 48), "white")
    ImageDraw.Draw(image).text((20, 12), SAMPLE_TEXT, fill="black", font=ImageFont.load_default(size=18))
    return np.asarray(image)


def require(module: str, hint: str) -> None:
    """Raise `MissingDependency` if a Python module is not installed, without importing it."""
    if find_spec(module) is None:
        raise MissingDependency(f"The Python package {module} is not installed.", hint)


def pip_command(*requirements: str) -> str:
    """Return the command that installs packages into this environment."""
    return f"{sys.executable} -m pip install {' '.join(repr(text) for text in requirements)}"
