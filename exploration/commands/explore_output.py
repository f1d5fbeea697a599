"""The output of `agent-s explore`: each finished job, the progress, and the results."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_s.terminal.output import echo_json, plural, printable, shorten, show_table

if TYPE_CHECKING:
    from agent_s.terminal.progress import Display
    from exploration.job.exploration_job import Exploration, Plan, Progress
    from exploration.report.summary import ApplicationSummary

UPDATE_S = 2.0  # time between two progress updates, s; a log gets fewer


def line_of(progress: Progress, names: Mapping[str, str]) -> str:
    """Return a finished job as a line.

    Args:
        progress: The job.
        names: Names of the applications by id.
    """
    from exploration.job.exploration_job import about, kind_of

    result, now = progress.result, progress.standing
    sign = {"success": "✓", "failure": "✗", "error": "!"}[result.outcome]
    if kind_of(result.job) == "task":
        what = f"{names.get(result.labels.get('app', ''), '')}: {shorten(result.instruction, 90)}"
        shown = "" if result.outcome == "success" else shorten(result.reason, 110)
    else:
        what = f"{names.get(about(result.job), about(result.job))}: {kind_of(result.job)}"
        shown = shorten(result.reason, 160)
    left = f"{_minutes(now.left_s)} left" if now.done < now.total else ""
    details = "; ".join(filter(None, (f"{result.seconds:.0f} s", shown, left)))
    return printable(f"{now.done:>4}/{now.total} {sign} {what}  {details}")


@contextmanager
def progress_updates(exploration: Exploration, screen: Display) -> Iterator[None]:
    """Show the progress of an exploration at intervals."""
    over = threading.Event()

    def update() -> None:
        while not over.wait(UPDATE_S):
            screen.status(_standing(exploration))

    thread = threading.Thread(target=update, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _standing(exploration: Exploration) -> str:
    from exploration.report.summary import count_tried

    now = exploration.standing()
    if now.done == now.total:
        return ""
    attempts, skills = count_tried(exploration.plan.folder, exploration.plan.applications)
    shown = f"  {plural(attempts, 'control')} tried, {plural(skills, 'skill')};" if attempts else " "
    left = f"{_minutes(now.left_s)} left" if now.left_s >= 1 else "longer than expected"
    return f"{now.done:>4}/{now.total} …{shown} {left}"


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def resume_hint(plan: Plan) -> str:
    """Return the sentence with the command that continues an exploration."""
    return f"Continue with: agent-s explore --out {shlex.quote(str(plan.folder))}"


def show_json(
    exploration: Exploration, summaries: Sequence[ApplicationSummary], missing: Mapping[str, str], report: Path | None
) -> None:
    """Write the results as one JSON object.

    Args:
        exploration: The finished job.
        summaries: What was found, by application.
        missing: Problems by the names of applications that were not found.
        report: The page.
    """
    from exploration.report.summary import proposal_dollars

    plan = exploration.plan
    echo_json(
        {
            "applications": {summary.app: summary.as_json(plan.survey_only) for summary in summaries},
            "skipped": {**missing, **{summary.app: summary.problem for summary in summaries if summary.problem}},
            "proposal_dollars": proposal_dollars(plan.folder),
            "stopped_by": exploration.stopped_by or None,
            "out": None if plan.survey_only else plan.folder,
            "report": report,
        }
    )


def show_results(exploration: Exploration, summaries: Sequence[ApplicationSummary], report: Path | None) -> None:
    """Write the results for a person.

    Args:
        exploration: The finished job.
        summaries: What was found, by application.
        report: The page.
    """
    plan = exploration.plan
    explored = [summary for summary in summaries if not summary.problem]
    if plan.survey_only:
        _show_tasks(explored)
    elif explored:
        _show_table(explored)
    for summary in summaries:
        if summary.problem:
            click.echo(f"Skipped {printable(summary.name)}: {shorten(summary.problem, 400)}")
    cut_short = [summary.name for summary in summaries if summary.cut_short]
    if exploration.stopped_by:
        click.echo(f"Stopped: {exploration.stopped_by}. {resume_hint(plan)}")
    elif cut_short:
        longer = f"--out {shlex.quote(str(plan.folder))} --search {2 * plan.longest_search_s:.0f}"
        click.echo(
            printable(f"With more time, more could be tried in {', '.join(cut_short)}: agent-s explore {longer}")
        )
    if report is not None:
        click.echo(f"Report: {report}")


def _show_tasks(summaries: Sequence[ApplicationSummary]) -> None:
    for summary in summaries:
        click.echo(printable(f"{summary.name}: {plural(summary.coverage.found, 'control')}"))
        for number, row in enumerate(summary.tasks, start=1):
            task = row.task
            click.echo(printable(f"{number:>4}. [{task.difficulty}] {task.instruction}  ({task.kind})"))


def _show_table(summaries: Sequence[ApplicationSummary]) -> None:
    titles = ("Application", "Covered", "Screens", "Skills", "Boundaries", "Tasks verified", "Seconds")
    rows = [
        (
            summary.name,
            "-" if summary.coverage.share is None else f"{100 * summary.coverage.share:.0f}%",
            str(summary.screens),
            str(len(summary.skills)),
            str(len(summary.boundaries)),
            f"{summary.verified}/{summary.done}" if summary.tasks else "-",
            f"{summary.seconds:.0f}",
        )
        for summary in summaries
    ]
    show_table(titles, rows, figures=titles[1:])
