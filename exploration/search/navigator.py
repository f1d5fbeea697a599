"""Moves in one application on a private desktop: starts it anew, follows paths of steps, and goes back."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path as FilePath

from aci.acting.actions import Action, Click, Move, Wait
from aci.applications.catalog import installed_applications, program_name, quiet_time
from aci.desktop.virtual import VirtualDesktop
from aci.errors import AciError, LaunchFailed
from aci.observation.geometry import Rect
from aci.observation.observation import Element
from aci.processes import MARK, belonging_to, read_stat
from agent_s.records import Change, EndState, GroundedStep
from agent_s.replay.grounded_steps import with_effect
from agent_s.replay.grounding import ground
from agent_s.replay.template import Mismatch
from exploration.errors import ApplicationUnusable
from exploration.search.controls import portable
from exploration.search.homes import HomeState, read_home
from exploration.search.places import Expected, Path, Places
from exploration.search.recognition import STILL_S, Recognition
from exploration.search.starting import Launcher, PrivateDesktop, has_window
from exploration.search.states import (
    Look,
    drift,
    later_ids,
    only_adds,
    same,
    same_but_greyed,
    same_picture,
)
from exploration.search.ways_back import ESCAPE, UNDO, WaysBack, leaves, only_drawn_as_chosen, pointer_away
from intents.labels import label

_POLL_S = 0.1
_APPEAR_LIMIT_S, _BACK_LIMIT_S = 3.0, 0.3  # longest wait for a control on the way to a place, and on the way back
_STILL_LIMIT_S = 1.2  # the same while the screen is at rest: GTK 4 draws a menu before its entries are accessible
_LATE_S = 0.05
_AGAIN_AFTER_S = (0.0, 2.0, 4.0, 6.0)  # pauses before further tries to start, s
_AGAIN_WITHIN_S = 20.0  # time after which there are no further ones, s
_LOOKS = 4
_SOON_S, _SOON_POLL_S = 1.5, 0.03  # longest wait for a known screen
_GLIMPSE_S = 0.02  # time between two glimpses at the pixels alone
_MOST_ESCAPES = 3
_MOST_WAYS, _LONGEST_BACK_S = 5, 2.0  # most actions on a way back, and its longest time; a new start takes less, s
_OPENERS = frozenset({"xdg-open", "exo-open", "gio-launch-desk", "kde-open5", "kde-open"})
_LONGEST_PROGRAM = 15  # characters of the name of a program that the kernel keeps
_ANY = re.compile("")


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
        self._places = Places()
        self._at: Path | None = None
        self._latest: Look | None = None
        self._pointed: Rect | None = None
        self._performed: Action | None = None
        self._reopened: Path = ()  # the path to the menus that `reopen` has opened
        self._fresh = self._in_menu = self.strict = self.tainted = False
        self._first_windows, self._first_programs = frozenset[int](), frozenset[str]()
        self._quiet_s = STILL_S  # the same after an undo or a dialog, which tool bars may follow late
        self.restarts = 0

    @property
    def app(self) -> str:
        """The application, as its windows name it; empty before the first start."""
        return self._launcher.app

    @property
    def first_answers(self) -> Path:
        """The steps that answer what the application shows at its start."""
        return tuple(step for _, step in sorted(self._launcher.answers.items()))

    @property
    def place(self) -> str:
        """The path of the home."""
        return str(self._desktop.home)

    def restart(self) -> Look:
        """Start the application on a fresh desktop.

        Raises:
            ApplicationUnusable: It cannot be started or shows nothing, on the second try if it ended at its first
                start, and on the last of several if it started before.
        """
        if self.restarts:
            self._desktop.reset()
        self.restarts += 1
        self._places.forget_looks()
        self._pointed = None
        volatile = self._launcher.volatile
        look = self._started()
        self._at, self._fresh, self.tainted = (), True, False
        self._first_windows, self._first_programs = look.windows, self._running()
        self._quiet_s = max((STILL_S, *map(quiet_time, self._first_programs)))
        if self._launcher.volatile != volatile:
            self._places.forget_expected()
        self._places.add((), look)
        return look

    def _started(self) -> Look:
        """Start the application, with further tries if that fails.

        LibreOffice sometimes crashes at a start, and a program that allows one instance may hold its port for some
        seconds after it was ended.
        """
        began, first = self._clock(), self.restarts == 1
        for pause_s in _AGAIN_AFTER_S[: 1 if first else None]:
            try:
                return self._launcher.start()
            except ApplicationUnusable as error:
                unfit = first and not isinstance(error.__cause__, LaunchFailed)
                if unfit or (pause_s and self._clock() - began > _AGAIN_WITHIN_S):
                    raise
            self._desktop.reset()
            self._pause(pause_s)
        return self._launcher.start()

    def known(self, path: Path) -> Look | None:
        """Return the look at the end of a path since the last fresh start; None if it was not reached."""
        return self._places.look(path)

    def has_changed_nothing(self, path: Path) -> bool:
        """Return whether a path is known to show what the first screen does, since the latest start."""
        first, there = self.known(()), self.known(path)
        return first is not None and there is not None and same(first, there, hidden_files_count=False)

    def expected(self, path: Path) -> Expected | None:
        """Return what a path led to when it was last followed, on any desktop."""
        return self._places.expected(path)

    def look(self, check: bool = True) -> Look:
        """Return a look at the screen and the home; `check` is that of `aci.desktop.desktop.Desktop.observe`."""
        observation = self._desktop.observe(check=check)
        home = self._home()
        latest = self._latest
        if latest is not None and observation is latest.observation:
            about = latest.home, latest.pointed, latest.volatile
            if about == (home, self._pointed, self._launcher.volatile):
                return latest  # with what was derived from it
        self._latest = Look(observation, home, self.place, self._pointed, self._launcher.volatile)
        return self._latest

    def _home(self) -> HomeState:
        return read_home(self._desktop.home).without(self._places.by_products | self._launcher.by_products)

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
        same_below = not self.strict and done.windows == look.windows
        if same_below and expected is not None and expected.has_same_menus(done):
            self._places.add(here, done)  # what differs below them did so before
            return done
        look = done if quick and expected is not None and done.exact == expected.exact else self.steady(done)
        right = known.exact if known is not None else look.exact if self._fresh or not expected else expected.exact
        for number in range(_LOOKS):
            more = known is not None and only_adds(known, look) and same_picture(known, look)
            if right == look.exact or more or same_but_greyed(right, look.exact, self._may_be_greyed):
                self.tainted |= not (more or same_but_greyed(right, look.exact, label("history")))
                self._places.add(here, look)  # windows have other ids each time
                return look
            if number and not self.strict and expected is not None and expected.menus and look.menus:
                # Entries may differ by what was done before; a step that needs another one does not find it.
                self.tainted = True
                self._places.add(here, look)
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
        settles: bool = True,
    ) -> Look | Trouble:
        """Do a step that extends the current path and return the look after it; see `follow`."""
        here = self._at or ()
        shows = self._recognizing(known, menus_only=not self.strict) if known is not None else None
        look = self.follow(step, before, expected, check=check, shows=shows, settles=settles)
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
        shows: Recognition | None = None,
        reads_menu: bool = False,
        settles: bool = True,
    ) -> Look | Trouble:
        """Do a step that is on no path and return the look after it.

        Args:
            step: The step.
            before: The look before it.
            expected: What it led to before, to wait for; if None, wait until the screen is at rest.
            patience_s: Longest wait for its control, s.
            check: Whether the look is checked against a complete reading, after what comes late.
            shows: Recognizes what is expected, which is waited for before any application is asked.
            reads_menu: Whether the application is asked all the same, because entries of its menus have changed.
            settles: Whether to wait until the screen is at rest if nothing is expected.
        """
        self._at, self._reopened = None, ()
        action = self._grounded(step, before, patience_s)
        if isinstance(action, Trouble):
            return action
        self._performed = action
        element = before.observation.by_id.get(getattr(action, "element_id", None) or -1)
        self._pointed = element.rect if element is not None else self._pointed
        try:
            result = self._desktop.perform(action, settle=shows or (settles and expected is None))
            if not result.ok:
                return Trouble(result.error or "it was refused")
            self.tainted |= result.copied
            again = None
            if shows is not None and self._waits_for(shows) and not reads_menu:
                again = self._resumed(shows, before)
            if again is not None:
                look = again
            elif shows is not None and reads_menu:
                look = self._awaited(before, shows.known.has_same_entries)
            elif expected is not None:
                look = self._awaited(before, _arrival(before, expected))
            else:
                look = self.look(check)
                if before.observation.elements and not look.observation.elements:
                    look = self.look()  # which waits for an application that does not answer now
        except AciError as error:
            return Trouble(f"the desktop did not answer: {error}")
        return look if has_window(look.observation, self.app) else Trouble("the application ended")

    def _recognizing(
        self,
        known: Look,
        menus_only: bool = False,
        ignored: frozenset[str] = frozenset(),
        besides: Iterable[Element] = (),
        still_s: float = STILL_S,
    ) -> Recognition:
        """Return what recognizes a known look; some elements may look otherwise `besides`."""
        places = [element.rect for element in besides]
        return Recognition(self._desktop.glimpse, known, lambda: self._pointed, menus_only, ignored, places, still_s)

    def _waits_for(self, shows: Recognition) -> bool:
        """Wait until the screen shows something, and return whether it does; stop when nothing changes for a while."""
        began = changed_at = self._clock()
        previous: object = None
        while not shows():
            now, seen = self._clock(), self._desktop.glimpse().screenshot
            changed_at = changed_at if seen is previous else now
            if now - changed_at > (shows.still_s if shows.has_windows else STILL_S) or now - began > _SOON_S:
                return False
            previous = seen
            self._pause(_GLIMPSE_S)
        return True

    def _resumed(self, shows: Recognition, before: Look) -> Look | None:
        """Return a known look whose picture is on the screen as the present one, without asking any application.

        If only its menus were compared, what is below them is taken from the look before they were opened. None if the
        picture may not be all: a window is another one, the home differs, or a proof must be strict.
        """
        seen, home = self._desktop.glimpse(), self._home()
        if not shows.has_same_ids(seen.windows):
            return None
        if shows.menus_only and before.windows == {window.id for window in seen.windows if not window.popup}:
            look = replace(shows.known.menus_over(before, seen), home=home, pointed=self._pointed)
        elif not shows.menus_only and shows.has_home(home) and not self.strict:
            look = shows.known.redrawn(seen.screenshot, seen.pointer, self._pointed, home)
        else:
            return None
        self._latest = look
        self._desktop.resume(look.observation)
        return look

    def _awaited(self, before: Look, arrived: Callable[[Look], object], still_s: float = STILL_S) -> Look:
        """Look until a condition holds, or nothing has changed for a while."""
        began = changed_at = self._clock()
        previous = before
        while True:
            look = self.look(check=False)
            now = self._clock()
            if look.exact != previous.exact:
                changed_at = now
            if arrived(look) or now - changed_at > still_s or now - began > _SOON_S:
                return look
            previous = look
            self._pause(_SOON_POLL_S)

    def deselect_menu(self) -> None:
        """Press Escape: a menu of Java that has no entries stays selected, and takes the next click for its end."""
        try:
            self._desktop.perform(ESCAPE)
        except AciError:
            self.leave()  # the next look tells

    def leave(self) -> None:
        """Mark the current place as unknown: only a proof or a fresh desktop leads on."""
        self._at = None

    def abandon(self) -> None:
        """Have the next path begin on a fresh desktop, on which nothing runs that was started meanwhile."""
        self._at = None
        self._places.forget_looks()

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
        action, seen, ids = self._performed or step.action, before.observation, later_ids(before, after)
        if ids:
            elements = tuple(replace(each, id=ids.get(each.id, each.id)) for each in seen.elements)
            seen = replace(seen, elements=elements, focus_id=ids.get(seen.focus_id or 0, seen.focus_id))
        if (named := getattr(action, "element_id", None)) in ids:
            action = action.model_copy(update={"element_id": ids[named]})
        step = with_effect(step, action, seen, after.observation)
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
        self,
        path: Path,
        way: Path,
        switched: frozenset[str] | None = None,
        *,
        unless_closed: bool = False,
        leads_back: bool = False,
    ) -> bool:
        """Undo the last step of a path and return whether the place before its menus is proven to be back.

        Args:
            path: The path.
            way: A path from the same place, whose steps undo it.
            switched: Settings that it changed and whose present values are accepted as those of before. If None,
                everything must be undone, pixels included.
            unless_closed: Whether Escape may be enough, as it is for a dialog.
            leads_back: Whether it has led back from something alike, so that late updates are waited for.
        """
        base = path[: self.below_menus(path)]
        known = self.known(base)
        about = switched, unless_closed, leads_back
        look = self._brought_back(path, way, known, *about) if known is not None else None
        if known is None or look is None:
            return False
        self._at, self._fresh, self._in_menu = base, False, False
        only_more = known.exact.items() <= look.exact.items()
        self.tainted |= not (only_more or same_but_greyed(known.exact, look.exact, label("history")))
        self._places.add(base, look)
        self._places.accept(switched or (), look.home)
        return True

    def _brought_back(
        self,
        path: Path,
        way: Path,
        known: Look,
        switched: frozenset[str] | None,
        unless_closed: bool,
        leads_back: bool,
    ) -> Look | None:
        """Do what `put_back` does, and return the look then; None if it does not prove to be the known one."""

        def back(seen: Look) -> bool:
            return self._proves(known, seen, self._may_be_greyed, switched)

        def back_as_it_was(seen: Look) -> bool:
            return self._proves(known, seen, self._may_be_greyed)

        def nearly_back(seen: Look) -> bool:
            return switched is None and not back(seen) and only_drawn_as_chosen(known, seen, self._may_be_greyed)

        reopened = self._reopened  # closing these menus brings nothing back
        opened = len(reopened) if reopened == way[: len(reopened)] else 0
        before = self._seen_now()
        look = before if opened else self._closed(known, before)
        if not reopened and isinstance(look, Look) and _number_of_windows(look) < _number_of_windows(before):
            look = self._awaited(look, back_as_it_was)
            unless_closed = True
        if unless_closed and isinstance(look, Look) and back_as_it_was(look):
            return look
        base = self.below_menus(path)
        still_s = self._quiet_s if leads_back else STILL_S
        look = self._followed(way, max(opened, base), look, known, switched or frozenset(), still_s)
        if isinstance(look, Look) and not back(look):
            quiet_s = self._quiet_s if look.exact.keys() == known.exact.keys() else STILL_S
            look = self._awaited(look, lambda seen: back(seen) or nearly_back(seen), quiet_s)
            if look.chosen is not None and nearly_back(look):
                look = self._clicked(Click(element_id=look.chosen.id), look, back)
        return look if isinstance(look, Look) and back(look) else None

    def _followed(
        self, way: Path, first: int, look: Look | Trouble, known: Look, ignored: frozenset[str], still_s: float
    ) -> Look | Trouble:
        """Do the steps of a way back to a known look from a number on; settings that are `ignored` may differ there."""
        for number, step in enumerate(way[first:], start=first + 1):
            if isinstance(look, Trouble):
                break
            expected, there = self.expected(way[:number]), self.known(way[:number])
            if number == len(way):  # what it brings back is compared as a whole
                expected, there = Expected(known.exact), known
            elif expected is not None and not expected.menus:
                expected = None
            undoes = step.action == UNDO  # which is drawn in the button that does it again
            shows = None
            if there is not None and expected is not None and not undoes:
                followed = _element_of(way[number], there) if number < len(way) else ()
                shows = self._recognizing(there, number < len(way), ignored, followed, still_s)
            look = self.follow(step, look, expected, _BACK_LIMIT_S, shows=shows)
        return look

    def reopen(self, path: Path, look: Look) -> Look | Trouble:
        """Open the menus of the last step of a path again, from the place before them, and return the look there.

        The entry of the last step and those that were marked may look otherwise than before, so they are read. What
        else differs after a choice, such as what is greyed out, is remembered for other entries of the menu.
        """
        base, performed = self.below_menus(path), self._performed
        now: Look | Trouble = look
        for number, step in enumerate(path[base:-1], start=base + 1):
            if isinstance(now, Trouble):
                return now
            here = path[:number]
            known = self._places.reopened(path, number) or self.known(here)
            is_last = number == len(path) - 1
            shows = None
            if known is not None:
                changed = (*_element_of(path[-1], known), *_marked(known)) if is_last else ()
                shows = self._recognizing(known, menus_only=True, besides=changed)
            now = self.follow(step, now, self.expected(here), shows=shows, reads_menu=is_last)
            if isinstance(now, Look):
                self._places.add_reopened(path, number, now)
        self._reopened, self._performed = path[:-1] if isinstance(now, Look) else (), performed
        return now

    def close_again(self, path: Path) -> None:
        """Close the menus of the last step of a path, which `reopen` has opened."""
        if known := self.known(path[: self.below_menus(path)]):
            self._closed(known, self._seen_now())

    def below_menus(self, path: Path) -> int:
        """Return the number of steps of a path before the menus of its last step were opened."""
        base = len(path) - 1
        while base > 0 and ((known := self.known(path[:base])) is None or known.menus):
            base -= 1
        return base

    def _closed(self, known: Look, look: Look | Trouble) -> Look | Trouble:
        """Press Escape until there are no more windows than there were, or it goes to one that was there."""

        def arrived(seen: Look) -> bool:
            windows, menus = len(seen.observation.windows), len(seen.menus)
            return windows <= len(known.observation.windows) and menus <= len(known.menus)

        before = None
        for _ in range(_MOST_ESCAPES):
            if isinstance(look, Trouble) or arrived(look) or (before is not None and look.exact == before.exact):
                break
            front = look.observation.active_window
            popups = any(window.popup for window in look.observation.windows)
            if not (popups or look.menus) and front is not None and front.id in known.windows:
                break
            before, look = look, self._escape(look, arrived)
        return look

    def _escape(self, before: Look, arrived: Callable[[Look], object], way: Action = ESCAPE) -> Look | Trouble:
        """Press Escape, or take another way back, and look until a condition holds, or nothing changes any more."""
        self._at, self._reopened = None, ()
        try:
            self._desktop.perform(way, settle=False)
            look = self._awaited(before, arrived, self._quiet_s if way == UNDO else STILL_S)
        except AciError as error:
            return Trouble(f"the desktop did not answer: {error}")
        return look if has_window(look.observation, self.app) else Trouble("the application ended")

    def _back_at_once(self, path: Path) -> Look | None:
        """Close the menus and dialogs that were opened over a place on a path, and return the look there.

        Its picture is enough. None if that does not come back, or if they have closed and changed something.
        """
        at = self._at
        if at is None or self.strict:
            return None
        ground = at if at == path[: len(at)] else self._ground_of(path, at)
        known = self.known(ground) if ground is not None else None
        if ground is None or known is None:
            return None
        shows, most = self._recognizing(known, still_s=self._quiet_s), len(known.observation.windows)
        if ground == at:
            return self._resumed(shows, known) if shows() else None
        try:
            for _ in range(_MOST_ESCAPES):
                if shows() or len(self._desktop.glimpse().windows) <= most:
                    break
                self._at, self._reopened = None, ()
                seen = self._desktop.glimpse()
                self._desktop.resume(seen)  # whatever has the keyboard focus, the keys are for it
                leaving = leaves(seen.windows, self._first_windows)
                if not self._desktop.perform(leaving, settle=shows).ok or self._waits_for(shows):
                    break
            look = self._resumed(shows, known) if shows() else None
        except AciError:
            return None  # the next look tells
        if look is not None:
            self._at, self._fresh, self._in_menu, self._reopened = ground, False, False, ()
            self._places.add(ground, look)
        return look

    def _ground_of(self, path: Path, at: Path) -> Path | None:
        """Return the longest part of two paths at whose end no menu is open, if it is known."""
        length = next((n for n, (one, other) in enumerate(zip(path, at, strict=False)) if one != other), None)
        shared = path[: min(len(path), len(at)) if length is None else length]
        grounds = (shared[:n] for n in range(len(shared), -1, -1))
        return next((each for each in grounds if (known := self.known(each)) is not None and not known.menus), None)

    def _back_towards(self, path: Path) -> Look | None:
        """Return to a place on the path; None if nothing proves that it was reached."""
        look: Look | Trouble = self._seen_now() if self._places else Trouble("not started")
        if isinstance(look, Look) and self._at is not None and path[: len(self._at)] == self._at:
            self._places.add(self._at, look)
            return look
        ways, ground, began = WaysBack(self._first_windows, self._may_be_greyed), self._under_menus(), self._clock()

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
                self._places.add(reached, look)
                return look
            places = [known for _, known in self._places.along(path)][::-1]
            below = self.known(path[: self.below_menus(path)]) if path else self.known(())
            way = ways.next(look, places, below, self._pointed is not None)
            if way is None or self._clock() - began > _LONGEST_BACK_S:
                return None
            if isinstance(way, Click):
                look = self._clicked(way, look, arrived)
                continue
            if isinstance(way, Move):
                pointed = look.observation.by_id.get(way.element_id or 0)
                self._pointed = pointed.rect if pointed is not None else None
            look = self._escape(look, arrived, way)
        return None

    def _clicked(self, click: Click, look: Look, arrived: Callable[[Look], object]) -> Look | Trouble:
        """Click a cell or row, which only has the focus then, and move the pointer away if it shows there."""
        cell = look.observation.by_id.get(click.element_id or 0)
        self._pointed = cell.rect if cell is not None else self._pointed
        clicked = self._escape(look, arrived, click)
        if isinstance(clicked, Trouble) or arrived(clicked):
            return clicked
        self._pointed = None
        return self._escape(clicked, arrived, pointer_away(clicked))

    def _under_menus(self) -> Look | None:
        """Return the look before the menus that are open now, which closing them brings back; None without menus."""
        return self.known(self._at[: self.below_menus(self._at)]) if self._at and self._in_menu else None

    def _without(self, found: frozenset[str], look: Look) -> Look:
        """Leave numbers out from now on that an opened and closed menu has changed, such as the pointer's place."""
        volatile = self._launcher.volatile = self._launcher.volatile | found
        self._places.leave_out(volatile)
        return replace(look, volatile=volatile)

    def _seen_now(self, check: bool = False) -> Look | Trouble:
        try:
            return self.look(check)
        except AciError as error:
            return Trouble(f"the desktop did not answer: {error}")

    def _place_on(self, path: Path, look: Look) -> Path | None:
        """Return the longest part of a path at whose end the look proves to be."""
        greyed = None if self.strict else label("history")
        return next((place for place, known in self._places.along(path) if self._proves(known, look, greyed)), None)

    @property
    def _may_be_greyed(self) -> re.Pattern[str]:
        """The names of controls that may be greyed out or not on a way back."""
        return label("history") if self.strict else _ANY

    def _proves(
        self,
        known: Look,
        look: Look,
        may_be_greyed: re.Pattern[str] | None,
        ignored: frozenset[str] | None = None,
    ) -> bool:
        """Return whether a look proves a known state; if not `strict`, hidden files and thin lines may differ."""
        proof = self._places.proof(known, look, self.strict, may_be_greyed, ignored)
        self.tainted |= proof is not None and not proof.exact
        return proof is not None

    def _grounded(self, step: GroundedStep, before: Look, patience_s: float) -> Action | Trouble:
        began = changed_at = self._clock()
        action = ground(step, before.observation)
        while isinstance(action, Mismatch) and "disabled" not in action.reason:
            now = self._clock()
            if now - began >= patience_s or now - changed_at >= _STILL_LIMIT_S:
                break
            if not self.rests(_POLL_S):
                changed_at = self._clock()
            action = ground(step, self._desktop.observe())
        return Trouble(action.reason) if isinstance(action, Mismatch) else action


def _arrival(before: Look, expected: Expected) -> Callable[[Look], bool]:
    """Return whether looks show what is expected, or a menu with entries that stay as they are."""
    latest: list[Look] = []

    def arrived(seen: Look) -> bool:
        still = bool(latest) and latest[-1].exact == seen.exact
        latest[:] = [seen]
        if seen.exact == expected.exact or expected.has_same_menus(seen):
            return True
        return still and expected.menus and len(seen.menus) > len(before.menus)

    return arrived


def _element_of(step: GroundedStep, look: Look) -> tuple[Element, ...]:
    """Return the element of a step as a look shows it; none if it is not there."""
    action = ground(step, look.observation)
    element = look.observation.by_id.get(getattr(action, "element_id", None) or -1)
    return (element,) if element is not None else ()


def _marked(look: Look) -> tuple[Element, ...]:
    """Return the elements that are marked as chosen or on, such as the entry of a menu that has a tick."""
    return tuple(each for each in look.observation.elements if "checked" in each.states)


def _number_of_windows(look: Look | Trouble) -> int:
    return len(look.observation.windows) if isinstance(look, Look) else 0
