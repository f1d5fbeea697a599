"""What a judgement rests on: citations that are looked up, and what may be done to look closer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aci.actions import Action, Click, Hotkey, Scroll, SwitchApplications, Wait
from aci.observation import Element, Observation
from agent_s.llm.protocol import Judgement, VerifyResponse
from agent_s.records import Step, Verdict

_LOOKING_KEYS = frozenset({"home", "end", "page_up", "page_down", "pageup", "pagedown", "prior", "next", "up", "down",
                           "left", "right", "escape", "esc"})  # fmt: skip
_LOOKING_ROLES = frozenset({"page tab", "menu"})
_LOOKING_WITH = frozenset({"ctrl", "control"})


def is_read_only(action: Action, observation: Observation) -> bool:
    """Tell whether an action only shows something else and changes nothing: scrolling, switching, moving, tabs, menus.

    Args:
        action: What a judge wants done in order to see more.
        observation: The screen that its ids are of.
    """
    match action:
        case Scroll() | SwitchApplications() | Wait():
            return True
        case Hotkey(keys=keys):
            names = [key.casefold() for key in keys]
            return names[-1] in _LOOKING_KEYS and set(names[:-1]) <= _LOOKING_WITH
        case Click(num_clicks=1, button_type="left", hold_keys=held, element_id=element_id):
            element = observation.by_id.get(element_id)
            return not held and element is not None and element.role in _LOOKING_ROLES
    return False


def verdict_of(
    answer: VerifyResponse, points: Sequence[str], observation: Observation, steps: Mapping[int, Step]
) -> Verdict:
    """Turn a model's judgement into a verdict; what it says is met counts only with a citation that holds.

    Args:
        answer: The judgement.
        points: What had to be judged: each criterion and each constraint.
        observation: The screen that was judged.
        steps: All steps of the run by number.

    Returns:
        Verified where every point is met and shown to be, refuted where one is not, else undecided.
    """
    if not answer.judgements:
        return Verdict(verified=answer.verified, reason=answer.reason, evidence=answer.evidence, by="model")
    by_point = {judgement.point: judgement for judgement in answer.judgements}
    found: list[bool | None] = []
    evidence, open_points = [*answer.evidence], []
    for number, point in enumerate(points, start=1):
        judgement = by_point.get(number)
        shown = _shown(judgement, observation, steps) if judgement is not None else ""
        met = judgement.met if judgement is not None else None
        found.append(met if shown or met is False else None)
        evidence += [f"{point}: {shown}"] if shown else []
        open_points += [point] if met is not False and not (met and shown) else []
    refuted = [points[number] for number, met in enumerate(found) if met is False]
    if refuted or answer.verified is False:
        reason = answer.reason or f"not met: {'; '.join(refuted)}"
        return Verdict(verified=False, reason=reason, evidence=tuple(evidence), by="model")
    if open_points or answer.verified is None:
        reason = f"not shown: {'; '.join(open_points)}" if open_points else answer.reason
        return Verdict(verified=None, reason=reason, evidence=tuple(evidence), by="model")
    return Verdict(verified=True, reason=answer.reason, evidence=tuple(evidence), by="model")


def _shown(judgement: Judgement, observation: Observation, steps: Mapping[int, Step]) -> str:
    """Return what a judgement rests on, in words, where that is really there; empty where it is not."""
    if judgement.element_id is not None:
        element = observation.by_id.get(judgement.element_id)
        if element is None:
            return ""
        said = _said(element)
        return f"element {element.id} shows {judgement.quote or said!r}" if _in(judgement.quote, said) else ""
    if judgement.step is not None:
        step = steps.get(judgement.step)
        if step is None or not step.result.ok:
            return ""
        return f"step {judgement.step}: {step.response.next_action or step.response.action.action}"
    return ""


def _in(quote: str, said: str) -> bool:
    return " ".join(quote.split()).casefold() in " ".join(said.split()).casefold()


def _said(element: Element) -> str:
    """Return all that an element tells of itself."""
    value = "" if element.value is None else f"{element.value:g}"
    parts = (element.role, element.name, element.label, element.text, value, element.description)
    return " ".join((*filter(None, parts), *sorted(element.states)))
