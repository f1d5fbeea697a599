"""A scripted worker, an honest judge and an over-confident one, for `benchmarks.support.truth.judging`.

Neither judge knows whether a run went wrong: both see what a model sees. Asked whether evidence shows a point in other
words, both say yes, so what is refused is refused by code.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aci.acting.actions import Action, Click, Done, Hotkey, Type, Wait
from aci.observation.observation import Element, Observation
from agent_s.errors import ModelError
from agent_s.llm.protocol import (
    ActContext,
    ActResponse,
    Citation,
    Judgement,
    ModelRequest,
    ModelResponse,
    PlanContext,
    PlannedNode,
    PlanResponse,
    ReflectResponse,
    Response,
    SummariesResponse,
    SummarizeContext,
    SupportContext,
    SupportJudgement,
    SupportResponse,
    VerifyContext,
    VerifyResponse,
)
from agent_s.probes.requests import CellProbe, ChangedProbe, FileProbe, Probe, ProbeResult, SettingProbe, TextProbe
from intents.text import tokens

MAX_WAITS = 6
"""Times that a step waits for its element before the run counts as invalid."""

Judge = Callable[[VerifyContext], VerifyResponse]


def find(seen: Observation, role: str, name: str) -> Element | None:
    """Return an element by role and name or label; "entry" and "text" are one, and so are all buttons."""
    same = {"entry": ("entry", "text"), "text": ("entry", "text"), "push button": ("push button", "button")}
    for element in seen.elements:
        called = (element.name, element.label, element.label.rstrip(":"))
        if element.role in same.get(role, (role,)) and (name in called):
            return element
    return None


@dataclass
class Script:
    """The model of one run.

    Args:
        steps: What the worker does; see `benchmarks/data/judging.yaml`.
        criteria: What the planner writes down.
        judge: Answers the requests of the judge.
    """

    steps: Sequence[Mapping[str, Any]]
    criteria: tuple[str, ...]
    judge: Judge
    name: str = "scripted"
    _position: int = 0
    _waits: int = 0

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer one request."""
        return ModelResponse(self._answer(request))

    def _answer(self, request: ModelRequest) -> Response:
        context = request.context
        match context:
            case PlanContext():
                return PlanResponse(nodes=(PlannedNode(name=context.task.instruction),), criteria=self.criteria)
            case ActContext():
                return self._act(context)
            case VerifyContext():
                return self.judge(context)
            case SummarizeContext():
                return SummariesResponse(summaries=("It was done.",) * len(context.drafts))
            case SupportContext():
                numbers = range(1, len(context.claims) + 1)
                return SupportResponse(
                    judgements=tuple(SupportJudgement(number=one, supported=True) for one in numbers)
                )
        return ReflectResponse()

    def _act(self, context: ActContext) -> ActResponse:
        if self._position == len(self.steps):
            return ActResponse(next_action="All of it is done and saved.", action=Done())
        step = self.steps[self._position]
        action = action_of(step, context.observation)
        if action is None:
            self._waits += 1
            if self._waits > MAX_WAITS:
                raise ModelError(f"there is nothing for {step}")
            return ActResponse(next_action="wait", action=Wait(time=0.5))
        self._position, self._waits = self._position + 1, 0
        return ActResponse(next_action=f"Do the next part of: {context.task.instruction}", action=action)


def action_of(step: Mapping[str, Any], seen: Observation) -> Action | None:
    """Return the primitive of a step of `benchmarks/data/judging.yaml`; None if its element is not there."""
    match dict(step):
        case {"keys": keys}:
            return Hotkey(keys=tuple(keys.split("+")))
        case {"text": text}:
            return Type(text=text)
        case {"click": [role, name]}:
            element = find(seen, role, name)
            return Click(element_id=element.id) if element is not None else None
        case {"type": [role, name, text, *more]}:
            element = find(seen, role, name)
            return Type(text=text, element_id=element.id, overwrite=True, enter=bool(more)) if element else None
    raise ValueError(f"{step} is no step")


# The honest judge


@dataclass
class HonestJudge:
    """Looks at what proves a task, says what it finds, and cites it.

    Args:
        shows: What proves the task; see `benchmarks/data/judging.yaml`.
        opens: What must be clicked first to see it.
    """

    shows: Sequence[Mapping[str, Any]]
    opens: Sequence[Sequence[str]] = ()
    _asked: bool = False
    _opened: int = 0

    def __call__(self, context: VerifyContext) -> VerifyResponse:
        """Answer one request."""
        probes = tuple(filter(None, map(_probe_of, self.shows)))
        if probes and not self._asked:
            self._asked = True
            return VerifyResponse(probes=probes, verified=None)
        if self._opened < len(self.opens) and context.may_look:
            element = find(context.observation, *self.opens[self._opened])
            if element is not None:
                self._opened += 1
                return VerifyResponse(look=Click(element_id=element.id), verified=None)
        found = [cited for show in self.shows for cited in self._cite(show, context)]
        if not found or any(cited is None for _, cited in found):
            return VerifyResponse(verified=False, reason="not all of it can be seen")
        unchanged = {one.number for one in context.probed if isinstance(one.probe, ChangedProbe)}
        kept = [cited for _, cited in found if cited is not None and cited.of == "probe" and cited.number in unchanged]
        judgements = []
        for number, point in enumerate(context.points, start=1):
            own = [cited for about, cited in found if cited is not None and any(part in point for part in about)]
            cited = own or [cited for about, cited in found if cited is not None and cited not in kept]
            if not own:  # it may be about what was done, or about what was not
                steps = [Citation(of="step", number=step.number) for _, taken in context.done for step in taken]
                cited = [Citation(of="unchanged")] if "other" in point else [*cited[:6], *steps[-1:]]
            judgements.append(Judgement(point=number, met=True, citations=tuple(cited[:8])))
        return VerifyResponse(judgements=tuple(judgements), verified=True, reason="all of it is shown")

    def _cite(
        self, show: Mapping[str, Any], context: VerifyContext
    ) -> Iterator[tuple[tuple[str, ...], Citation | None]]:
        """Yield what each proof is about, and its citation; None if it does not prove it."""
        probe = _probe_of(show)
        if probe is not None:
            result = next((one for one in context.probed if one.probe == probe), None)
            wanted = not isinstance(probe, ChangedProbe)
            held = result is not None and result.holds is wanted
            yield _values_of(probe), Citation(of="probe", number=result.number) if result and held else None
        elif "says" in show:
            text = show["says"]
            element = next((one for one in context.observation.elements if _says(one, text)), None)
            yield (text,), Citation(of="element", number=element.id, quote=text) if element is not None else None
        else:
            for role, name, *wanted in show["elements"]:
                element = find(context.observation, role, name)
                text = wanted[0] if wanted else name
                shown = element is not None and (text in element.states or text in _texts(element))
                cited = Citation(of="element", number=element.id, quote=text) if element and shown else None
                yield (text, name), cited


def _says(element: Element, text: str) -> bool:
    """Return whether the page itself says a text, and not a field that was filled in."""
    return (
        element.role not in ("entry", "text")
        and "booked" in (element.text or element.name)
        and text in _joined(element)
    )


def _joined(element: Element) -> str:
    return f"{element.name} {element.text or ''}"


def _texts(element: Element) -> tuple[str, ...]:
    value = "" if element.value is None else f"{element.value:g}"
    return element.name, element.text or "", value


def _probe_of(show: Mapping[str, Any]) -> Probe | None:
    match dict(show):
        case {"text": [path, text, *more]}:
            return TextProbe(path=path, text=text, exact=bool(more))
        case {"changed": [path, *_]}:
            return ChangedProbe(path=path)
        case {"cell": [path, cell, value]}:
            return CellProbe(path=path, cell=cell, value=value)
        case {"setting": [key, value]}:
            return SettingProbe(key=key, value=value)
    return None


def _values_of(probe: Probe) -> tuple[str, ...]:
    match probe:
        case TextProbe() | FileProbe() | ChangedProbe():
            return (probe.path.rpartition("/")[2],)
        case CellProbe():
            return (probe.cell,)
    return ()


# The over-confident judge


@dataclass
class ConfidentJudge:
    """Claims that every point is met, with citations that look right.

    It cites what resembles a point: elements, titles, steps and probes that share its words, with their own words or
    with those of the point; one of them or all at once. When it is sent back, it tries something else.
    """

    chance: random.Random
    _asked: bool = False
    _ways: dict[int, str] = field(default_factory=dict)

    def __call__(self, context: VerifyContext) -> VerifyResponse:
        """Answer one request."""
        if context.may_look and not self._asked:
            self._asked = True
            probes = tuple(probe for point in context.points for probe in self._probes(point, context))[:8]
            look = self._look(context.observation) if self.chance.random() < 0.3 else None
            if look is not None or (probes and self.chance.random() < 0.7):
                return VerifyResponse(look=look, probes=probes, verified=None)
        judgements = []
        for number, point in enumerate(context.points, start=1):
            rejected = f"point {number}: " in context.problem
            if not context.problem or rejected:
                others = [way for way in _WAYS if way != self._ways.get(number)]
                self._ways[number] = self.chance.choice(others)
            if rejected and "probe" in context.problem and context.probed:
                self._ways[number] = "probes"
            cited = _WAYS[self._ways[number]](point, context)[:8]
            judgements.append(Judgement(point=number, met=True, citations=tuple(cited)))
        return VerifyResponse(judgements=tuple(judgements), verified=True, reason="Everything was done and saved.")

    def _probes(self, point: str, context: VerifyContext) -> Iterator[Probe]:
        """Yield probes that a point suggests, at the place that it names and where a file was changed."""
        found = tokens(f"{point} {context.task.instruction}")
        files = [token.value for token in found if token.sort == "file"]
        files += [change.what for change in context.differences if change.kind == "file"]
        texts = [token.value for token in found if token.sort in ("quoted", "number")]
        cells = [token.value for token in found if token.sort == "cell"]
        for file in dict.fromkeys(files):
            yield FileProbe(path=file)
            yield from (CellProbe(path=file, cell=cell, value=text) for cell in cells[:2] for text in texts[:2])
            yield from (TextProbe(path=file, text=text) for text in texts[:2] if not cells)
        for change in context.differences:
            if change.kind == "setting":
                yield SettingProbe(key=change.what, value=change.after.strip("'"))

    def _look(self, seen: Observation) -> Action | None:
        opens = [one for one in seen.elements if one.name.endswith("...") or one.role == "menu"]
        return Click(element_id=self.chance.choice(opens).id) if opens else None


def _alike(point: str, text: str) -> int:
    return len(set(re.findall(r"\w+", point.casefold())) & set(re.findall(r"\w+", text.casefold())))


def _best(point: str, context: VerifyContext, count: int = 1) -> list[Element]:
    elements = [one for one in context.observation.elements if _joined(one).strip()]
    return sorted(elements, key=lambda one: _alike(point, f"{_joined(one)} {one.label}"), reverse=True)[:count]


def _elements(point: str, context: VerifyContext, count: int = 1) -> list[Citation]:
    best = _best(point, context, count)
    return [Citation(of="element", number=one.id, quote=(one.text or one.name)[:80]) for one in best]


def _invented(point: str, context: VerifyContext) -> list[Citation]:
    values = [token.value for token in tokens(point) if token.literal] or [point]
    return [Citation(of="element", number=one.id, quote=values[-1]) for one in _best(point, context)]


def _steps(point: str, context: VerifyContext) -> list[Citation]:
    steps = [step for _, taken in context.done for step in taken]
    steps.sort(key=lambda step: _alike(point, str(step)), reverse=True)
    return [Citation(of="step", number=step.number) for step in steps[:3]]


def _last_step(point: str, context: VerifyContext) -> list[Citation]:
    steps = [step for _, taken in context.done for step in taken]
    return [Citation(of="step", number=step.number, quote="carried out") for step in steps[-1:]]


def _titles(point: str, context: VerifyContext) -> list[Citation]:
    return [Citation(of="window", quote=window.title) for window in context.observation.windows if window.title][:2]


def _probed(point: str, context: VerifyContext) -> list[Citation]:
    def score(result: ProbeResult) -> tuple[bool, int]:
        return result.holds is True, _alike(point, f"{result.probe} {result.found}")

    return [Citation(of="probe", number=one.number) for one in sorted(context.probed, key=score, reverse=True)[:3]]


def _held(point: str, context: VerifyContext) -> list[Citation]:
    return [Citation(of="probe", number=one.number) for one in context.probed if one.holds]


def _kept(point: str, context: VerifyContext) -> list[Citation]:
    return [Citation(of="unchanged"), Citation(of="no_step")]


def _both(point: str, context: VerifyContext) -> list[Citation]:
    return [
        *_held(point, context)[:3],
        *_elements(point, context, 2),
        *_steps(point, context)[:1],
        *_titles(point, context),
    ]


_WAYS: Mapping[str, Callable[[str, VerifyContext], list[Citation]]] = {
    "element": _elements,
    "elements": lambda point, context: _elements(point, context, 5),
    "invented": _invented,
    "steps": _steps,
    "last step": _last_step,
    "titles": _titles,
    "probes": _probed,
    "held probes": _held,
    "unchanged": _kept,
    "everything": _both,
}
