"""Depth-first search of what an application can do, without any model (OSExpert, algorithm 1).

From the screen after the start, every control is acted on, one at a time. The screens and homes before and after are
compared: where more became visible that is tried next, last come first served; what changed something for good is a
unit function. Each of these is done once more on a fresh desktop before it is kept. Dialogs of settings are next, since
they hold what people ask for. What is greyed out at first is tried again with everything selected, and with something
typed. What lies inside of other dialogs and of menus within menus comes last, so that a search that runs out of time
has verified the rest.

A search depends on nothing but what the application shows: no clock and no chance decide about its order. Killed and
begun again with the same ledger, it goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath

from aci.acting.actions import Hotkey, Type
from agent_s.records import GroundedStep
from exploration.errors import ApplicationUnusable
from exploration.report.thumbnails import save_thumbnail
from exploration.search.changes import WEAK, happened_again
from exploration.search.controls import SETTING_ROLES, offer
from exploration.search.ledger import Ledger
from exploration.search.navigator import Path, PrivateDesktop, Walker
from exploration.search.prober import Prober, Tried, Verified
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
from exploration.search.states import Look
from exploration.skills.naming import name_unit
from exploration.skills.skill_memory import SkillKeeper
from memory_store import MemoryStore

START = "start"
"""Key of the attempt that starts the application."""
SEPARATOR = " > "
NOTHING_CHANGED = "nothing changed"
_DEEP = 2
"""What lies further from the start than so many steps comes last."""
_MANY = 12
"""More controls than these on one screen come after others; so many buttons are verified together."""

_START_CONTROL = Control(role="application", name="", key=START)


@dataclass(frozen=True, slots=True)
class Setup:
    """Something that makes greyed out controls usable.

    Attributes:
        key: Its name.
        step: What is done first.
        precondition: What holds then, one sentence.
    """

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
    """An attempt that is still to be made: a control, and the path to the screen that it is on."""

    key: str
    path: Path
    offer: Offer
    start: str
    precondition: str = ""


Namer = Callable[[Sequence[Attempt]], Mapping[str, tuple[str, ...]]]
"""Gives names to what was found, by the keys of the attempts, such as
`exploration.skills.naming_by_model.ModelNamer`."""


class _LimitReached(Exception):
    """Ends a search early; the message says by which limit."""


def search(
    desktop: PrivateDesktop,
    ledger: Ledger,
    *,
    limits: SearchLimits | None = None,
    memory: MemoryStore | None = None,
    folder: FilePath | None = None,
    namer: Namer | None = None,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[SearchEvent]:
    """Explore one application and yield what happens; each event is in the ledger before it is yielded.

    Args:
        desktop: A started private desktop, best of `exploration.search.navigator.new_desktop`; it is reset again and
            again.
        ledger: What was tried so far, and which application this is about.
        limits: Bounds.
        memory: Gets the unit skills and boundaries; None to keep them in the ledger alone.
        folder: Gets small pictures of the screens; None for none.
        namer: Gives better names to what works; None where rules alone name it.
        clock: Seconds on a steady clock.
        pause: Waits for some seconds.

    Raises:
        LedgerError: The ledger cannot be written.
        MemoryStoreError: Memory cannot be written.
        DesktopError: The desktop does not come up any more.
    """
    walker = Walker(desktop, ledger.argv, clock, pause)
    return _Search(walker, ledger, limits or SearchLimits(), memory, folder, namer, clock).events()


class _Search:
    """One search."""

    def __init__(
        self,
        walker: Walker,
        ledger: Ledger,
        limits: SearchLimits,
        memory: MemoryStore | None,
        folder: FilePath | None,
        namer: Namer | None,
        clock: Callable[[], float],
    ) -> None:
        self._ledger = ledger
        self._limits = limits
        self._folder = folder
        self._namer = namer
        self._names: dict[str, tuple[str, ...]] = {}
        self._clock = clock
        self._began = clock() - ledger.seconds
        self._walker = walker
        self._prober = Prober(self._walker)
        self._keeper = SkillKeeper(memory, f"explore {ledger.app}")
        self._offered: dict[str, str] = {}
        self._later: list[list[Pending]] = []
        # What this search came by until now: less than the ledger holds where an earlier one was further. What is done
        # next rests on this alone, so that it is the same as if there had been no earlier one.
        self._come_by: dict[str, Attempt] = {}
        self._made_on: dict[str, int] = {}
        """Which desktop each attempt of this process was made on, counted by starts."""

    def events(self) -> Iterator[SearchEvent]:
        """Yield what happens; the last event is `SearchEnded`."""
        ledger = self._ledger
        yield self._write(
            SearchStarted(
                seconds=self._seconds,
                app=ledger.app,
                argv=ledger.argv,
                limits=self._limits,
                resumed=not ledger.is_new,
            )
        )
        try:
            yield from self._all_phases()
        except ApplicationUnusable as error:
            yield self._ended(False, str(error))
        except _LimitReached as limit:
            yield self._ended(False, str(limit))
        else:
            yield self._ended(True, "nothing was left to try")

    def _all_phases(self) -> Iterator[SearchEvent]:
        yield from self._start()
        start = self._ledger.attempts[START]
        yield from self._explore_all(self._children(start, ()))
        while settings := self._taken_from_later(_are_settings):
            for group in settings:
                yield from self._explore_together(group)
        for setup in SETUPS:
            yield from self._explore_all(self._prepared(setup))
        while self._later:
            group = min(self._later, key=lateness)
            self._later.remove(group)
            yield from self._explore_together(group)

    def _taken_from_later(self, wanted: Callable[[list[Pending]], bool]) -> list[list[Pending]]:
        """Take those groups of what comes later that are wanted now."""
        taken = [group for group in self._later if wanted(group)]
        self._later = [group for group in self._later if not wanted(group)]
        return taken

    # Finding

    def _start(self) -> Iterator[SearchEvent]:
        """Start the application and list what it offers."""
        if START in self._ledger.attempts:
            return
        look = self._walker.restart()
        state = look.state(0)
        yield self._found(state, look)
        offers = tuple(offer(each, look.observation, look.place) for each in look.candidates)
        attempt = Attempt(
            key=START,
            control=_START_CONTROL,
            start="",
            end=state.fingerprint,
            classification="continue",
            offers=offers,
            why="the application was started",
        )
        yield self._write(Attempted(seconds=self._seconds, attempt=attempt, left=len(offers)))

    def _explore_all(self, pending: list[Pending]) -> Iterator[SearchEvent]:
        """Explore one branch after the other, and verify what each showed, so that a search cut short has skills."""
        for batch in _batches(pending):
            yield from self._explore_together(batch)

    def _explore_together(self, batch: list[Pending]) -> Iterator[SearchEvent]:
        """Explore several branches, and verify then, so that few fresh desktops are needed."""
        for each in batch:
            yield from self._explore(each)
        yield from self._verify()

    def _explore(self, branch: Pending) -> Iterator[SearchEvent]:
        """Make attempts until none is left on a branch, those that became visible last first."""
        stack = [branch]
        while stack:
            each = stack.pop()
            attempt = self._ledger.attempts.get(each.key)
            if attempt is None:
                self._check_limits()
                attempt, seen = self._try(each)
                if seen is not None:
                    yield self._found(*seen)
                yield self._write(Attempted(seconds=self._seconds, attempt=attempt, left=len(stack)))
            self._come_by[attempt.key] = attempt
            if _failed_for_good(attempt) and attempt.key not in self._ledger.boundaries:
                yield self._give_up(attempt, attempt.why, attempt.path)
            children = self._children(attempt, (*each.path, *attempt.path[len(each.path) :]))
            if len(attempt.path) >= _DEEP or any(change.kind == "opened" for change in attempt.effect):
                self._later.append(children)
            else:
                stack.extend(children[::-1])

    def _children(self, attempt: Attempt, path: Path) -> list[Pending]:
        """Return the attempts that an attempt leads to, those left out that another one led to before."""
        if attempt.classification != "continue" or len(path) >= self._limits.max_depth:
            return []
        prefix = "" if attempt.key == START else attempt.key + SEPARATOR
        return [
            Pending(f"{prefix}{each.control.key}", path, each, attempt.end, attempt.precondition)
            for each in attempt.offers
            if self._offered.setdefault(each.control.identity, attempt.key) == attempt.key
        ]

    def _prepared(self, setup: Setup) -> list[Pending]:
        """Return the attempts whose control was greyed out, to be made again after a setup."""
        return [
            Pending(
                f"{setup.key}{SEPARATOR}{attempt.key}",
                (setup.step, *attempt.path[:-1]),
                Offer(control=attempt.control, step=attempt.path[-1]),
                attempt.start,
                setup.precondition,
            )
            for attempt in self._come_by.values()
            if attempt.classification == "skipped" and attempt.why == _DISABLED and not attempt.precondition
        ]

    def _try(self, pending: Pending) -> tuple[Attempt, tuple[ScreenState, Look] | None]:
        """Make one attempt, again on fresh desktops where it fails; return it, and its screen where that is new."""
        left_alone = pending.offer.unsafe or (_DISABLED if pending.offer.disabled else "")
        if left_alone:
            return self._skipped(pending, left_alone), None
        control = pending.offer.control
        retries = 0
        tried = self._prober.attempt(pending.path, control, pending.offer.step, fresh=False)
        while tried.finding.classification == "error" and retries < self._limits.max_retries:
            if tried.finding.why == NOTHING_CHANGED or (_is_disabled(tried.finding.why) and pending.precondition):
                break  # it began on a screen that was proven to be as it should
            retries += 1
            tried = self._prober.attempt(pending.path, control, pending.offer.step, fresh=True)
        return self._recorded(pending, tried, retries)

    def _recorded(
        self, pending: Pending, tried: Tried, retries: int
    ) -> tuple[Attempt, tuple[ScreenState, Look] | None]:
        finding, after = tried.finding, tried.after
        self._made_on[pending.key] = tried.desktop
        path = (*pending.path, tried.step)
        state = None if after is None else after.state(len(path), finding.offers or None)
        offers = [offer(each, after.observation, after.place) for each in finding.offers] if after is not None else []
        known = self._offered
        if finding.classification == "skipped":
            self._walker.leave()
        attempt = Attempt(
            key=pending.key,
            control=pending.offer.control,
            start=pending.start,
            end=state.fingerprint if state is not None else "",
            path=path,
            classification=finding.classification,
            effect=finding.effect,
            offers=tuple(each for each in offers if known.get(each.control.identity, pending.key) == pending.key),
            precondition=pending.precondition,
            why=finding.why,
            retries=retries,
            depth=len(path),
        )
        new = state is not None and after is not None and state.fingerprint not in self._ledger.states
        return attempt, (state, after) if new and state is not None and after is not None else None

    def _skipped(self, pending: Pending, why: str) -> Attempt:
        path = (*pending.path, pending.offer.step)
        return Attempt(
            key=pending.key,
            control=pending.offer.control,
            start=pending.start,
            path=path,
            classification="skipped",
            precondition=pending.precondition,
            why=why,
            depth=len(path),
        )

    # Verifying

    def _verify(self) -> Iterator[SearchEvent]:
        """Do every unit function that was found once more on a fresh desktop, and keep those that work."""
        found = [attempt for attempt in self._come_by.values() if self._is_to_be_verified(attempt)]
        if found and self._namer is not None:
            self._names |= self._namer(found)
        for attempt in found:
            self._check_limits()
            yield from self._verified(attempt)

    def _is_to_be_verified(self, attempt: Attempt) -> bool:
        judged = attempt.key in self._ledger.skills or attempt.key in self._ledger.boundaries
        return bool(attempt.effect) and attempt.classification in ("terminal", "continue") and not judged

    def _verified(self, attempt: Attempt) -> Iterator[SearchEvent]:
        """Verify one, on another desktop than the one it was found on."""
        done = self._prober.verify(attempt, fresh=self._made_on.get(attempt.key) == self._walker.restarts)
        for _ in range(self._limits.max_retries if done.problem else 0):
            again = self._prober.verify(attempt)
            if again.problem and _agree(done, again):
                # Twice the same on fresh desktops: what was seen of it at first had come from something else.
                attempt = self._come_by[attempt.key] = attempt.model_copy(update={"effect": again.effect})
                yield self._write(Attempted(seconds=self._seconds, attempt=attempt))
                again = replace(again, problem="")
            done = again
            if not done.problem:
                break
        yield self._give_up(attempt, done.problem, done.steps) if done.problem else self._keep(attempt, done.steps)

    def _keep(self, attempt: Attempt, steps: Path) -> SearchEvent:
        naming = name_unit(attempt, self._walker.app, self._names.get(attempt.key, ()))
        skill = UnitSkill(
            key=attempt.key,
            app=self._walker.app,
            name=naming.name,
            description=naming.description,
            preconditions=naming.preconditions,
            steps=steps,
            prepared=1 if attempt.precondition else 0,
            effect=attempt.effect,
            state=attempt.end,
        )
        return self._write(SkillVerified(seconds=self._seconds, skill=self._keeper.keep(skill)))

    def _give_up(self, attempt: Attempt, why: str, steps: Path) -> SearchEvent:
        naming = name_unit(attempt, self._walker.app)
        boundary = Boundary(
            key=attempt.key,
            app=self._walker.app,
            name=naming.name,
            description=naming.description,
            why=why,
            steps=steps,
            retries=self._limits.max_retries,
        )
        return self._write(BoundaryFound(seconds=self._seconds, boundary=self._keeper.keep_boundary(boundary)))

    # Book-keeping

    @property
    def _seconds(self) -> float:
        return round(self._clock() - self._began, 3)

    def _check_limits(self) -> None:
        if self._seconds >= self._limits.seconds:
            raise _LimitReached(f"the time of {self._limits.seconds:g} s is used up")
        if len(self._ledger.states) >= self._limits.max_states:
            raise _LimitReached(f"{self._limits.max_states} screens were visited")

    def _found(self, state: ScreenState, look: Look) -> SearchEvent:
        if self._folder is not None:
            picture = save_thumbnail(look.observation.screenshot, self._folder, state.fingerprint)
            state = state.model_copy(update={"thumbnail": picture})
        return self._write(StateFound(seconds=self._seconds, state=state))

    def _ended(self, complete: bool, reason: str) -> SearchEvent:
        return self._write(SearchEnded(seconds=self._seconds, complete=complete, reason=reason))

    def _write(self, event: SearchEvent) -> SearchEvent:
        self._ledger.write(event)
        return event


def _batches(pending: list[Pending]) -> Iterator[list[Pending]]:
    """Yield branches that are verified together: each menu alone, and some of the small ones."""
    batch: list[Pending] = []
    for each in pending:
        large = each.offer.control.role == "menu"
        if batch and (large or len(batch) == _MANY):
            yield batch
            batch = []
        batch.append(each)
        if large:
            yield batch
            batch = []
    if batch:
        yield batch


def lateness(group: Sequence[Pending]) -> tuple[bool, bool]:
    """Tell how late a group is explored, for variety: long lists after others, and the values of one choice last."""
    way = [target.role for step in group[0].path[-1:] for target in step.targets.values()] if group else []
    return len(group) > _MANY, "combo box" in way


def _are_settings(group: list[Pending]) -> bool:
    """Tell whether a dialog is one of settings: at least half of what can be used is there to be switched or chosen."""
    usable = [each.offer for each in group if not (each.offer.unsafe or each.offer.disabled)]
    return bool(usable) and 2 * sum(each.control.role in SETTING_ROLES for each in usable) >= len(usable)


_DISABLED = "it is greyed out"


def _is_disabled(why: str) -> bool:
    return why.endswith("is disabled")


def _agree(one: Verified, other: Verified) -> bool:
    """Tell whether two tries had the same effect, and one that tells."""
    telling = any(change.kind not in WEAK for change in one.effect)
    return telling and not happened_again(one.effect, other.effect)


def _failed_for_good(attempt: Attempt) -> bool:
    """Tell whether an attempt is a boundary: it could not be made; what had no effect here may have one elsewhere."""
    return attempt.classification == "error" and attempt.why != NOTHING_CHANGED and not _is_disabled(attempt.why)
