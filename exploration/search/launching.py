"""Starting the application that is explored, and waiting until it is ready."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from aci.errors import LaunchFailed
from aci.observation.observation import Observation
from exploration.errors import ApplicationUnusable
from exploration.search.sameness import says_the_same
from exploration.search.states import Look, same_picture

SAMPLES = {
    ".txt": "alpha beta\nGamma delta\nepsilon\n",
    ".csv": "name,amount\napples,3\npears,5\nplums,4\n",
}
"""What a document that the application is started with, and that does not exist, holds; by its suffix."""

_LIMIT_S = 8.0
_AGAIN_LIMIT_S, _DIFFERS_S = 30.0, 3.0
"""How long a start is waited for to look as the last one: at most, and after something is shown."""
_POLL_S, _AGAIN_POLL_S = 0.1, 0.05


class Startable(Protocol):
    """A desktop that programs are started on."""

    @property
    def home(self) -> Path:
        """HOME of the applications."""
        ...

    def launch(self, argv: Sequence[str], *, wait_for_window: bool = True) -> object:
        """Start a program and return when its window is there, or at once."""
        ...


class Launcher:
    """Starts one application, again and again.

    Args:
        desktop: Where; as after its start each time.
        argv: The program and its arguments.
        look: Looks at the screen and the home.
        clock: Seconds on a steady clock.
        pause: Waits for some seconds.

    Attributes:
        app: The application as its windows name it; known after the first start.
    """

    def __init__(
        self,
        desktop: Startable,
        argv: tuple[str, ...],
        look: Callable[[], Look],
        clock: Callable[[], float],
        pause: Callable[[float], None],
    ) -> None:
        self.app = ""
        self._desktop = desktop
        self._argv = argv
        self._look = look
        self._clock = clock
        self._pause = pause
        self._last: Look | None = None

    def start(self) -> Look:
        """Start it, and return what it shows when it is ready.

        Raises:
            ApplicationUnusable: It cannot be started, or shows nothing.
        """
        self._put_documents()
        try:
            # From the second time on it is known what it shows, and that is waited for instead of rest.
            self._desktop.launch(list(self._argv), wait_for_window=self._last is None)
        except LaunchFailed as error:
            raise ApplicationUnusable(f"{self._argv[0]} cannot be started: {error}") from error
        self._last = self._checked(self._ready() if self._last is None else self._as_before(self._last))
        return self._last

    def _put_documents(self) -> None:
        for argument in self._argv[1:]:
            suffix = "." + argument.rpartition(".")[2]
            target = self._desktop.home / argument
            if suffix in SAMPLES and not argument.startswith(("-", "/")) and not target.exists():
                target.write_text(SAMPLES[suffix], encoding="utf-8")

    def _ready(self) -> Look:
        """Wait until it shows something that can be acted on, and stays so."""
        deadline = self._clock() + _LIMIT_S
        previous = None
        while True:
            look = self._look()
            if not self.app:
                window = look.observation.active_window
                self.app = window.app if window is not None else ""
            if look.candidates and previous is not None and look.exact == previous.exact:
                return look
            if self._clock() > deadline:
                return look
            previous = look
            self._pause(_POLL_S)

    def _as_before(self, last: Look) -> Look:
        """Wait until it is as it was after its last start; where that does not come, until it rests.

        Pictures cannot tell, since titles show the path of the home: they only have to be at rest.
        """
        limit = self._clock() + _AGAIN_LIMIT_S
        previous, look = None, self._look()
        while not (says_the_same(last, look) and previous is not None and same_picture(previous, look)):
            if look.candidates:
                limit = min(limit, self._clock() + _DIFFERS_S)
            if self._clock() > limit:
                return self._ready()
            self._pause(_AGAIN_POLL_S)
            previous, look = look, self._look()
        return look

    def _checked(self, look: Look) -> Look:
        if not has_window(look.observation, self.app):
            raise ApplicationUnusable(f"{self._argv[0]} shows no window that stays; start it by hand to see why.")
        if any(
            "password" in element.states or element.role == "password text" for element in look.observation.elements
        ):
            raise ApplicationUnusable(f"{self._argv[0]} asks for a password; it is left alone.")
        if not look.candidates:
            notes = "; ".join(look.observation.notes)
            raise ApplicationUnusable(f"{self._argv[0]} shows nothing that can be acted on. {notes}".strip())
        return look


def has_window(observation: Observation, app: str) -> bool:
    """Tell whether an application shows a window."""
    return any(window.app == app and not window.popup for window in observation.windows)
