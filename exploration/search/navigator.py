"""Walking on a private desktop: starting an application anew, following a path of steps, and coming back."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Protocol

from aci.acting.actions import Action, Hotkey
from aci.desktop.desktop import ActionResult
from aci.desktop.virtual import VirtualDesktop
from aci.errors import AciError
from aci.observation.geometry import Rect
from aci.observation.observation import Observation
from agent_s.records import GroundedStep, Left
from agent_s.replay.grounded_steps import effect_of
from agent_s.replay.player import ground
from agent_s.replay.template import Mismatch
from exploration.errors import ApplicationUnusable
from exploration.search.controls import portable
from exploration.search.homes import HomeState, read_home
from exploration.search.launching import Launcher, has_window
from exploration.search.sameness import same, say_alike
from exploration.search.states import Look

Path = tuple[GroundedStep, ...]

_POLL_S = 0.1
_APPEAR_LIMIT_S, _BACK_LIMIT_S = 3.0, 0.3
"""How long a control is waited for on a way to something, and on one back from it."""
_LATE_S = 0.05
_LOOKS = 4
_SOON_S, _STIR_S, _SOON_POLL_S = 1.5, 0.25, 0.01
"""How long what was seen before is awaited instead of rest: at most, and where nothing happens any more."""
_MOST_ESCAPES = 3
_MOST_KNOWN = 48
"""So many screens with their pictures are kept to compare with, 3 MB each."""
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

    def launch(self, argv: Sequence[str], *, wait_for_window: bool = True) -> object:
        """Start a program and return when its window is there, or at once."""
        ...

    def observe(self) -> Observation:
        """Look at the screen."""
        ...

    def perform(self, action: Action, settle: bool = True) -> ActionResult:
        """Carry out one primitive and, where that is asked for, wait until the screen has settled."""
        ...


@dataclass(frozen=True, slots=True)
class Expected:
    """What a path led to before.

    Attributes:
        exact: What the screen said; see `exploration.search.states.Look`.
        menus: Whether a menu was open.
    """

    exact: dict[str, tuple[str, ...]]
    menus: bool


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
        restarts: How often the desktop was started anew.
        strict: Whether a way back is proven only when nothing at all differs; else some controls may be greyed out that
            were not before, or the other way round, as what undoes and does again is.
        tainted: Whether that was made use of since the last start.
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
        self._launcher = Launcher(desktop, argv, self.look, clock, pause)
        self._clock = clock
        self._known: dict[tuple[str, ...], Look] = {}
        self._expected: dict[tuple[str, ...], Expected] = {}
        self._at: Path | None = None
        self._pointed: Rect | None = None
        self._performed: Action | None = None
        self._fresh = self.strict = self.tainted = False
        self.restarts = 0

    @property
    def app(self) -> str:
        """The application as its windows name it; empty before the first start."""
        return self._launcher.app

    @property
    def place(self) -> str:
        """Path of the home."""
        return str(self._desktop.home)

    def restart(self) -> Look:
        """Start the application on a fresh desktop.

        Raises:
            ApplicationUnusable: It cannot be started, or shows nothing; twice where it did before.
        """
        if self.restarts:
            self._desktop.reset()
        self.restarts += 1
        self._known.clear()
        self._pointed = None
        try:
            look = self._launcher.start()
        except ApplicationUnusable:
            if self.restarts == 1:
                raise
            self._desktop.reset()  # it did start before
            look = self._launcher.start()
        self._fresh, self.tainted = True, False
        self._at = ()
        self._know((), look)
        return look

    def _know(self, path: Path, look: Look) -> None:
        """Keep how it looks at the end of a path: for proofs until the next start, and to wait for ever after."""
        key = place_key(path)
        self._known.pop(key, None)
        self._known[key] = look
        self._expected[key] = Expected(look.exact, bool(look.menus))
        oldest = next((each for each in self._known if each), None)
        if len(self._known) > _MOST_KNOWN and oldest is not None:
            del self._known[oldest]

    def known(self, path: Path) -> Look | None:
        """Return how it looked at the end of a path since the last fresh start; None where it was not there."""
        return self._known.get(place_key(path))

    def expected(self, path: Path) -> Expected | None:
        """Return what a path led to when it was last followed, on whatever desktop."""
        return self._expected.get(place_key(path))

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
        now: Look | Trouble | None = look
        while isinstance(now, Look) and self._at is not None and len(self._at) < len(path):
            now = self.advance(path, now)
        return now

    def advance(self, path: Path, look: Look) -> Look | Trouble | None:
        """Do the next step of a path; None where it leads to something else than it did before."""
        here = path[: len(self._at or ()) + 1]
        expected = self._expected.get(place_key(here))
        # Pictures are compared with where the path ends, so that it must be at rest there.
        quick = expected is not None and (len(here) < len(path) or expected.menus)
        done = self.act(here[-1], look, expected if quick else None)
        if isinstance(done, Trouble):
            return done
        look = done if quick and expected is not None and done.exact == expected.exact else self.steady(done)
        known = self.known(here)
        right = known.exact if known is not None else look.exact if self._fresh or not expected else expected.exact
        for _ in range(_LOOKS):
            if right == look.exact or (not self.strict and say_alike(right, look.exact)):
                self.tainted |= right != look.exact
                self._know(here, look)  # anew, since windows have other ids each time
                return look
            look = self.steady(look)
        return None

    def steady(self, look: Look) -> Look:
        """Look until two looks say the same; GTK 4 draws a menu before it tells what is in it."""
        for _ in range(_LOOKS):
            later = self.look_again()
            if isinstance(later, Trouble) or later.exact == look.exact:
                break
            look = later
        return look

    def act(self, step: GroundedStep, before: Look, expected: Expected | None = None) -> Look | Trouble:
        """Do the next step of the path and return what is to be seen then."""
        here = self._at or ()
        look = self.follow(step, before, expected)
        if isinstance(look, Look):
            self._at = (*here, step)
        return look

    def follow(
        self, step: GroundedStep, before: Look, expected: Expected | None = None, patience_s: float = _APPEAR_LIMIT_S
    ) -> Look | Trouble:
        """Do a step that is on no path.

        Args:
            step: The step.
            before: The screen before it.
            expected: What it led to before, which is waited for; by default until the screen is at rest.
            patience_s: How long its control is waited for, s.

        Returns:
            What is to be seen then.
        """
        self._at = None
        action = self._grounded(step, before, patience_s)
        if isinstance(action, Trouble):
            return action
        self._performed = action
        element = before.observation.by_id.get(getattr(action, "element_id", None) or -1)
        self._pointed = element.rect if element is not None else self._pointed
        try:
            result = self._desktop.perform(action, settle=expected is None)
            if not result.ok:
                return Trouble(result.error or "it was refused")
            look = self.look() if expected is None else self._awaited(before, lambda seen: seen.exact == expected.exact)
        except AciError as error:
            return Trouble(f"the desktop did not answer: {error}")
        return look if has_window(look.observation, self.app) else Trouble("the application ended")

    def _awaited(self, before: Look, arrived: Callable[[Look], object]) -> Look:
        """Look until something is there, or nothing has happened for a while."""
        began = changed_at = self._clock()
        previous = before
        while True:
            look = self.look()
            now = self._clock()
            if look.exact != previous.exact:
                changed_at = now
            if arrived(look) or now - changed_at > _STIR_S or now - began > _SOON_S:
                return look
            previous = look
            self._pause(_SOON_POLL_S)

    def leave(self) -> None:
        """Say that where it is now is not what the path promises; only proof or a fresh desktop leads on."""
        self._at = None

    def look_again(self, after_s: float = _LATE_S) -> Look | Trouble:
        """Wait a little and look at the same place once more."""
        self._pause(after_s)
        return self._seen_now()

    def done(
        self, step: GroundedStep, before: Look, after: Look, hidden: Mapping[str, str] | None = None, last: bool = False
    ) -> GroundedStep:
        """Return the step that was done just now with what it changed, as a replay will check it.

        Args:
            step: The step.
            before: The screen before it.
            after: The screen after it.
            hidden: Settings that it switched and that no element shows.
            last: Whether it is the last one, so that what it left is what is to be there at the end.
        """
        action = self._performed or step.action
        effect = effect_of(action, before.observation, after.observation)
        opened = tuple(portable(title, self.place) for title in effect.opened if title)
        if after.menus - before.menus:
            opened = (*opened, "")
        closed = tuple(portable(title, self.place) for title in effect.closed if title)
        left = Left(element=effect.after if last and not effect.closed else None, settings=dict(hidden or {}))
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
        return known is not None and same(known, look)

    def put_back(self, path: Path, way: Path, switched: frozenset[str] | None = None) -> bool:
        """Undo what the last step of a path did, and note it where the start of its menus is back.

        Args:
            path: The path.
            way: A path from the same place, whose steps undo it.
            switched: Settings that it changed; as they are afterwards they count as they were before. By default what
                was done is undone altogether, so that pixels are the same too.

        Returns:
            Whether that is proven.
        """
        base = path[: self.below_menus(path)]
        known = self.known(base)
        if known is None:
            return False
        look: Look | Trouble = self._closed(known)
        for number, step in enumerate(way[len(base) :], start=len(base) + 1):
            if isinstance(look, Trouble):
                return False
            expected = self._expected.get(place_key(way[:number]))
            look = self.follow(step, look, expected if expected is not None and expected.menus else None, _BACK_LIMIT_S)
        if isinstance(look, Trouble) or not same(known, look, switched, self.strict):
            return False
        self._at = base
        self._fresh = False
        self.tainted |= known.exact != look.exact
        self._know(base, look)
        kept = {key: value for key, value in look.home.settings.items() if key in (switched or ())}
        for place, each in self._known.items():
            self._known[place] = replace(each, home=HomeState(each.home.files, each.home.settings | kept))
        return True

    def below_menus(self, path: Path) -> int:
        """Return how many steps of a path come before the menus that its last step chooses from were opened."""
        base = len(path) - 1
        while base > 0 and ((known := self.known(path[:base])) is None or known.menus):
            base -= 1
        return base

    def _closed(self, known: Look) -> Look | Trouble:
        """Close what is open, until there are no more windows than there were."""
        look = self._seen_now()
        for _ in range(_MOST_ESCAPES):
            if isinstance(look, Trouble) or len(look.observation.windows) <= len(known.observation.windows):
                break
            look = self.escape(look, lambda seen: len(seen.observation.windows) <= len(known.observation.windows))
        return look

    def escape(self, before: Look, arrived: Callable[[Look], object]) -> Look | Trouble:
        """Press Escape and look until something is there, or nothing happens any more."""
        self._at = None
        try:
            self._desktop.perform(_ESCAPE, settle=False)
            look = self._awaited(before, arrived)
        except AciError as error:
            return Trouble(f"the desktop did not answer: {error}")
        return look if has_window(look.observation, self.app) else Trouble("the application ended")

    def _back_towards(self, path: Path) -> Look | None:
        """Return to a place on the path, or None where nothing proves that it was reached."""
        look: Look | Trouble = self._seen_now() if self._known else Trouble("not started")
        if isinstance(look, Look) and self._at is not None and path[: len(self._at)] == self._at:
            self._know(self._at, look)
            return look
        before = None
        for _ in range(_MOST_ESCAPES + 1):
            if isinstance(look, Trouble):
                return None
            reached = self._place_on(path, look)
            if reached is None and before is not None and look.exact == before.exact:
                return None  # Escape does nothing here
            if reached is not None:
                self._at = reached
                self._fresh = False
                self._know(reached, look)
                return look
            before, look = look, self.escape(look, lambda seen: self._place_on(path, seen) is not None)
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

    def _grounded(self, step: GroundedStep, before: Look, patience_s: float) -> Action | Trouble:
        deadline = self._clock() + patience_s
        observation = before.observation
        action = ground(step, observation)
        while isinstance(action, Mismatch) and self._clock() < deadline and "disabled" not in action.reason:
            self._pause(_POLL_S)
            observation = self._desktop.observe()
            action = ground(step, observation)
        return Trouble(action.reason) if isinstance(action, Mismatch) else action


def place_key(path: Path) -> tuple[str, ...]:
    """Return what identifies the end of a path: its steps, as text."""
    return tuple(step.model_dump_json() for step in path)
