"""Task files, metrics and harness of OSWorld: what loads, what agrees with the originals, what their harness runs here.

    python -m benchmarks.osworld --tasks FOLDER --json

`--tasks` is a folder of OS-MAP's task files; without it they do not count. The originals run in an environment of their
own: `make osworld` installs OSWorld's package there, or OSWORLD_PYTHON names its Python. OSWorld's own environment runs
scripted tasks (`benchmarks/data/osworld_harness.yaml`) on a served desktop, where this program judges them as well.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.support.osworld.agreement import agreement, originals_python
from benchmarks.support.osworld.harness import run_tasks, scripted_tasks
from evaluation.osworld.tables import GETTERS, METRICS, STEPS
from evaluation.osworld.task import INFEASIBLE, load_each


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=Path, help="folder of OS-MAP's task files")
    parser.add_argument("--json", action="store_true", help="write one JSON object as the last line")
    parser.add_argument("--quick", action="store_true", help="leave the originals out")
    options = parser.parse_args()
    figures: dict[str, Any] = {} if options.tasks is None else _loading(options.tasks)
    python = None if options.quick else originals_python()
    if python is not None:
        found = agreement(python)
        figures |= {
            "metric_agreement": round(found.share, 4),
            "metric_same": round(found.same, 4),
            "metric_cases": found.cases.total(),
            "metrics_compared": len(found.cases),
        }
        for difference in found.differences:
            if not difference.reason:
                case = difference.case
                print(f"{case.metric} ({case.label}): {difference.ours}, the original {difference.original}")
        judged = list(run_tasks(python, scripted_tasks()))
        figures["harness_tasks"] = sum(one.ran for one in judged)
        figures["harness_equal"] = round(sum(one.equal for one in judged) / len(judged), 4)
        for one in judged:
            if not one.equal:
                print(f"{one.task}: {one.ours}, OSWorld's environment {one.original}")
    for name, value in figures.items():
        print(f"{name:20} {value}")
    if options.json:
        print(json.dumps(figures))


def _loading(folder: Path) -> dict[str, Any]:
    tasks, problems = load_each(folder)
    names = [name for path in sorted(folder.glob("*/*.json")) for name in _names(json.loads(path.read_text()))]
    known = sum(name in table for name, table in names)
    count = len(tasks) + len(problems)
    return {"files_loaded": round(len(tasks) / count, 4), "files": count, "names_known": round(known / len(names), 4)}


def _names(content: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each name that a file uses, and the table that should have it."""

    def listed(key: str) -> list[Any]:
        value = evaluator.get(key) or []
        return value if isinstance(value, list) else [value]

    evaluator = content["evaluator"]
    yield from ((step["type"], STEPS) for step in [*content["config"], *evaluator.get("postconfig", [])])
    yield from ((source["type"], GETTERS) for key in ("result", "expected") for source in listed(key) if source)
    yield from ((name, METRICS) for name in listed("func") if name != INFEASIBLE)


if __name__ == "__main__":
    main()
