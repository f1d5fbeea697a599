"""Makes single attempts, and repeats unit functions on a fresh desktop to verify them."""

from __future__ import annotations

from dataclasses import dataclass

from aci.observation.observation import State
from agent_s.records import Change, GroundedStep
from exploration.search.changes import WEAK, missing_change
from exploration.search.classifying import NOTHING_CHANGED, Finding, classify
from exploration.search.controls import Candidate, offer
from exploration.search.homes import is_hidden
from exploration.search.navigator import Navigator, Trouble
from exploration.search.places import Path, place_key
from exploration.search.records import Attempt, Control
from exploration.search.states import Look, can_undo, cannot_undo
from exploration.search.ways_back import UNDO
from intents.labels import label

CHECKED_ROLES = ("check menu item", "radio menu item", "menu item")
"""Controls whose state can be read only while their menu is open; those of Qt are menu items, like others."""
_RADIO_ITEM = "radio menu item"

_UNDO = GroundedStep(action=UNDO, intent="undo it")
_MARK_OF_CHOICE: dict[str, State] = {"page tab": "selected", "list item": "selected", "radio button": "checked"}
_UNDOABLE = ("text", "title", "state", "value", *WEAK)
_LATE_S = 0.15
_LOOKS, _LOOKS_FOR_DIALOG = 2, 20  # number of looks for late changes; names that end in dots promise a dialog
_STILL = 4  # number of such looks in a row after which an application that is not at work opens no dialog any more
_Alike = tuple[tuple[str, ...], ...]
_SWITCHES = frozenset({"check menu item", "toggle button"})
"""Controls that close again what they have opened, such as a tool bar in a window of its own."""


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of one try."""

    finding: Finding  # its classification and effect
    step: GroundedStep  # the step as it was done, with its effect
    after: Look | None = None  # the screen after it; None if that was not seen
    desktop: int = 0  # the desktop that it was made on, as a number of restarts


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of repeating an attempt."""

    problem: str  # why it did not work; empty if it did
    steps: Path = ()  # its steps as they were done this time, up to a failure
    effect: tuple[Change, ...] = ()  # what it changed this time


class Prober:
    """Tries controls.

    Args:
        navigator: Moves in the application.

    Attributes:
        hasty: Whether a control is undone as soon as an effect is seen, without a wait for what else changes, once one
            like it was undone in the same way, and is not looked at as often if it has none. What comes later is
            noticed when it is verified.
    """

    def __init__(self, navigator: Navigator) -> None:
        self._navigator = navigator
        self.hasty = False
        self._undone_by_key = dict[tuple[str, ...], bool]()
        """Whether controls that are alike were undone by Ctrl+Z; otherwise the same one was acted on again."""
        self._neutral: dict[tuple[str, ...], Path] = {}
        """The entry of each menu whose choice changes nothing, since it is the initial one."""
        self._not_neutral: set[tuple[str, ...]] = set()

    def attempt(self, path: Path, control: Control, step: GroundedStep, fresh: bool) -> Probe:
        """Go to the end of a path and act on one more control.

        Args:
            path: Steps from the start.
            control: The control.
            step: The step that acts on it.
            fresh: Whether to begin on a fresh desktop in any case.

        Raises:
            ApplicationUnusable: The application does not start any more.
        """
        navigator = self._navigator
        navigator.strict = False
        before = navigator.go(path, fresh)
        if isinstance(before, Trouble):
            navigator.leave()
            return Probe(Finding("error", before.reason), step)
        by_key = self._known_way(_alike(path, control, before))
        at_once = self.hasty and bool(by_key if control.role == _RADIO_ITEM else by_key is not None)
        shows_state = before.menus and control.role in (_RADIO_ITEM, "check menu item")  # in its menu, later
        after = navigator.act(step, before, settles=not (at_once and shows_state))
        if isinstance(after, Trouble):
            return Probe(Finding("error", after.reason), step)
        seen = self._judged_at_once(control, before, after, (*path, step)) if at_once else None
        finding, after = seen or self._judged(control, before, after, (*path, step))
        if finding.why == NOTHING_CHANGED and control.role == "menu":
            navigator.deselect_menu()
        if (
            not finding.offers
            and _may_be_of_others(finding.effect)
            and (program := navigator.other_program(finding.effect))
        ):
            finding = Finding("skipped", f"it opens another program, {program}")
        done = navigator.with_effect(step, before, after)
        if seen is None and finding.classification in ("terminal", "error"):
            finding = self._with_state(finding, control, before, after, (*path, done))
        made_on = navigator.restarts
        self._go_back((*path, done), control, finding, before, after, seen is not None)
        return Probe(finding, done, after, made_on)

    def verify(self, attempt: Attempt, fresh: bool = True) -> Verified:
        """Repeat the steps of an attempt and look for their effect.

        Args:
            attempt: What was found.
            fresh: Whether to begin on a fresh desktop in any case; otherwise an application that is provably as after
                a fresh start is enough.

        Raises:
            ApplicationUnusable: The application does not start any more.
        """
        self._navigator.strict = True
        fresh = fresh or self._navigator.tainted or bool(label("history").match(attempt.control.name))
        near = None if fresh else self._repeated(attempt, fresh=False)
        return near or self._repeated(attempt, fresh=True) or Verified("its steps lead elsewhere each time")

    def _repeated(self, attempt: Attempt, fresh: bool) -> Verified | None:
        """Repeat the steps; None if they lead elsewhere, since hidden state is not as after a start."""
        navigator = self._navigator
        look = navigator.go((), fresh)
        if isinstance(look, Trouble):
            return Verified(look.reason)
        steps: list[GroundedStep] = []
        for number, step in enumerate(attempt.path, start=1):
            before = look
            last = number == len(attempt.path)
            after = navigator.act(step, before) if last else navigator.advance(attempt.path[:-1], before)
            if after is None:
                return None
            if isinstance(after, Trouble):
                return Verified(after.reason, tuple(steps))
            steps.append(navigator.with_effect(step, before, after))
            look = after
        finding, look = self._judged(attempt.control, before, look, attempt.path, attempt.effect)
        steps[-1] = navigator.with_effect(attempt.path[-1], before, look, _hidden_settings(finding.effect), last=True)
        finding = self._with_state(finding, attempt.control, before, look, attempt.path)
        self._go_back(attempt.path, attempt.control, finding, before, look)
        return Verified(missing_change(attempt.effect, finding.effect), tuple(steps), finding.effect)

    def _base(self, path: Path) -> Path:
        return path[: self._navigator.below_menus(path)]

    def _go_back(
        self, path: Path, control: Control, finding: Finding, before: Look, after: Look, at_once: bool = False
    ) -> None:
        """Undo an attempt if there is a way; if `at_once`, that of another entry of its menu comes first."""
        menu, effect, in_menu = place_key(path[:-1]), finding.effect, bool(before.menus)
        noted_only = all(change.kind == "setting" and not change.before for change in effect)
        if in_menu and noted_only and finding.classification in ("terminal", "error"):
            self._neutral.setdefault(menu, path)
        opened = any(change.kind == "opened" for change in effect)
        if opened and control.role in _SWITCHES:
            self._navigator.put_back(path, path, unless_closed=True)
        if opened or len(after.menus) > len(before.menus) or not effect:
            return  # Escape is the way back from a dialog or menu
        alike = _alike(path[:-1], control, before)
        if at_once and self._undone_alike(path, alike, effect):
            return
        undone_by_key = self._undone(path, control, finding, before, after)
        if undone_by_key is not None:
            self._undone_by_key |= dict.fromkeys(alike, undone_by_key)

    def _known_way(self, alike: _Alike) -> bool | None:
        """Return in which way those that are most alike were undone; see `_undone_by_key`."""
        return next((self._undone_by_key[each] for each in alike if each in self._undone_by_key), None)

    def _undone_alike(self, path: Path, alike: _Alike, effect: tuple[Change, ...]) -> bool:
        """Undo the latest step of a path in the way that led back from controls like it."""
        by_key = self._known_way(alike)
        switched = _settings(effect) if _is_switch(effect) and not by_key else None
        way = (*self._base(path), _UNDO) if by_key else path
        if self._navigator.put_back(path, way, switched, leads_back=True):
            self._navigator.tainted = True  # what changes late may not have changed yet
            return True
        for each in alike:
            self._undone_by_key.pop(each, None)
        return False

    def _undone(self, path: Path, control: Control, finding: Finding, before: Look, after: Look) -> bool | None:
        """Switch back, choose what was chosen before, or press Ctrl+Z.

        Returns:
            Whether Ctrl+Z led back, or else the same again; None if neither did.
        """
        menu, effect, in_menu = place_key(path[:-1]), finding.effect, bool(before.menus)
        terminal, radio = finding.classification == "terminal", control.role == _RADIO_ITEM
        undo, settings = (*self._base(path), _UNDO), _settings(effect)
        undoable = terminal and all(each.kind in _UNDOABLE for each in effect)
        if undoable and can_undo(after) and not can_undo(before):
            return self._navigator.put_back(path, undo) or None
        if (chosen := _chosen_of(control, before, effect)) is not None:
            back = self._navigator.put_back(path, (*path[:-1], chosen), settings)
            if back or control.role in _MARK_OF_CHOICE:
                return None
        if _is_switch(effect) and not radio and self._navigator.put_back(path, path, settings):
            return False
        if in_menu and _may_be_switch(control, before, effect) and self._navigator.put_back(path, path):
            return False
        is_choice = radio or (terminal and all(each.kind in ("setting", "state", "value", *WEAK) for each in effect))
        if in_menu and is_choice and any(self._chosen_back(path, place, settings) for place in (menu, menu[:-1])):
            return None
        return (undoable and not cannot_undo(after) and self._navigator.put_back(path, undo)) or None

    def _chosen_back(self, path: Path, menu: tuple[str, ...], settings: frozenset[str]) -> bool:
        """Choose the initial entry of a menu again."""
        way = self._neutral.get(menu)
        if way is None or way == path or menu in self._not_neutral:
            return False
        if self._navigator.put_back(path, way, settings):
            return True
        self._not_neutral.add(menu)
        return False

    def _judged_at_once(self, control: Control, before: Look, after: Look, path: Path) -> tuple[Finding, Look] | None:
        """Classify an attempt by a hasty look and the state of the control; None if these show no telling effect."""
        finding = classify(control, before, after, self._navigator.app, self._ground(path))
        if finding.offers or any(change.kind == "opened" for change in finding.effect):
            return None
        finding = self._with_state(finding, control, before, after, path)
        if any(change.kind not in WEAK for change in finding.effect):
            return finding, after
        self._navigator.close_again(path)
        return None

    def _ground(self, path: Path) -> Look | None:
        """Return the look before the menus of the last step of a path were opened."""
        return self._navigator.known(self._base(path))

    def _judged(
        self, control: Control, before: Look, after: Look, path: Path, expected: tuple[Change, ...] = ()
    ) -> tuple[Finding, Look]:
        """Classify an attempt; look again and more closely unless a hasty look has shown that something opened.

        Dialogs can be late, and what changes a document or a setting may show in other places a moment later.
        """
        navigator, ground = self._navigator, self._ground(path)

        def judge(seen: Look) -> Finding:
            return classify(control, before, seen, navigator.app, ground)

        finding = judge(after)
        opened = finding.offers or any(change.kind == "opened" for change in finding.effect)
        few = 0 if self.hasty and not expected else _LOOKS
        looks = 1 + (_LOOKS_FOR_DIALOG if control.name.endswith(("...", "…")) else few)
        still = 0
        for number in range(looks if not opened or missing_change(expected, finding.effect) else 0):
            if number:
                still = still + 1 if navigator.rests(_LATE_S) else 0
            later = navigator.look_again(0.0, check=True)
            if isinstance(later, Trouble):
                break
            after, finding = later, judge(later)
            if still >= _STILL or finding.offers or any(change.kind != "picture" for change in finding.effect):
                break
        if finding.offers or any(change.kind in WEAK for change in finding.effect):  # it may be half drawn
            after = navigator.steady(after)
            finding = judge(after)
        return finding, after

    def _with_state(self, finding: Finding, control: Control, before: Look, after: Look, path: Path) -> Finding:
        """Open the menu of a check or radio item again and add how its state changed."""
        was = _find(control, before)
        if control.role not in CHECKED_ROLES or was is None or any(each.kind == "opened" for each in finding.effect):
            return finding
        if control.role == "menu item" and not was.element.states & {"checkable", "checked"}:
            return finding
        look = self._navigator.reopen(path, after)
        now = None if isinstance(look, Trouble) else _find(control, look)
        if now is None or ("checked" in was.element.states) == ("checked" in now.element.states):
            return finding
        words = ("not checked", "checked") if "checked" in now.element.states else ("checked", "not checked")
        change = Change(kind="state", what=f"{control.role} {control.name}", before=words[0], after=words[1])
        others = tuple(each for each in finding.effect if each.kind != "picture")
        return Finding("terminal", f"{control.name} is {words[1]}", (change, *others), finding.offers)


def _alike(path: Path, control: Control, before: Look) -> _Alike:
    """Return what controls at the end of a path share that are probably undone alike, the closest first.

    That is their menu, and their role in submenus of one menu, or on a screen.
    """
    place = place_key(path)
    if not before.menus:
        return ((*place, control.role),)
    return (place, (*place[:-1], control.role)) if len(place) > 1 else (place,)


def _may_be_of_others(effect: tuple[Change, ...]) -> bool:
    """Return whether all that changed is what another program changes when it starts, too."""
    return all(each.kind == "picture" or (each.kind == "file" and is_hidden(each.what)) for each in effect)


def _settings(effect: tuple[Change, ...]) -> frozenset[str]:
    return frozenset(change.what for change in effect if change.kind == "setting")


def _is_switch(effect: tuple[Change, ...]) -> bool:
    """Return whether an effect is undone by doing the same again."""
    settings = [change for change in effect if change.kind == "setting"]
    states = [change for change in effect if change.kind == "state" and "checked" in change.after]
    return bool(settings or states) and all(change.after in ("true", "false") for change in settings)


def _may_be_switch(control: Control, before: Look, effect: tuple[Change, ...]) -> bool:
    """Return whether only the looks of the window changed, as by a switch whose state is not to be seen.

    A plain entry of a menu is no switch where others are marked as such.
    """
    if control.role == "menu item" and any(each.role == "check menu item" for each in before.elements.values()):
        return False
    return control.role != _RADIO_ITEM and all(
        change.kind in WEAK or change.what == "window" or (change.kind == "file" and is_hidden(change.what))
        for change in effect
    )


def _hidden_settings(effect: tuple[Change, ...]) -> dict[str, str]:
    """Return the settings of a switch whose state no element shows, which must be known before it is replayed."""
    shown = any(change.kind in ("state", "value", "text", "appeared", "vanished") for change in effect)
    switched = _is_switch(effect) and not shown
    return {change.what: change.after for change in effect if change.kind == "setting" and switched}


def _chosen_of(control: Control, before: Look, effect: tuple[Change, ...]) -> GroundedStep | None:
    """Return the step that chooses the tab, row or button again that a control takes the place of."""
    mark = _MARK_OF_CHOICE.get(control.role)
    lost = {change.what for change in effect if change.kind == "state" and change.after == f"not {change.before}"}
    for each in before.candidates:
        same_group = (each.control.role, each.control.place) == (control.role, control.place)
        was_chosen = mark in each.element.states if mark else f"{control.role} {each.control.name}" in lost
        if same_group and each.control.key != control.key and was_chosen:
            return offer(each, before.observation, before.place).step
    return None


def _find(control: Control, look: Look) -> Candidate | None:
    return next((each for each in look.candidates if each.control.key == control.key), None)
