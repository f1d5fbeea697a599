"""Open desktops of clients: private ones, and the person's own screen if that is allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TypeVar

from aci.desktop.virtual import VirtualDesktop
from aci.desktop.x11 import X11Desktop
from aci.observation.observation import Observation
from aci.remote.desktop import OSWorldDesktop
from agent_s.mcp.tool import ToolProblem
from agent_s.settings import Settings
from agent_s.terminal.desktop_choice import DesktopChoice

OWN_SCREEN = "screen"
MOST_DESKTOPS = 8

AnyDesktop = X11Desktop | VirtualDesktop | OSWorldDesktop
Value = TypeVar("Value")


class OpenDesktop:
    """A desktop with its own thread, on which all operations run."""

    def __init__(self, name: str, open_desktop: Callable[[], AnyDesktop]) -> None:
        self.name = name  # what clients call it
        self.shown: Observation | None = None  # the observation that the client has seen last; None if none
        # the latest look at it, which the desktop acts on; None once it has looked by itself
        self.latest: Observation | None = None
        self.busy = ""  # what uses it for longer than one call, such as a task; empty if nothing does
        self._is_used = False
        self._open = ExitStack()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"mcp-{name}")
        try:
            self.desktop: AnyDesktop = self._thread.submit(self._enter, open_desktop).result()
        except BaseException:
            self._thread.shutdown(wait=True)
            raise

    async def do(self, work: Callable[[], Value], stop: Callable[[], None] = lambda: None) -> Value:
        """Run an operation on the desktop's thread; cancelling the call asks it to stop and waits until it has."""
        self._is_used = True
        future = asyncio.wrap_future(self._thread.submit(work))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            stop()
            await asyncio.wait([future])
            raise

    def look_ahead(self) -> None:
        """Start to read the elements and, unless another operation comes first, to load the OCR engine.

        Whatever goes wrong goes wrong again at the first look.
        """
        self._thread.submit(self.desktop.observe, False)
        self._thread.submit(lambda: self._is_used or self.desktop.observe())

    def close(self) -> None:
        """Release keys and buttons, and end a private desktop."""
        self._thread.submit(self._close).result()
        self._thread.shutdown(wait=True)

    def _enter(self, open_desktop: Callable[[], AnyDesktop]) -> AnyDesktop:
        desktop = open_desktop()
        desktop.__enter__()
        self._open.push(desktop)
        screen = desktop.x11 if isinstance(desktop, VirtualDesktop) else desktop
        if isinstance(screen, X11Desktop):
            screen.awaits_text_engine = False  # which takes longer than all the rest of the first look
        return desktop

    def _close(self) -> None:
        with self._open:
            self.desktop.release_all()


class Desktops:
    """All open desktops, by name.

    Args:
        settings: Sizes and parts of new desktops.
        screen: The person's own screen, or a machine, that clients may use too; None for none.
    """

    def __init__(self, settings: Settings, screen: DesktopChoice | None) -> None:
        self._settings = settings
        self._open: dict[str, OpenDesktop] = {}
        self._numbers = 0
        if screen is not None:
            self._open[OWN_SCREEN] = OpenDesktop(OWN_SCREEN, lambda: screen.open(settings))
            self._open[OWN_SCREEN].look_ahead()

    def __iter__(self) -> Iterator[OpenDesktop]:
        return iter([*self._open.values()])

    def get(self, name: str) -> OpenDesktop:
        """Return a desktop by name; for an empty name, the only one, or a new private one if none is open.

        Raises:
            ToolProblem: There is no such desktop, the name is missing, or the desktop is in use.
        """
        if not name and not self._open:
            return self.start()
        if not name and len(self._open) > 1:
            raise ToolProblem(f"Several desktops are open: say which one (desktop: {', '.join(self._open)}).")
        found = next(iter(self._open.values())) if not name else self._open.get(name)
        if found is None:
            known = ", ".join(self._open) or "none; start_desktop starts one"
            raise ToolProblem(f"There is no desktop {name!r}. Open: {known}.")
        if found.busy:
            raise ToolProblem(f"The desktop {found.name!r} is in use: {found.busy}. Wait for it, or cancel it.")
        return found

    def start(self, width: int | None = None, height: int | None = None) -> OpenDesktop:
        """Start a private desktop.

        Raises:
            ToolProblem: Too many are open.
            DesktopError: It cannot be started.
        """
        if len(self._open) >= MOST_DESKTOPS:
            raise ToolProblem(f"{MOST_DESKTOPS} desktops are open already: stop_desktop ends one.")
        size = {name: value for name, value in (("width", width), ("height", height)) if value is not None}
        settings = self._settings.desktop.model_copy(update=size)
        self._numbers += 1
        name = f"desktop-{self._numbers}"
        self._open[name] = OpenDesktop(name, settings.new_virtual)
        return self._open[name]

    def stop(self, name: str) -> None:
        """End a private desktop.

        Raises:
            ToolProblem: There is no such desktop, it is in use, or it is the person's own screen.
        """
        if name == OWN_SCREEN:
            raise ToolProblem("The screen named at the start cannot be stopped: only desktops started here can be.")
        self.get(name).close()
        del self._open[name]

    def close(self) -> None:
        """End all private desktops, and disconnect from the person's screen."""
        while self._open:
            _, desktop = self._open.popitem()
            desktop.close()
