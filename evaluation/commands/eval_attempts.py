"""`agent-s eval tasks --attempts N`: several attempts at each task, of which the best, as a model judges, counts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_s.records import Usage
from agent_s.terminal.exits import DONE, NOT_DONE
from agent_s.terminal.progress import choose_display
from evaluation.commands.eval_run import Options, header_of, run_episodes, show

if TYPE_CHECKING:
    from agent_s.llm.budget import MeteredModel
    from evaluation.harness.results import Job, Result
    from evaluation.worker import Assignment


def carry_out_attempts(
    jobs: Sequence[Job], assignment: Assignment, options: Options, unreadable: Sequence[Result], attempts: int
) -> int:
    """Make all attempts that are left, choose one of each task, show the results, and return the exit status.

    Attempts are evaluations of their own, in the folders `attempt-1`, `attempt-2` and so on. The verdicts of the state
    checks stay out of the recordings that they are chosen by.
    """
    from agent_s.llm.budget import MeteredModel
    from agent_s.llm.build import build_models
    from evaluation.harness.results import ResultsFile

    made: dict[int, dict[Job, Result]] = {}
    for number in range(1, attempts + 1):
        out = options.out / f"attempt-{number}"
        own = assignment.model_copy(update={"folder": out, "keep_all": True, "verdicts_apart": True})
        done = run_episodes(jobs, own, replace(options, out=out), unreadable, title=f"attempt {number} of {attempts}")
        if done.exit_status is not None:
            return done.exit_status
        made[number] = {result.job: result for result in done.results}
    screen = choose_display(quiet=options.quiet, json=options.as_json)
    kept = ResultsFile(options.out, header_of(assignment.benchmark, options.settings))
    model = build_models(options.settings, os.environ)
    for job in jobs:
        if not kept.is_done(job):
            judge = MeteredModel(model, options.settings.limits)
            kept.add(_chosen(judge, {number: results[job] for number, results in made.items()}, options.out))
            labels = kept.results[job].labels
            screen.say(
                f"{job.task}: attempt {labels['attempt']}, chosen by {labels['chosen by']}"
                if "attempt" in labels
                else f"{job.task}: no attempt came to an end"
            )
    for result in unreadable:
        kept.add(result)
    wanted = {*jobs, *(result.job for result in unreadable)}
    results = [result for job, result in kept.results.items() if job in wanted]
    show(results, options.out, options.as_json)
    if not options.as_json:
        for number, some in made.items():
            won = sum(result.outcome == "success" for result in some.values())
            click.echo(f"Attempt {number}: {won} of {len(some)}")
    return DONE if all(kept.is_done(job) for job in wanted) else NOT_DONE


def _chosen(judge: MeteredModel, results: Mapping[int, Result], out: Path) -> Result:
    """Return the result of the chosen attempt at a task, with the calls, tokens and dollars of all and of the choice.

    An attempt that broke is not chosen; if all did, the first one is the result.
    """
    from agent_s.records import Task
    from evaluation.attempts import choose_attempt
    from evaluation.harness.results import effort_of

    ended = {number: result for number, result in results.items() if result.trajectory and result.outcome != "error"}
    if not ended:
        return next(iter(results.values()))
    folders = {number: out / f"attempt-{number}" / result.trajectory for number, result in ended.items()}
    choice = choose_attempt(judge, Task(instruction=next(iter(ended.values())).instruction), folders)
    if choice is None:
        return next(iter(results.values()))
    chosen = results[choice.number]
    fields = ("model_calls", "input_tokens", "output_tokens", "dollars")
    spent = judge.budget.used
    for one in results.values():
        spent += Usage(**one.model_dump(include=set(fields)))
    return chosen.model_copy(
        update={
            **{name: effort_of(spent)[name] for name in fields},
            "trajectory": f"attempt-{choice.number}/{chosen.trajectory}",
            "report": f"attempt-{choice.number}/{chosen.report}" if chosen.report else "",
            "labels": {**chosen.labels, "attempt": str(choice.number), "chosen by": choice.by},
        }
    )
