"""Making one attempt, and making a found unit function once more on a fresh desktop to verify it."""

from __future__ import annotations

from dataclasses import dataclass

from agent_s.records import GroundedStep
from exploration.candidates import Candidate
from exploration.classifying import Finding, classify
from exploration.effects import happened_again
from exploration.records import Attempt, Change, Control
from exploration.states import Look
from exploration.walking import Path, Trouble, Walker, below_menus

CHECKED_ROLES = ("check menu item", "radio menu item")
"""Controls whose state can be read only while their menu is open."""

_LATE_S = 0.25
_LOOKS, _LOOKS_FOR_DIALOG = 2, 12
"""How often to look again for what is late; names that end in dots promise a dialog."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What one try showed.

    Attributes:
        finding: What came of it.
        step: The step as it was done, with the windows that it opened and closed.
        before: The screen before; None where that was not reached.
        after: The screen after; None where that was not seen.
    """

    finding: Finding
    step: GroundedStep
    before: Look | None = None
    after: Look | None = None


class Prober:
    """Tries controls.

    Args:
        walker: Walks in the application.
    """

    def __init__(self, walker: Walker) -> None:
        self._walker = walker

    def attempt(self, path: Path, control: Control, step: GroundedStep, fresh: bool) -> Tried:
        """Go to the end of a path and act on one more control.

        Raises:
            ApplicationUnusable: The application does not start any more.
        """
        before = self._walker.go(path, fresh)
        if isinstance(before, Trouble):
            self._walker.leave()
            return Tried(Finding("error", before.reason), step)
        after = self._walker.act(step, before)
        if isinstance(after, Trouble):
            return Tried(Finding("error", after.reason), step, before)
        ground = self._walker.known((*path, step)[: below_menus((*path, step))])
        finding, after = self._judged(control, before, after, ground)
        done = self._walker.done(step, before, after)
        if control.role in CHECKED_ROLES and finding.classification in ("terminal", "error"):
            finding = self._with_state(finding, control, before, after, (*path, done))
        if finding.classification == "terminal" and _is_switch(finding.effect):
            switched = frozenset(change.what for change in finding.effect if change.kind == "setting")
            self._walker.switch_back((*path, done), switched)
        return Tried(finding, done, before, after)

    def verify(self, attempt: Attempt) -> tuple[str, Path]:
        """Do the steps of an attempt again on a fresh desktop, and look for their effect.

        Returns:
            Why it did not work, or an empty text; and its steps as they were done this time.

        Raises:
            ApplicationUnusable: The application does not start any more.
        """
        look: Look | Trouble = self._walker.go((), fresh=True)
        if isinstance(look, Trouble):
            return look.reason, ()
        steps: list[GroundedStep] = []
        looks = [look]
        for step in attempt.path:
            after = self._walker.act(step, looks[-1])
            if isinstance(after, Trouble):
                return after.reason, tuple(steps)
            steps.append(self._walker.done(step, looks[-1], after))
            looks.append(after)
        before, look = looks[-2:]
        ground = looks[below_menus(tuple(steps))]
        finding, look = self._judged(attempt.control, before, look, ground)
        steps[-1] = self._walker.done(attempt.path[-1], before, look, last=True)
        if attempt.control.role in CHECKED_ROLES:
            finding = self._with_state(finding, attempt.control, before, look, tuple(steps))
        self._walker.leave()
        return happened_again(attempt.effect, finding.effect), tuple(steps)

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
        if finding.offers:
            after = self._walker.steady(after)
            finding = classify(control, before, after, app, ground)
        return finding, after

    def _with_state(self, finding: Finding, control: Control, before: Look, after: Look, path: Path) -> Finding:
        """Open the menu again and add how the state of a check or radio item changed."""
        was = _find(control, before)
        look: Look | Trouble = after
        for step in path[below_menus(path) : -1]:
            if isinstance(look, Trouble):
                break
            look = self._walker.follow(step, look)
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


def _find(control: Control, look: Look) -> Candidate | None:
    return next((each for each in look.candidates if each.control.key == control.key), None)
