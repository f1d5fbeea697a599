"""Icons and shapes without a name as text for a model."""

from __future__ import annotations

from collections.abc import Sequence

from aci.observation.snapshot import Element
from aci.observation.visibility import reading_order

HEAD = "without a name, found in the picture:"


def candidate_lines(candidates: Sequence[Element]) -> list[str]:
    """Return id, role, color, size and place of each; those of a row share a line."""
    lines: list[list[Element]] = []
    for candidate in (candidates[place] for place in reading_order([each.rect for each in candidates])):
        last = lines[-1][-1].rect if lines else candidate.rect
        if lines and candidate.rect.x > last.x and candidate.rect.y < last.bottom and last.y < candidate.rect.bottom:
            lines[-1].append(candidate)
        else:
            lines.append([candidate])
    return ["  " + " | ".join(_candidate(candidate) for candidate in row) for row in lines]


def _candidate(element: Element) -> str:
    point = f"@{element.point.x},{element.point.y}" if element.point is not None else "covered"
    return f"{element.id} {element.role} {element.description} {element.rect.width}x{element.rect.height} {point}"
