"""Depth-first search of the functions of an application, without a model (OSExpert, algorithm 1).

From the first screen, every control is acted on, one at a time, in the order of `exploration.search.frontier`, and the
screens and homes before and after are compared. A lasting change is a unit function, which is repeated on a fresh
desktop before it becomes a skill. In a large application, nothing is verified between attempts: trying comes first.

The order depends on what the application shows alone, not on a clock or chance. After an interruption, a new search
with the same ledger resumes where the old one ended.

Several processes, each with a desktop of its own, explore one application together if they share its ledger: each goes
through the same frontier, passes over what another one is trying, and comes back when that is done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path as FilePath
from typing import Protocol

from exploration.errors import ApplicationUnusable
from exploration.search.changes import WEAK, missing_change
from exploration.search.classifying import NOTHING_CHANGED
from exploration.search.controls import CONTEXT_MENU, offer
from exploration.search.frontier import DISABLED, START, FirstOffers, Frontier, Pending
from exploration.search.ledger import Ledger
from exploration.search.navigator import Navigator
from exploration.search.places import Path
from exploration.search.prober import Probe, Prober, Verified
from exploration.search.records import (
    Attempt,
    Attempted,
    Boundary,
    BoundaryFound,
    Control,
    ScreenState,
    SearchEnded,
    SearchEvent,
    SearchLimits,
    SearchStarted,
    SkillVerified,
    StateFound,
    UnitSkill,
)
from exploration.search.shortcuts import listed_shortcuts
from exploration.search.starting import PrivateDesktop
from exploration.search.states import Look
from exploration.search.thumbnails import save_thumbnail
from exploration.search.unverified import unverified

SHARED_POLL_S = 0.2  # time between two looks at what other desktops found, where nothing else is left, s

_UNVERIFIED = "what is unverified"  # claim of the desktop that stores it
_BATCH = 12  # number of functions that are verified together at most
_ENOUGH = 8  # number of functions that are verified in a row between attempts
_TRIED_PER_VERIFIED = 3  # number of attempts per verification: what was seen once can already be used
_KEPT_SHARE, _KEPT_SHARE_IF_LARGE = 0.25, 0.15  # largest share of the time that is kept for verifying at the end
_USUAL_VERIFICATION_S = 3.0  # expected time of a verification before the first one, s


class Keeper(Protocol):
    """Names and stores what a search finds; `exploration.skills.skill_keeper.SkillKeeper` is one."""

    def announce(self, attempts: Sequence[Attempt]) -> None:
        """Take note of attempts that are about to be verified."""

    def keep_unit(self, attempt: Attempt, app: str, steps: Path) -> UnitSkill:
        """Name and store a verified attempt."""

    def keep_boundary(self, attempt: Attempt, app: str, why: str, steps: Path, retries: int) -> Boundary:
        """Name and store what could not be done."""

    def keep_first_answers(self, steps: Path, app: str) -> None:
        """Store the steps that answer what the application shows at its start."""

    def keep_unverified(self, attempts: Iterable[Attempt], app: str) -> None:
        """Name and store what was seen or found, and not verified."""


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
        self._first_offers = FirstOffers(self._ledger, self._limits.max_depth)
        self._frontier = self._new_frontier()
        self._verifying_s, self._verifications = 0.0, 0
        self._trying_s, self._tries = 0.0, 0
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
            self._keeper.keep_first_answers(self._navigator.first_answers, self._navigator.app)
            self._keeper.keep_unverified(unverified(self._ledger), self._navigator.app)
        yield self._write(SearchEnded(seconds=self._seconds, complete=complete, reason=reason))

    def _all_phases(self) -> Iterator[SearchEvent]:
        yield from self._start()
        while True:
            self._passed_over = self._worked = False
            self._reached, self._frontier = {}, self._new_frontier()
            try:
                for each in self._frontier.pending(self._reached.values):
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

    def _new_frontier(self) -> Frontier:
        return Frontier(self._ledger, self._first_offers, self._limits.max_depth, self._works_on)

    def _works_on(self, screen: str) -> bool:
        """Return whether this desktop works on a screen, which it takes on if no other one does."""
        if screen not in self._screens and self._ledger.claim(f"screen {screen}"):
            self._screens.add(screen)
        self._passed_over |= screen not in self._screens
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
        """Make an attempt, unless it was made, and add the controls that it showed to the frontier."""
        if makes := self._attempts_first(each.key):
            began = self._clock()
            attempt, seen = self._try(each)
            self._trying_s, self._tries = self._trying_s + self._clock() - began, self._tries + 1
            if seen is not None:
                yield self._found(*seen)
            yield self._write(
                Attempted(seconds=self._seconds, attempt=attempt, left=self._frontier.left(postponed=True))
            )
            self._ledger.release(each.key)
        if each.key not in self._ledger.attempts:
            return  # another desktop is at it
        attempt = self._reached[each.key] = self._ledger.attempts[each.key]
        if _failed_for_good(attempt) and self._judges(attempt):
            yield self._give_up(attempt, attempt.why, attempt.path)
            self._ledger.release(_judging(attempt.key))
        if makes and not (self._frontier.reveals or self._frontier.is_large) and self._may_verify():
            yield from self._verify(_ENOUGH)
        self._frontier.add(attempt, (*each.path, *attempt.path[len(each.path) :]))

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
            verifying = self._verifying_s / self._verifications if self._verifications else _USUAL_VERIFICATION_S
            trying = self._trying_s / self._tries if self._tries else 0.0
            share = _KEPT_SHARE_IF_LARGE if self._frontier.is_large else _KEPT_SHARE
            self._check_time(trying + min(verifying * (len(self._unverified()) + 1), share * self._limits.seconds))
        return self._takes_on(key, lambda: key in self._ledger.attempts)

    def _judges(self, attempt: Attempt) -> bool:
        """Take on to decide whether an attempt becomes a skill or a boundary."""
        skills, boundaries = self._ledger.skills, self._ledger.boundaries
        return self._takes_on(_judging(attempt.key), lambda: attempt.key in skills or attempt.key in boundaries)

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
            why=offered.unsafe or (DISABLED if offered.disabled else ""),
            depth=len(path),
        )
        if attempt.why:
            return attempt, None
        if pending.precondition and self._navigator.has_changed_nothing(pending.path[:1]):
            return attempt.model_copy(update={"why": DISABLED}), None
        retries = 0
        self._prober.hasty = self._frontier.is_large
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
        first = self._first_offers.by_control()
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
        while mine := list(islice(filter(self._judges, self._unverified()), min(left, _BATCH))):
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
        limit_s = self._limits.seconds + (self._limits.more_seconds if self._frontier.is_large else 0.0)
        if self._seconds + kept_s >= limit_s:
            raise _LimitReached(f"the time of {limit_s:g} s is used up")

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
