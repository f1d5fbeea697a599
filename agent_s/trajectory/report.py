"""The HTML report of a run: the task, the plan, each step with its screenshot, and the verification.

The page needs no network and no script. All text from a screen, a model or the web is escaped, and a content security
policy forbids scripts.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from aci.acting.wording import describe_action, describe_effect, describe_result
from agent_s.errors import TrajectoryError
from agent_s.events import ModelCalled, SentPicture
from agent_s.records import Outcome, Usage
from agent_s.runs.listing import make_private_folder
from agent_s.runs.reading import Trajectory
from agent_s.trajectory.html import render_page
from agent_s.trajectory.prompts import Call, describe_cost, list_calls
from agent_s.trajectory.timeline import SubtaskEntry, Timeline, build_timeline

REPORT_FILE = "report.html"

WORDS = {
    "done": "Done",
    "failed": "Failed",
    "infeasible": "Not possible",
    "out_of_budget": "Out of budget",
    "stopped": "Stopped",
    "error": "Error",
}


@dataclass(frozen=True, slots=True)
class Picture:
    """A screenshot on the page; sizes in px."""

    source: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One run on an index page."""

    name: str  # name of the run
    instruction: str
    good: bool  # whether it ended as intended
    status: str
    verified: bool | None
    steps: int
    seconds: float
    model_calls: int
    report: Path | None = None  # its report, or None
    note: str = ""


def write_report(trajectory: Trajectory, path: Path | None = None, *, embed: bool = False) -> Path:
    """Write the report of a run.

    Args:
        trajectory: The run.
        path: The page; None for `report.html` in the run's folder.
        embed: Embed the screenshots, so that the page is a single file.

    Raises:
        TrajectoryError: The page cannot be written.
    """
    target = path or trajectory.folder / REPORT_FILE
    embed = embed or target.resolve().parent != trajectory.folder.resolve()
    page = render_report(trajectory, embed=embed)
    return _write(target, page)


def render_report(trajectory: Trajectory, *, embed: bool = False) -> str:
    """Return the report of a run as HTML; screenshots are linked unless they are embedded."""
    run = build_timeline(trajectory.events)
    prompts = list_calls(run.calls)
    names = _screenshots(run) | {part.file for call in prompts for part in _pictures_of(call)}
    pictures = {name: _picture(trajectory.folder, name, embed) for name in names}
    return _render(
        "report.html.j2",
        run=run,
        outcome=run.outcome,
        tone=tone(run.outcome),
        heading=heading(run.outcome),
        pictures=pictures,
        folder=str(trajectory.folder),
        problem=trajectory.problem,
        calls=_call_rows(run.calls),
        prompts=prompts,
        phases=_phases(run.outcome),
    )


def write_index(title: str, rows: Sequence[IndexRow], path: Path) -> Path:
    """Write a page that lists runs with links to their reports.

    Raises:
        TrajectoryError: The page cannot be written.
    """
    links = [_relative(row.report, path.parent) if row.report else "" for row in rows]
    return _write(path, _render("index.html.j2", title=title, rows=list(zip(rows, links, strict=True))))


def tone(outcome: Outcome | None) -> str:
    """Return the color of an outcome: good, bad or plain."""
    if outcome is None:
        return "bad"
    if outcome.status == "done":
        return {True: "good", False: "bad", None: "plain"}[outcome.verified]
    return "plain" if outcome.verified or outcome.status in ("infeasible", "stopped") else "bad"


def heading(outcome: Outcome | None) -> str:
    """Return an outcome in a few words."""
    if outcome is None:
        return "Cut off"
    if outcome.status != "done":
        return f"{WORDS[outcome.status]}, rightly so" if outcome.verified else WORDS[outcome.status]
    return {True: "Done and verified", False: "Not done, although the agent said so", None: "Done, not verified"}[
        outcome.verified
    ]


def _call_rows(calls: Sequence[ModelCalled]) -> list[tuple[str, float, Usage]]:
    """Return (kind, seconds, usage) for each kind of call."""
    rows = []
    for kind in dict.fromkeys(call.call for call in calls):
        same = [call for call in calls if call.call == kind]
        usage = sum((call.usage for call in same), Usage(dollars=0.0)).model_copy(update={"model_calls": len(same)})
        rows.append((kind, sum(call.seconds for call in same), usage))
    return rows


def _phases(outcome: Outcome | None) -> list[tuple[str, float, float]]:
    """Return (phase, seconds, percentage of the longest), longest first."""
    seconds = outcome.usage.seconds if outcome else {}
    longest = max(seconds.values(), default=0.0) or 1.0
    ordered = sorted(seconds.items(), key=lambda item: -item[1])
    return [(phase, spent, 100 * spent / longest) for phase, spent in ordered]


def _screenshots(run: Timeline) -> set[str]:
    seen = [step.before for subtask in run.subtasks for step in subtask.steps]
    return {observed.screenshot for observed in [*seen, run.last_seen] if observed and observed.screenshot}


def _pictures_of(call: Call) -> list[SentPicture]:
    return [part for prompt in call.prompts for _, part in prompt.parts if isinstance(part, SentPicture)]


def _picture(folder: Path, name: str, embed: bool) -> Picture | None:
    """Return a screenshot; None if the file is missing, broken, or outside of the run's folder."""
    from PIL import Image, UnidentifiedImageError

    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        return None
    try:
        with Image.open(path) as image:
            width, height = image.size
        content = base64.b64encode(path.read_bytes()).decode("ascii") if embed else ""
    except (OSError, UnidentifiedImageError):
        return None
    kind = "jpeg" if path.suffix == ".jpeg" else "png"
    return Picture(f"data:image/{kind};base64,{content}" if embed else quote(name), width, height)


def _relative(path: Path, start: Path) -> str:
    try:
        return quote(str(path.resolve().relative_to(start.resolve())))
    except ValueError:
        return path.resolve().as_uri()


def _subtask_tone(subtask: SubtaskEntry) -> str:
    if subtask.ended is None:
        return "plain"
    return "good" if subtask.ended.ok else "bad"


def _render(template: str, **values: Any) -> str:
    filters: dict[str, Callable[[Any], str]] = {
        "effect": describe_effect,
        "came": lambda result: describe_result(result.model_copy(update={"effect": None})),
        "does": lambda chosen: describe_action(chosen.action, chosen.target),
        "cost": describe_cost,
        "json": lambda fields: json.dumps(fields, ensure_ascii=False, indent=2),
        "subtask_tone": _subtask_tone,
    }
    return render_page(template, filters, **values)


def _write(path: Path, page: str) -> Path:
    try:
        make_private_folder(path.parent)
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise TrajectoryError(f"Cannot write the report {path}: {error.strerror or error}.") from error
    return path
