"""Benches of task files: run by the agent, or checked for conformance without one."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import InitVar, dataclass, field
from pathlib import Path
from shutil import rmtree

from aci.desktop.virtual import VirtualDesktop
from aci.errors import AciError
from agent_s.settings import Settings
from evaluation.errors import EvaluationError
from evaluation.harness.results import RUNS_FOLDER, Ended, Job, Result, place_in
from evaluation.osworld.runner import TaskResult, TaskSession, run_task
from evaluation.osworld.solutions import SolutionPlayer, load_solution
from evaluation.osworld.task import TaskFile, load_each
from evaluation.state.context import Rights


@dataclass(eq=False)
class TaskBench:
    """Runs tasks one after another, each on a fresh desktop."""

    settings: Settings
    folder: Path  # of the results
    tasks: InitVar[Path]  # folder of the task files
    keep_all: bool = False  # whether to keep recordings of successes
    rights: Rights = field(default_factory=Rights)  # what the tasks may do
    # whether the verdicts of state checks are kept out of the recordings, and what is learned out of memory, since the
    # best of several episodes of a task will be chosen
    as_attempts: bool = False

    def __post_init__(self, tasks: Path) -> None:
        self.settings = self.settings.model_copy(update={"runs_dir": self.folder / RUNS_FOLDER})
        self._tasks = {task.id: task for task in load_each(tasks)[0]}

    def run(self, job: Job) -> Result:
        """Run one task; an error is its result."""
        task = self._tasks[job.task]
        ended = self._attempt(task) if self.as_attempts else run_task(task, self.settings, rights=self.rights)
        error = ended.status == "error" or ended.verified is None
        if ended.verified and not self.keep_all and ended.trajectory is not None:
            rmtree(ended.trajectory, ignore_errors=True)
        kept = self.keep_all or not ended.verified
        changed = {"score": None, "failure": "environment"} if error else {}
        return Result(
            **ended.model_dump(include=set(Ended.model_fields)) | changed,
            outcome="error" if error else "success" if ended.verified else "failure",
            seed=job.seed,
            labels=task.labels,
            trajectory=place_in(self.folder, ended.trajectory) if kept else "",
            report=place_in(self.folder, ended.report) if kept else "",
        )

    def _attempt(self, task: TaskFile) -> TaskResult:
        from agent_s.loop.agent import AgentS
        from evaluation.attempts import separate_memory, write_learned

        with separate_memory(self.settings) as learned:

            def new_agent(desktop: VirtualDesktop) -> AgentS:
                return AgentS.from_settings(self.settings, desktop, learned=learned)

            ended = run_task(task, self.settings, rights=self.rights, new_agent=new_agent, verdict_apart=True)
            if ended.trajectory is not None:
                write_learned(learned, ended.trajectory)
        return ended


class ConformanceBench(TaskBench):
    """Checks the tasks themselves: the initial state scores 0, and the scripted solution 1."""

    def run(self, job: Job) -> Result:
        """Check one task; an error is its result."""
        task = self._tasks[job.task]
        values = {"task": task.id, "instruction": task.instruction, "labels": task.labels, "status": "done"}
        try:
            problem = self._problem(task)
        except (AciError, EvaluationError) as error:
            broken = {"outcome": "error", "status": "error", "failure": "environment", "reason": str(error)}
            return Result.model_validate({**values, **broken})
        if problem:
            return Result.model_validate({**values, "outcome": "failure", "score": 0.0, "reason": problem})
        return Result.model_validate({**values, "outcome": "success", "score": 1.0})

    def _problem(self, task: TaskFile) -> str:
        """Return what is wrong with a task; "" if it conforms."""
        solution = [] if task.evaluator.infeasible else load_solution(task.path)
        with ExitStack() as resources:
            desktop, session = self._prepared(task, resources)
            untouched = session.state_check("done")
            if untouched.verified is not False:
                return f"the initial state does not score 0: {untouched.reason}"
            if task.evaluator.infeasible:
                gave_up = session.state_check("infeasible")
                return "" if gave_up.verified else f"giving up does not score 1: {gave_up.reason}"
            if task.evaluator.postconfig:  # it may have closed the applications
                resources.close()
                desktop, session = self._prepared(task, resources)
            SolutionPlayer(desktop).play(solution)
            solved = session.state_check("done")
            return "" if solved.verified else f"the solution does not score 1: {solved.reason}"

    def _prepared(self, task: TaskFile, resources: ExitStack) -> tuple[VirtualDesktop, TaskSession]:
        """Return a fresh desktop in the initial state of a task, and the session of the task."""
        without_texts = self.settings.desktop.model_copy(update={"ocr": "none"})
        desktop = resources.enter_context(without_texts.new_virtual())
        session = resources.enter_context(TaskSession.on(task, desktop, self.rights))
        session.prepare()
        return desktop, session
