"""Clicking what bears a token, and counting what was really hit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from aci.acting.actions import Click, Hotkey, Scroll
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Element, Observation
from benchmarks.support.figures import tell
from benchmarks.support.reports import Reports, wait_until

HIT_LIMIT_S = 1.0
MOST_VIEWS = 40
"""Scrolled views of one window that are looked at."""
BOX_PX = 190
"""Height of the boxes that scroll, with some air."""
TEXTS = frozenset({"label", "static", "paragraph", "heading", "section"})
_PARTS_OF_OTHERS = re.compile(r"(Month|Day|Year|Show date picker) ")
_OPENS = frozenset({"combo box", "date editor", "push button menu"})
"""What opens something that must be closed before the next click."""


@dataclass(slots=True)
class Tally:
    """What came of clicks."""

    hits: int = 0  # clicks that hit what was meant
    # descriptions of those that did not, refusals and things never seen among them
    misses: list[str] = field(default_factory=list)
    outside: int = 0  # clicks that went to another program's window
    kinds: Counter[str] = field(default_factory=Counter)  # tried and missed, by kind of fixture

    @property
    def tried(self) -> int:
        """All that was to be hit."""
        return self.hits + len(self.misses)

    def add(self, fixture: str, hit: bool, miss: str = "") -> None:
        """Count one."""
        self.kinds[f"{fixture}: {'hit' if hit else 'missed'}"] += 1
        if hit:
            self.hits += 1
        else:
            self.misses.append(f"{fixture}: {miss}")

    def tell(self) -> None:
        """Tell the misses."""
        for kind, count in sorted(self.kinds.items()):
            tell(f"  {count:4} {kind}")
        for miss in self.misses:
            tell(f"    {miss}")
        tell(f"  {self.outside} clicks outside of the window meant")


class Clicker:
    """Clicks all tokens of one window that can be seen, scrolling through it."""

    def __init__(self, desktop: VirtualDesktop, reports: Reports, fixture: str, app_pid: int, tally: Tally) -> None:
        """Take the desktop, where hits are reported, the name of the fixture and the process whose window it is."""
        self._desktop = desktop
        self._reports = reports
        self._fixture = fixture
        self._pid = app_pid
        self._tally = tally
        self._tried: set[str] = set()

    def click_all(self, tokens: Sequence[str], boxes: Sequence[str] = (), page: str = "") -> None:
        """Click each token once; where some stay unseen, scroll.

        Args:
            tokens: What is to be hit.
            boxes: Patterns for what lies in boxes that scroll; each is gone through before the page moves on.
            page: Pattern for what to turn the wheel over to scroll the page itself; empty where it does not scroll.
        """
        left = list(tokens)
        for _ in range(MOST_VIEWS):
            self._click_visible(left)
            left = [token for token in tokens if token not in self._tried]
            if not left or not (
                any(self._scrolled(pattern, -1, within=BOX_PX) for pattern in boxes)
                or (page and self._scrolled(page, -3, within=0))
            ):
                break
        for token in left:
            self._tally.add(self._fixture, False, f"{token} was never seen as an element")

    def click(self, token: str, seen: Observation) -> None:
        """Click what bears a token in the latest observation, and see what it reports."""
        element = bearing(token, seen, self._pid)
        self._tried.add(token)
        if element is None:
            self._tally.add(self._fixture, False, f"{token} is not among the elements")
            return
        count = len(self._reports.lines())
        result = self._desktop.perform(Click(element_id=element.id))
        if not result.ok:
            self._tally.add(self._fixture, False, f"{token} {element.role} refused: {result.error}")
            return
        wait_until(lambda: len(self._reports.lines()) > count, HIT_LIMIT_S)
        hits = self._reports.lines()[count:]
        point = f"at {element.point.x},{element.point.y}" if element.point else ""
        self._tally.add(
            self._fixture, token in hits, f"{token} {element.role} {element.rect} {point} hit {hits or 'nothing'}"
        )
        self._check_window()
        if element.role in _OPENS:
            self._desktop.perform(Hotkey(keys=("Escape",)))

    def _click_visible(self, tokens: Collection[str]) -> None:
        while True:
            seen = self._desktop.observe()
            ready = [token for token in tokens if token not in self._tried and bearing(token, seen, self._pid)]
            if not ready:
                return
            # What a click changes is seen by the next look; most change nothing that matters to the others.
            for token in ready[:8]:
                if bearing(token, seen, self._pid) is not None:
                    self.click(token, seen)
                seen = self._desktop.observe()

    def _scrolled(self, pattern: str, clicks: int, within: int) -> bool:
        """Turn the wheel over something; return whether that brought anything new.

        A box is left alone while less than `within` px below its first item are in sight.
        """
        seen = self._desktop.observe()
        bottom = {window.id: window.rect.bottom for window in seen.windows}
        found = [e for e in seen.elements if e.point is not None and re.search(pattern, e.name)]
        if not found or found[0].rect.y + within >= bottom.get(found[0].window_id, 0):
            return False
        over = found[len(found) // 2]
        if not self._desktop.perform(Scroll(element_id=over.id, clicks=clicks)).ok:
            return False
        return _places(self._desktop.observe(), pattern) != _places(seen, pattern)

    def _check_window(self) -> None:
        screen = self._desktop.x11.screen
        active = screen.active_window()
        window = next((window for window in screen.windows() if window.id == active), None)
        if window is not None and window.pid is not None and window.pid != self._pid:
            self._tally.outside += 1


def bearing(token: str, seen: Observation, pid: int) -> Element | None:
    """Return the element of a process that bears a token, the one to use before the text that labels it."""
    windows = {window.id for window in seen.windows if window.pid in (None, pid)}
    pattern = re.compile(rf"\b{re.escape(token)}\b")
    found = [
        element
        for element in seen.elements
        if element.window_id in windows and element.point is not None and bears(pattern, element)
    ]
    return min(
        found,
        key=lambda e: (_PARTS_OF_OTHERS.match(e.name) is not None, _is_beside(e, pattern), e.role in TEXTS),
        default=None,
    )


def _is_beside(element: Element, pattern: re.Pattern[str]) -> bool:
    """Tell whether an element is only described by what bears the token."""
    return element.description.startswith("beside ") and not pattern.search(f"{element.name} {element.label}")


def bears(pattern: re.Pattern[str], element: Element) -> bool:
    """Tell whether anything that an element says matches."""
    told = (element.name, element.label, element.description, element.text or "")
    return any(pattern.search(text) for text in told)


def _places(seen: Observation, pattern: str) -> list[tuple[str, int, int]]:
    """Return where things are; others may come and go with the pointer, such as the address of a link."""
    return [(e.name, e.rect.x, e.rect.y) for e in seen.elements if re.search(pattern, e.name)]
