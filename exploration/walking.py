"""Walking on a private desktop: starting an application anew, following a path of steps, and coming back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Protocol

from aci.actions import Action, Hotkey
from aci.desktop import ActionResult
from aci.errors import AciError, LaunchFailed
from aci.geometry import Rect
from aci.observation import Observation
from aci.virtual import VirtualDesktop
from agent_s.grounded_steps import effect_of
from agent_s.learned import Mismatch
from agent_s.records import GroundedStep, Left
from agent_s.replay import ground
from exploration.candidates import portable
from exploration.errors import ApplicationUnusable
from exploration.homes import HomeState, read_home
from exploration.states import Look, same_picture

SAMPLES = {
    ".txt": "alpha beta\nGamma delta\nepsilon\n",
    ".csv": "name,amount\napples,3\npears,5\nplums,4\n",
}
"""What a document that the application is started with, and that does not exist, holds; by its suffix."""

Path = tuple[GroundedStep, ...]

_START_LIMIT_S = 8.0
_POLL_S = 0.1
_APPEAR_LIMIT_S = 3.0
_LATE_S = 0.05
_LOOKS = 4
_MOST_ESCAPES = 3
_ESCAPE = Hotkey(keys=("Escape",))


class PrivateDesktop(Protocol):
    """A desktop with nothing on it that anybody needs, such as `aci.VirtualDesktop`."""

    @property
    def home(self) -> FilePath:
        """HOME of the applications."""
        ...

    def reset(self) -> None:
        """Put everything back to how it was at the start: no application, and a home as fresh as then."""
        ...

    def launch(self, argv: Sequence[str]) -> object:
        """Start a program and return when its window is there."""
        ...

    def observe(self) -> Observation:
        """Look at the screen."""
        ...

    def perform(self, action: Action) -> ActionResult:
        """Carry out one primitive and wait until the screen has settled."""
        ...


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why the application cannot be gone on with, in words."""

    reason: str


def new_desktop(parent: FilePath | None = None) -> VirtualDesktop:
    """Return a private desktop for exploring, not started: settings lie in its home, where they can be read.

    Args:
        parent: Folder in which the desktop keeps its files; by default the one for temporary files.
    """
    return VirtualDesktop(environment={"GSETTINGS_BACKEND": "keyfile"}, ocr=None, parent=parent)


class Walker:
    """Follows paths in one application, and goes back the shortest way that provably leads to where it was.

    A way back is proven when windows, elements with their states and texts, pixels, files and settings are what they
    were when the place was first reached. Where nothing proves it the desktop is started anew.

    Attributes:
        app: The application as its windows name it; known after the first start.
        place: Path of the home.
        restarts: How often the desktop was started anew.
    """

    def __init__(
        self,
        desktop: PrivateDesktop,
        argv: tuple[str, ...],
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Take the desktop, which must have been started.

        Args:
            desktop: A private one, best of `new_desktop`.
            argv: The program and its arguments.
            clock: Seconds on a steady clock.
            pause: Waits for some seconds.
        """
        self._pause = pause
        self._desktop = desktop
        self._argv = argv
        self._clock = clock
        self._known: dict[tuple[str, ...], Look] = {}
        self._at: Path | None = None
        self._pointed: Rect | None = None
        self._performed: Action | None = None
        self._used = False
        self.app = ""
        self.restarts = 0

    @property
    def place(self) -> str:
        """Path of the home."""
        return str(self._desktop.home)

    def restart(self) -> Look:
        """Start the application on a fresh desktop.

        Raises:
            ApplicationUnusable: It cannot be started, or shows nothing.
        """
        if self._used:
            self._desktop.reset()
        self._used = True
        self.restarts += 1
        self._known.clear()
        self._pointed = None
        self._put_documents()
        try:
            self._desktop.launch(list(self._argv))
        except LaunchFailed as error:
            raise ApplicationUnusable(f"{self._argv[0]} cannot be started: {error}") from error
        look = self._first_look()
        self._at = ()
        self._known[place_key(())] = look
        return look

    def known(self, path: Path) -> Look | None:
        """Return how it looked at the end of a path since the last fresh start; None where it was not there."""
        return self._known.get(place_key(path))

    def look(self) -> Look:
        """Look at the screen and the home."""
        observation = self._desktop.observe()
        return Look(observation, read_home(self._desktop.home), self.place, self._pointed)

    def go(self, path: Path, fresh: bool = False) -> Look | Trouble:
        """Bring the application to the end of a path.

        Args:
            path: Steps from its start.
            fresh: Whether to begin on a fresh desktop in any case.

        Returns:
            What is to be seen there, or why it could not be reached.
        """
        look = None if fresh else self._back_towards(path)
        arrived = self._walk(path, look) if look is not None else None
        return arrived if arrived is not None else self._walk(path, self.restart()) or Trouble("it differs each time")

    def _walk(self, path: Path, look: Look) -> Look | Trouble | None:
        """Do the steps that are left of a path; None where they lead to something else than they did before.

        What is hidden shows so: what a closed bar still holds, or what a menu offers after something else was done.
        """
        while self._at is not None and len(self._at) < len(path):
            done = self.act(path[len(self._at)], look)
            if isinstance(done, Trouble):
                return done
            look = self.steady(done)
            known = self._known.setdefault(place_key(self._at or ()), look)
            for _ in range(_LOOKS):
                if known.exact == look.exact:
                    break
                look = self.steady(look)
            else:
                return None
        return look

    def steady(self, look: Look) -> Look:
        """Look until two looks say the same; GTK 4 draws a menu before it tells what is in it."""
        for _ in range(_LOOKS):
            later = self.look_again()
            if isinstance(later, Trouble) or later.exact == look.exact:
                break
            look = later
        return look

    def act(self, step: GroundedStep, before: Look) -> Look | Trouble:
        """Do the next step of the path and return what is to be seen then."""
        here = self._at or ()
        look = self.follow(step, before)
        if isinstance(look, Look):
            self._at = (*here, step)
        return look

    def follow(self, step: GroundedStep, before: Look) -> Look | Trouble:
        """Do a step that is on no path, and return what is to be seen then."""
        self._at = None
        action = self._grounded(step, before)
        if isinstance(action, Trouble):
            return action
        self._performed = action
        element = before.observation.by_id.get(getattr(action, "element_id", None) or -1)
        self._pointed = element.rect if element is not None else self._pointed
        try:
            result = self._desktop.perform(action)
            if not result.ok:
                return Trouble(result.error or "it was refused")
            look = self.look()
        except AciError as error:
            return Trouble(f"the desktop did not answer: {error}")
        return look if _windows_of(look.observation, self.app) else Trouble("the application ended")

    def leave(self) -> None:
        """Say that where it is now is not what the path promises; only proof or a fresh desktop leads on."""
        self._at = None

    def look_again(self, after_s: float = _LATE_S) -> Look | Trouble:
        """Wait a little and look at the same place once more."""
        self._pause(after_s)
        return self._seen_now()

    def done(self, step: GroundedStep, before: Look, after: Look, last: bool = False) -> GroundedStep:
        """Return the step that was done just now with what it changed, as a replay will check it.

        Args:
            step: The step.
            before: The screen before it.
            after: The screen after it.
            last: Whether it is the last one, so that what it left is what is to be there at the end.
        """
        action = self._performed or step.action
        effect = effect_of(action, before.observation, after.observation)
        opened = tuple(portable(title, self.place) for title in effect.opened if title)
        if after.menus - before.menus:
            opened = (*opened, "")
        closed = tuple(portable(title, self.place) for title in effect.closed if title)
        left = Left(element=effect.after) if last and not effect.closed else Left()
        return step.model_copy(
            update={"effect": effect.model_copy(update={"opened": opened, "closed": closed}), "left": left}
        )

    def matches(self, path: Path, look: Look) -> bool:
        """Tell whether a look proves that the application is where a path led before.

        Args:
            path: A path that was followed since the last fresh start.
            look: How it is now.
        """
        known = self.known(path)
        return known is not None and _same(known, look)

    def switch_back(self, path: Path, switched: frozenset[str]) -> None:
        """Do the last step of a path again, which undoes it, and note it where the start of its menu is back.

        Args:
            path: A path whose last step switched something.
            switched: Settings that it changed; as they are afterwards they count as they were before.
        """
        base = path[: below_menus(path)]
        known = self.known(base)
        look: Look | Trouble = self._settled(known) if known is not None else Trouble("not known")
        for step in path[len(base) :]:
            if isinstance(look, Trouble):
                return
            look = self.follow(step, look)
        if known is None or isinstance(look, Trouble) or not _same(known, look, switched):
            return
        self._at, self._known[place_key(base)] = base, look
        kept = {key: value for key, value in look.home.settings.items() if key in switched}
        for place, each in self._known.items():
            self._known[place] = replace(each, home=HomeState(each.home.files, each.home.settings | kept))

    def _settled(self, known: Look) -> Look | Trouble:
        """Close what is open, until there are no more windows than there were."""
        look = self._seen_now()
        for _ in range(_MOST_ESCAPES):
            if isinstance(look, Trouble) or len(look.observation.windows) <= len(known.observation.windows):
                break
            look = self.escape()
        return look

    def escape(self) -> Look | Trouble:
        """Press Escape and look."""
        self._at = None
        try:
            self._desktop.perform(_ESCAPE)
            look = self.look()
        except AciError as error:
            return Trouble(f"the desktop did not answer: {error}")
        return look if _windows_of(look.observation, self.app) else Trouble("the application ended")

    def _back_towards(self, path: Path) -> Look | None:
        """Return to a place on the path, or None where nothing proves that it was reached."""
        look: Look | Trouble = self._seen_now() if self._known else Trouble("not started")
        if isinstance(look, Look) and self._at is not None and path[: len(self._at)] == self._at:
            self._known.setdefault(place_key(self._at), look)
            return look
        for _ in range(_MOST_ESCAPES + 1):
            if isinstance(look, Trouble):
                return None
            reached = self._place_on(path, look)
            if reached is not None:
                self._at = reached
                return look
            look = self.escape()
        return None

    def _seen_now(self) -> Look | Trouble:
        try:
            return self.look()
        except AciError as error:
            return Trouble(f"the desktop did not answer: {error}")

    def _place_on(self, path: Path, look: Look) -> Path | None:
        """Return the longest part of a path that the look proves to be at."""
        for length in range(len(path), -1, -1):
            if self.matches(path[:length], look):
                return path[:length]
        return None

    def _grounded(self, step: GroundedStep, before: Look) -> Action | Trouble:
        deadline = self._clock() + _APPEAR_LIMIT_S
        observation = before.observation
        action = ground(step, observation)
        while isinstance(action, Mismatch) and self._clock() < deadline and "disabled" not in action.reason:
            self._pause(_POLL_S)
            observation = self._desktop.observe()
            action = ground(step, observation)
        return Trouble(action.reason) if isinstance(action, Mismatch) else action

    def _put_documents(self) -> None:
        for argument in self._argv[1:]:
            suffix = "." + argument.rpartition(".")[2]
            target = self._desktop.home / argument
            if suffix in SAMPLES and not argument.startswith(("-", "/")) and not target.exists():
                target.write_text(SAMPLES[suffix], encoding="utf-8")

    def _first_look(self) -> Look:
        """Wait until the application shows something that can be acted on, and stays so."""
        deadline = self._clock() + _START_LIMIT_S
        previous = None
        while True:
            look = self.look()
            if not self.app:
                window = look.observation.active_window
                self.app = window.app if window is not None else ""
            if look.candidates and previous is not None and look.exact == previous.exact:
                return self._checked(look)
            if self._clock() > deadline:
                return self._checked(look)
            previous = look
            self._pause(_POLL_S)

    def _checked(self, look: Look) -> Look:
        if not _windows_of(look.observation, self.app):
            raise ApplicationUnusable(f"{self._argv[0]} shows no window that stays; start it by hand to see why.")
        if any(
            "password" in element.states or element.role == "password text" for element in look.observation.elements
        ):
            raise ApplicationUnusable(f"{self._argv[0]} asks for a password; it is left alone.")
        if not look.candidates:
            notes = "; ".join(look.observation.notes)
            raise ApplicationUnusable(f"{self._argv[0]} shows nothing that can be acted on. {notes}".strip())
        return look


def below_menus(path: Path) -> int:
    """Return how many steps of a path come before the menus that its last step chooses from were opened."""
    base = len(path) - 1
    while base > 0 and "" in path[base - 1].effect.opened:
        base -= 1
    return base


def place_key(path: Path) -> tuple[str, ...]:
    """Return what identifies the end of a path: its steps, as text."""
    return tuple(step.model_dump_json() for step in path)


def _windows_of(observation: Observation, app: str) -> bool:
    return any(window.app == app and not window.popup for window in observation.windows)


def _same(known: Look, look: Look, but: frozenset[str] | None = None) -> bool:
    """Tell whether two looks are of the same state.

    Args:
        known: One look.
        look: The other.
        but: Settings that do not count since they were switched there and back; then the picture does not count
            either, since what was drawn anew lies a pixel beside where it was.
    """
    settings = [{k: v for k, v in each.home.settings.items() if k not in (but or ())} for each in (known, look)]
    return (
        known.exact == look.exact
        and known.home.files == look.home.files
        and settings[0] == settings[1]
        and (but is not None or same_picture(known, look))
    )
