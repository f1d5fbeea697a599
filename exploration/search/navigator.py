"""Moves in one application on a private desktop: starts it anew, follows paths of steps, and goes back."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path as FilePath

from aci.acting.actions import Action, Click, Hotkey, Move, Wait
from aci.applications.catalog import installed_applications, program_name
from aci.desktop.virtual import VirtualDesktop
from aci.errors import AciError
from aci.observation.geometry import Rect
from aci.observation.observation import Element, Observation
from aci.processes import MARK, belonging_to, read_stat
from agent_s.records import Change, EndState, GroundedStep
from agent_s.replay.grounded_steps import with_effect
from agent_s.replay.grounding import ground
from agent_s.replay.template import Mismatch
from exploration.errors import ApplicationUnusable
from exploration.search.controls import portable
from exploration.search.homes import HomeState, read_home
from exploration.search.starting import Launcher, PrivateDesktop, has_window
from exploration.search.states import (
    CHOSEN,
    Look,
    can_undo,
    drift,
    only_adds,
    same,
    same_but_greyed,
    same_picture,
    same_to_the_pixel,
)
from intents.labels import label

Path = tuple[GroundedStep, ...]

_POLL_S = 0.1
_APPEAR_LIMIT_S, _BACK_LIMIT_S = 3.0, 0.3  # longest wait for a control on the way to a place, and on the way back
_LATE_S = 0.05
_LOOKS = 4
_SOON_S, _STIR_S, _SOON_POLL_S = 1.5, 0.25, 0.03  # longest wait for a known screen: in all, and without any change
_HOVER_PX = 4  # margin around a control within which it is drawn otherwise while the pointer is on it
_GLIMPSE_S = 0.02  # time between two glimpses at the pixels alone
_UNDONE_STIR_S = 0.8  # the same after something was undone: tool bars follow 0.65 s after a document
_MOST_ESCAPES = 3
_MOST_WAYS = 8  # number of keys pressed on a way back; a new start takes longer
_OFTEN = 3  # a hidden file with as many contents, where all else was the same, is a by-product
_MOST_KNOWN = 48  # maximum number of looks to compare with, 3 MB each
_OPENERS = frozenset({"xdg-open", "exo-open", "gio-launch-desk", "kde-open5", "kde-open"})
_LONGEST_PROGRAM = 15  # characters of the name of a program that the kernel keeps
_ANY = re.compile("")
_ESCAPE, _CLOSE_WINDOW = Hotkey(keys=("Escape",)), Hotkey(keys=("alt", "F4"))
_UNDO = Hotkey(keys=("ctrl", "z"))


@dataclass(frozen=True, slots=True)
class Expected:
    """What a path led to before: all states and texts (`Look.exact`), and whether a menu was open."""

    exact: dict[str, tuple[str, ...]]
    menus: bool


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a step or path failed."""

    reason: str


def new_desktop(parent: FilePath | None = None) -> VirtualDesktop:
    """Return a private desktop, not started, whose settings are readable files in its home.

    Args:
        parent: Folder for the files of the desktop; the folder for temporary files if None.
    """
    # Scroll bars of GTK 3 would fade in and out by themselves.
    environment = {"GSETTINGS_BACKEND": "keyfile", "GTK_OVERLAY_SCROLLING": "0"}
    return VirtualDesktop(environment=environment, ocr=None, parent=parent)


class Navigator:
    """Follows paths in one application, and goes back the shortest way that provably leads to a known place.

    A way back is proven if windows, elements with their states and texts, pixels, files and settings are what they
    were when the place was first reached. Otherwise the desktop is started anew.

    Args:
        desktop: A started private desktop, such as `new_desktop`.
        argv: The program and its arguments.
        clock: Monotonic clock, s.
        pause: Waits for a number of seconds.

    Attributes:
        restarts: How often the application was started on a fresh desktop.
        strict: Whether a way back is proven only if nothing differs, except whether something can be undone or redone.
            Otherwise hidden files may, which applications write as they please, and all that is greyed out.
        tainted: Whether that exception was used since the last start, or something was copied.
    """

    def __init__(
        self,
        desktop: PrivateDesktop,
        argv: tuple[str, ...],
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._pause = pause
        self._desktop = desktop
        self._launcher = Launcher(desktop, argv, self.look, clock, pause)
        self._clock = clock
        self._known: dict[tuple[str, ...], Look] = {}
        self._expected: dict[tuple[str, ...], Expected] = {}
        self._at: Path | None = None
        self._latest: Look | None = None
        self._pointed: Rect | None = None
        self._performed: Action | None = None
        self._reopened: Path = ()  # the path to the menus that `reopen` has opened
        self._fresh = self._in_menu = self.strict = self.tainted = False
        self._contents: dict[str, set[str]] = {}  # digests of hidden files that differed where nothing else did
        self._by_products = frozenset[str]()
        self._first_windows, self._first_programs = frozenset[int](), frozenset[str]()
        self.restarts = 0

    @property
    def app(self) -> str:
        """The application, as its windows name it; empty before the first start."""
        return self._launcher.app

    @property
    def place(self) -> str:
        """The path of the home."""
        return str(self._desktop.home)

    def restart(self) -> Look:
        """Start the application on a fresh desktop.

        Raises:
            ApplicationUnusable: It cannot be started or shows nothing, on the second try if it started before.
        """
        if self.restarts:
            self._desktop.reset()
        self.restarts += 1
        self._known.clear()
        self._pointed = None
        volatile = self._launcher.volatile
        try:
            look = self._launcher.start()
        except ApplicationUnusable:
            if self.restarts == 1:
                raise
            self._desktop.reset()
            look = self._launcher.start()
        self._at, self._fresh, self.tainted = (), True, False
        self._first_windows, self._first_programs = look.windows, self._running()
        if self._launcher.volatile != volatile:
            self._expected.clear()
        self._know((), look)
        return look

    def _know(self, path: Path, look: Look) -> None:
        """Remember the end of a path: the look for proofs until the next start, its texts to wait for ever after."""
        key = place_key(path)
        self._known.pop(key, None)
        self._known[key] = look
        self._expected[key] = Expected(look.exact, bool(look.menus))
        oldest = next((each for each in self._known if each), None)
        if len(self._known) > _MOST_KNOWN and oldest is not None:
            del self._known[oldest]

    def known(self, path: Path) -> Look | None:
        """Return the look at the end of a path since the last fresh start; None if it was not reached."""
        return self._known.get(place_key(path))

    def expected(self, path: Path) -> Expected | None:
        """Return what a path led to when it was last followed, on any desktop."""
        return self._expected.get(place_key(path))

    def look(self, check: bool = True) -> Look:
        """Return a look at the screen and the home; `check` is that of `aci.desktop.desktop.Desktop.observe`."""
        observation = self._desktop.observe(check=check)
        home = read_home(self._desktop.home).without(self._by_products)
        latest = self._latest
        if latest is not None and observation is latest.observation:
            about = latest.home, latest.pointed, latest.volatile
            if about == (home, self._pointed, self._launcher.volatile):
                return latest  # with what was derived from it
        self._latest = Look(observation, home, self.place, self._pointed, self._launcher.volatile)
        return self._latest

    def go(self, path: Path, fresh: bool = False) -> Look | Trouble:
        """Bring the application to the end of a path.

        Args:
            path: Steps from its start.
            fresh: Whether to begin on a fresh desktop in any case.

        Returns:
            The look there, or why it was not reached.
        """
        look = None if fresh else self._back_at_once(path) or self._back_towards(path)
        arrived = self._walk(path, look) if look is not None else None
        return arrived if arrived is not None else self._walk(path, self.restart()) or Trouble("it differs each time")

    def _walk(self, path: Path, look: Look) -> Look | Trouble | None:
        """Do the remaining steps of a path; None if they lead elsewhere than before, because of hidden state."""
        now: Look | Trouble | None = look
        while isinstance(now, Look) and self._at is not None and len(self._at) < len(path):
            now = self.advance(path, now)
        return now

    def advance(self, path: Path, look: Look) -> Look | Trouble | None:
        """Do the next step of a path; None if it leads elsewhere than before."""
        here = path[: len(self._at or ()) + 1]
        expected = self.expected(here)
        # The picture at the end of a path is compared later, so the screen must be at rest there.
        quick = expected is not None and (len(here) < len(path) or expected.menus)
        known = self.known(here)
        done = self.act(here[-1], look, expected if quick else None, known=known if quick else None)
        if isinstance(done, Trouble):
            return done
        look = done if quick and expected is not None and done.exact == expected.exact else self.steady(done)
        right = known.exact if known is not None else look.exact if self._fresh or not expected else expected.exact
        for _ in range(_LOOKS):
            more = known is not None and only_adds(known, look) and same_picture(known, look)
            if right == look.exact or more or same_but_greyed(right, look.exact, self._may_be_greyed):
                self.tainted |= not (more or same_but_greyed(right, look.exact, label("history")))
                self._know(here, look)  # windows have other ids each time
                return look
            look = self.steady(look)
        return None

    def steady(self, look: Look) -> Look:
        """Look until two looks show the same; GTK 4 draws a menu before its entries are accessible."""
        for _ in range(_LOOKS):
            later = self.look_again()
            if isinstance(later, Trouble) or later.exact == look.exact:
                break
            look = later
        return look

    def act(
        self,
        step: GroundedStep,
        before: Look,
        expected: Expected | None = None,
        check: bool = False,
        known: Look | None = None,
    ) -> Look | Trouble:
        """Do a step that extends the current path and return the look after it; see `follow`."""
        here = self._at or ()
        look = self.follow(step, before, expected, check=check, known=known)
        if isinstance(look, Look):
            self._at, self._in_menu = (*here, step), bool(look.menus)
        return look

    def follow(
        self,
        step: GroundedStep,
        before: Look,
        expected: Expected | None = None,
        patience_s: float = _APPEAR_LIMIT_S,
        check: bool = False,
        known: Look | None = None,
    ) -> Look | Trouble:
        """Do a step that is on no path and return the look after it.

        Args:
            step: The step.
            before: The look before it.
            expected: What it led to before, to wait for; if None, wait until the screen is at rest.
            patience_s: Longest wait for its control, s.
            check: Whether the look is checked against a complete reading, after what comes late.
            known: A look at what is expected, whose picture is waited for before any application is asked.
        """
        self._at, self._reopened = None, ()
        action = self._grounded(step, before, patience_s)
        if isinstance(action, Trouble):
            return action
        self._performed = action
        element = before.observation.by_id.get(getattr(action, "element_id", None) or -1)
        self._pointed = element.rect if element is not None else self._pointed
        try:
            shows = self._shows(known) if known is not None else None
            result = self._desktop.perform(action, settle=shows or expected is None)
            if not result.ok:
                return Trouble(result.error or "it was refused")
            self.tainted |= result.copied
            again = None
            if known is not None and shows is not None and self._waits_for(shows):
                again = self._resumed(known)
            if again is not None:
                look = again
            elif expected is not None:
                look = self._awaited(before, _arrival(before, expected))
            else:
                look = self.look(check)
        except AciError as error:
            return Trouble(f"the desktop did not answer: {error}")
        return look if has_window(look.observation, self.app) else Trouble("the application ended")

    def _shows(self, known: Look) -> Callable[[], bool]:
        """Return a check of whether the screen shows the same windows and the same picture as a known look."""
        places = _places(known.observation)
        latest: tuple[object, object, bool] = (None, None, False)

        def shows() -> bool:
            nonlocal latest
            seen = self._desktop.glimpse()
            if seen.screenshot is not latest[0] or seen.windows is not latest[1]:
                later = known.redrawn(seen.screenshot, seen.pointer, self._pointed)
                same = _places(seen) == places and same_to_the_pixel(known, later, self._hovered(known, later))
                latest = seen.screenshot, seen.windows, same
            return latest[2]

        return shows

    def _hovered(self, known: Look, later: Look) -> list[Rect]:
        """Return the places of controls that may be drawn otherwise only because the pointer is on them, or was.

        What was acted on is not among them, since its own state may have changed.
        """
        pointers = {known.observation.pointer, later.observation.pointer}
        if len(pointers) == 1:
            return []
        places = [each.element.rect for each in known.candidates if each.element.rect != self._pointed]
        under = [
            place for place in places if any(pointer is not None and place.contains(pointer) for pointer in pointers)
        ]
        return [place.grown(_HOVER_PX, _HOVER_PX) for place in under]

    def _waits_for(self, shows: Callable[[], bool]) -> bool:
        """Wait until the screen shows something, and return whether it does; stop when nothing changes for a while."""
        began = changed_at = self._clock()
        previous: object = None
        while not shows():
            now, seen = self._clock(), self._desktop.glimpse().screenshot
            changed_at = changed_at if seen is previous else now
            if now - changed_at > _STIR_S or now - began > _SOON_S:
                return False
            previous = seen
            self._pause(_GLIMPSE_S)
        return True

    def _resumed(self, known: Look) -> Look | None:
        """Return a known look whose picture is on the screen as the present one, without asking any application.

        None if that may not be all: a window is another one, the home differs, or a proof must be strict.
        """
        seen = self._desktop.glimpse()
        ids = [[window.id for window in each.windows] for each in (known.observation, seen)]
        if self.strict or ids[0] != ids[1] or read_home(self._desktop.home).without(self._by_products) != known.home:
            return None
        look = self._latest = known.redrawn(seen.screenshot, seen.pointer, self._pointed)
        self._desktop.resume(look.observation)
        return look

    def _awaited(self, before: Look, arrived: Callable[[Look], object], stir_s: float = _STIR_S) -> Look:
        """Look until a condition holds, or nothing has changed for a while."""
        began = changed_at = self._clock()
        previous = before
        while True:
            look = self.look(check=False)
            now = self._clock()
            if look.exact != previous.exact:
                changed_at = now
            if arrived(look) or now - changed_at > stir_s or now - began > _SOON_S:
                return look
            previous = look
            self._pause(_SOON_POLL_S)

    def leave(self) -> None:
        """Mark the current place as unknown: only a proof or a fresh desktop leads on."""
        self._at = None

    def abandon(self) -> None:
        """Have the next path begin on a fresh desktop, on which nothing runs that was started meanwhile."""
        self._at = None
        self._known.clear()

    def other_program(self, effect: Sequence[Change] = ()) -> str:
        """Return a program of another application that was started meanwhile; empty if there is none.

        A program that opens links and files in others counts as well: the window of a browser comes late. One that has
        ended already may have left files in a folder of its name.

        Args:
            effect: What has changed.
        """
        folders = {part for each in effect if each.kind == "file" for part in each.what.split("/")[:-1]}
        return min(((self._running() | folders) & self._others) - self._first_programs, default="")

    def _running(self) -> frozenset[str]:
        """Return the names of the desktop's programs, as the kernel cuts them."""
        desktop_id = self._desktop.environment.get(MARK, "")
        stats = (read_stat(pid) for pid in (belonging_to(desktop_id) if desktop_id else ()))
        return frozenset(stat.program for stat in stats if stat is not None)

    @cached_property
    def _others(self) -> frozenset[str]:
        installed = {
            each.program[:_LONGEST_PROGRAM] for each in installed_applications(self._desktop.environment).applications
        }
        return _OPENERS | installed - {program_name(self._launcher.argv)[:_LONGEST_PROGRAM]}

    def look_again(self, after_s: float = _LATE_S, check: bool = False) -> Look | Trouble:
        """Wait a little and look again; `check` is that of `follow`."""
        self._pause(after_s)
        return self._seen_now(check)

    def rests(self, during_s: float) -> bool:
        """Wait, and return whether nothing has changed meanwhile and no application is at work."""
        try:
            return self._desktop.perform(Wait(time=during_s), settle=False).still
        except AciError:
            return False  # the next look tells

    def with_effect(
        self, step: GroundedStep, before: Look, after: Look, hidden: Mapping[str, str] | None = None, last: bool = False
    ) -> GroundedStep:
        """Return the latest step with its effect, for a replay to check.

        Args:
            step: The step.
            before: The look before it.
            after: The look after it.
            hidden: Settings that it switched and that no element shows.
            last: Whether it is the last step of a skill, so that its element must end as it is now.
        """
        action = self._performed or step.action
        step = with_effect(step, action, before.observation, after.observation)
        effect = [
            change.model_copy(update={"what": portable(change.what, self.place)})
            if change.kind in ("opened", "closed")
            else change
            for change in step.effect
            if change.what  # popups open and close by themselves
        ]
        if any(menu >= 0 for menu in after.menus - before.menus):
            effect.append(Change(kind="opened", what="", after="open"))
        element = step.state_after if last and not step.names_of("closed") else None
        end = EndState(element=element, settings=dict(hidden or {}))
        return step.model_copy(update={"effect": tuple(effect), "end": end})

    def put_back(
        self, path: Path, way: Path, switched: frozenset[str] | None = None, unless_closed: bool = False
    ) -> bool:
        """Undo the last step of a path and return whether the place before its menus is proven to be back.

        Args:
            path: The path.
            way: A path from the same place, whose steps undo it.
            switched: Settings that it changed and whose present values are accepted as those of before. If None,
                everything must be undone, pixels included.
            unless_closed: Whether Escape may be enough, as it is for a dialog.
        """
        base = path[: self.below_menus(path)]
        known = self.known(base)
        if known is None:
            return False

        def back(seen: Look) -> bool:
            return self._proves(known, seen, switched)

        def nearly_back(seen: Look) -> bool:
            return switched is None and not back(seen) and self._only_drawn_as_chosen(known, seen)

        opened = len(self._reopened) if self._reopened == way[: len(self._reopened)] else 0
        look = self._seen_now() if opened else self._closed(known)
        if not (unless_closed and isinstance(look, Look) and back(look)):
            look = self._followed(way, max(opened, len(base)), look, known if switched is None else None)
        if isinstance(look, Trouble):
            return False
        look = self._awaited(look, lambda seen: back(seen) or nearly_back(seen), _UNDONE_STIR_S)
        if nearly_back(look):
            look = self._clicked(look.chosen, look, back)
        if isinstance(look, Trouble) or not back(look):
            return False
        self._at, self._fresh, self._in_menu = base, False, False
        only_more = known.exact.items() <= look.exact.items()
        self.tainted |= not (only_more or same_but_greyed(known.exact, look.exact, label("history")))
        self._know(base, look)
        kept = {key: value for key, value in look.home.settings.items() if key in (switched or ())}
        for place, each in self._known.items():
            self._known[place] = replace(each, home=HomeState(each.home.files, each.home.settings | kept))
        return True

    def _followed(self, way: Path, first: int, look: Look | Trouble, known: Look | None) -> Look | Trouble:
        """Do the steps of a way back from a number on; if it leads to a known look, do not wait for rest there."""
        for number, step in enumerate(way[first:], start=first + 1):
            if isinstance(look, Trouble):
                break
            expected, there = self.expected(way[:number]), self.known(way[:number])
            if known is not None and number == len(way):  # what it brings back is compared as a whole
                expected, there = Expected(known.exact, menus=False), known
            elif expected is not None and not expected.menus:
                expected = None
            undoes = step.action == _UNDO  # which is drawn in the button that does it again
            look = self.follow(step, look, expected, _BACK_LIMIT_S, known=None if undoes or not expected else there)
        return look

    def reopen(self, path: Path, look: Look) -> Look | Trouble:
        """Open the menus of the last step of a path again, from the place before them, and return the look there."""
        base, performed = self.below_menus(path), self._performed
        now: Look | Trouble = look
        for number, step in enumerate(path[base:-1], start=base + 1):
            if isinstance(now, Trouble):
                return now
            now = self.follow(step, now, self.expected(path[:number]))
        self._reopened, self._performed = path[:-1] if isinstance(now, Look) else (), performed
        return now

    def close_again(self, path: Path) -> None:
        """Close the menus of the last step of a path, which `reopen` has opened."""
        if known := self.known(path[: self.below_menus(path)]):
            self._closed(known)

    def below_menus(self, path: Path) -> int:
        """Return the number of steps of a path before the menus of its last step were opened."""
        base = len(path) - 1
        while base > 0 and ((known := self.known(path[:base])) is None or known.menus):
            base -= 1
        return base

    def _closed(self, known: Look) -> Look | Trouble:
        """Press Escape until there are no more windows than there were."""

        def arrived(seen: Look) -> bool:
            windows, menus = len(seen.observation.windows), len(seen.menus)
            return windows <= len(known.observation.windows) and menus <= len(known.menus)

        before, look = None, self._seen_now()
        for _ in range(_MOST_ESCAPES):
            if isinstance(look, Trouble) or arrived(look) or (before is not None and look.exact == before.exact):
                break
            before, look = look, self._escape(look, arrived)
        return look

    def _escape(self, before: Look, arrived: Callable[[Look], object], way: Action = _ESCAPE) -> Look | Trouble:
        """Press Escape, or take another way back, and look until a condition holds, or nothing changes any more."""
        self._at, self._reopened = None, ()
        try:
            self._desktop.perform(way, settle=False)
            look = self._awaited(before, arrived, _UNDONE_STIR_S if way == _UNDO else _STIR_S)
        except AciError as error:
            return Trouble(f"the desktop did not answer: {error}")
        return look if has_window(look.observation, self.app) else Trouble("the application ended")

    def _back_at_once(self, path: Path) -> Look | None:
        """Close the menus and dialogs that were opened over a place on a path, and return the look there.

        Its picture is enough. None if that does not come back, or if they have closed and changed something.
        """
        at = self._at
        ground = self._ground_of(path, at) if at is not None and not self.strict else None
        known = self.known(ground) if ground is not None else None
        if at is None or ground is None or known is None or at == path[: len(at)]:
            return None
        shows, most = self._shows(known), len(known.observation.windows)
        try:
            for _ in range(_MOST_ESCAPES):
                if shows() or len(self._desktop.glimpse().windows) <= most:
                    break
                self._at, self._reopened = None, ()
                self._desktop.resume(self._desktop.glimpse())  # whatever has the keyboard focus, Escape is for it
                if not self._desktop.perform(_ESCAPE, settle=shows).ok or self._waits_for(shows):
                    break
            look = self._resumed(known) if shows() else None
        except AciError:
            return None  # the next look tells
        if look is not None:
            self._at, self._fresh, self._in_menu, self._reopened = ground, False, False, ()
            self._know(ground, look)
        return look

    def _ground_of(self, path: Path, at: Path) -> Path | None:
        """Return the longest part of two paths at whose end no menu is open, if it is known."""
        length = next((n for n, (one, other) in enumerate(zip(path, at, strict=False)) if one != other), None)
        shared = path[: min(len(path), len(at)) if length is None else length]
        grounds = (shared[:n] for n in range(len(shared), -1, -1))
        return next((each for each in grounds if (known := self.known(each)) is not None and not known.menus), None)

    def _back_towards(self, path: Path) -> Look | None:
        """Return to a place on the path; None if nothing proves that it was reached."""
        look: Look | Trouble = self._seen_now() if self._known else Trouble("not started")
        if isinstance(look, Look) and self._at is not None and path[: len(self._at)] == self._at:
            self._know(self._at, look)
            return look
        before, way, ground = None, None, self._under_menus()
        chosen = selected = False  # whether a cell that is drawn as chosen was clicked, and the one that had the focus

        def arrived(seen: Look) -> bool:
            return self._place_on(path, seen) is not None

        for _ in range(_MOST_WAYS):
            if isinstance(look, Trouble):
                return None
            if ground is not None and (found := drift(ground, look)):
                ground, look = None, self._without(found, look)
            reached = self._place_on(path, look)
            if reached is not None:
                self._at, self._fresh = reached, False
                self._know(reached, look)
                return look
            places = (self.known(path[:length]) for length in range(len(path) + 1))
            if not chosen and any(known is not None and self._only_drawn_as_chosen(known, look) for known in places):
                look = self._clicked(look.chosen, look, arrived)
                before, chosen = None, True
                continue
            way = self._way_back(path, look, way, before is not None and look.exact == before.exact)
            if way is None and not selected and (cell := self._focused_before(path, look)) is not None:
                look = self._clicked(cell, look, arrived)
                before, selected = None, True
                continue
            if way is None:
                return None
            chosen = chosen and way != _UNDO  # which may leave it chosen as well
            before, look = look, self._escape(look, arrived, way)
        return None

    def _focused_before(self, path: Path, look: Look) -> Element | None:
        """Return the cell or row that had the focus at the place on a path before its menus, as it is now.

        A click on it restores a selection that was changed. None if another kind of element had the focus.
        """
        known = self.known(path[: self.below_menus(path)])
        focused = known.observation.focused if known is not None else None
        if known is None or focused is None or focused.role not in CHOSEN:
            return None
        return next((look.elements.get(key) for key, each in known.elements.items() if each.id == focused.id), None)

    def _way_back(self, path: Path, look: Look, latest: Action | None, in_vain: bool) -> Action | None:
        """Return what to try next on a way back; None if nothing is left.

        Args:
            path: The path.
            look: The present look.
            latest: What was tried last.
            in_vain: Whether that has changed nothing.
        """
        start = self.known(())
        changed = can_undo(look) and start is not None and not can_undo(start)
        if not in_vain:
            return _UNDO if changed and latest == _UNDO else _ESCAPE
        front = look.observation.active_window
        if front is not None and front.id not in self._first_windows and latest != _CLOSE_WINDOW:
            return _CLOSE_WINDOW
        if self._pointed is not None and self._may_show_a_tip(path, look):
            return self._pointer_back(look)
        return _UNDO if changed and latest != _UNDO else None

    def _only_drawn_as_chosen(self, known: Look, look: Look) -> bool:
        """Return whether a look differs from a known one at most in how the chosen cell or row is drawn.

        A dialog or an undo may leave it selected that only had the focus before; no state tells the two apart.
        """
        chosen = look.chosen
        return chosen is not None and same(
            known,
            look,
            may_be_greyed=self._may_be_greyed,
            hidden_files_count=False,
            besides=(chosen.rect,),
        )

    def _clicked(self, chosen: Element | None, look: Look, arrived: Callable[[Look], object]) -> Look | Trouble:
        """Click a cell or row, which only has the focus then, and move the pointer away if it shows there."""
        if chosen is None:
            return look
        self._pointed = chosen.rect
        clicked = self._escape(look, arrived, Click(element_id=chosen.id))
        if isinstance(clicked, Trouble) or arrived(clicked):
            return clicked
        return self._escape(clicked, arrived, self._pointer_back(clicked))

    def _may_show_a_tip(self, path: Path, look: Look) -> bool:
        """Return whether a look shows more than a place on a path, and the rest as it was there."""
        places = (self.known(path[:length]) for length in range(len(path) + 1))
        return any(
            place is not None
            and bool(look.exact.keys() - place.exact.keys())
            and all(look.exact.get(key, shown) == shown for key, shown in place.exact.items())
            for place in places
        )

    def _pointer_back(self, look: Look) -> Move:
        """Return the way of the pointer to where it was before its first move, away from what shows a tip under it."""
        self._pointed = None
        height, width = look.observation.screenshot.shape[:2]
        return Move(at=(width // 2, height // 2))

    def _under_menus(self) -> Look | None:
        """Return the look before the menus that are open now, which closing them brings back; None without menus."""
        return self.known(self._at[: self.below_menus(self._at)]) if self._at and self._in_menu else None

    def _without(self, found: frozenset[str], look: Look) -> Look:
        """Leave numbers out from now on that an opened and closed menu has changed, such as the pointer's place."""
        volatile = self._launcher.volatile = self._launcher.volatile | found
        self._known = {key: replace(each, volatile=volatile) for key, each in self._known.items()}
        self._expected.clear()
        return replace(look, volatile=volatile)

    def _seen_now(self, check: bool = False) -> Look | Trouble:
        try:
            return self.look(check)
        except AciError as error:
            return Trouble(f"the desktop did not answer: {error}")

    def _place_on(self, path: Path, look: Look) -> Path | None:
        """Return the longest part of a path at whose end the look proves to be."""
        for length in range(len(path), -1, -1):
            known = self.known(path[:length])
            if known is not None and self._proves(known, look, greyed=False):
                return path[:length]
        return None

    @property
    def _may_be_greyed(self) -> re.Pattern[str]:
        """The names of controls that may be greyed out or not on a way back."""
        return label("history") if self.strict else _ANY

    def _proves(self, known: Look, look: Look, ignored: frozenset[str] | None = None, greyed: bool = True) -> bool:
        """Return whether a look proves a known state (`same`); if not `strict`, hidden files may differ.

        A hidden file that had several contents where all else was the same is a by-product, and left out from then on.
        """
        may_be_greyed = self._may_be_greyed if greyed else None
        if not same(known, look, ignored, may_be_greyed, hidden_files_count=False):
            return False
        changed = {path for path, _ in known.home.files.items() ^ look.home.files.items()}
        for path in changed:
            contents = self._contents.setdefault(path, set())
            contents.update(each.home.files.get(path, "") for each in (known, look))
            if len(contents) >= _OFTEN:
                self._by_products |= {path}
        if self.strict and changed - self._by_products:
            return False
        self.tainted |= bool(changed - self._by_products)
        for key, each in self._known.items() if changed else ():
            self._known[key] = replace(each, home=each.home.with_hidden(look.home).without(self._by_products))
        return True

    def _grounded(self, step: GroundedStep, before: Look, patience_s: float) -> Action | Trouble:
        deadline = self._clock() + patience_s
        observation = before.observation
        action = ground(step, observation)
        while isinstance(action, Mismatch) and self._clock() < deadline and "disabled" not in action.reason:
            self._pause(_POLL_S)
            observation = self._desktop.observe()
            action = ground(step, observation)
        return Trouble(action.reason) if isinstance(action, Mismatch) else action


def _arrival(before: Look, expected: Expected) -> Callable[[Look], bool]:
    """Return whether looks show what is expected, or a menu with entries that stay as they are."""
    latest: list[Look] = []

    def arrived(seen: Look) -> bool:
        still = bool(latest) and latest[-1].exact == seen.exact
        latest[:] = [seen]
        return seen.exact == expected.exact or (still and expected.menus and len(seen.menus) > len(before.menus))

    return arrived


def _places(observation: Observation) -> list[tuple[Rect, bool, str]]:
    """Return what tells windows apart but their ids, which menus change each time they open."""
    return [(window.rect, window.popup, window.title) for window in observation.windows]


def place_key(path: Path) -> tuple[str, ...]:
    """Return a key that identifies the end of a path."""
    return tuple(step.model_dump_json() for step in path)
