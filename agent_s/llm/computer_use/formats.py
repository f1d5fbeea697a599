"""Formats of computer-use models behind OpenAI-compatible servers: picture sizes and coordinate systems."""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from aci.observation.geometry import Rect
from agent_s.errors import SettingsError
from agent_s.llm.computer_use.frames import MAX_PIXELS, Frame, smart_resize
from intents.tables import read_table

Language = Literal["qwen", "ui_tars", "seed", "pyautogui", "pair", "json"]


class ModelFormat(BaseModel):
    """One entry of `formats.yaml`, where the fields are explained."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    models: tuple[str, ...]
    units: int | None = None
    factor: Annotated[int, Field(ge=1)]
    min_pixels: int = 3136
    max_pixels: int = MAX_PIXELS
    acts: Language | None
    points: Language
    body: dict[str, Any] = {}

    def frame(self, part: Rect) -> Frame:
        """Return the frame for a part of the screen, in a size that the model does not rescale."""
        return smart_resize(part, self.factor, self.min_pixels, self.max_pixels, self.units)


@cache
def formats() -> dict[str, ModelFormat]:
    """Return all formats by name."""
    table = read_table("agent_s.llm.computer_use", "formats.yaml", typed=True)
    return {name: ModelFormat(name=name, **fields) for name, fields in table.items()}


def find_format(model: str, name: str | None = None) -> ModelFormat:
    """Return the format with a name, or the default one of a model.

    Raises:
        SettingsError: There is none; the message lists the names.
    """
    known = formats()
    if name is not None:
        if name not in known:
            raise SettingsError(f"There is no format {name!r}; there are: {', '.join(known)}.")
        return known[name]
    for one in known.values():
        if any(re.search(pattern, model, re.IGNORECASE) for pattern in one.models):
            return one
    raise SettingsError(f"The format of the model {model!r} is not known. Name it, one of: {', '.join(known)}.")
