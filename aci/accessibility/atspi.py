"""Names and numbers of the AT-SPI 2 protocol (at-spi2-core, `atspi-constants.h` and `xml/`)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag
from typing import NamedTuple

from aci.observation.snapshot import State

REGISTRY_NAME = "org.a11y.atspi.Registry"
REGISTRY_PATH = "/org/a11y/atspi/registry"
ROOT_PATH = "/org/a11y/atspi/accessible/root"
NULL_PATH = "/org/a11y/atspi/null"
CACHE_PATH = "/org/a11y/atspi/cache"
PREFIX = "org.a11y.atspi."
PROPERTIES = "org.freedesktop.DBus.Properties"

SCREEN_COORDINATES = 0
LABELLED_BY, FLOWS_TO, FLOWS_FROM = 2, 10, 11
UNMAPPED = -(2**31)  # origin that GTK 3 reports for objects that are not mapped


class Ref(NamedTuple):
    """An accessible object: the unique name of its connection, and its path."""

    name: str
    path: str


def object_ref(answer: Sequence[str] | None) -> Ref | None:
    """Return the object that an application names; None where it names none."""
    return None if answer is None or answer[1].endswith("/null") else Ref(*answer)


_ROLES = """invalid|accelerator label|alert|animation|arrow|calendar|canvas|check box|check menu item
color chooser|column header|combo box|date editor|desktop icon|desktop frame|dial|dialog
directory pane|drawing area|file chooser|filler|focus traversable|font chooser|frame|glass pane
html container|icon|image|internal frame|label|layered pane|list|list item|menu|menu bar|menu item
option pane|page tab|page tab list|panel|password text|popup menu|progress bar|push button
radio button|radio menu item|root pane|row header|scroll bar|scroll pane|separator|slider
spin button|split pane|status bar|table|table cell|table column header|table row header
tearoff menu item|terminal|text|toggle button|tool bar|tool tip|tree|tree table|unknown|viewport
window|extended|header|footer|paragraph|ruler|application|autocomplete|editbar|embedded|entry|chart
caption|document frame|heading|page|section|redundant object|form|link|input method window|table row
tree item|document spreadsheet|document presentation|document text|document web|document email
comment|list box|grouping|image map|notification|info bar|level bar|title bar|block quote|audio
video|definition|article|landmark|log|marquee|math|rating|timer|static|math fraction|math root
subscript|superscript|description list|description term|description value|footnote|content deletion
content insertion|mark|suggestion|push button menu|switch"""

ROLE_NAMES: tuple[str, ...] = tuple(_ROLES.replace("\n", "|").split("|"))  # role names by number (`AtspiRole`)


def role_name(number: int) -> str:
    """Return the name of a role, or "unknown" for one that is newer than this table."""
    return ROLE_NAMES[number] if 0 <= number < len(ROLE_NAMES) else "unknown"


class StateBit(IntFlag):
    """The bits of `AtspiStateType` that are used here."""

    ACTIVE = 1 << 1
    BUSY = 1 << 3
    CHECKED = 1 << 4
    DEFUNCT = 1 << 6
    EDITABLE = 1 << 7
    ENABLED = 1 << 8
    EXPANDABLE = 1 << 9
    EXPANDED = 1 << 10
    FOCUSABLE = 1 << 11
    FOCUSED = 1 << 12
    HORIZONTAL = 1 << 14
    MODAL = 1 << 16
    MULTI_LINE = 1 << 17
    OPAQUE = 1 << 19
    PRESSED = 1 << 20
    SELECTABLE = 1 << 22
    SELECTED = 1 << 23
    SENSITIVE = 1 << 24
    SHOWING = 1 << 25
    VERTICAL = 1 << 29
    VISIBLE = 1 << 30
    MANAGES_DESCENDANTS = 1 << 31
    INDETERMINATE = 1 << 32
    REQUIRED = 1 << 33
    INVALID_ENTRY = 1 << 36
    IS_DEFAULT = 1 << 39
    VISITED = 1 << 40
    CHECKABLE = 1 << 41
    HAS_POPUP = 1 << 42
    READ_ONLY = 1 << 43


# state bits and their names in an `Element`
NAMED_STATES: tuple[tuple[int, State], ...] = (
    (StateBit.ACTIVE.value, "active"),
    (StateBit.BUSY.value, "busy"),
    (StateBit.CHECKED.value, "checked"),
    (StateBit.EDITABLE.value, "editable"),
    (StateBit.EXPANDABLE.value, "expandable"),
    (StateBit.EXPANDED.value, "expanded"),
    (StateBit.FOCUSABLE.value, "focusable"),
    (StateBit.FOCUSED.value, "focused"),
    (StateBit.HORIZONTAL.value, "horizontal"),
    (StateBit.MODAL.value, "modal"),
    (StateBit.MULTI_LINE.value, "multi_line"),
    (StateBit.PRESSED.value, "pressed"),
    (StateBit.SELECTABLE.value, "selectable"),
    (StateBit.SELECTED.value, "selected"),
    (StateBit.VERTICAL.value, "vertical"),
    (StateBit.INDETERMINATE.value, "mixed"),
    (StateBit.REQUIRED.value, "required"),
    (StateBit.INVALID_ENTRY.value, "invalid"),
    (StateBit.IS_DEFAULT.value, "default"),
    (StateBit.VISITED.value, "visited"),
    (StateBit.CHECKABLE.value, "checkable"),
    (StateBit.HAS_POPUP.value, "has_popup"),
    (StateBit.READ_ONLY.value, "read_only"),
)
