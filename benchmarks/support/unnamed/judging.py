"""How many icons and shapes without names become candidates, and how many candidates are none of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aci.observation.geometry import Rect
from aci.observation.observation import Element
from benchmarks.support.figures import tell

_NEAR_PX = 3
_INSIDE, _COVERED = 0.7, 0.15  # share of a candidate inside of what it stands for, and of that covered by it
_NAMED = 0.4  # share of a text within an icon from which on recognition took the icon for a letter


@dataclass(slots=True)
class Score:
    """Candidates counted; `named` are icons that text recognition took for letters, and which have elements so."""

    truths: int = 0
    right: int = 0
    wrong: int = 0
    named: int = 0

    def add(self, name: str, truth: Sequence[Rect], candidates: Sequence[Element], texts: Sequence[Element]) -> None:
        """Judge the candidates of a screen: each stands for at most one thing, and a click on it hits that."""
        left = list(candidates)
        missed = []
        for rect in truth:
            standing = [candidate for candidate in left if _stands_for(candidate, rect)]
            if standing:
                left.remove(max(standing, key=lambda candidate: candidate.rect.area))
            elif any(_names(text, rect) for text in texts):
                self.named += 1
            else:
                missed.append((rect.x, rect.y, rect.width, rect.height))
        self.truths += len(truth)
        self.right += len(candidates) - len(left)
        self.wrong += len(left)
        tell(f"  {name}: {len(candidates) - len(left)} of {len(truth)} found, {len(left)} wrong; missed {missed[:12]}")

    @property
    def recall(self) -> float:
        """The share of things without a name that became candidates."""
        return self.right / (self.truths - self.named)

    @property
    def wrong_per_right(self) -> float:
        """The number of candidates that stand for nothing, for each that stands for something."""
        return self.wrong / max(1, self.right)


def _stands_for(candidate: Element, rect: Rect) -> bool:
    common = candidate.rect.intersection(rect.grown(_NEAR_PX, _NEAR_PX))
    if common is None or candidate.point is None or not rect.grown(1, 1).contains(candidate.point):
        return False
    return common.area >= _INSIDE * candidate.rect.area and candidate.rect.area >= _COVERED * rect.area


def _names(text: Element, rect: Rect) -> bool:
    common = text.rect.intersection(rect)
    return common is not None and common.area >= _NAMED * min(text.rect.area, rect.area)
