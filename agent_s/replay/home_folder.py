"""Abstraction of the home directory in learned steps, since its path differs between desktops and users."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from agent_s.records import GroundedStep

HOME = "\ue1ff"  # placeholder for the home's path; a private-use character, which does not occur in real texts


def shorten_home(text: str, home: Path | None) -> str:
    """Return a text with "~" in place of the home's path."""
    return text if home is None else text.replace(f"{home}/", "~/")


def without_home(steps: Iterable[GroundedStep], home: Path | None) -> tuple[GroundedStep, ...]:
    """Return steps with a placeholder for the home's path in their texts and effects."""
    if home is None:
        return tuple(steps)
    path = re.compile(rf"{re.escape(json.dumps(str(home), ensure_ascii=False)[1:-1])}(?=[/\"\\ ])")
    return tuple(_replaced(step, path.sub(HOME, step.model_dump_json())) for step in steps)


def with_home(steps: Iterable[GroundedStep], home: Path) -> tuple[GroundedStep, ...]:
    """Return steps with the path of the current home in place of the placeholder."""
    path = json.dumps(str(home), ensure_ascii=False)[1:-1]
    return tuple(_replaced(step, step.model_dump_json().replace(HOME, path)) for step in steps)


def names_home(steps: Iterable[GroundedStep]) -> bool:
    """Return whether steps contain the placeholder."""
    return any(HOME in step.model_dump_json() for step in steps)


def _replaced(step: GroundedStep, dumped: str) -> GroundedStep:
    return step if dumped == step.model_dump_json() else GroundedStep.model_validate_json(dumped)
