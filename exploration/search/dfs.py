"""Depth-first search of the functions of an application, without a model (OSExpert, algorithm 1).

From the first screen, every control is acted on, one at a time, and the screens and homes before and after are
compared. A lasting change is a unit function, which is repeated on a fresh desktop before it is kept. Menus are opened
first, and what leads on from there; then they, the rest of the first screen, submenus and dialogs of settings take
turns, a few controls each, so that a search that runs out of time has tried something of everything. Of each, what
opens dialogs and what is switched comes first. Then comes what was greyed out at first, with everything selected and
with something typed. The contents of other dialogs and of long submenus come last.

As long as an application has more controls to try than a search usually gets to, trying comes before all else: nothing
is verified between attempts, all submenus take turns, and dialogs are opened, but what is in them waits, except for the
application's settings.

A search depends on nothing but what the application shows: no clock and no chance decides about its order. After an
interruption, a new search with the same ledger resumes where the old one ended.

Several processes, each with a desktop of its own, explore one application together if they share its ledger: each goes
through the same frontier in the same order, passes over what another one is trying, and comes back when that is done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path as FilePath
from typing import Protocol

from aci.acting.actions import Hotkey, Type
from agent_s.records import GroundedStep
from exploration.errors import ApplicationUnusable
from exploration.search.changes import WEAK, missing_change
from exploration.search.classifying import NOTHING_CHANGED
from exploration.search.controls import CONTEXT_MENU, SETTING_ROLES, offer
from exploration.search.ledger import Ledger
from exploration.search.navigator import Navigator, Path
from exploration.search.prober import Probe, Prober, Verified
from exploration.search.records import (
    Attempt,
    Attempted,
    Boundary,
    BoundaryFound,
    Control,
    Offer,
    ScreenState,
    SearchEnded,
    SearchEvent,
    SearchLimits,
    SearchStarted,
    SkillVerified,
    StateFound,
    UnitSkill,
)
from exploration.search.shortcuts import SHORTCUT, listed_shortcuts
from exploration.search.starting import PrivateDesktop
from exploration.search.states import Look, without_numbers
from exploration.search.thumbnails import save_thumbnail
from exploration.search.unverified import unverified
from intents.labels import label

START = "start"  # key of the attempt that starts the application
SEPARATOR = " > "
_UNVERIFIED = "what is unverified"  # the claim of who keeps it
SHARED_POLL_S = 0.2  # time between two looks at what other desktops found, where nothing else is left, s
_DISABLED = "it is greyed out"
_MANY = 12  # screens with more controls come after others; also the number of functions that are verified together
_ENOUGH = 8  # number of unit functions that are verified in a row between attempts
_LARGE = 150  # more known controls that were not tried are more than a search usually gets to
_TRIED_PER_VERIFIED = 3  # number of attempts for each: what was seen once can be used already, what was not seen cannot
# of the time, at most, that is kept for the unit functions that wait at the end; less as long as very many are left
_KEPT_SHARE, _KEPT_SHARE_IF_LARGE = 0.25, 0.15
_TURN = 3  # number of controls of a menu or dialog that are tried before those of the next one
_OPENS_MENU = frozenset({"menu", "menu item", "push button menu", "menu button"})  # the last two are of GTK
_LEADING = frozenset({"push button menu", "menu button", "page tab"})
_TELLING = frozenset({CONTEXT_MENU, "check menu item", "toggle button", "check box", "switch", "page tab"})
_USUAL_VERIFICATION_S = 3.0  # time that is kept for each waiting function before the first was verified, s


class Keeper(Protocol):
    """Names and stores what a search finds; `exploration.skills.skill_keeper.SkillKeeper` is one."""

    def announce(self, attempts: Sequence[Attempt]) -> None:
        """Take note of attempts that are about to be verified."""

    def keep_unit(self, attempt: Attempt, app: str, steps: Path) -> UnitSkill:
        """Name and store a verified attempt."""

    def keep_boundary(self, attempt: Attempt, app: str, why: str, steps: Path, retries: int) -> Boundary:
        """Name and store what could not be done."""

    def keep_unverified(self, attempts: Iterable[Attempt], app: str) -> None:
        """Name and store what was seen or found, and not verified."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A step that makes greyed out controls usable, and the precondition that then holds, as a sentence."""

    key: str
    step: GroundedStep
    precondition: str


SETUPS = (
    Setup(
        "everything selected",
        GroundedStep(action=Hotkey(keys=("ctrl", "a")), intent="select everything"),
        "everything is selected",
    ),
    Setup(
        "something typed",
        GroundedStep(action=Type(text="7"), intent="type '7'"),
        "something was typed",
    ),
)


@dataclass(frozen=True, slots=True)
class Pending:
    """An attempt that is still to be made: a control, and the path to its screen."""

    key: str
    path: Path
    offer: Offer
    start: str
    precondition: str = ""


class _LimitReached(Exception):
    """Ends a search early; the message names the limit."""


def search(
    desktop: PrivateDesktop,
    ledger: Ledger,
    keeper: Keeper,
    *,
    limits: SearchLimits | None = None,
    folder: FilePath | None = None,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[SearchEvent]:
    """Explore one application and yield events; each is in the ledger before it is yielded.

    Args:
        desktop: A started private desktop, such as `exploration.search.navigator.new_desktop`; it is reset often.
        ledger: The record of the search, which names the application.
        keeper: Names and stores unit skills and boundaries.
        limits: Bounds.
        folder: Folder for small pictures of the screens; None for none.
        clock: Monotonic clock, s.
        pause: Waits for a number of seconds.

    Raises:
        LedgerError: The ledger cannot be written.
        MemoryStoreError: Memory cannot be written.
        DesktopError: The desktop does not come up any more.
    """
    navigator = Navigator(desktop, ledger.argv, clock, pause)
    prober = Prober(navigator)
    return _Search(navigator, prober, ledger, keeper, limits or SearchLimits(), folder, clock, pause).events()


@dataclass
class _Search:
    _navigator: Navigator
    _prober: Prober
    _ledger: Ledger
    _keeper: Keeper
    _limits: SearchLimits
    _folder: FilePath | None
    _clock: Callable[[], float]
    _pause: Callable[[float], None]

    def __post_init__(self) -> None:
        self._began = self._clock() - self._ledger.seconds
        self._first_offered_by: dict[str, str] = {}
        self._counted = 0  # attempts whose offers are in `_first_offered_by`
        self._leading: list[Pending] = []
        self._submenus = 0  # number of submenus that were opened before what they are beside
        self._near: list[list[Pending]] = []
        self._far: list[list[Pending]] = []
        self._verifying_s, self._verifications = 0.0, 0
        self._passed_over = self._worked = False  # whether another desktop was at something, and this one did something
        # Only attempts that this search has come to, even if the ledger holds more from an earlier, interrupted one:
        # its next steps rest on them alone, so that it does the same as a search without interruption.
        self._reached: dict[str, Attempt] = {}
        self._screens: set[str] = set()  # the screens that this desktop works on, until its process ends
        self._made_on: dict[str, int] = {}  # the desktop that each attempt was made on, as a number of restarts

    def events(self) -> Iterator[SearchEvent]:
        """Yield what happens; the last event is `SearchEnded`."""
        app, argv, resumed = self._ledger.app, self._ledger.argv, not self._ledger.is_new
        started = SearchStarted(seconds=self._seconds, app=app, argv=argv, limits=self._limits, resumed=resumed)
        yield self._write(started)
        complete, reason = False, ""
        try:
            yield from self._all_phases()
            complete, reason = True, "nothing was left to try"
        except (ApplicationUnusable, _LimitReached) as error:
            reason = str(error)
        # Without a start, nothing is new. The claim ends with the process, so that one keeps it for all.
        if self._navigator.app and self._ledger.claim(_UNVERIFIED):
            self._keeper.keep_unverified(unverified(self._ledger), self._navigator.app)
        yield self._write(SearchEnded(seconds=self._seconds, complete=complete, reason=reason))

    def _all_phases(self) -> Iterator[SearchEvent]:
        yield from self._start()
        while True:
            self._passed_over = self._worked = False
            self._reached, self._leading, self._near, self._far, self._submenus = {}, [], [], [], 0
            try:
                for each in self._frontier():
                    yield from self._explore(each)
                    if self._passed_over and self._worked:
                        break  # what the others found meanwhile may come first
                else:
                    yield from self._verify()
                    if not self._passed_over:
                        return
            except _LimitReached:
                yield from self._verify()  # time was kept for it, perhaps more than it takes
                if self._unverified():  # other desktops are at it
                    self._pause(SHARED_POLL_S)
                self._check_limits()
                self._ledger.refresh()
                continue
            if not self._worked:
                self._pause(SHARED_POLL_S)
            self._check_limits()
            self._ledger.refresh()

    def _frontier(self) -> Iterator[Pending]:
        """Yield what is to be tried, in order; trying it adds to what comes later."""
        first = self._children(self._ledger.attempts[START], ())
        menus = [each for each in first if each.offer.control.role in _OPENS_MENU]
        yield from menus
        self._put_in_turn(self._near, [each for each in first if each not in menus])
        while self._leading or self._near:
            if self._leading:
                yield self._leading.pop(0)
                continue
            group = self._take_group(self._near)
            turn = _turn(group)
            if rest := group[len(turn) :]:
                self._near.append(rest)
            yield from turn
        for setup in SETUPS:
            yield from self._prepared(setup)
        while waiting := self._near or self._far:
            waiting.sort(key=lateness)
            yield from self._take_group(waiting)

    def _take_group(self, groups: list[list[Pending]]) -> list[Pending]:
        """Remove and return the next group, preferably of a screen that no other desktop works on.

        Each desktop has to find the way to a screen once before it knows what to wait for there, so desktops that share
        a search keep to different screens as long as there are enough.
        """
        for number, group in enumerate(groups):
            if all(each.key in self._ledger.attempts for each in group) or self._keeps_to(group[0].start):
                return groups.pop(number)
            self._passed_over = True
        return groups.pop(0)

    def _keeps_to(self, screen: str) -> bool:
        """Return whether this desktop works on a screen, which it takes on if no other one does."""
        if screen not in self._screens and self._ledger.claim(f"screen {screen}"):
            self._screens.add(screen)
        return screen in self._screens

    # Finding

    def _start(self) -> Iterator[SearchEvent]:
        """Start the application and list its controls."""
        if not self._ledger.claim(START):
            self._navigator.restart()  # while another desktop lists the controls
            while not self._ledger.claim(START):
                self._check_limits()
                self._pause(SHARED_POLL_S)
        if START in self._ledger.attempts:
            self._ledger.release(START)
            return
        look = self._navigator.restart()
        state = look.state(0)
        yield self._found(state, look)
        offers = tuple(offer(each, look.observation, look.place) for each in look.candidates)
        attempt = Attempt(
            key=START,
            control=Control(role="application", name="", key=START),
            start="",
            end=state.fingerprint,
            classification="continue",
            offers=offers,
            why="the application was started",
        )
        yield self._write(Attempted(seconds=self._seconds, attempt=attempt, left=len(offers)))
        self._ledger.release(START)

    def _explore(self, each: Pending) -> Iterator[SearchEvent]:
        """Make an attempt, unless it was made, and put the controls that it showed where they come in turn."""
        if makes := self._attempts_first(each.key):
            attempt, seen = self._try(each)
            if seen is not None:
                yield self._found(*seen)
            yield self._write(Attempted(seconds=self._seconds, attempt=attempt, left=self._left(*self._far)))
            self._ledger.release(each.key)
        if each.key not in self._ledger.attempts:
            return  # another desktop is at it
        attempt = self._reached[each.key] = self._ledger.attempts[each.key]
        if _failed_for_good(attempt) and self._judges(attempt):
            yield self._give_up(attempt, attempt.why, attempt.path)
            self._ledger.release(_judging(attempt.key))
        breadth_first = self._left() > _LARGE
        if makes and not (self._leading or breadth_first) and self._may_verify():
            yield from self._verify(_ENOUGH)
        if children := self._children(attempt, (*each.path, *attempt.path[len(each.path) :])):
            # A menu has no effect, unlike a dialog, a tool bar or another view.
            near = not attempt.effect if breadth_first else _is_near(attempt, children)
            # What opens with the settings of the application is asked for more often than the rest of a menu.
            at_once = _is_near(attempt, children) and label("opens_settings").match(attempt.control.name) is not None
            near = near or at_once
            self._put_in_turn(self._near if near else self._far, children, at_once)

    def _left(self, *more: Sequence[Pending]) -> int:
        """Return the number of known controls that come in turn, and of more groups, and were not tried."""
        return sum(len(group) for group in (self._leading, *self._near, *more))

    def _put_in_turn(self, groups: list[list[Pending]], found: Sequence[Pending], at_once: bool = False) -> None:
        """Add the controls of a screen to the groups that take turns; those with another number come at the end.

        What leads on to others comes before all groups: what is seen is known, even if there is no time to try it. Of
        submenus, which large applications have many of, only the first do.
        """
        alike, seen = list[Pending](), set[tuple[str, str]]()
        first = list[Pending]()
        for each in sorted(found, key=lambda each: not _is_telling(each.offer.control)):
            control = each.offer.control
            kind = control.role, without_numbers(control.name)
            (alike if kind in seen and kind[1] != control.name else first).append(each)
            seen.add(kind)
        if groups is self._near:
            submenus = [each for each in first if each.offer.control.role == "menu"][: _MANY - self._submenus]
            self._submenus += len(submenus)
            leading = [each for each in first if each in submenus or _leads_on(each.offer.control)]
            self._leading = sorted((*self._leading, *leading), key=lambda each: not _leads_on(each.offer.control))
            first = [each for each in first if each not in leading]
        if first:
            groups.insert(0 if at_once else len(groups), first)
        if alike:
            self._far.append(alike)

    def _children(self, attempt: Attempt, path: Path) -> list[Pending]:
        """Return the attempts that follow an attempt, without controls that another one offered first."""
        if attempt.classification != "continue" or len(path) >= self._limits.max_depth:
            return []
        prefix = "" if attempt.key == START else attempt.key + SEPARATOR
        first = self._first_offers()
        return [
            Pending(
                f"{prefix}{each.control.key}",
                () if each.control.role == SHORTCUT else path,
                each,
                self._ledger.attempts[START].end if each.control.role == SHORTCUT else attempt.end,
                attempt.precondition,
            )
            for each in attempt.offers
            if first[each.control.identity] == attempt.key
        ]

    def _first_offers(self) -> dict[str, str]:
        """Return the attempt that offered each control first, in the order of the ledger."""
        new = list(islice(self._ledger.attempts.values(), self._counted, None))
        self._counted += len(new)
        for attempt in new:
            if attempt.classification == "continue" and attempt.depth < self._limits.max_depth:
                for each in attempt.offers:
                    self._first_offered_by.setdefault(each.control.identity, attempt.key)
        return self._first_offered_by

    def _takes_on(self, claim: str, is_done: Callable[[], bool]) -> bool:
        """Take on what is not done; return False if it is, or if another desktop is at it."""
        if is_done():
            return False
        if not self._ledger.claim(claim):
            self._passed_over = True
            return False
        if is_done():  # by another desktop, just now
            self._ledger.release(claim)
            return False
        self._worked = True
        return True

    def _attempts_first(self, key: str) -> bool:
        """Take on an attempt that nobody has made."""
        if key not in self._ledger.attempts:
            self._check_limits()
            usual = self._verifying_s / self._verifications if self._verifications else _USUAL_VERIFICATION_S
            share = _KEPT_SHARE_IF_LARGE if self._left() > _LARGE else _KEPT_SHARE
            self._check_time(min(usual * len(self._unverified()), share * self._limits.seconds))
        return self._takes_on(key, lambda: key in self._ledger.attempts)

    def _judges(self, attempt: Attempt) -> bool:
        """Take on to decide whether an attempt becomes a skill or a boundary."""
        skills, boundaries = self._ledger.skills, self._ledger.boundaries
        return self._takes_on(_judging(attempt.key), lambda: attempt.key in skills or attempt.key in boundaries)

    def _prepared(self, setup: Setup) -> list[Pending]:
        """Return the attempts on controls that were greyed out, with a setup before them."""
        return [
            Pending(
                f"{setup.key}{SEPARATOR}{attempt.key}",
                (setup.step, *attempt.path[:-1]),
                Offer(control=attempt.control, step=attempt.path[-1]),
                attempt.start,
                setup.precondition,
            )
            for attempt in self._reached.values()
            if attempt.classification == "skipped" and attempt.why == _DISABLED and not attempt.precondition
        ]

    def _try(self, pending: Pending) -> tuple[Attempt, tuple[ScreenState, Look] | None]:
        """Make one attempt, with retries on fresh desktops; return it, and its screen if that is new."""
        offered = pending.offer
        path = (*pending.path, offered.step)
        attempt = Attempt(
            key=pending.key,
            control=offered.control,
            start=pending.start,
            path=path,
            classification="skipped",
            precondition=pending.precondition,
            why=offered.unsafe or (_DISABLED if offered.disabled else ""),
            depth=len(path),
        )
        if attempt.why:
            return attempt, None
        retries = 0
        self._prober.hasty = self._left() > _LARGE
        probe = self._prober.attempt(pending.path, offered.control, offered.step, fresh=False)
        while probe.finding.classification == "error" and retries < self._limits.max_retries:
            if probe.finding.why == NOTHING_CHANGED or (_is_disabled(probe.finding.why) and pending.precondition):
                break  # it began on a screen that was proven to be right
            retries += 1
            probe = self._prober.attempt(pending.path, offered.control, offered.step, fresh=True)
        return self._with_result(attempt, probe, retries)

    def _with_result(
        self, attempt: Attempt, probe: Probe, retries: int
    ) -> tuple[Attempt, tuple[ScreenState, Look] | None]:
        finding, after = probe.finding, probe.after
        self._made_on[attempt.key] = probe.desktop
        if finding.classification == "skipped":
            self._navigator.abandon()
        state = None if after is None else after.state(attempt.depth, finding.offers or None)
        offers = [] if after is None else [offer(each, after.observation, after.place) for each in finding.offers]
        first = self._first_offers()
        known = [each.control for made in self._ledger.attempts.values() for each in made.offers]
        if attempt.control.role == CONTEXT_MENU:  # much of it is in other menus, too
            keys = {each.key for each in known}
            offers = [each for each in offers if each.control.key not in keys]
        if after is not None and finding.offers:
            offers += listed_shortcuts(after.observation, known)
        attempt = attempt.model_copy(
            update={
                "end": state.fingerprint if state is not None else "",
                "path": (*attempt.path[:-1], probe.step),
                "classification": finding.classification,
                "effect": finding.effect,
                "offers": tuple(one for one in offers if first.get(one.control.identity, attempt.key) == attempt.key),
                "why": finding.why,
                "retries": retries,
            }
        )
        if state is None or after is None or state.fingerprint in self._ledger.states:
            return attempt, None
        return attempt, (state, after)

    # Verifying

    def _may_verify(self) -> bool:
        """Return whether enough functions wait, and enough attempts were made since earlier ones were verified."""
        waiting = self._unverified()
        acted = [each for each in self._reached.values() if each.classification != "skipped"]
        judged = sum(bool(each.effect) for each in acted) - len(waiting)
        return len(waiting) >= _ENOUGH and len(acted) >= _TRIED_PER_VERIFIED * (judged + _ENOUGH)

    def _verify(self, most: int | None = None) -> Iterator[SearchEvent]:
        """Repeat unit functions that were found on a fresh desktop, all or the first, and keep those that work."""
        left = len(self._unverified()) if most is None else most
        while mine := list(islice(filter(self._judges, self._unverified()), min(left, _MANY))):
            left -= len(mine)
            self._keeper.announce(mine)
            for attempt in mine:
                self._check_time()
                began = self._clock()
                yield from self._repeat(attempt)
                self._verifying_s, self._verifications = (
                    self._verifying_s + self._clock() - began,
                    self._verifications + 1,
                )
                self._ledger.release(_judging(attempt.key))

    def _unverified(self) -> list[Attempt]:
        """Return the attempts that had an effect and were not repeated yet, those that need a fresh desktop last."""
        skills, boundaries = self._ledger.skills, self._ledger.boundaries
        worked = [one for one in self._reached.values() if one.classification in ("terminal", "continue")]
        waiting = [one for one in worked if one.effect and not (one.key in skills or one.key in boundaries)]
        return sorted(waiting, key=self._needs_a_fresh_desktop)

    def _needs_a_fresh_desktop(self, attempt: Attempt) -> bool:
        """Return whether an attempt was made on this desktop since its start, so that it is not repeated here."""
        return self._made_on.get(attempt.key) == self._navigator.restarts

    def _repeat(self, attempt: Attempt) -> Iterator[SearchEvent]:
        """Repeat one, on another desktop than the one it was found on."""
        verified = self._prober.verify(attempt, self._needs_a_fresh_desktop(attempt))
        for _ in range(self._limits.max_retries if verified.problem else 0):
            again = self._prober.verify(attempt)
            if again.problem and _agree(verified, again):
                # Twice the same on fresh desktops: the rest of what was seen at first had another cause.
                attempt = self._reached[attempt.key] = attempt.model_copy(update={"effect": again.effect})
                yield self._write(Attempted(seconds=self._seconds, attempt=attempt))
                again = replace(again, problem="")
            verified = again
            if not verified.problem:
                break
        if verified.problem:
            yield self._give_up(attempt, verified.problem, verified.steps)
        else:
            skill = self._keeper.keep_unit(attempt, self._navigator.app, verified.steps)
            yield self._write(SkillVerified(seconds=self._seconds, skill=skill))

    def _give_up(self, attempt: Attempt, why: str, steps: Path) -> SearchEvent:
        retries = self._limits.max_retries
        boundary = self._keeper.keep_boundary(attempt, self._navigator.app, why, steps, retries)
        return self._write(BoundaryFound(seconds=self._seconds, boundary=boundary))

    # Recording

    @property
    def _seconds(self) -> float:
        return round(self._clock() - self._began, 3)

    def _check_time(self, kept_s: float = 0.0) -> None:
        if self._seconds + kept_s >= self._limits.seconds:
            raise _LimitReached(f"the time of {self._limits.seconds:g} s is used up")

    def _check_limits(self) -> None:
        self._check_time()
        if len(self._ledger.states) >= self._limits.max_states:
            raise _LimitReached(f"{self._limits.max_states} screens were visited")

    def _found(self, state: ScreenState, look: Look) -> SearchEvent:
        if self._folder is not None:
            picture = save_thumbnail(look.observation.screenshot, self._folder, state.fingerprint)
            state = state.model_copy(update={"thumbnail": picture})
        return self._write(StateFound(seconds=self._seconds, state=state))

    def _write(self, event: SearchEvent) -> SearchEvent:
        self._ledger.write(event)
        return event


def _is_telling(control: Control) -> bool:
    """Return whether a control leads on to others, or switches something and shows it: such functions mostly work."""
    opens_dialog = control.name.endswith(("...", "…")) or label("opens_settings").match(control.name)
    return bool(opens_dialog) or control.role in _TELLING


def _leads_on(control: Control) -> bool:
    """Return whether a control is there to show others: a menu, a tab, the settings, or the list of shortcuts."""
    named = any(label(kind).match(control.name) for kind in ("opens_settings", "names_of_menus", "opens_shortcuts"))
    return named or control.role in _LEADING


def _turn(group: list[Pending]) -> list[Pending]:
    """Return the first controls of a group, up to a few of those that can be used."""
    usable = 0
    for number, each in enumerate(group, start=1):
        usable += not (each.offer.unsafe or each.offer.disabled)
        if usable == _TURN:
            return group[:number]
    return group


def _is_near(attempt: Attempt, children: list[Pending]) -> bool:
    """Return whether what an attempt showed takes its turn with the menus, since people often ask for such things."""
    if any(each.offer.control.role == SHORTCUT for each in children):
        return True
    if _opens_dialog(attempt):
        return _are_settings(children)
    return attempt.depth == 1 or (attempt.depth == 2 and lateness(children) == (False, False))


def _opens_dialog(attempt: Attempt) -> bool:
    return any(change.kind == "opened" for change in attempt.effect)


def lateness(group: Sequence[Pending]) -> tuple[bool, bool]:
    """Return a sort key for variety: long lists after other groups, and the values of a combo box last."""
    way = [target.role for step in group[0].path[-1:] for target in step.targets.values()] if group else []
    return len(group) > _MANY, "combo box" in way


def _are_settings(group: list[Pending]) -> bool:
    """Return whether at least half of the usable controls of a dialog are there to be switched or chosen."""
    usable = [each.offer for each in group if not (each.offer.unsafe or each.offer.disabled)]
    return bool(usable) and 2 * sum(each.control.role in SETTING_ROLES for each in usable) >= len(usable)


def _judging(key: str) -> str:
    """Return the claim of who decides whether an attempt becomes a skill."""
    return f"judge {key}"


def _is_disabled(why: str) -> bool:
    return why.endswith("is disabled")


def _agree(one: Verified, other: Verified) -> bool:
    """Return whether two repetitions had the same effect, and not only a weak one."""
    telling = any(change.kind not in WEAK for change in one.effect)
    return telling and not missing_change(one.effect, other.effect)


def _failed_for_good(attempt: Attempt) -> bool:
    """Return whether an attempt is a boundary; what had no effect here may have one on another screen."""
    return attempt.classification == "error" and attempt.why != NOTHING_CHANGED and not _is_disabled(attempt.why)
