"""`agent-s eval tasks --attempts N`: several attempts at each task, of which the best, as a model judges, counts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
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

FOLDER = "attempts"


def carry_out_attempts(
    jobs: Sequence[Job], assignment: Assignment, options: Options, unreadable: Sequence[Result], attempts: int
) -> int:
    """Make the attempts that are left, choose one of each task, show the results, and return the exit status.

    The attempts are an evaluation of their own, in the folder `attempts`, whose seeds are their numbers. The verdicts
    of the state checks stay out of the recordings that they are chosen by.
    """
    from agent_s.llm.budget import MeteredModel
    from agent_s.llm.build import build_models
    from evaluation.harness.results import Job, ResultsFile

    out = options.out / FOLDER
    numbers = range(1, attempts + 1)
    made = run_episodes(
        [Job(task=job.task, seed=number) for job in jobs for number in numbers],
        assignment.model_copy(update={"folder": out, "keep_all": True, "as_attempts": True}),
        replace(options, out=out),
        unreadable,
        title=f"{attempts} attempts at each task",
    )
    if made.exit_status is not None:
        return made.exit_status
    results = {result.job: result for result in made.results}
    screen = choose_display(quiet=options.quiet, json=options.as_json)
    kept = ResultsFile(options.out, header_of(assignment.benchmark, options.settings))
    model = build_models(options.settings, os.environ)
    for job in jobs:
        if not kept.is_done(job):
            judge = MeteredModel(model, options.settings.limits)
            of_task = {number: results[Job(task=job.task, seed=number)] for number in numbers}
            chosen = _chosen(judge, of_task, options)
            kept.add(chosen.model_copy(update={"seed": None}))
            screen.say(
                f"{job.task}: attempt {chosen.labels['attempt']}, chosen by {chosen.labels['chosen by']}"
                if "attempt" in chosen.labels
                else f"{job.task}: no attempt came to an end"
            )
    for result in unreadable:
        kept.add(result)
    wanted = {*jobs, *(result.job for result in unreadable)}
    show([result for job, result in kept.results.items() if job in wanted], options.out, options.as_json)
    if not options.as_json:
        for number in numbers:
            won = [job for job, result in results.items() if job.seed == number and result.outcome == "success"]
            click.echo(f"Attempt {number}: {len(won)} of {len(jobs)}")
    return DONE if all(kept.is_done(job) for job in wanted) else NOT_DONE


def _chosen(judge: MeteredModel, results: Mapping[int, Result], options: Options) -> Result:
    """Return the result of the chosen attempt at a task, with the calls, tokens and dollars of all and of the choice.

    An attempt that broke is not chosen; if all did, the first one is the result. Memory gets what the chosen one
    learned.
    """
    from agent_s.records import Task
    from evaluation.attempts import choose_attempt, take_over
    from evaluation.harness.results import effort_of

    ended = {number: result for number, result in results.items() if result.trajectory and result.outcome != "error"}
    if not ended:
        return next(iter(results.values()))
    folders = {number: options.out / FOLDER / result.trajectory for number, result in ended.items()}
    choice = choose_attempt(judge, Task(instruction=next(iter(ended.values())).instruction), folders)
    if choice is None:
        return next(iter(results.values()))
    chosen = results[choice.number]
    take_over(options.settings, folders[choice.number])
    fields = ("model_calls", "input_tokens", "output_tokens", "dollars")
    spent = judge.budget.used
    for one in results.values():
        spent += Usage(**one.model_dump(include=set(fields)))
    return chosen.model_copy(
        update={
            **{name: effort_of(spent)[name] for name in fields},
            "trajectory": f"{FOLDER}/{chosen.trajectory}",
            "report": f"{FOLDER}/{chosen.report}" if chosen.report else "",
            "labels": {**chosen.labels, "attempt": str(choice.number), "chosen by": choice.by},
        }
    )
