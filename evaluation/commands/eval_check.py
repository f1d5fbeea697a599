"""`agent-s eval check`: lists the requirements of task files, and whether this machine meets them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click

from agent_s.terminal.exits import DONE, NOT_DONE
from agent_s.terminal.lazy import examples
from agent_s.terminal.options import json_option
from agent_s.terminal.output import echo_json, plural, printable, show_table
from evaluation.commands.eval_tasks import find_tasks, rights_of, rights_options


@click.command(
    epilog=examples("agent-s eval check everyday", "agent-s eval check osworld/examples --files downloads --json")
)
@click.argument("folder", callback=lambda context, parameter, value: find_tasks(value))
@rights_options
@json_option("Write one JSON object.")
def check(folder: Path, allow_commands: bool, files: Path | None, online: bool, as_json: bool) -> int:
    """List what the task files of FOLDER need, and whether they can run here.

    Exit status: 0 if every file is valid, whether it can run here or not.
    """
    from evaluation.osworld.needs import needs_of
    from evaluation.osworld.task import load_each

    rights = rights_of(allow_commands, files, online)
    tasks, problems = load_each(folder)
    rows: list[dict[str, Any]] = []
    for task in tasks:
        needs = needs_of(task, rights)
        rows.append(
            {
                "id": task.id,
                "file": str(task.path),
                "runs": all(need.met for need in needs),
                "needs": [{"kind": need.kind, "what": need.what, "met": need.met} for need in needs],
                "unread": list(task.unread),
            }
        )
    missing = Counter(kind for row in rows for kind in {need["kind"] for need in row["needs"] if not need["met"]})
    runs = sum(row["runs"] for row in rows)
    if as_json:
        invalid = [{"file": str(path), "problem": str(error)} for path, error in problems.items()]
        echo_json(
            {
                "files": len(rows) + len(invalid),
                "runs": runs,
                "missing": dict(missing),
                "tasks": rows,
                "invalid": invalid,
            }
        )
        return DONE if not problems else NOT_DONE
    for row in rows:
        lacking = [f"{need['kind']}: {need['what']}" for need in row["needs"] if not need["met"]]
        click.echo(printable(f"{'✓' if row['runs'] else '✗'} {row['id']}  {'; '.join(lacking)}"))
        if row["unread"]:
            click.echo(printable(f"    unused keys: {', '.join(row['unread'])}"))
    for error in problems.values():
        click.echo(printable(f"! {error}"))
    if missing:
        lines = [(kind, str(number)) for kind, number in missing.most_common()]
        show_table(("Missing", "Tasks"), lines, figures=("Tasks",))
    click.echo(f"{plural(runs, 'task')} of {len(rows)} can run here; {plural(len(problems), 'invalid file')}.")
    return DONE if not problems else NOT_DONE
