"""The OCR engines to choose from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from aci.errors import AciError, MissingDependency
from aci.ocr.text_engine import SAMPLE_TEXT, TextEngine, pip_command, require, sample_picture

EngineName = Literal["rapidocr", "paddleocr", "tesseract"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """Whether an engine can be used here."""

    name: EngineName  # the engine
    works: bool  # whether it can
    detail: str  # what was found, or why it cannot
    hint: str = ""  # the command that would make it work; empty where it does or none is known


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


def _status(name: EngineName, models: Path | None, try_out: bool) -> EngineStatus:
    try:
        engine = build_engine(name, models)
        if not try_out:
            return EngineStatus(name, True, "installed")
        read = " ".join(box.text for box in engine.recognize(sample_picture()))
    except MissingDependency as error:
        return EngineStatus(name, False, str(error), error.hint)
    except AciError as error:
        return EngineStatus(name, False, str(error))
    if "".join(read.split()).casefold() != "".join(SAMPLE_TEXT.split()).casefold():
        return EngineStatus(name, False, f"read {read!r} where {SAMPLE_TEXT!r} was written")
    return EngineStatus(name, True, f"tested with {SAMPLE_TEXT!r}")
