"""The data of an observation: windows, elements and pixels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from aci.observation.geometry import Point, Rect

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# States have the names of AT-SPI; `disabled` means neither ENABLED nor SENSITIVE
State = Literal[
    "focused", "focusable", "editable", "multi_line", "disabled", "checkable", "checked", "mixed", "selectable",
    "selected", "expandable", "expanded", "has_popup", "pressed", "modal", "active", "read_only", "required",
    "invalid", "password", "busy", "visited", "horizontal", "vertical", "default",
]  # fmt: skip

Source = Literal["accessibility", "ocr", "picture"]
IN_PICTURE = ("picture:",)
"""Path of candidates found in the picture, which only their pixels distinguish."""


@dataclass(frozen=True, slots=True)
class Window:
    """A top-level window, popup or menu, as reported by the X server."""

    id: int  # of X11
    title: str  # title as shown, empty for popups
    app: str  # name of the application, as the accessibility bus or WM_CLASS gives it
    rect: Rect  # client area without the frame, px
    active: bool = False  # whether it has the keyboard focus
    popup: bool = False  # whether it is a menu, tooltip or other window that the window manager does not manage
    pid: int | None = None  # process id, or None if unknown
    modal: bool = False  # whether it is a dialog that blocks its parent
    frame: Rect | None = None  # the window with its title bar and borders, px; None where it has none


@dataclass(frozen=True, slots=True)
class Element:
    """An element of the user interface that a person can see and use."""

    id: int  # stays the same for the whole run while the element is on the screen; never reused
    # AT-SPI role name, such as "push button"; "text line" for recognized text, "icon" or "shape" for what was found in
    # the picture, and "shape" for what is drawn in a document
    role: str
    name: str  # accessible name; empty where the application gives none
    rect: Rect  # visible part, px
    point: Point | None  # a pixel that hits the element; None where all of it is covered
    window_id: int  # the `Window` it lies in
    app: str = ""  # name of its application
    # content of a text field, cell or document, or the count that a row shows; None where there is none
    text: str | None = None
    value: float | None = None  # current value of a slider, spin button or progress bar; None elsewhere
    states: frozenset[State] = frozenset()  # current states
    description: str = ""  # further description by the application (tooltip, placeholder, class)
    label: str = ""  # name of another element that labels it; empty where there is none
    shortcut: str = ""  # keyboard shortcut, such as "Ctrl+S", of a menu entry whose application reports it
    # roles and names of its ancestors from the window down, each "role:name"; identifies it for replay
    path: tuple[str, ...] = ()
    source: Source = "accessibility"  # where it was found
    # characters of the text before the caret, where the element has the keyboard focus; None elsewhere
    caret: int | None = None
    # start and end of the selected part of the text, in characters; None where nothing is selected
    selection: tuple[int, int] | None = None
    extent: Rect | None = None  # `rect` including parts that other windows cover, px; None if nothing is covered

    @property
    def is_password(self) -> bool:
        """Whether its application says that it holds a password."""
        return self.role == "password text" or "password" in self.states


@dataclass(frozen=True)
class Snapshot:
    """The screen at one moment; `aci.observation.observation.Observation` adds the forms shown to a model."""

    screenshot: NDArray[np.uint8]  # (H, W, 3) uint8 RGB
    # visible elements, in reading order within each window, topmost window first
    elements: tuple[Element, ...]
    windows: tuple[Window, ...]  # topmost first
    # remarks for the reader, such as that an application did not answer
    notes: tuple[str, ...] = ()
    buffer: tuple[str, ...] = ()  # texts kept by `save_to_buffer`, oldest first
    focus_id: int | None = None  # element that has the keyboard, or None
    unread: int = 0  # number of areas with text that is not recognized yet
    # sheet headers, and icons and shapes found in the picture that no element covers, window by window from the top;
    # they have ids like elements, but icons and shapes have no names, only colors and positions
    candidates: tuple[Element, ...] = ()
    held_keys: tuple[str, ...] = ()  # keys that `key_down` holds, by name
    pointer: Point | None = None  # where the mouse pointer is, px; None if that is not known

    @property
    def screen(self) -> Rect:
        """The whole screen, px."""
        height, width = self.screenshot.shape[:2]
        return Rect(0, 0, width, height)

    @cached_property
    def by_id(self) -> dict[int, Element]:
        """Elements and candidates by id."""
        return {element.id: element for element in (*self.elements, *self.candidates)}

    @property
    def focused(self) -> Element | None:
        """The element that has the keyboard; None if none is known."""
        return self.by_id.get(self.focus_id) if self.focus_id is not None else None

    @property
    def active_window(self) -> Window | None:
        """The window that has the keyboard, if any."""
        return next((window for window in self.windows if window.active), None)

    def blocking_dialog(self, window_id: int) -> Window | None:
        """Return the modal dialog in front that blocks another window of its application; None if there is none."""
        front = self.active_window
        window = next((each for each in self.windows if each.id == window_id), None)
        if window is None or front is None or window.popup or window.id == front.id:
            return None
        return front if front.modal and front.app == window.app else None
