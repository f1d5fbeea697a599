"""What a plan of skills saves where a task consists of known parts, side by side with step by step.

```
python -m benchmarks.composite --folder DIR --json                                       # everything
python -m benchmarks.composite --folder DIR --only Mousepad --limit 5 --json   # a part; the folder keeps the rest
```

The functions of four applications (`data/composite.yaml`) are learned once, each by a run that is verified by the state
of the application. Then each task is carried out twice, one right after the other on the same desktop: with the skills
(plan, replay, judgement) and step by step (plan of one subtask, one primitive for each call, DONE, judgement). A script
takes the model's place. It reads no words of a task: it knows which functions a person would choose, takes those that
it is offered as skills, and leaves the others to the Worker. So what is measured is whether the right skills are
offered, and whether they work together, not how well a model chooses.

`success_ratio`: tasks whose end the state confirms, over those of step by step. `calls_ratio`: calls of the model, over
those of step by step. `time_ratio`: likewise the time of the runs, with --latency seconds (by default 5) added for each
call; `time_ratio_without_latency`: as if a model answered at once. Starting the application, learning and the check of
the end are on neither side.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from aci.acting.actions import Action, Click, Done, Fail, Hotkey, Type
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Element, Observation
from agent_s.events import RunEnded
from agent_s.llm.protocol import ActContext, ActResponse, ModelRequest, PlanContext, PlannedNode, PlanResponse, Response
from agent_s.llm.scripted import ScriptedModel
from agent_s.loop.agent import AgentS
from agent_s.loop.options import Options
from agent_s.records import Limits, Outcome, Status, Task, Verdict
from benchmarks.support.figures import Figures, command, tell
from exploration.search.homes import read_home
from exploration.search.navigator import Navigator, new_desktop
from memory_store import MemoryStore, SkillExperience

DATA = Path(__file__).parent / "data" / "composite.yaml"
FIGURES = (
    *("tasks", "success", "success_step_by_step", "success_ratio", "calls", "calls_step_by_step", "calls_ratio"),
    *("time_ratio", "time_ratio_without_latency", "wholly_replayed"),
)
LIMITS = Limits(max_steps=30, max_seconds=120, max_replans=0)
STARTS_S = 120.0  # longest wait for a large application, s
FEW_ELEMENTS = 30  # as long as such an application shows fewer, it is still starting
SETTLES_S = 5.0  # longest wait for the end that a check looks for, s


@dataclass(frozen=True, slots=True)
class Part:
    """A function of an application with its values.

    Attributes:
        name: What its skill is called.
        steps: How it is done.
        check: What holds afterwards.
        learned_as: The name with the values that it is learned with.
        after: The function that is done before it is learned; empty if none is needed.
    """

    name: str
    steps: tuple[dict[str, Any], ...]
    check: dict[str, Any]
    values: tuple[str, ...]
    learned_as: str
    after: str


class App:
    """An application of the data file.

    Args:
        name: Its name.
        data: Its entry.
    """

    def __init__(self, name: str, data: dict[str, Any]) -> None:
        self.name = name
        self.argv: tuple[str, ...] = tuple(data["argv"])
        self._units: dict[str, dict[str, Any]] = data["units"]
        self._clear: list[list[str]] = data.get("clear", [])
        self.tasks: list[dict[str, Any]] = data["tasks"]

    def part(self, unit: str, values: Sequence[str] | None = None) -> Part:
        """Return a function with values; those that it is learned with by default."""
        known = self._units[unit]
        example = known.get("example", [])
        used = tuple(example if values is None else values)
        steps, check = (_filled(known[field], used) for field in ("steps", "check"))
        name, learned_as = (_filled(known["name"], one) for one in (used, example))
        return Part(name, tuple(steps), check, used, learned_as, known.get("after", ""))

    def parts(self, task: dict[str, Any]) -> list[Part]:
        """Return what a person would choose for a task."""
        return [self.part(unit, values) for unit, *values in task["do"]]

    def known(self) -> Iterator[Part]:
        """Yield all functions as they are learned."""
        return (self.part(unit) for unit in self._units)

    def begin(self, desktop: VirtualDesktop, navigator: Navigator) -> None:
        """Bring the application to where each task begins: start it anew, or empty its document."""
        if not self._clear:
            navigator.restart()
            return
        if not desktop.observe().windows:
            desktop.launch(list(self.argv), timeout_s=STARTS_S)
            deadline = time.monotonic() + STARTS_S
            while len(desktop.observe().elements) < FEW_ELEMENTS and time.monotonic() < deadline:
                time.sleep(1.0)
        for keys in self._clear:
            desktop.perform(Hotkey(keys=tuple(keys)))


def _filled(template: Any, values: Sequence[str]) -> Any:
    """Return data with values in place of {1}, {2}."""
    match template:
        case str():
            for number, value in enumerate(values, start=1):
                template = template.replace(f"{{{number}}}", value)
            return template
        case dict():
            return {key: _filled(inner, values) for key, inner in template.items()}
        case list():
            return [_filled(inner, values) for inner in template]
    return template


def primitive(step: dict[str, Any], seen: Observation) -> Action | None:
    """Return the primitive of a step on a screen; None if its element is not there."""
    if "keys" in step:
        return Hotkey(keys=tuple(step["keys"]))
    wanted = {"name": step.get("click", step.get("name")), "role": step.get("role")}
    element = next((one for one in seen.elements if _is(one, wanted) and "read_only" not in one.states), None)
    if "click" in step:
        return Click(element_id=element.id) if element is not None else None
    if wanted == {"name": None, "role": None}:
        return Type(text=step["type"])
    if element is None:
        return None
    return Type(text=step["type"], element_id=element.id, enter=step.get("enter", False))


def _is(element: Element, wanted: Mapping[str, str | None]) -> bool:
    found = {"name": element.name, "role": element.role, "text": element.text}
    return all(value is None or found[field] == value for field, value in wanted.items())


class Person:
    """A script that answers as a person would who knows the application: by its functions, or by their steps.

    Args:
        parts: What the task consists of.
        by_skills: Whether it uses the skills that it is offered.
    """

    def __init__(self, parts: Sequence[Part], by_skills: bool) -> None:
        self._parts = parts
        self._by_skills = by_skills
        self.model = ScriptedModel({"plan": _always(self._plan), "act": _always(self._act)})

    def _plan(self, request: ModelRequest) -> Response:
        context = request.context
        assert isinstance(context, PlanContext)
        if not self._by_skills:
            return PlanResponse(nodes=(PlannedNode(name="all"),))
        offered = {offer.name: number for number, offer in enumerate(context.skills, start=1)}
        nodes = []
        for number, part in enumerate(self._parts, start=1):
            skill = offered.get(part.learned_as)
            name = f"{number}. {part.name}"
            nodes.append(PlannedNode(name=name, skill=skill, values=part.values if skill is not None else ()))
        return PlanResponse(nodes=tuple(nodes))

    def _act(self, request: ModelRequest) -> Response:
        context = request.context
        assert isinstance(context, ActContext)
        number = context.subtask.name.partition(".")[0]
        parts = [self._parts[int(number) - 1]] if number.isdecimal() else self._parts
        steps = [step for part in parts for step in part.steps]
        if len(context.steps) >= len(steps):
            return ActResponse(action=Done())
        action = primitive(steps[len(context.steps)], context.observation)
        return ActResponse(action=action or Fail(reason=f"there is no {steps[len(context.steps)]}"))


def _always(answer: Callable[[ModelRequest], Response]) -> Iterator[Callable[[ModelRequest], Response]]:
    while True:
        yield answer


def holds(checks: Sequence[dict[str, Any]], desktop: VirtualDesktop) -> bool:
    """Return whether everything holds, now or soon."""
    deadline = time.monotonic() + SETTLES_S
    while not (held := _holds_now(checks, desktop)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return held


def _holds_now(checks: Sequence[dict[str, Any]], desktop: VirtualDesktop) -> bool:
    seen = desktop.observe()
    settings = read_home(desktop.home).settings
    return all(_is_met(check, seen, settings) for check in checks if check)


def _is_met(check: dict[str, Any], seen: Observation, settings: dict[str, str]) -> bool:
    if "setting" in check:
        return settings.get(str(check["setting"])) == str(check["is"])
    if "shown" in check:
        return any(element.name == check["shown"] for element in seen.elements)
    wanted: dict[str, str | None] = {field: check[field] for field in ("name", "role", "text") if field in check}
    return any(_is(one, wanted) and check.get("state", "") in ("", *one.states) for one in seen.elements)


def learn(app: App, desktop: VirtualDesktop, navigator: Navigator, memory: MemoryStore) -> None:
    """Learn each function of an application by a run that its state verifies, unless it is known already."""
    known = {one.name for one in memory.list_experiences("skill") if isinstance(one, SkillExperience)}
    for part in app.known():
        if part.name in known:
            continue
        app.begin(desktop, navigator)
        for step in app.part(part.after).steps if part.after else ():
            if (action := primitive(step, desktop.observe())) is not None:
                desktop.perform(action)
        person = Person([part], by_skills=False)
        model = ScriptedModel(
            {"plan": [PlanResponse(nodes=(PlannedNode(name=part.name),))], "act": _always(person._act)}
        )

        def check(status: Status, checks: Sequence[dict[str, Any]] = (part.check,)) -> Verdict:
            return Verdict(verified=status == "done" and holds(checks, desktop), by="state check")

        agent = AgentS(model=model, desktop=desktop, memory=memory, options=Options(limits=LIMITS, summaries=False))
        outcome = agent.run(Task(instruction=part.name), check)
        tell(f"{app.name}: {part.name}: {outcome.status}, verified {outcome.verified} {outcome.reason}")
    for skill in memory.list_experiences("skill", state="candidate"):
        memory.record_uses([skill.id], True, checked_by="state check", clean_start=True)


def carry_out(
    app: App, task: dict[str, Any], desktop: VirtualDesktop, memory: MemoryStore, mode: str
) -> dict[str, Any]:
    """Carry out a task in one of the two ways and return what it took."""
    parts = app.parts(task)
    person = Person(parts, by_skills=mode == "skills")
    options = Options(limits=LIMITS, learn=False, replay=mode == "skills", episodic=False, narrative=False)
    began = time.monotonic()
    agent = AgentS(model=person.model, desktop=desktop, memory=memory, options=options)
    outcome = _outcome(agent, Task(instruction=task["say"]))
    seconds = time.monotonic() - began
    checks = [part.check for part in parts]
    ends = [{"text": task["ends"]}] if "ends" in task else []
    done = outcome.status == "done" and holds([*checks, *ends], desktop)
    calls = outcome.usage.model_calls
    tell(
        f"{app.name}, {mode}: {'good' if done else 'BAD'}, {calls} calls, {seconds:.1f} s, "
        f"{'replayed' if outcome.replayed else ''} {outcome.reason} {dict(outcome.usage.seconds)}: {task['say']}"
    )
    return {"done": done, "calls": calls, "seconds": seconds, "replayed": outcome.replayed}


def _outcome(agent: AgentS, task: Task) -> Outcome:
    for event in agent.stream(task):
        if isinstance(event, RunEnded):
            return event.outcome
    raise AssertionError("a stream ends with RunEnded")


def measure(wanted: argparse.Namespace) -> Figures:
    """Learn, carry out what the folder does not have, and return the figures of all that it has."""
    figures = Figures(FIGURES)
    apps = [App(name, data) for name, data in yaml.safe_load(DATA.read_text(encoding="utf-8")).items()]
    with TemporaryDirectory() as scratch:
        folder = wanted.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        results = folder / "composite.jsonl"
        for app in apps:
            if not wanted.only or app.name in wanted.only:
                with figures.part():
                    _measure(app, folder, results, 2 if wanted.quick else wanted.limit)
        rows = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    _sum_up(figures, rows, wanted.latency)
    return figures


def _measure(app: App, folder: Path, results: Path, limit: int) -> None:
    rows = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    have = {row["task"] for row in rows}
    left = [task for task in app.tasks if task["say"] not in have][:limit]
    if not left:
        return
    with new_desktop() as desktop, MemoryStore.open(folder / f"{app.name}.sqlite") as memory:
        navigator = Navigator(desktop, app.argv)
        learn(app, desktop, navigator, memory)
        for number, task in enumerate(left):
            row: dict[str, Any] = {"app": app.name, "task": task["say"]}
            for mode in ("skills", "steps") if number % 2 else ("steps", "skills"):
                app.begin(desktop, navigator)
                row[mode] = carry_out(app, task, desktop, memory, mode)
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _sum_up(figures: Figures, rows: Sequence[dict[str, Any]], latency_s: float) -> None:
    if not rows:
        return

    def total(mode: str, field: str) -> float:
        return float(sum(row[mode][field] for row in rows))

    def ratio(one: float, other: float) -> float:
        return one / other if other else 0.0

    def took(mode: str, latency: float) -> float:
        return total(mode, "seconds") + latency * total(mode, "calls")

    figures.set("tasks", len(rows))
    figures.set("success", total("skills", "done") / len(rows))
    figures.set("success_step_by_step", total("steps", "done") / len(rows))
    figures.set("success_ratio", ratio(total("skills", "done"), total("steps", "done")))
    figures.set("calls", int(total("skills", "calls")))
    figures.set("calls_step_by_step", int(total("steps", "calls")))
    figures.set("calls_ratio", ratio(total("skills", "calls"), total("steps", "calls")))
    figures.set("time_ratio", ratio(took("skills", latency_s), took("steps", latency_s)))
    figures.set("time_ratio_without_latency", ratio(took("skills", 0.0), took("steps", 0.0)))
    figures.set("wholly_replayed", total("skills", "replayed") / len(rows))


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, help="where skills and results stay; by default nowhere")
    parser.add_argument("--only", action="append", default=[], help="only this application")
    parser.add_argument("--limit", type=int, default=1000, help="most tasks of each application to do now")
    parser.add_argument("--latency", type=float, default=5.0, help="seconds that a call of a model is taken to last")


if __name__ == "__main__":
    sys.exit(command("composite", (__doc__ or "").partition("\n")[0], measure, _options))
