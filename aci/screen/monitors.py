"""The visible parts of a screen of several monitors of different size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from aci.observation.geometry import Rect
from aci.observation.snapshot import Element
from aci.observation.visibility import ground, uncovered


def gaps(screen: Rect, monitors: Sequence[Rect]) -> tuple[Rect, ...]:
    """Return disjoint rectangles that no monitor shows; () if no monitor is known."""
    return tuple(uncovered(screen, monitors)) if monitors else ()


def shown(elements: Iterable[Element], dark: Sequence[Rect]) -> tuple[Element, ...]:
    """Return the elements on monitors, cut at the edges of the `dark` areas."""
    kept = []
    for element in elements:
        if not any(element.rect.intersection(gap) for gap in dark):
            kept.append(element)
        elif (placement := ground(element.rect, (), dark)) is not None:
            point = element.point
            if point is not None and any(gap.contains(point) for gap in dark):
                point = placement.point
            kept.append(replace(element, rect=placement.rect, point=point))
    return tuple(kept)
