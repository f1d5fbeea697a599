"""A worker whose scripted model needs a stated time for each answer and does the task another way in each attempt.

    python -m benchmarks.support.scale_worker LATENCY_S

The task is to write "hello world" into a file with Mousepad. The way is the seed of the job, modulo the number of ways.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from aci.acting.actions import Action, Done, Hotkey, SwitchApplications, Type, Wait
from aci.desktop.virtual import VirtualDesktop
from agent_s import AgentS, Task
from agent_s.llm.protocol import ActResponse, ModelRequest, ModelResponse
from agent_s.llm.scripted import ScriptedModel
from agent_s.loop.options import Options
from evaluation.attempts import AttemptBench
from evaluation.harness.results import Job
from evaluation.worker import Assignment, serve
from memory_store import MemoryStore

TASK = Task(instruction="Open Mousepad, type 'hello world' and save it as greeting.txt", id="greeting")
WAYS = ("hello wrold", "hello world", "hello")  # what the attempts type; the first is that of seed 0


def command(latency_s: float) -> tuple[str, ...]:
    """Return the command of such a worker."""
    return (sys.executable, "-m", "benchmarks.support.scale_worker", f"{latency_s:g}")


class SlowModel(ScriptedModel):
    """A scripted model that takes its time for each answer."""

    def __init__(self, actions: Sequence[Action], latency_s: float) -> None:
        super().__init__({"act": [ActResponse(action=action) for action in actions]})
        self._latency_s = latency_s

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the next scripted answer, after the latency."""
        time.sleep(self._latency_s)
        return super().complete(request)


def actions_of(text: str) -> tuple[Action, ...]:
    """Return the primitives that write a text into a file."""
    return (
        SwitchApplications(app_code="mousepad"),
        Type(text=text),
        Hotkey(keys=("ctrl", "s")),
        Wait(time=2.0),  # a script does not look whether the dialog is there
        Hotkey(keys=("ctrl", "a")),
        Type(text="greeting.txt"),
        Hotkey(keys=("alt", "s")),
        Wait(time=1.0),
        Done(),
    )


def bench_of(line: str) -> AttemptBench:
    """Return the bench for the line of an assignment."""
    assignment, latency_s = Assignment.model_validate_json(line), float(sys.argv[1])

    def new_agent(desktop: VirtualDesktop, job: Job, learned: MemoryStore | None) -> AgentS:
        model = SlowModel(actions_of(WAYS[(job.seed or 0) % len(WAYS)]), latency_s)
        return AgentS(model=model, desktop=desktop, options=Options(planner="flat", evaluator=False, reflect=False))

    return AttemptBench(assignment.settings, assignment.task or TASK, assignment.files, new_agent)


def main() -> None:
    """Run as a worker."""
    from contextlib import nullcontext

    serve(lambda line: nullcontext(bench_of(line)))


if __name__ == "__main__":
    main()
