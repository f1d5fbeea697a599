"""What a judgement rests on: citations that are looked up, and what may be done to look closer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aci.acting.actions import Action, Click, Hotkey, Scroll, SwitchApplications, Wait
from aci.observation.observation import Element, Observation
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


@dataclass(frozen=True, slots=True)
class Finding:
    """What a judgement comes to for one point.

    Attributes:
        point: The criterion or constraint.
        met: What the judge says.
        shown: What that rests on, in words; empty where nothing that was cited is there.
        problem: What is wrong with the citation; empty where it holds.
    """

    point: str
    met: bool | None
    shown: str = ""
    problem: str = ""

    @property
    def open(self) -> bool:
        """Whether it is neither refuted nor shown to be met."""
        return self.met is not False and not (self.met and self.shown)


def findings(
    answer: VerifyResponse, points: Sequence[str], observation: Observation, steps: Mapping[int, Step]
) -> tuple[Finding, ...]:
    """Hold what a judge says against what it cites.

    Args:
        answer: The judgement.
        points: What had to be judged: each criterion and each constraint.
        observation: The screen that was judged.
        steps: All steps of the run by number.

    Returns:
        One for each point; none where the judge goes by what its own code has looked up, or claims nothing.
    """
    if not answer.judgements and (answer.evidence or not answer.verified):
        return ()
    by_point = {judgement.point: judgement for judgement in answer.judgements}
    return tuple(
        _finding(point, by_point.get(number), observation, steps) for number, point in enumerate(points, start=1)
    )


def unfounded(answer: VerifyResponse, found: Sequence[Finding]) -> str:
    """Say what is wrong with a judgement by which all is done, though not all of it is shown; else empty."""
    if not answer.verified:
        return ""
    wrong = [f"point {number}: {one.problem or 'it is not said to be met'}"
             for number, one in enumerate(found, start=1) if one.open]  # fmt: skip
    return "; ".join(wrong)


def verdict_of(answer: VerifyResponse, found: Sequence[Finding]) -> Verdict:
    """Turn a judgement into a verdict; what it says is met counts only with a citation that holds.

    Returns:
        Verified where every point is met and shown to be. Refuted where one is not met, or where all is said to be done
        and something is not shown. Else undecided.
    """
    evidence = (*answer.evidence, *(f"{one.point}: {one.shown}" for one in found if one.shown))
    refuted = [one.point for one in found if one.met is False]
    open_points = [one.point for one in found if one.open]
    verified, reason = answer.verified, answer.reason
    if refuted or verified is False:
        verified, reason = False, reason or f"not met: {'; '.join(refuted)}"
    elif open_points:
        verified, reason = False if verified else None, f"not shown: {'; '.join(open_points)}"
    return Verdict(verified=verified, reason=reason, evidence=evidence, by="model")


def _finding(point: str, judgement: Judgement | None, observation: Observation, steps: Mapping[int, Step]) -> Finding:
    if judgement is None:
        return Finding(point, None, problem="it was not judged")
    shown, problem = _shown(judgement, observation, steps)
    return Finding(point, judgement.met, shown, problem)


def _shown(judgement: Judgement, observation: Observation, steps: Mapping[int, Step]) -> tuple[str, str]:
    """Return what a judgement rests on, in words, where that is really there; else what is wrong with the citation."""
    if judgement.element_id is not None:
        element = observation.by_id.get(judgement.element_id)
        if element is None:
            return "", f"element {judgement.element_id} is not on the screen"
        said = _said(element)
        if not _in(judgement.quote, said):
            return "", f"element {element.id} does not hold the words that are quoted"
        return f"element {element.id} shows {judgement.quote or said!r}", ""
    if judgement.step is not None:
        step = steps.get(judgement.step)
        if step is None or not step.result.ok:
            return "", f"there is no step {judgement.step} that was carried out"
        return f"step {judgement.step}: {step.response.next_action or step.response.action.action}", ""
    return "", "neither an element nor a step is cited"


def _in(quote: str, said: str) -> bool:
    return " ".join(quote.split()).casefold() in " ".join(said.split()).casefold()


def _said(element: Element) -> str:
    """Return all that an element tells of itself."""
    value = "" if element.value is None else f"{element.value:g}"
    parts = (element.role, element.name, element.label, element.text, value, element.description)
    return " ".join((*filter(None, parts), *sorted(element.states)))
