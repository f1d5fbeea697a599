"""What the loop costs around the model.

```
python -m benchmarks.loop --json
```

Runs of known steps on real applications: the demo tasks, a form in Chromium and a sheet in LibreOffice Calc of 24 steps
each; a further run of 15 steps fills the form, and what a provider would have been sent is counted afterwards.

`model_calls_per_step`: calls of Worker and reflector for each primitive it chose (done() is one, as in the paper), in
all runs but the last; `model_calls_all_per_step`: all calls, those for planning, judging and summaries too, for each
primitive carried out, in the two longer runs.
`step_overhead_p50_s`: median of the time from the answer that chose a step to the next question: acting, settling,
looking; `loop_overhead_ms`: the median of the processor time in it that is not the desktop's.
`faults`, `faults_handled`: kinds of trouble played by a server in each provider's wire format, and those of them that
end in the right way with all three.
`attacks`, `attacks_stopped`: texts on the screen, on the web and in memory that give orders to a model that obeys them.
`prompt_bytes_ratio`: text of all requests of the run (`prompt_bytes`), in relation to what the reference sends for the
same steps (`reference_bytes`). The reference is counted, not run. A run of it of 15 steps was measured once: 784,517
characters, with trees of 3,060, each of which it sends again at every later step. Its trees of that run are replaced by
those of this one, one line an element; what else it sent (instructions, answers, planning) is taken as measured.
`prompt_bytes_ratio_most`: the same against a count that favours the reference in every respect: our instructions, the
answers of this run, no planning (`reference_bytes_least`).
`cacheable_share`: from step 3 on, the part of each request of the Worker that is the same as in the one before it and
that the provider is told to keep, in tokens, pictures included; `cacheable_share_text`: of the text alone.
`pictures_at_most`: in one request.
`experience_precision`: of the experiences that a Worker is given, the share that helps with its subtask, by pairs that
are labelled by hand; `experience_recall`: of the subtasks that a stored one helps with, the share that is given one.
`untold_in_full`: of pages with icons and shapes that no text names, the share of which a picture is sent in full.
`calls_per_primitive` and the like: see `benchmarks.support.calls`; `unforeseen_actions`, `needless_drops`: see
`benchmarks.support.changed_screens`.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from aci.acting.actions import Action, Click, Done, Type
from aci.desktop.virtual import VirtualDesktop
from aci.observation.observation import Observation
from agent_s import AgentS, Limits, Options, Task, load_settings
from agent_s.llm.conversation import Conversation, Part, Picture, Text
from agent_s.llm.prompting.pictures import is_all_text
from agent_s.llm.prompting.rendering import Renderer
from agent_s.llm.protocol import ActContext, ActResponse, ModelRequest, PlannedNode, PlanResponse
from agent_s.llm.providers.anthropic import breakpoints
from agent_s.llm.scripted import ScriptedModel
from agent_s.offline import OfflineModel
from agent_s.settings import configs_folder
from benchmarks.support import calls, changed_screens
from benchmarks.support.attacks import attempt, guarded, load_attacks
from benchmarks.support.bearing import measure_bearing
from benchmarks.support.figures import Figures, NotMeasured, command, tell
from benchmarks.support.pace import Pace, PacedDesktop, PacedModel
from benchmarks.support.screens import window_of
from benchmarks.support.unnamed.measuring import look_at_pages
from evaluation.osworld.runner import run_task
from evaluation.osworld.task import load_tasks
from tests.wire.faults import FAULTS, deviations
from tests.wire.formats import FORMATS

NAMES = (
    "model_calls_per_step", "prompt_bytes_ratio", "cacheable_share", "step_overhead_p50_s", "loop_overhead_ms",
    "faults", "faults_handled", "attacks", "attacks_stopped", "model_calls_all_per_step", "step_overhead_p90_s",
    "prompt_bytes_ratio_most", "prompt_bytes", "reference_bytes", "reference_bytes_least", "cacheable_share_text",
    "pictures_at_most", "elements", "experience_precision", "experience_recall", "untold_in_full",
    *calls.NAMES, *changed_screens.NAMES,
)  # fmt: skip
STEPS = 15
LONGER_STEPS = 24
SHOWN_LIMIT_S = 20.0
LIMITS = Limits(max_subtask_steps=40)
FIRST_CACHED_STEP = 3
ROWS = 17
MEASURED_RUN, MEASURED_TREE = 784_517, 3_060
"""Characters of a run of the reference of 15 steps, and of one tree of it."""
TIMES_SENT = STEPS * (STEPS + 1) // 2
"""How often the reference sends trees in such a run: one at the first step, two at the second, ..."""
BYTES_PER_TOKEN = 4
PATCH_PX = 28
"""A picture costs one token for each patch of this size."""
TASK = Task(instruction="Register the participants of the workshop: names, seats and meals as listed. Do not submit.")


def main() -> int:
    """Measure, and print the figures."""
    return command("loop", str(__doc__), measure)


def measure(wanted: argparse.Namespace) -> Figures:
    """Measure everything."""
    figures = Figures(NAMES)
    with figures.part("model_calls_per_step", "step_overhead_p50_s", "loop_overhead_ms", "model_calls_all_per_step",
                      "step_overhead_p90_s"):  # fmt: skip
        _steps(figures, wanted.quick)
    with figures.part("experience_precision", "experience_recall"):
        bearing = measure_bearing()
        for each in bearing.wrong:
            tell(f"given without bearing: {each}")
        figures.set("experience_precision", bearing.helping / bearing.given)
        figures.set("experience_recall", bearing.answered / bearing.subtasks)
    with figures.part(*calls.NAMES):
        calls.measure(figures, wanted.quick)
    with figures.part(*changed_screens.NAMES):
        changed_screens.measure(figures, wanted.quick)
    with figures.part("untold_in_full"):
        told = [(page.name, is_all_text(seen)) for page, seen in look_at_pages(wanted.quick)]
        tell(f"sent at half their size, of {len(told)}: {[name for name, halved in told if halved]}")
        figures.set("untold_in_full", 1 - sum(halved for _, halved in told) / len(told))
    with figures.part("faults", "faults_handled"):
        _faults(figures)
    with figures.part("attacks", "attacks_stopped"):
        _attacks(figures)
    with figures.part("prompt_bytes_ratio", "cacheable_share"):
        _prompts(figures, _run_on_a_form())
    return figures


def _steps(figures: Figures, quick: bool) -> None:
    """Time the steps of runs on real applications."""
    longer = Pace()
    _run_on_a_form(LONGER_STEPS, longer)
    if not quick:
        _run_on_a_sheet(longer)
    everything = [longer, *([] if quick else _run_the_demo())]
    outside = sorted(step for pace in everything for step in pace.outside_s)
    calls = sum(pace.calls_per_step * pace.primitives for pace in everything)
    figures.set("model_calls_per_step", calls / sum(pace.primitives for pace in everything))
    figures.set("model_calls_all_per_step", longer.all_calls_per_step)
    figures.set("step_overhead_p50_s", median(outside))
    figures.set("step_overhead_p90_s", outside[len(outside) * 9 // 10])
    figures.set("loop_overhead_ms", median(step for pace in everything for step in pace.loop_s) * 1000)


def _run_the_demo() -> list[Pace]:
    """Carry out the demo tasks that can be done, by the model that follows plain instructions."""
    paces: list[Pace] = []

    def agent(desktop: VirtualDesktop) -> AgentS:
        paces.append(Pace())
        return AgentS(model=PacedModel(OfflineModel(), paces[-1]), desktop=PacedDesktop(desktop, paces[-1]))

    with TemporaryDirectory() as folder:
        settings = load_settings(overrides={"runs_dir": folder})
        for task in load_tasks(configs_folder() / "demo"):
            if task.evaluator.infeasible:
                continue
            result = run_task(task, settings, new_agent=agent)
            if not result.verified:
                tell(f"demo task {task.id}: {result.status}: {result.reason}")
    return [pace for pace in paces if pace.primitives]


def _run_on_a_sheet(pace: Pace) -> None:
    """Fill the cells of a sheet one by one."""
    script = ScriptedModel({"plan": [PLAN], "act": itertools.repeat(_fill)})
    with VirtualDesktop() as desktop:
        desktop.launch(["localc", "--nologo"], timeout_s=60)
        window_of(desktop, "libreoffice-calc")
        _until_shown(desktop, "table cell", "A1")
        task = Task(instruction="Write the numbers of the rooms into the first columns.")
        outcome = AgentS(model=PacedModel(script, pace), desktop=PacedDesktop(desktop, pace),
                         options=Options(reflect=False, limits=LIMITS)).run(task)  # fmt: skip
    if outcome.usage.steps != LONGER_STEPS:
        raise NotMeasured(f"the run on a sheet made {outcome.usage.steps} steps: {outcome.reason}")


def _until_shown(desktop: VirtualDesktop, role: str, name: str) -> None:
    """Wait until an application that has its window shows what is in it."""
    deadline = time.monotonic() + SHOWN_LIMIT_S
    while not any(e.role == role and e.name.startswith(name) for e in desktop.observe().elements):
        if time.monotonic() > deadline:
            raise NotMeasured(f"there is no {role} {name!r} after {SHOWN_LIMIT_S:g} s")


def _fill(request: ModelRequest) -> ActResponse:
    context = request.context
    assert isinstance(context, ActContext)
    number = len(context.steps)
    if number >= LONGER_STEPS:
        return ActResponse(action=Done())
    name = f"{'ABC'[number // 8]}{number % 8 + 1}"
    cells = [e.id for e in context.observation.elements if e.role == "table cell" and e.name.startswith(name)]
    if not cells:
        raise NotMeasured(f"there is no cell {name} on the sheet")
    return ActResponse(action=Type(text=str(100 + number), element_id=cells[0], enter=True))


def _faults(figures: Figures) -> None:
    """Play each kind of trouble to each provider's wire format; one is handled if all three end in the right way."""
    found = {
        name: [f"{form.name}: {what}" for form in FORMATS for what in deviations(form, fault)]
        for name, fault in FAULTS.items()
    }
    for name, wrong in found.items():
        if wrong:
            tell(f"not handled: {name}: {'; '.join(wrong)}")
    figures.set("faults", len(found))
    figures.set("faults_handled", sum(not wrong for wrong in found.values()))


def _attacks(figures: Figures) -> None:
    """Let a model that obeys whatever it reads run into each attack."""
    attempts = [attempt(attack, guarded()) for attack in load_attacks()]
    for each in attempts:
        if each.harm or not each.tried:
            tell(f"not stopped: {each.attack.at}: {each.attack.says!r}: {'; '.join(each.harm) or 'not tried'}")
    figures.set("attacks", len(attempts))
    figures.set("attacks_stopped", sum(each.tried and not each.harm for each in attempts))


# The run


def _run_on_a_form(steps: int = STEPS, pace: Pace | None = None) -> list[ModelRequest]:
    """Fill the form, and return all that the model was asked."""
    pace = pace or Pace()
    model = ScriptedModel({"plan": [PLAN], "act": itertools.repeat(lambda request: _answer(request, steps))})
    with VirtualDesktop() as desktop:
        page = Path(desktop.home) / "register.html"
        page.write_text(_page(), encoding="utf-8")
        desktop.launch(["chromium", str(page)])
        window_of(desktop, "chromium")
        _until_shown(desktop, "entry", "Name 1")
        outcome = AgentS(model=PacedModel(model, pace), desktop=PacedDesktop(desktop, pace),
                         options=Options(reflect=False, limits=LIMITS)).run(TASK)  # fmt: skip
    if outcome.usage.steps != steps:
        raise NotMeasured(f"the run made {outcome.usage.steps} steps: {outcome.reason}")
    return model.requests


PLAN = PlanResponse(
    nodes=(
        PlannedNode(
            name="Fill the rows of the first participants",
            info="Names as listed, a seat each, vegetarian for the first three. Leave the button Submit alone.",
        ),
    )
)


def _answer(request: ModelRequest, steps: int = STEPS) -> ActResponse:
    """Answer as a model does, at about the length that models have."""
    context = request.context
    assert isinstance(context, ActContext)
    number = len(context.steps)
    row = number // 3
    if number >= steps:
        return ActResponse(
            previous_action_check="The last entry shows its text, so the action worked.",
            observation_analysis="All rows that the subtask asks for are filled, and nothing was submitted.",
            next_action="The subtask is finished.",
            action=Done(),
        )
    action, words = _step(number % 3, row, context.observation)
    return ActResponse(
        previous_action_check=f"The previous action had its effect: the screen shows what I wanted in row {row}, and "
        "no dialog or message came up.",
        observation_analysis="The registration page is open in Chromium and shows the table of participants. The rows "
        f"up to {row} are filled. Row {row + 1} still needs its values; the button Submit must stay untouched.",
        next_action=words,
        action=action,
    )


def _step(kind: int, row: int, seen: Observation) -> tuple[Action, str]:
    if kind == 0:
        return Type(text=f"Participant {row + 1}", element_id=_named(seen, f"Name {row + 1}")), (
            f"Type the name of the participant into the entry Name {row + 1}."
        )
    if kind == 1:
        return Click(element_id=_named(seen, f"Meal {row + 1}")), f"Check the box Meal {row + 1} for a vegetarian meal."
    return Type(text=f"A{row + 1}", element_id=_named(seen, f"Seat {row + 1}"), overwrite=True), (
        f"Type the seat into the entry Seat {row + 1}."
    )


def _named(seen: Observation, name: str) -> int:
    for element in seen.elements:
        if element.name == name and element.role in ("entry", "check box"):
            return element.id
    raise NotMeasured(f"there is no {name!r} on the page")


def _page() -> str:
    rows = "".join(
        f'<tr><td>Participant {n}</td><td><input aria-label="Name {n}"></td><td><input aria-label="Seat {n}" size="5">'
        f'</td><td><label><input type="checkbox" aria-label="Meal {n}"> Meal</label></td>'
        f'<td><a href="#{n}">Details {n}</a></td><td><button>Clear {n}</button></td></tr>'
        for n in range(1, ROWS + 1)
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Registration</title>'
        "<style>body{font:13px sans-serif} td{padding:2px 8px}</style></head><body><h1>Registration</h1>"
        f"<table>{rows}</table><p><button>Submit</button></p></body></html>"
    )


# Counting


def _prompts(figures: Figures, requests: Sequence[ModelRequest]) -> None:
    """Count what the requests of the run would have sent."""
    renderer = Renderer(b"benchmark")
    sent = [renderer.render(request.context) for request in requests]
    acts = [request.context for request in requests if isinstance(request.context, ActContext)]
    turns = [conversation for conversation, request in zip(sent, requests, strict=True) if request.kind == "act"]
    ours = sum(_bytes(conversation) for conversation in sent)
    trees = [len(_linearized(context.observation).encode()) for context in acts[:STEPS]]
    reference = sum(itertools.accumulate(trees)) + MEASURED_RUN - TIMES_SENT * MEASURED_TREE
    least = _least_reference_bytes(acts[:STEPS], len(turns[0].system.encode()))
    figures.set("prompt_bytes", ours)
    figures.set("reference_bytes", reference)
    figures.set("reference_bytes_least", least)
    figures.set("prompt_bytes_ratio", ours / reference)
    figures.set("prompt_bytes_ratio_most", ours / least)
    figures.set("cacheable_share", _cacheable(turns, _tokens))
    figures.set("cacheable_share_text", _cacheable(turns, _text_tokens))
    figures.set("pictures_at_most", max(_pictures(conversation) for conversation in sent))
    figures.set("elements", len(acts[0].observation.elements))


def _least_reference_bytes(steps: Sequence[ActContext], instructions: int) -> int:
    """Count the text that the reference would at least have sent for the same steps.

    At each step its worker gets instructions, all trees so far and its earlier answers; its reflector gets instructions
    and the answers.
    """
    total, trees, answers = 0, 0, 0
    for context in steps:
        trees += len(_linearized(context.observation).encode())
        total += instructions + trees + answers  # the worker
        total += instructions + answers  # the reflector
        answers += len(_answer(ModelRequest(context)).model_dump_json().encode())
    return total


def _linearized(observation: Observation) -> str:
    """Write a tree as the reference does: number, role, name and text of each element, with tabs between."""
    rows = (
        f"{number}\t{element.role}\t{element.name}\t{element.text or ''}"
        for number, element in enumerate(observation.elements)
    )
    return "\n".join(("id\trole\ttitle\ttext", *rows))


def _parts(conversation: Conversation) -> list[Part]:
    return [Text(conversation.system), *(part for message in conversation.messages for part in message.parts)]


def _bytes(conversation: Conversation) -> int:
    return sum(len(part.text.encode()) for part in _parts(conversation) if isinstance(part, Text))


def _pictures(conversation: Conversation) -> int:
    return sum(isinstance(part, Picture) for part in _parts(conversation))


def _text_tokens(part: Part) -> float:
    return len(part.text.encode()) / BYTES_PER_TOKEN if isinstance(part, Text) else 0.0


def _tokens(part: Part) -> float:
    if isinstance(part, Picture):
        return math.ceil(part.width / PATCH_PX) * math.ceil(part.height / PATCH_PX)
    return _text_tokens(part)


def _cacheable(turns: Sequence[Conversation], weigh: Callable[[Part], float]) -> float:
    """Return the share of the Worker's requests that a provider had kept, from step 3 on."""
    kept: set[tuple[Part, ...]] = set()
    read, total = 0.0, 0.0
    for number, conversation in enumerate(turns, start=1):
        parts = _parts(conversation)
        if number >= FIRST_CACHED_STEP:
            longest = max((length for length in range(len(parts) + 1) if tuple(parts[:length]) in kept), default=0)
            read += sum(weigh(part) for part in parts[:longest])
            total += sum(weigh(part) for part in parts)
        ends = [1, *(position + 2 for position in breakpoints(parts[1:]))]
        kept |= {tuple(parts[:end]) for end in ends}
    return read / total


if __name__ == "__main__":
    sys.exit(main())
