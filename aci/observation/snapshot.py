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
"""Path of what was found in the picture; nothing but its pixels tells it from others of its kind."""


@dataclass(frozen=True, slots=True)
class Window:
    """A top-level window, popup or menu as the X server knows it.

    Attributes:
        id: X11 window id.
        title: Title as shown, empty for popups.
        app: Name of the application, as the accessibility bus or WM_CLASS gives it.
        rect: Client area with its frame left out, px.
        active: Whether it has the keyboard.
        popup: Whether it is a menu, tooltip or other window that the window manager does not manage.
        pid: Process id, or None if unknown.
        modal: Whether it is a dialog that blocks its parent.
        frame: The window with its title bar and borders, px; None where it has none.
    """

    id: int
    title: str
    app: str
    rect: Rect
    active: bool = False
    popup: bool = False
    pid: int | None = None
    modal: bool = False
    frame: Rect | None = None


@dataclass(frozen=True, slots=True)
class Element:
    """Something on the screen that a person can see and use.

    Attributes:
        id: Stays the same for the whole run while the element is on the screen; never reused.
        role: AT-SPI role name, such as "push button"; "text line" for recognized text, "icon" or "shape" for what was
            found in the picture.
        name: Accessible name; empty where the application gives none.
        text: Content of a text field, cell or document; None where the element has no text interface.
        value: Current value of a slider, spin button or progress bar; None elsewhere.
        states: The states that hold.
        rect: Visible part, px.
        point: A pixel that hits the element; None where all of it is covered.
        window_id: The `Window` it lies in.
        app: Name of its application.
        description: What the application says about it besides the name (tooltip, placeholder, class).
        caret: Characters of the text before the caret, where the element has the keyboard focus; None elsewhere.
        selection: Start and end of the selected part of the text, in characters; None where nothing is selected.
        path: Roles and names of its ancestors from the window down, each "role:name"; identifies it for replay.
        label: Name of another element that labels it; empty where there is none.
        source: Where it was found.
    """

    id: int
    role: str
    name: str
    rect: Rect
    point: Point | None
    window_id: int
    app: str = ""
    text: str | None = None
    value: float | None = None
    states: frozenset[State] = frozenset()
    description: str = ""
    label: str = ""
    path: tuple[str, ...] = ()
    source: Source = "accessibility"
    caret: int | None = None
    selection: tuple[int, int] | None = None


@dataclass(frozen=True)
class Snapshot:
    """The screen at one moment; `aci.observation.observation.Observation` adds the forms shown to a model.

    Attributes:
        screenshot: (H, W, 3) uint8 RGB.
        elements: What can be seen and used, in reading order within each window, topmost window first.
        windows: Topmost first.
        notes: What the reader has to know of what is missing, such as an application that did not answer.
        buffer: Texts kept by `save_to_buffer`, oldest first.
        focus_id: Element that has the keyboard, or None.
        unread: Areas of the screen with a text that is not recognized yet.
        held_keys: Keys that `key_down` holds, by name.
        taken_s: Seconds that taking it needed.
        candidates: Icons and shapes of the picture that no element names, window by window from the top. They have ids
            like elements, but no names; only their color and place tell them apart.
    """

    screenshot: NDArray[np.uint8]
    elements: tuple[Element, ...]
    windows: tuple[Window, ...]
    notes: tuple[str, ...] = ()
    buffer: tuple[str, ...] = ()
    focus_id: int | None = None
    unread: int = 0
    taken_s: float = 0.0
    candidates: tuple[Element, ...] = ()
    held_keys: tuple[str, ...] = ()

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
    def active_window(self) -> Window | None:
        """The window that has the keyboard, if any."""
        return next((window for window in self.windows if window.active), None)
