"""The drafts of all windows of an application."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aci.accessibility.elements.draft import Draft
from aci.accessibility.elements.extraction import draft_elements
from aci.accessibility.elements.kept_drafts import KeptDrafts
from aci.accessibility.elements.placement import mark_active_cells
from aci.accessibility.elements.windows import correct_windows
from aci.accessibility.tree.nodes import Application, Node
from aci.observation.geometry import Rect
from aci.observation.snapshot import Window


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was found in one window of an application."""

    top: Node  # the accessible window, extents corrected
    place: Rect | None  # its extents, px
    window: Window  # the X11 window
    drafts: tuple[Draft, ...]  # in reading order

    def shows(self, top: Node, window: Window) -> bool:
        """Return whether this is still the content of such a window, if nothing in it has changed."""
        return top is self.top and top.rect == self.place and window.id == self.window.id


def draft_all(
    application: Application,
    windows: Sequence[Window],
    screen: Rect,
    known: Sequence[Drawn] = (),
    kept: KeptDrafts | None = None,
) -> tuple[list[Drawn], list[Window]]:
    """Return the drafts in each window of an application, and the windows with unreliable extents.

    `known` holds the drafts of windows in which nothing has changed, `kept` those of parts of windows at earlier looks;
    `windows` are topmost first.
    """
    drawn: list[Drawn] = []
    placed, unsure = correct_windows(application, windows)
    for top, window in placed:
        found = next((one for one in known if one.shows(top, window)), None)
        if found is None:
            drafts = draft_elements(application, top, window, windows, screen, kept)
            mark_active_cells(drafts)
            found = Drawn(top, top.rect, window, tuple(drafts))
        drawn.append(found)
    if kept is not None:
        kept.forget_the_gone(application)
    return drawn, unsure
