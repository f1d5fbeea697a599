"""`agent-s eval errors`: runs the error analysis of the paper on recorded runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent_s.terminal.lazy import examples
from agent_s.terminal.options import EXISTING_FOLDER, json_option, read_settings, settings_options
from agent_s.terminal.output import echo_json, plural, printable, shorten, show_table

if TYPE_CHECKING:
    from evaluation.report.error_judge import ErrorJudge
    from evaluation.report.errors import ErrorAnalysis, RunErrors


@click.command(epilog=examples("agent-s eval errors results", "agent-s eval errors ablation --model anthropic:NAME"))
@click.argument("folder", type=EXISTING_FOLDER)
@settings_options
@click.option("--model", metavar="NAME", help="Ask this model for what rules cannot find, one call per failed run.")
@json_option("Write one JSON object: `rates`, `runs`, `left_out`, `model` and `problem`.")
def errors(
    folder: Path, config_file: Path | None, overrides: tuple[str, ...], model: str | None, as_json: bool
) -> None:
    """Find planning, grounding and execution errors in the failed runs of FOLDER, with the steps that show them.

    FOLDER is the folder of an evaluation or ablation (--out), of recorded runs, or of one run. Rules find the errors
    that the recorded results show; with --model, a model adds those that only a reader can see.
    """
    from evaluation.report.errors import ErrorAnalysis, failed_runs, find_by_rules

    analysis = ErrorAnalysis()
    judge = _judge(config_file, overrides, model) if model is not None else None
    for run in failed_runs(folder, analysis.left_out):
        found = find_by_rules(run)
        analysis.runs.append(found if judge is None else judge(found))
    problem = judge.problem if judge is not None else ""
    if as_json:
        echo_json(
            {
                "rates": {group: rates.as_json() for group, rates in analysis.rates.items()},
                "runs": [_as_values(one) for one in analysis.runs],
                "left_out": analysis.left_out,
                "model": model,
                "problem": problem,
            }
        )
    else:
        _show(analysis)
        found_by = "rules" if model is None else f"rules and {model}"
        click.echo(f"{plural(len(analysis.runs), 'failed run')}; errors found by {found_by}.")
        if model is None:
            click.echo("Rules find a lower bound; --model NAME asks a model for the rest.")
        if problem:
            click.echo(printable(f"The model has not read all runs: {problem}"))


def _judge(config_file: Path | None, overrides: tuple[str, ...], model: str) -> ErrorJudge:
    from agent_s.llm.budget import MeteredModel
    from agent_s.llm.build import build_models
    from evaluation.report.error_judge import ErrorJudge

    settings = read_settings(config_file, overrides, {"model": model})
    return ErrorJudge(MeteredModel(build_models(settings, os.environ), settings.limits))


def _show(analysis: ErrorAnalysis) -> None:
    from evaluation.report.statistics import percent

    if analysis.runs:
        rates = analysis.rates
        groups = list(rates)
        kinds = list(rates[groups[0]].by_kind)
        rows = [(f"{kind} error", *(percent(rates[group].by_kind[kind]) for group in groups)) for kind in kinds]
        rows.append(("no error found", *(percent(rates[group].undecided) for group in groups)))
        rows.append(("subtask failure", *(percent(rates[group].subtask_failure) for group in groups)))
        rows.append(("failed runs", *(str(rates[group].runs) for group in groups)))
        show_table(("", *groups), rows, figures=groups)
        show_table(("Run", "Error", "Sign", "Steps", "Subtask"), [row for one in analysis.runs for row in _rows(one)])
    else:
        click.echo("No recorded run failed.")
    for name, reason in analysis.left_out.items():
        click.echo(printable(f"{name}: left out, {reason}"))


def _rows(one: RunErrors) -> list[tuple[str, ...]]:
    name = shorten(" ".join(filter(None, (one.run.group, one.run.name))), 50)
    return [
        (
            name,
            error.kind,
            shorten(error.reason or error.sign.replace("_", " "), 80),
            ", ".join(map(str, error.steps)),
            shorten(error.subtask, 50),
        )
        for error in one.errors
    ] or [(name, "-", shorten(one.run.reason, 80), "", "")]


def _as_values(one: RunErrors) -> dict[str, Any]:
    return {
        "run": one.run.name,
        "group": one.run.group,
        "folder": one.run.folder,
        "status": one.run.outcome.status,
        "reason": one.run.reason,
        "subtasks": one.subtasks,
        "failed_subtasks": one.failed_subtasks,
        "errors": [error.model_dump(mode="json") for error in one.errors],
    }
