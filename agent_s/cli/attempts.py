"""`agent-s run --attempts N`: runs a task several times in parallel on private desktops and keeps the best run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent_s.errors import AgentError
from agent_s.records import Outcome, Task, Usage
from agent_s.terminal.desktop_choice import DesktopChoice
from agent_s.terminal.exits import EnvironmentProblem
from agent_s.terminal.kept_files import kept_files
from agent_s.terminal.output import echo_json, plural, printable, sentence, shell_word, show_table
from agent_s.terminal.running import exit_status, ready_models, run_once
from memory_store import MemoryStoreError

if TYPE_CHECKING:
    from agent_s.roles.comparer import Choice
    from agent_s.settings import Settings
    from evaluation.harness.results import Result

FIGURES = ("Steps", "Calls", "Seconds")


def run_attempts(
    task: Task,
    settings: Settings,
    choice: DesktopChoice,
    number: int,
    files: Path | None,
    cluster: str | None,
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    """Make the attempts, choose the best one, offer to replay it on the person's desktop, and return the exit status.

    Args:
        task: The task.
        settings: The settings of every attempt.
        choice: The person's desktop, on which the best attempt is replayed; a virtual desktop for no replay.
        number: Number of attempts.
        files: Folder to copy into the home of each desktop; None for an empty home.
        cluster: Address of the Ray cluster that provides the desktops; None for this machine.
        as_json: Whether to write one JSON object.
        quiet: Whether to suppress progress.

    Raises:
        EnvironmentProblem: No attempt was completed.
        ModelError: The model cannot be used.
        AciError: The person's desktop cannot be used.
        click.UsageError: The best attempt could not be replayed with these settings.
    """
    from agent_s.llm.budget import MeteredModel
    from agent_s.terminal.interrupts import Interrupts
    from agent_s.terminal.progress import choose_display
    from evaluation.attempts import LEARNED_FILE, choose_attempt, merge_learned, total_usage
    from evaluation.harness.pools import open_pool
    from evaluation.harness.results import Job, effort_of
    from evaluation.worker import Assignment

    _require_replayable(choice, settings)
    judge = MeteredModel(ready_models(settings), settings.limits)
    display = choose_display(quiet=quiet, json=as_json)
    display.say(f"{plural(number, 'attempt')} side by side on private desktops; model {settings.model}.")
    runs = settings.runs_folder
    results: list[Result] = []
    assignment = Assignment(benchmark="attempts", settings=settings, folder=runs, task=task, files=files)
    pool = open_pool(assignment, number, settings.limits.max_seconds, cluster)
    jobs = [Job(task=task.id, seed=attempt) for attempt in range(1, number + 1)]
    with Interrupts(display.notice) as interrupts:
        for result in interrupts.watch(pool.run(jobs), pool.stop):
            results.append(result)
            said = (result.status, plural(result.steps, "step"), result.reason)
            display.say(f"attempt {result.seed}: {', '.join(filter(None, said))}")
    if interrupts.exit_status is not None:
        return interrupts.exit_status
    results.sort(key=lambda one: one.seed or 0)
    folders = {one.seed or 0: runs / one.trajectory for one in results if one.trajectory}
    best = choose_attempt(judge, task, folders)
    if best is None:
        raise EnvironmentProblem(f"No attempt was completed: {results[0].reason}")
    winner = folders[best.number]
    outcome, replay = _outcome(winner), ""
    try:
        if merge_learned(settings, winner) and choice.display:
            replay = f"agent-s runs replay {outcome.run_id} --display {shell_word(choice.display)}"
    except MemoryStoreError as error:
        later = f"agent-s memory import {shell_word(str(winner / LEARNED_FILE))}"
        display.notice(f"What attempt {best.number} learned is not in memory: {error}. To store it later: {later}")
    spent = total_usage(results, judge.budget.used)
    if as_json:
        echo_json(_as_values(task, results, best, outcome, runs) | {"spent": effort_of(spent), "replay": replay})
    else:
        _show(results, best, outcome, runs, spent)
    if not replay or outcome.status != "done" or as_json:
        return exit_status(outcome)
    if not sys.stdin.isatty() or not click.confirm(f"Replay attempt {best.number} on {choice.words}?", err=True):
        click.echo(f"Nothing was done on {choice.words}. To replay the attempt there: {replay}")
        return exit_status(outcome)
    only = settings.model_copy(update={"replay": "only"})
    return run_once(task, only, choice, as_json=False, quiet=quiet, trusted_run=outcome.run_id)


def _require_replayable(choice: DesktopChoice, settings: Settings) -> None:
    """Refuse attempts, which cost time and money, whose best one could not be replayed where the person works."""
    if choice.display is None:
        return
    if not (settings.memory.enabled and settings.memory.continual_update):
        raise click.UsageError(
            "--attempts replays the best run from memory, which is off or read-only. Add --virtual to skip the replay."
        )
    with choice.open(settings):
        pass


def _outcome(folder: Path) -> Outcome:
    from agent_s.runs.reading import read_trajectory
    from agent_s.trajectory.timeline import build_timeline

    outcome = build_timeline(read_trajectory(folder).events).outcome
    if outcome is None:
        raise AgentError(f"The run in {folder} has no end.")
    return outcome


def _show(results: Sequence[Result], best: Choice, outcome: Outcome, runs: Path, spent: Usage) -> None:
    from agent_s.trajectory.presenting import heading

    rows = [
        (
            f"{one.seed}{' *' if one.seed == best.number else ''}",
            one.status,
            str(one.steps),
            str(one.model_calls),
            f"{one.seconds:.0f}",
            one.run_id or one.reason,
        )
        for one in results
    ]
    show_table(("Attempt", "Status", *FIGURES, "Run"), rows, figures=FIGURES)
    click.echo(printable(f"Attempt {best.number}, chosen by {best.by}: {best.reason}"))
    for citation in best.citations:
        click.echo(printable(f"    attempt {citation.attempt}, fact {citation.fact}: {citation.quote}"))
    click.echo(f"{heading(outcome)}. {sentence(outcome.reason)}".strip())
    cost = "" if not spent.tokens else ", cost unknown" if spent.dollars is None else f", ${spent.dollars:.2f}"
    click.echo(f"{plural(spent.model_calls, 'model call')} in all{cost}.")
    click.echo(f"Report: {runs / results[best.number - 1].report}")


def _as_values(task: Task, results: Sequence[Result], best: Choice, outcome: Outcome, runs: Path) -> dict[str, Any]:
    fields = {"status", "reason", "steps", "model_calls", "dollars", "seconds", "run_id"}
    winner = runs / results[best.number - 1].trajectory
    return {
        "task": task.instruction,
        **outcome.model_dump(mode="json"),
        "run": winner,
        "report": runs / results[best.number - 1].report,
        "files": kept_files(winner),
        "chosen": best.number,
        "by": best.by,
        "why": best.reason,
        "citations": [citation.model_dump() for citation in best.citations],
        "attempts": [{"attempt": one.seed, **one.model_dump(mode="json", include=fields)} for one in results],
    }
