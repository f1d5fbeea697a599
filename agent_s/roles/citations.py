"""Checks of the citations that support a judgement, and of the actions that an evaluator may take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aci.acting.actions import Action, Click, Hotkey, Scroll, SwitchApplications, Wait
from aci.observation.observation import Element, Observation
from agent_s.llm.protocol import Judgement, VerifyResponse
from agent_s.records import Step, Verdict

_NAVIGATION_KEYS = frozenset({"home", "end", "page_up", "page_down", "pageup", "pagedown", "prior", "next", "up",
                              "down", "left", "right", "escape", "esc"})  # fmt: skip
_NAVIGATION_MODIFIERS = frozenset({"ctrl", "control"})
_NAVIGATION_ROLES = frozenset({"page tab", "menu"})


def is_read_only(action: Action, observation: Observation) -> bool:
    """Return whether an action only navigates: scrolling, switching, moving the cursor, opening tabs and menus.

    Args:
        action: The action that an evaluator requests.
        observation: The screen that its ids refer to.
    """
    match action:
        case Scroll() | SwitchApplications() | Wait():
            return True
        case Hotkey(keys=keys):
            names = [key.casefold() for key in keys]
            return names[-1] in _NAVIGATION_KEYS and set(names[:-1]) <= _NAVIGATION_MODIFIERS
        case Click(num_clicks=1, button_type="left", hold_keys=held, element_id=element_id):
            element = observation.by_id.get(element_id)
            return not held and element is not None and element.role in _NAVIGATION_ROLES
    return False


@dataclass(frozen=True, slots=True)
class Finding:
    """The checked judgement of one point."""

    point: str  # the criterion or constraint
    met: bool | None  # the evaluator's judgement
    evidence: str = ""  # the cited evidence, in words; empty if the citation does not hold
    problem: str = ""  # what is wrong with the citation; empty if it holds

    @property
    def open(self) -> bool:
        """Whether it is neither refuted nor shown to be met."""
        return self.met is not False and not (self.met and self.evidence)


def check_citations(
    answer: VerifyResponse, points: Sequence[str], observation: Observation, steps: Mapping[int, Step]
) -> tuple[Finding, ...]:
    """Check each judgement against what it cites.

    Args:
        answer: The evaluator's answer.
        points: The criteria and constraints that had to be judged.
        observation: The screen that was judged.
        steps: All steps of the run by number.

    Returns:
        One finding for each point; none if the answer rests on evidence that code has looked up, or claims nothing.
    """
    if not answer.judgements and (answer.evidence or not answer.verified):
        return ()
    by_point = {judgement.point: judgement for judgement in answer.judgements}
    return tuple(
        _check(point, by_point.get(number), observation, steps) for number, point in enumerate(points, start=1)
    )


def find_unsupported(answer: VerifyResponse, findings: Sequence[Finding]) -> str:
    """Return which points of a claimed success are not supported; empty if all are, or if none is claimed."""
    if not answer.verified:
        return ""
    numbered = enumerate(findings, start=1)
    return "; ".join(
        f"point {number}: {one.problem or 'it is not said to be met'}" for number, one in numbered if one.open
    )


def make_verdict(answer: VerifyResponse, findings: Sequence[Finding]) -> Verdict:
    """Turn an answer into a verdict; a point counts as met only with a citation that holds.

    Returns:
        Verified if every point is met and supported. Refuted if a point is not met, or if success is claimed and a
        point is not supported. Otherwise undecided.
    """
    evidence = (*answer.evidence, *(f"{one.point}: {one.evidence}" for one in findings if one.evidence))
    refuted = [one.point for one in findings if one.met is False]
    open_points = [one.point for one in findings if one.open]
    verified, reason = answer.verified, answer.reason
    if refuted or verified is False:
        verified, reason = False, reason or f"not met: {'; '.join(refuted)}"
    elif open_points:
        verified, reason = False if verified else None, f"not shown: {'; '.join(open_points)}"
    return Verdict(verified=verified, reason=reason, evidence=evidence, by="model")


def _check(point: str, judgement: Judgement | None, observation: Observation, steps: Mapping[int, Step]) -> Finding:
    if judgement is None:
        return Finding(point, None, problem="it was not judged")
    evidence, problem = "", "neither an element nor a step is cited"
    if judgement.element_id is not None:
        element = observation.by_id.get(judgement.element_id)
        content = _content(element) if element is not None else ""
        if element is None:
            problem = f"element {judgement.element_id} is not on the screen"
        elif _normalized(judgement.quote) not in _normalized(content):
            problem = f"element {element.id} does not hold the words that are quoted"
        else:
            evidence, problem = f"element {element.id} shows {judgement.quote or content!r}", ""
    elif judgement.step is not None:
        step = steps.get(judgement.step)
        if step is None or not step.result.ok:
            problem = f"there is no step {judgement.step} that was carried out"
        else:
            evidence = f"step {judgement.step}: {step.response.next_action or step.response.action.action}"
            problem = ""
    return Finding(point, judgement.met, evidence, problem)


def _normalized(text: str) -> str:
    return " ".join(text.split()).casefold()


def _content(element: Element) -> str:
    value = "" if element.value is None else f"{element.value:g}"
    parts = (element.role, element.name, element.label, element.text, value, element.description)
    return " ".join((*filter(None, parts), *sorted(element.states)))
