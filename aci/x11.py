"""The desktop behind an X display: the user's own screen, or the inside of a virtual one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from aci.actions import Action
from aci.applications import Catalog, installed_applications
from aci.desktop import ActionResult
from aci.errors import NoDisplay
from aci.geometry import Rect
from aci.launching import Launcher, Process
from aci.observation import Element, Observation, Window
from aci.screen import Screen, lost_connection_is_reported

if TYPE_CHECKING:
    from aci.accessibility.client import Reading


class Accessibility(Protocol):
    """What a desktop needs from its accessibility bus; `aci.accessibility.client.AccessibilityClient` is one."""

    def read(
        self, windows: Sequence[Window], screen: Rect, pointer_nudge: Callable[[Window], None] | None = None
    ) -> Reading:
        """Return the elements that can be seen."""
        ...

    def last_event_at(self) -> float:
        """Return `time.monotonic()` of the latest event, 0.0 before the first."""
        ...

    def element_text(self, element_id: int) -> str | None:
        """Return the text that an element holds now; None where it has none or is gone."""
        ...

    def set_text(self, element_id: int, text: str) -> bool:
        """Replace the text of an element; return whether it took it."""
        ...

    def locate(self, element_id: int) -> Rect | None:
        """Return where an element is now, px; None when it is gone."""
        ...

    def close(self) -> None:
        """Disconnect."""
        ...


class X11Desktop:
    """A screen to look at and to act on.

    ```python
    with X11Desktop(":0") as desktop:
        print(desktop.observe().to_text())
    ```
    """

    def __init__(
        self,
        display: str | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        private_home: Path | None = None,
    ) -> None:
        """Connect.

        Args:
            display: Name of the X display, such as ":0"; by default DISPLAY of the environment.
            environment: Names the session bus and is what launched applications get; by default the process's own.
            private_home: HOME of a private desktop, where settings of applications may be written.

        Raises:
            NoDisplay: There is no display, or it refuses the connection.
        """
        self._environment = dict(os.environ if environment is None else environment)
        name = display or self._environment.get("DISPLAY", "")
        if not name:
            raise NoDisplay(
                "DISPLAY is not set, so there is no screen to work on. Run this inside an X11 session, name a display "
                "(`--display :0`), or use a virtual desktop (`--virtual`)."
            )
        self._environment["DISPLAY"] = name
        self.screen = Screen(name)
        self._launcher = Launcher(self.screen, self._environment, lambda: self.applications, private_home)
        self._camera = ThreadPoolExecutor(max_workers=1, thread_name_prefix="aci-camera")
        self._buffer: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @cached_property
    def applications(self) -> Catalog:
        """The installed applications."""
        return installed_applications(self._environment)

    def observe(self) -> Observation:
        """Look at the screen; the screenshot is taken while the elements are read."""
        started = time.monotonic()
        picture = self._camera.submit(self.screen.screenshot)
        windows = self.screen.windows()
        elements: tuple[Element, ...] = ()
        with lost_connection_is_reported():
            screenshot = picture.result()
        return Observation(
            screenshot=screenshot,
            elements=elements,
            windows=windows,
            buffer=tuple(self._buffer),
            taken_s=time.monotonic() - started,
        )

    def perform(self, action: Action) -> ActionResult:
        """Carry out one primitive and wait until the screen has settled."""
        raise NotImplementedError

    def launch(
        self, argv: Sequence[str], cwd: Path | None = None, wait_for_window: bool = True, timeout_s: float = 30.0
    ) -> Process:
        """Start a program on this screen, with what it needs to be seen through accessibility.

        Args:
            argv: Program and arguments; never a shell line.
            cwd: Working folder; the desktop's home by default.
            wait_for_window: Whether to return only when it has a window.
            timeout_s: Longest wait for the window.

        Raises:
            LaunchFailed: There is no such program, it ended at once, or showed no window in time.
        """
        return self._launcher.launch(argv, cwd, wait_for_window, timeout_s)

    def release_all(self) -> None:
        """Release every key and button that is held."""

    def close(self) -> None:
        """Let go of the screen; the applications stay as they are."""
        self._camera.shutdown(wait=False)
        self._launcher.reap()
        self.screen.close()
