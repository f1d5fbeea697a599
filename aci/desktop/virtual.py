"""Virtual desktops, which start in a fraction of a second and leave nothing behind."""

from __future__ import annotations

import atexit
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, TypeVar

from aci.accessibility.connection import BackEnd, connect_accessibility
from aci.applications.launching import Process
from aci.desktop.desktop import DesktopWrapper
from aci.desktop.folders import DesktopFolder, create_folder
from aci.desktop.private_session import READY_LIMIT_S, PrivateSession
from aci.desktop.watcher import Watcher
from aci.desktop.x11 import X11Desktop
from aci.errors import ConnectionLost, DesktopError, StartFailed
from aci.input.backends import InputName
from aci.observation.observation import Observation
from aci.screen.emergency_stop import Halt, StopBy
from aci.screen.screen import open_display
from aci.screen.window_fitting import WindowFitter

if TYPE_CHECKING:
    from aci.accessibility.client import AccessibilityClient
    from aci.ocr.text_engine import TextEngine

Part = TypeVar("Part")

_SMALLEST, _LARGEST = 200, 8192
_GRACE_S = 0.5
_GRACE_WITH_KEPT_HOME_S = 3.0  # applications get time to write their settings


class VirtualDesktop(DesktopWrapper):
    """A private desktop with its own screen, session bus, accessibility bus, window manager and home.

    ```python
    with VirtualDesktop(size=(1280, 800)) as desktop:
        desktop.launch(["mousepad"])
        print(desktop.observe().to_text())
    ```

    Several of them can run side by side in isolation.

    Attributes:
        size: Width and height of the screen, px.
    """

    def __init__(
        self,
        size: tuple[int, int] = (1280, 800),
        *,
        home: Path | None = None,
        keep_home: bool = False,
        files: Path | None = None,
        environment: Mapping[str, str] | None = None,
        parent: Path | None = None,
        ocr: TextEngine | Literal["auto"] | None = "auto",
        input: InputName = "xtest",
        stop_by: StopBy | None = None,
        accessibility: BackEnd = "dbus",
    ) -> None:
        """Configure the desktop; `start` starts it.

        Args:
            size: Width and height of the screen, px.
            home: HOME of the applications, which is never removed; None for a fresh one.
            keep_home: Whether to keep a fresh home when the desktop stops.
            files: Folder to copy into a fresh home.
            environment: Additional environment variables for the applications.
            parent: Folder in which the desktop keeps its files; by default the one for temporary files.
            ocr: OCR engine for text that is only pixels; "auto" for RapidOCR if it is installed, None for no OCR.
            input: Back end that moves the pointer and presses keys.
            stop_by: How a person who watches the desktop triggers the emergency stop; None to disable it.
            accessibility: Back end that reads the accessibility bus.
        """
        if home is not None and files is not None:
            raise ValueError("An existing home is used as it is; give home or files, not both.")
        if not all(_SMALLEST <= side <= _LARGEST for side in size):
            raise ValueError(f"A screen is {_SMALLEST} to {_LARGEST} px wide and high, not {size[0]} x {size[1]}.")
        self.size = size
        self._given_home = home
        self._keep_home = keep_home
        self._files = files
        self._extra = dict(environment or {})
        self._parent = parent
        self._ocr = ocr
        self._input: InputName = input
        self._stop_by = stop_by
        self._accessibility = accessibility
        self._place: DesktopFolder | None = None
        self._watcher: Watcher | None = None
        self._session: PrivateSession | None = None
        self._x11: X11Desktop | None = None
        self._fitter: WindowFitter | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def id(self) -> str:
        """Name of the desktop, set as AGENT_S_DESKTOP in all its processes."""
        return self._running(self._place).id

    @property
    def display(self) -> str:
        """Name of the X display, such as ":1"."""
        return self._running(self._session).display

    @property
    def private(self) -> bool:
        """True, since the desktop belongs to the agent alone."""
        return True

    @property
    def home(self) -> Path:
        """HOME of the applications."""
        return self._running(self._session).home

    @property
    def environment(self) -> dict[str, str]:
        """Environment of the applications (a copy)."""
        return dict(self._running(self._session).environment)

    @property
    def x11(self) -> X11Desktop:
        """The desktop behind the private display."""
        return self._running(self._x11)

    @property
    def _wrapped(self) -> X11Desktop:
        return self.x11

    @property
    def halt(self) -> Halt:
        """The emergency stop; see `aci.desktop.x11.X11Desktop`."""
        return self.x11.halt

    def start(self) -> None:
        """Start the desktop, and return when applications can be launched.

        Raises:
            MissingDependency: A program or the accessibility back end is not installed; everything was stopped again.
            StartFailed: A part did not come up, or the files cannot be copied; everything was stopped again.
        """
        if self._place is not None:
            raise DesktopError("The virtual desktop is already running.")
        warm_up = threading.Thread(target=_load_libraries, name="aci-warm-up", daemon=True)
        warm_up.start()
        self._place = create_folder(self._parent, keeps_home=self._keeps_fresh_home)
        atexit.register(self.stop)
        try:
            self._watcher = Watcher(self._place)
            if self._files is not None:
                _copy(self._files, self._place.home)
            self._session = PrivateSession(self._place, self._given_home or self._place.home, self.size, self._extra)
            self._session.start()
            warm_up.join()
            self._x11 = self._connect(self._session)
            self._x11.screen.admit_only_this_user()
            if not self._x11.screen.wait_for_manager(READY_LIMIT_S):
                raise StartFailed(f"The window manager did not get ready within {READY_LIMIT_S:g} s.")
            self._fitter = WindowFitter(open_display(self._session.display))
            self._x11.rest_pointer()
        except BaseException:
            self.stop()
            raise

    def _connect(self, session: PrivateSession) -> X11Desktop:
        """Connect to the display while the accessibility bus starts."""
        ids = count(1)
        with ThreadPoolExecutor(max_workers=1) as pool:
            lasts = not (self._keep_home or self._given_home)  # of a kept home, applications are closed in good order
            client = pool.submit(_connect_accessibility, self._accessibility, session.environment, ids, lasts)
            return X11Desktop(
                session.display,
                environment=session.environment,
                private_home=session.home,
                accessibility=client.result,
                ocr=self._ocr,
                ids=ids,
                input=self._input,
                stop_by=self._stop_by,
            )

    def stop(self) -> None:
        """End all processes of the desktop and remove its files; calling it again does nothing."""
        place, session, desktop, watcher, fitter = (self._place, self._session, self._x11, self._watcher, self._fitter)
        self._place = self._session = self._x11 = self._watcher = self._fitter = None
        atexit.unregister(self.stop)
        if place is None:
            return
        try:
            if fitter is not None:
                fitter.close()
            if desktop is not None:
                desktop.close()
        finally:
            if session is not None:
                session.stop(_GRACE_WITH_KEPT_HOME_S if self._keep_home or self._given_home else _GRACE_S)
            if desktop is not None:
                desktop.wait_for_processes()
            place.remove(self._keeps_fresh_home)
            if watcher is not None:
                watcher.dismiss()

    def reset(self) -> None:
        """Restore the initial state: no applications, and a fresh home.

        Raises:
            DesktopError: The home was given by the caller, so that its initial content is unknown.
            StartFailed: The desktop could not be started again.
        """
        if self._given_home is not None:
            raise DesktopError(
                "A home that was given cannot be restored. To only end the applications, reset `desktop.x11`."
            )
        self.release_all()
        keeps, self._keep_home = self._keep_home, False
        self.stop()
        self._keep_home = keeps
        self.start()

    def launch(
        self, argv: Sequence[str], cwd: Path | None = None, wait_for_window: bool = True, timeout_s: float = 30.0
    ) -> Process:
        """Start a program; see `aci.desktop.x11.X11Desktop.launch`."""
        return self.x11.launch(argv, cwd, wait_for_window, timeout_s)

    def glimpse(self) -> Observation:
        """Return the present pixels and windows without elements; see `aci.desktop.x11.X11Desktop.glimpse`."""
        return self.x11.glimpse()

    def resume(self, earlier: Observation) -> None:
        """Take an earlier observation for the latest one; see `aci.desktop.x11.X11Desktop.resume`."""
        self.x11.resume(earlier)

    @property
    def _keeps_fresh_home(self) -> bool:
        return self._keep_home and self._given_home is None

    def _running(self, part: Part | None) -> Part:
        if part is None:
            raise DesktopError("The virtual desktop is not running; use it in a `with` block or call start().")
        return part


def _connect_accessibility(
    back_end: BackEnd, environment: Mapping[str, str], ids: Iterator[int], lasts: bool
) -> AccessibilityClient:
    try:
        return connect_accessibility(back_end, environment, ids, lasts)
    except ConnectionLost as error:
        raise StartFailed(f"The accessibility bus did not get ready: {error}") from error


def _load_libraries() -> None:
    """Import the libraries for the connection while the X server starts, which takes about as long."""
    import aci.accessibility.client  # noqa: F401


def _copy(files: Path, home: Path) -> None:
    try:
        shutil.copytree(files, home, symlinks=True)
    except (OSError, shutil.Error) as error:
        raise StartFailed(f"The files in {files} could not be copied to the home: {error}") from error
