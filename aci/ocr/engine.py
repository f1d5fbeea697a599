"""The OCR engines to choose from."""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from aci.errors import AciError, MissingDependency
from aci.observation.geometry import Rect

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EngineName = Literal["rapidocr", "paddleocr", "tesseract"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)

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


def mended(text: str) -> str:
    """Return a recognized text with what is commonly lost: one of the three dots behind what opens a dialog."""
    return _TWO_DOTS.sub("...", text)


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """Whether an engine can be used here."""

    name: EngineName  # the engine
    works: bool  # whether it can
    detail: str  # what was found, or why it cannot
    mend: str = ""  # the command that would make it work; empty where it does or none is known


def build_engine(name: EngineName, models: Path | None = None) -> TextEngine:
    """Return an engine; its models are loaded when it first recognizes something.

    `models` is the folder of models that `paddleocr` needs; see `aci.ocr.paddleocr`.

    Raises:
        MissingDependency: It is not installed; the message names the command that installs it.
        ValueError: There is no engine of that name.
    """
    match name:
        case "rapidocr":
            from aci.ocr.rapidocr import REQUIREMENTS, RapidOcr

            for module in ("rapidocr", "onnxruntime"):
                require(module, pip_command(*REQUIREMENTS))
            return RapidOcr()
        case "tesseract":
            from aci.ocr.tesseract import Tesseract

            return Tesseract()
        case "paddleocr":
            require("paddleocr", pip_command("paddleocr>=3", "paddlepaddle>=3"))
            from aci.ocr.paddleocr import PaddleOcr

            return PaddleOcr(models)
    raise ValueError(f"There is no OCR engine {name!r}; there are {', '.join(ENGINES)}.")


def default_engine() -> TextEngine | None:
    """Return RapidOCR if it is installed, else None."""
    return build_engine("rapidocr") if _status("rapidocr", None, try_out=False).works else None


def available_engines(models: Path | None = None, try_out: bool = False) -> tuple[EngineStatus, ...]:
    """Return which engines can be used here.

    With `try_out` each installed engine reads a word, which takes a second or more each.
    """
    return tuple(_status(name, models, try_out) for name in ENGINES)


def sample_picture() -> NDArray[np.uint8]:
    """Return a small picture of `SAMPLE_TEXT`, (H, W, 3) uint8 RGB."""
    import numpy as np
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (160, 48), "white")
    ImageDraw.Draw(image).text((20, 12), SAMPLE_TEXT, fill="black", font=ImageFont.load_default(size=18))
    return np.asarray(image)


def require(module: str, mend: str) -> None:
    """Raise `MissingDependency` if a Python module is not installed, without importing it."""
    if find_spec(module) is None:
        raise MissingDependency(f"The Python package {module} is not installed.", mend)


def require_program(name: str, mend: str) -> str:
    """Return the path of a program, or raise `MissingDependency`."""
    path = shutil.which(name)
    if path is None:
        raise MissingDependency(f"The program {name} is not installed.", mend)
    return path


def pip_command(*requirements: str) -> str:
    """Return the command that installs packages into this environment."""
    return f"{sys.executable} -m pip install {' '.join(repr(text) for text in requirements)}"


def _status(name: EngineName, models: Path | None, try_out: bool) -> EngineStatus:
    try:
        engine = build_engine(name, models)
        if not try_out:
            return EngineStatus(name, True, "installed")
        read = " ".join(box.text for box in engine.recognize(sample_picture()))
    except MissingDependency as error:
        return EngineStatus(name, False, str(error), error.mend)
    except AciError as error:
        return EngineStatus(name, False, str(error))
    if "".join(read.split()).casefold() != "".join(SAMPLE_TEXT.split()).casefold():
        return EngineStatus(name, False, f"read {read!r} where {SAMPLE_TEXT!r} was written")
    return EngineStatus(name, True, f"reads {SAMPLE_TEXT!r}")
