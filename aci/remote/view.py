"""Observations of a machine from a picture and an accessibility tree, through the same code as the live desktop's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Literal

from aci.accessibility.elements.placement import Named, Places, place_elements
from aci.accessibility.elements.window_drafts import draft_all
from aci.accessibility.tree.capture import bound_tree
from aci.accessibility.tree.nodes import Application
from aci.errors import UnreadableTree
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation, Window
from aci.observation.tracking import IdTracker
from aci.remote.accessibility_xml import read_tree
from aci.remote.windows import TreeWindows, with_processes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aci.candidates.finder import CandidateFinder
    from aci.ocr.screen_text import TextReader
    from aci.ocr.text_engine import TextEngine

WHOLE_SCREEN = -(2**20)
"""Id of the window that stands for a screen of which only the pixels are known."""


class View:
    """Turns what a machine sends into observations, in which elements keep their ids.

    Args:
        ocr: Reads the texts that are only pixels; by default RapidOCR where it is installed. None leaves them unread.
        ids: Unused element ids; by default from 1.
    """

    def __init__(self, ocr: TextEngine | Literal["auto"] | None = "auto", ids: Iterator[int] | None = None) -> None:
        self._ids = count(1) if ids is None else ids
        self._tracker = IdTracker(self._ids)
        self._places = Places()
        self._tree_windows = TreeWindows()
        self._ocr = ocr
        self._reader: TextReader | None = None

    def observe(
        self,
        screenshot: NDArray[np.uint8],
        tree: str | None,
        windows: Sequence[Window] | None = None,
        read_texts: bool = True,
    ) -> Observation:
        """Return an observation.

        Args:
            screenshot: The screen, (H, W, 3) uint8 RGB.
            tree: Its accessibility tree as XML; None if it is not known.
            windows: Its windows, topmost first; None to take them from the tree.
            read_texts: Whether to recognize texts that are only pixels.
        """
        height, width = screenshot.shape[:2]
        screen = Rect(0, 0, width, height)
        applications, notes = _applications(tree)
        if windows is None:
            shown = self._tree_windows.of(applications, screen)
        else:
            shown = with_processes(applications, windows, screen)
        if not shown:  # nothing but pixels
            shown = (Window(WHOLE_SCREEN, "", "", screen, active=True),)
        elements, focus_id = self._placed(applications, shown, screen)
        candidates: tuple[Element, ...] = ()
        if read_texts and (reader := self._text_reader()) is not None:
            texts = reader.read(screenshot, elements, shown)
            elements, notes = texts.elements, (*notes, *texts.notes)
            if self._candidates is not None:
                candidates = self._candidates.find(screenshot, elements, shown, (*texts.unread, *texts.repeated))
        known = any(element.id == focus_id for element in elements)
        return Observation(
            screenshot, elements, shown, notes=notes, focus_id=focus_id if known else None, candidates=candidates
        )

    def close(self) -> None:
        """Stop reading texts."""
        if self._reader is not None:
            self._reader.close()

    def _placed(
        self, applications: Sequence[Application], windows: Sequence[Window], screen: Rect
    ) -> tuple[tuple[Element, ...], int | None]:
        drafts: list[Named] = []
        for application in applications:
            drawn, _ = draft_all(application, windows, screen)
            drafts += [(draft, application.name) for one in drawn for draft in one.drafts]
        elements, _, focus_id = place_elements(drafts, windows, screen, self._tracker, self._places)
        return elements, focus_id

    @cached_property
    def _candidates(self) -> CandidateFinder | None:
        from aci.candidates.finder import candidate_finder

        return candidate_finder(self._ids)

    def _text_reader(self) -> TextReader | None:
        if self._reader is None and self._ocr is not None:
            from aci.ocr.engines import default_engine
            from aci.ocr.screen_text import TextReader

            engine = default_engine() if self._ocr == "auto" else self._ocr
            self._ocr = engine
            self._reader = None if engine is None else TextReader(engine, self._ids)
        return self._reader


def _applications(tree: str | None) -> tuple[list[Application], tuple[str, ...]]:
    if tree is None:
        return [], ()
    try:
        applications = read_tree(tree)
    except UnreadableTree as error:
        return [], (f"The accessibility tree of the machine cannot be read, since {error}; only texts are seen.",)
    for application in applications:
        bound_tree(application)
    cut = [application.name for application in applications if application.cut]
    return applications, tuple(f"{name} shows more than can be read; the rest is missing." for name in cut)
