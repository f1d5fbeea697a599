"""Evidence from steps: what a cited step shows by its effect, as far as that still holds."""

from __future__ import annotations

from collections.abc import Sequence

from aci.acting.actions import Click, Hotkey, Type
from aci.acting.effects import acted_on
from aci.acting.result import Difference
from aci.observation.observation import Observation
from agent_s.llm.protocol import Citation, VerifyContext
from agent_s.records import Step
from agent_s.roles.evidence import Evidence, NoEvidence, looks_of, normalized, stems_of, steps_of
from agent_s.roles.screen_evidence import INPUTS, SWITCHES, content_of, is_on, title_of
from intents.alignment import holds
from intents.labels import label
from intents.statements import Statement

_LASTING = frozenset({"closed", "title", "states", "text", "value", "appeared", "vanished"})


def find_step(citation: Citation, claim: Statement, context: VerifyContext) -> Evidence:
    """Return the evidence that the effect of a cited step gives for a claim.

    Raises:
        NoEvidence: The step had no known effect, or its effect was undone, discarded or overwritten since.
    """
    done, looks = list(steps_of(context)), list(looks_of(context))
    every = [*done, *looks]
    place = next((index for index, (step, _) in enumerate(every) if step.number == citation.number), None)
    if place is None or not every[place][0].result.ok:
        raise NoEvidence(f"there is no step {citation.number} that was carried out")
    (step, after), later = every[place], every[place + 1 :]
    number, changes = step.number, _lasting_changes(step)
    if not changes:
        raise NoEvidence(f"step {number} was performed, but nothing is known to have changed by it")
    removes = claim.denies and any(one.kind == "vanished" for one in changes)
    if place < len(done):  # the later ones are looks, which change nothing
        _check_lasts(step, after, later, context.observation, removes)
    target = acted_on(step.response.action, step.observation)
    own = after.by_id.get(target.id) if target is not None else None
    gone = [one.what for one in changes if one.kind in ("vanished", "closed")]
    there = [f"{one.what} {one.after}" for one in changes if one.kind not in ("vanished", "closed")]
    shown = content_of(own, after) if own is not None else content_of(target, step.observation) if target else ""
    shows = is_on(own) if own is not None and own.role in SWITCHES else not (claim.denies and gone)
    content = " ".join((shown, *(gone if claim.denies else (*there, *gone))))
    if citation.quote and not holds(normalized(f"{content} {step}"), normalized(citation.quote)):
        raise NoEvidence(f"step {number} does not say what is quoted")
    place_of = title_of(own, after) if own is not None else ""
    drawn, filled = isinstance(step.response.action, Type), own is not None and own.role in INPUTS
    words, confirms = f"step {number}: {step}", _confirms(step, after)
    return Evidence(words, content, shows, place=place_of, drawn=drawn, filled=filled, confirms=confirms)


def _lasting_changes(step: Step) -> list[Difference]:
    """Return the lasting changes of a step, without those of menus and popups, opened windows, moves and the like."""
    effect = step.result.effect
    if step.recalled or effect is None or effect.kind != "expected":
        return []
    return [one for one in effect.differences if one.kind in _LASTING and not one.what.startswith(("menu ", "popup "))]


def _undoes(action: Hotkey) -> bool:
    return [key.casefold() for key in action.keys][-1] == "z" and len(action.keys) > 1


def _check_lasts(
    step: Step, after: Observation, later: Sequence[tuple[Step, Observation]], now: Observation, removes: bool
) -> None:
    """Raise NoEvidence if the effect of a step no longer holds, or its dialog was not confirmed."""
    if any(isinstance(one.response.action, Hotkey) and _undoes(one.response.action) for one, _ in later):
        raise NoEvidence(f"what step {step.number} did was undone")
    target = acted_on(step.response.action, step.observation)
    own = after.by_id.get(target.id) if target is not None else None
    if target is None or own is None:
        if not _confirms(step, after) and not removes:
            raise NoEvidence(f"nothing shows that what step {step.number} did still holds")
        return
    current = now.by_id.get(own.id)
    if current is not None:
        if (current.text, current.value, is_on(current)) != (own.text, own.value, is_on(own)):
            raise NoEvidence(f"what step {step.number} did no longer holds")
    elif not any(window.id == own.window_id for window in now.windows):
        closing = ((one, seen) for one, seen in later if all(window.id != own.window_id for window in seen.windows))
        last = next(closing, None)
        if last is not None and not _confirms(*last):
            raise NoEvidence(f"the window of step {step.number} was closed without confirming it")


def _confirms(step: Step, after: Observation) -> bool:
    """Return whether a step confirmed a dialog or sent a form, given the screen after it.

    The confirming button of a dialog may have any name ("Export"), so it is any button that closes the dialog and is
    not known to cancel it.
    """
    action = step.response.action
    if isinstance(action, Click):
        target = acted_on(action, step.observation)
        if target is None:
            return False
        if label("accepts").fullmatch(target.name.strip()):
            return True
        dialog = any(window.id == target.window_id and window.modal for window in step.observation.windows)
        closed = all(window.id != target.window_id for window in after.windows)
        named = target.role == "push button" and bool(target.name.strip())
        return dialog and closed and named and not label("declines").fullmatch(target.name.strip())
    return (isinstance(action, Type) and action.enter) or (
        isinstance(action, Hotkey) and action.keys[-1].casefold() in ("return", "enter")
    )


def check_no_step(claim: Statement, context: VerifyContext) -> Evidence:
    """Return the evidence that no step is related to a prohibition.

    Raises:
        NoEvidence: A step is related, or the claim names nothing to compare with.
    """
    forbidden = frozenset().union(*claim.topics)
    if not forbidden:
        raise NoEvidence("the point names nothing that a step could be compared with")
    for step, _ in steps_of(context):
        said = stems_of(f"{step.response.next_action} {step}")
        if step.result.ok and forbidden & said:
            raise NoEvidence(f"step {step.number} has to do with it")
    return Evidence("no step has to do with it", " ".join(forbidden), shows=not claim.denies)
