"""Making one attempt, and making a found unit function once more on a fresh desktop to verify it."""

from __future__ import annotations

from dataclasses import dataclass

from aci.acting.actions import Hotkey
from agent_s.records import GroundedStep
from exploration.search.changes import WEAK, happened_again
from exploration.search.classifying import Finding, classify
from exploration.search.controls import Candidate
from exploration.search.navigator import Path, Trouble, Walker, place_key
from exploration.search.records import Attempt, Change, Control
from exploration.search.states import Look

CHECKED_ROLES = ("check menu item", "radio menu item")
"""Controls whose state can be read only while their menu is open."""

_UNDO = GroundedStep(action=Hotkey(keys=("ctrl", "z")), intent="undo it")
_UNDOABLE = ("text", "title", "state", "value", *WEAK)

_LATE_S = 0.15
_LOOKS, _LOOKS_FOR_DIALOG = 2, 20
"""How often to look again for what is late; names that end in dots promise a dialog."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What one try showed.

    Attributes:
        finding: What came of it.
        step: The step as it was done, with the windows that it opened and closed.
        before: The screen before; None where that was not reached.
        after: The screen after; None where that was not seen.
        desktop: Which desktop it was made on, counted by starts.
    """

    finding: Finding
    step: GroundedStep
    before: Look | None = None
    after: Look | None = None
    desktop: int = 0


@dataclass(frozen=True, slots=True)
class Verified:
    """What doing an attempt again showed.

    Attributes:
        problem: Why it did not work; empty where it did.
        steps: Its steps as they were done this time, as far as they went.
        effect: What it changed this time.
    """

    problem: str
    steps: Path = ()
    effect: tuple[Change, ...] = ()


_UNSTEADY = Verified("its steps lead elsewhere each time")


class Prober:
    """Tries controls.

    Args:
        walker: Walks in the application.
    """

    def __init__(self, walker: Walker) -> None:
        self._walker = walker
        self._neutral: dict[tuple[str, ...], Path] = {}
        self._not_neutral: set[tuple[str, ...]] = set()

    def attempt(self, path: Path, control: Control, step: GroundedStep, fresh: bool) -> Tried:
        """Go to the end of a path and act on one more control.

        Args:
            path: Steps from the start.
            control: What is acted on then.
            step: How.
            fresh: Whether to begin on a fresh desktop in any case.

        Raises:
            ApplicationUnusable: The application does not start any more.
        """
        self._walker.strict = False
        before = self._walker.go(path, fresh)
        if isinstance(before, Trouble):
            self._walker.leave()
            return Tried(Finding("error", before.reason), step)
        after = self._walker.act(step, before)
        if isinstance(after, Trouble):
            return Tried(Finding("error", after.reason), step, before)
        finding, after = self._judged(control, before, after, self._walker.known(self._base((*path, step))))
        done = self._walker.done(step, before, after)
        if control.role in CHECKED_ROLES and finding.classification in ("terminal", "error"):
            finding = self._with_state(finding, control, before, after, (*path, done))
        made_on = self._walker.restarts
        self._go_back((*path, done), control, finding, bool(before.menus))
        return Tried(finding, done, before, after, made_on)

    def verify(self, attempt: Attempt, fresh: bool = True) -> Verified:
        """Do the steps of an attempt again, and look for their effect.

        Args:
            attempt: What was found.
            fresh: Whether to begin on a fresh desktop in any case; else where the application provably is as after a
                fresh start, that is enough.

        Raises:
            ApplicationUnusable: The application does not start any more.
        """
        self._walker.strict = True
        near = None if fresh or self._walker.tainted else self._done_again(attempt, fresh=False)
        return near or self._done_again(attempt, fresh=True) or _UNSTEADY

    def _done_again(self, attempt: Attempt, fresh: bool) -> Verified | None:
        """Do the steps again; None where they lead elsewhere, since something hidden is not as after a start."""
        look = self._walker.go((), fresh)
        if isinstance(look, Trouble):
            return Verified(look.reason)
        steps: list[GroundedStep] = []
        for number, step in enumerate(attempt.path, start=1):
            before = look
            last = number == len(attempt.path)
            after = self._walker.act(step, before) if last else self._walker.advance(attempt.path[:-1], before)
            if after is None:
                return None
            if isinstance(after, Trouble):
                return Verified(after.reason, tuple(steps))
            steps.append(self._walker.done(step, before, after))
            look = after
        finding, look = self._judged(attempt.control, before, look, self._walker.known(self._base(attempt.path)))
        steps[-1] = self._walker.done(attempt.path[-1], before, look, _hidden(finding.effect), last=True)
        if attempt.control.role in CHECKED_ROLES:
            finding = self._with_state(finding, attempt.control, before, look, attempt.path)
        self._go_back(attempt.path, attempt.control, finding, bool(before.menus))
        return Verified(happened_again(attempt.effect, finding.effect), tuple(steps), finding.effect)

    def _base(self, path: Path) -> Path:
        return path[: self._walker.below_menus(path)]

    def _go_back(self, path: Path, control: Control, finding: Finding, in_menu: bool) -> None:
        """Undo what was done where there is a way: switched back, or what was chosen before chosen again."""
        menu = place_key(path[:-1])
        settings = frozenset(change.what for change in finding.effect if change.kind == "setting")
        if in_menu and _is_neutral(finding):
            self._neutral.setdefault(menu, path)
        opened = any(change.kind == "opened" for change in finding.effect)
        if opened or not finding.effect:
            return  # Escape is the way back
        if _is_switch(finding.effect) and self._walker.put_back(path, path, settings):
            return
        terminal = finding.classification == "terminal"
        choice = in_menu and _may_be_choice(finding.effect) and (terminal or control.role == "radio menu item")
        if choice and any(self._chosen_back(path, place, settings) for place in (menu, menu[:-1])):
            return
        if terminal and not self._walker.strict and all(each.kind in _UNDOABLE for each in finding.effect):
            self._walker.put_back(path, (*self._base(path), _UNDO))

    def _chosen_back(self, path: Path, menu: tuple[str, ...], settings: frozenset[str]) -> bool:
        """Choose what changed nothing in a menu, since that is what was chosen at the start."""
        way = self._neutral.get(menu)
        if way is None or way == path or menu in self._not_neutral:
            return False
        if self._walker.put_back(path, way, settings):
            return True
        self._not_neutral.add(menu)
        return False

    def _judged(self, control: Control, before: Look, after: Look, ground: Look | None) -> tuple[Finding, Look]:
        """Classify what is to be seen; where that is little, look again, since dialogs can be late."""
        app = self._walker.app
        finding = classify(control, before, after, app, ground)
        for _ in range(_LOOKS_FOR_DIALOG if control.name.endswith(("...", "…")) else _LOOKS):
            if any(change.kind != "picture" for change in finding.effect) or finding.offers:
                break
            later = self._walker.look_again(_LATE_S)
            if isinstance(later, Trouble):
                break
            after, finding = later, classify(control, before, later, app, ground)
        if finding.offers or any(change.kind in WEAK for change in finding.effect):  # it may be halfway
            after = self._walker.steady(after)
            finding = classify(control, before, after, app, ground)
        return finding, after

    def _with_state(self, finding: Finding, control: Control, before: Look, after: Look, path: Path) -> Finding:
        """Open the menu again and add how the state of a check or radio item changed."""
        was = _find(control, before)
        look: Look | Trouble = after
        base = self._base(path)
        for number, step in enumerate(path[len(base) : -1], start=len(base) + 1):
            if isinstance(look, Trouble):
                break
            look = self._walker.follow(step, look, self._walker.expected(path[:number]))
        now = None if isinstance(look, Trouble) else _find(control, look)
        if was is None or now is None or ("checked" in was.element.states) == ("checked" in now.element.states):
            return finding
        words = ("not checked", "checked") if "checked" in now.element.states else ("checked", "not checked")
        change = Change(kind="state", what=f"{control.role} {control.name}", before=words[0], after=words[1])
        others = tuple(each for each in finding.effect if each.kind != "picture")
        return Finding("terminal", f"{control.name} is {words[1]}", (change, *others), finding.offers)


def _is_switch(effect: tuple[Change, ...]) -> bool:
    """Tell whether an effect is undone by doing the same again."""
    settings = [change for change in effect if change.kind == "setting"]
    states = [change for change in effect if change.kind == "state" and "checked" in change.after]
    return bool(settings or states) and all(change.after in ("true", "false") for change in settings)


def _hidden(effect: tuple[Change, ...]) -> dict[str, str]:
    """Return what a switch set whose state no element shows, so that one must know it before it is done again."""
    shown = any(change.kind in ("state", "value", "text", "appeared", "vanished") for change in effect)
    switched = _is_switch(effect) and not shown
    return {change.what: change.after for change in effect if change.kind == "setting" and switched}


def _may_be_choice(effect: tuple[Change, ...]) -> bool:
    """Tell whether an effect can be that of choosing one of several: no document, file or window has changed."""
    return all(change.kind in ("setting", "state", "value", *WEAK) for change in effect)


def _is_neutral(finding: Finding) -> bool:
    """Tell whether something changed nothing but that its choice is now written down."""
    noted = all(change.kind == "setting" and not change.before for change in finding.effect)
    return noted and finding.classification in ("terminal", "error")


def _find(control: Control, look: Look) -> Candidate | None:
    return next((each for each in look.candidates if each.control.key == control.key), None)
