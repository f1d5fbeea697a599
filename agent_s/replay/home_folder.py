"""The home folder in learned steps, which is another one on each private desktop and for each person."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from agent_s.records import GroundedStep

HOME = "\ue1ff"  # stands for the path of the home; a private-use character, which nobody types and no screen shows


def shorten_home(text: str, home: Path | None) -> str:
    """Return a wording with "~" for the home's path."""
    return text if home is None else text.replace(f"{home}/", "~/")


def without_home(steps: Iterable[GroundedStep], home: Path | None) -> tuple[GroundedStep, ...]:
    """Return steps with a mark in place of the home's path, in what they type and in what that changed."""
    if home is None:
        return tuple(steps)
    path = re.compile(rf"{re.escape(json.dumps(str(home), ensure_ascii=False)[1:-1])}(?=[/\"\\ ])")
    return tuple(_replaced(step, path.sub(HOME, step.model_dump_json())) for step in steps)


def with_home(steps: Iterable[GroundedStep], home: Path) -> tuple[GroundedStep, ...]:
    """Return steps with the path of the current home in place of the mark."""
    path = json.dumps(str(home), ensure_ascii=False)[1:-1]
    return tuple(_replaced(step, step.model_dump_json().replace(HOME, path)) for step in steps)


def names_home(steps: Iterable[GroundedStep]) -> bool:
    """Return whether steps have the mark."""
    return any(HOME in step.model_dump_json() for step in steps)


def _replaced(step: GroundedStep, dumped: str) -> GroundedStep:
    return step if dumped == step.model_dump_json() else GroundedStep.model_validate_json(dumped)
