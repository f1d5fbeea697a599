"""What a search saw but could not verify: controls that it had no time for, and effects that it saw only once.

Of a control that was only seen, or was chosen without a visible effect, the way to it is known, and what it does only
as far as its role and name say it: a check box is switched, and a name that ends in dots promises a window. Controls
that were greyed out are kept as well: most can be used once there is a document, or something in it.
"""

from __future__ import annotations

from collections.abc import Iterator

from agent_s.records import Change, ElementState, GroundedStep
from exploration.search.classifying import NOTHING_CHANGED
from exploration.search.controls import MENU_ROLES
from exploration.search.frontier import DISABLED
from exploration.search.ledger import Ledger
from exploration.search.records import Attempt, Offer
from exploration.search.shortcuts import SHORTCUT

_SWITCHES = frozenset({"check box", "switch"})
_SWITCHES_IN_MENUS = frozenset({"check menu item", "menu item"})  # those of Qt are menu items, like others
_CHOICES = frozenset({"radio menu item", "radio button", "page tab", "list item"})
_ACTIONS = frozenset({"menu item", "push button", "button", SHORTCUT})


def unverified(ledger: Ledger) -> Iterator[Attempt]:
    """Yield what was found or seen, and not verified, as attempts: those that were made, and those that were not."""
    judged = ledger.skills.keys() | ledger.boundaries.keys()
    known = {each.control.identity for each in ledger.attempts.values() if not _may_be_usable(each)}
    for attempt in ledger.attempts.values():
        if attempt.classification in ("terminal", "continue") and attempt.effect and attempt.key not in judged:
            yield attempt
    offered = [
        (attempt, each)
        for attempt in ledger.attempts.values()
        for each in attempt.offers
        if not (each.unsafe or _is_data(attempt, each))
    ]
    for attempt, each in sorted(offered, key=lambda pair: pair[1].disabled):  # it may not be greyed out elsewhere
        if each.control.identity not in known:
            known.add(each.control.identity)
            yield from _only_seen(attempt, each)


def _is_data(parent: Attempt, seen: Offer) -> bool:
    """Return whether it is a row of a dialog, as most are data."""
    return seen.control.role == "list item" and bool(parent.depth) and parent.control.role != "combo box"


def _may_be_usable(attempt: Attempt) -> bool:
    """Return whether something was greyed out, or chosen in a menu without an effect: it may set what shows later."""
    if attempt.precondition and attempt.classification in ("skipped", "error"):  # the precondition enabled nothing
        return True
    return attempt.why == DISABLED or (attempt.why == NOTHING_CHANGED and attempt.control.role in MENU_ROLES)


def _only_seen(parent: Attempt, seen: Offer) -> Iterator[Attempt]:
    """Yield the attempt that was not made on a control, unless nothing says what it would do."""
    role, name, was = seen.control.role, seen.control.name, seen.step.state_before
    effect: tuple[Change, ...] = ()
    after: ElementState | None = None
    if seen.opens_menu:
        return
    if name.endswith(("...", "…")):
        effect = (Change(kind="opened", what=name, after="open"),)
    elif role in _SWITCHES or (role in _SWITCHES_IN_MENUS and was is not None):
        on = was is not None and "checked" in was.states
        words = ("checked", "not checked") if on else ("not checked", "checked")
        effect = (Change(kind="state", what=f"{role} {name}", before=words[0], after=words[1]),)
        shown = role in _SWITCHES and not _is_in_menu(seen.step)  # a menu closes
        after = ElementState(states=() if on else ("checked",)) if shown else None
    elif role not in _CHOICES | _ACTIONS:
        return
    if name:
        yield Attempt(
            key=f"{parent.key} > {seen.control.key}",
            control=seen.control,
            start=parent.end,
            path=(*(() if role == SHORTCUT else parent.path), _untried(seen.step, after)),
            classification="skipped",
            effect=effect,
            precondition=parent.precondition,
            why=DISABLED if seen.disabled else "nothing shows what it does",
            depth=parent.depth + 1,
        )


def _is_in_menu(step: GroundedStep) -> bool:
    return any(part.startswith("popup menu:") for target in step.targets.values() for part in target.path)


def _untried(step: GroundedStep, after: ElementState | None) -> GroundedStep:
    return step.model_copy(update={"untried": True, "state_after": after})
