"""Text form, for a model, of candidates found in the picture: sheet headers, and unnamed icons and shapes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from aci.observation.cell_addresses import column_number
from aci.observation.snapshot import Element
from aci.observation.visibility import reading_order

HEAD = "found in the picture:"


def candidate_lines(candidates: Sequence[Element]) -> list[str]:
    """Return lines with id, role, color, size and position; candidates in a row share a line, and so do headers."""
    headers = [candidate for candidate in candidates if candidate.name]
    nameless = [candidate for candidate in candidates if not candidate.name]
    lines: list[list[Element]] = []
    for candidate in (nameless[place] for place in reading_order([each.rect for each in nameless])):
        last = lines[-1][-1].rect if lines else candidate.rect
        if lines and candidate.rect.x > last.x and candidate.rect.y < last.bottom and last.y < candidate.rect.bottom:
            lines[-1].append(candidate)
        else:
            lines.append([candidate])
    return [*_header_lines(headers), *("  " + " | ".join(_candidate(candidate) for candidate in row) for row in lines)]


def _header_lines(headers: Sequence[Element]) -> list[str]:
    lines = []
    for role, members in groupby(headers, key=lambda header: header.role):
        runs: list[list[Element]] = []
        for header in members:
            if runs and _follows(header, runs[-1][-1]):
                runs[-1].append(header)
            else:
                runs.append([header])
        lines.append(f"  {role}s " + " | ".join(_run(run) for run in runs))
    return lines


def _follows(header: Element, last: Element) -> bool:
    return header.id == last.id + 1 and _number(header) == _number(last) + 1


def _number(header: Element) -> int:
    return int(header.name) if header.name.isdecimal() else column_number(header.name)


def _run(headers: Sequence[Element]) -> str:
    first, last = headers[0], headers[-1]
    if first is last:
        return f"{first.name}: id {first.id}"
    return f"{first.name} to {last.name}: ids {first.id} to {last.id}"


def _candidate(element: Element) -> str:
    point = f"@{element.point.x},{element.point.y}" if element.point is not None else "covered"
    return f"{element.id} {element.role} {element.description} {element.rect.width}x{element.rect.height} {point}"
