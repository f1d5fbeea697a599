"""The window that a person means by the name of an application or document."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aci.applications.catalog import Application, Catalog
from aci.observation.snapshot import Window

_ALIKE = 85.0


def find_window(phrase: str, windows: Sequence[Window], catalog: Catalog) -> Window | None:
    """Return the window that a phrase means, or None.

    Exact names of applications and titles come first; then titles that contain the phrase; then windows of applications
    that it describes ("text editor"); then similar spellings. Among equals the first of `windows` wins.
    """
    wanted = phrase.strip().casefold()
    meant = catalog.matches(phrase)
    tests: tuple[Callable[[Window], bool], ...] = (
        lambda window: wanted in (window.app.casefold(), window.title.casefold()),
        lambda window: wanted in window.title.casefold() or wanted in window.app.casefold(),
        lambda window: any(belongs_to(window, application) for application in meant),
        lambda window: _alike(wanted, window),
    )
    for fits in tests:
        found = next((window for window in windows if fits(window)), None)
        if found is not None:
            return found
    return None


def belongs_to(window: Window, application: Application) -> bool:
    """Return whether a window belongs to an application, by their names."""
    return window.app.casefold() in application.window_names


def _alike(wanted: str, window: Window) -> bool:
    from rapidfuzz import fuzz

    return any(fuzz.ratio(wanted, name.casefold()) >= _ALIKE for name in (window.app, window.title) if name)
