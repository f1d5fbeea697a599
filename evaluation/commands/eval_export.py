"""`agent-s eval export`: results in the formats of other harnesses."""

from __future__ import annotations

from pathlib import Path

import click

from agent_s.terminal.lazy import examples
from agent_s.terminal.options import EXISTING_FOLDER, FOLDER, json_option
from agent_s.terminal.output import plural, show_result


@click.command(
    epilog=examples(
        "agent-s eval export results --out for-osworld", "agent-s eval export results --format atif --out trajectories"
    )
)
@click.argument("results", type=EXISTING_FOLDER)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["osworld", "atif"]),
    default="osworld",
    show_default=True,
    help="OSWorld's folders, or a trajectory.json per run as Harbor reads it.",
)
@click.option("--out", metavar="DIR", required=True, type=FOLDER, help="Folder.")
@json_option("Write one JSON object: `out` and `tasks`.")
def export(results: Path, kind: str, out: Path, as_json: bool) -> None:
    """Write the results of an evaluation in the format of another harness; RESULTS is its folder (--out).

    Recordings of successes are there only if it was run with --keep-all.
    """
    from agent_s.runs.reading import read_trajectory
    from agent_s.trajectory.atif import write_atif
    from evaluation.harness.results import read_results
    from evaluation.report.osworld_layout import write_osworld

    if kind == "osworld":
        written = write_osworld(results, out)
    else:
        recorded = [result for result in read_results(results)[1].values() if result.trajectory]
        written = [
            write_atif(read_trajectory(results / result.trajectory), out / Path(result.trajectory).name)
            for result in recorded
        ]
    tasks = plural(len(written), "task")
    show_result({"out": out, "tasks": len(written)}, f"{tasks} written to {out}.", as_json)
