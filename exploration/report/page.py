"""The report of an exploration: one HTML page with its pictures inside, which works without a network."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

from evaluation.harness.results import Header, read_results
from exploration.job.folders import PICTURE_FILE, write_whole
from exploration.report.app_map import LABEL_W, NODE_H, NODE_W, AppMap, draw_map
from exploration.report.summary import ApplicationSummary, proposal_dollars

REPORT_FILE = "report.html"
QUALITY = 72
DARKEST = 24  # pixels up to this grey value belong to the empty desktop, which is black but for compression


@dataclass(frozen=True, slots=True)
class Section:
    """An application on the page."""

    summary: ApplicationSummary  # what was found
    start: str  # data URL of the picture of its first screen; may be empty
    map: AppMap | None  # its map; None without a search
    pictures: dict[str, str]  # data URLs of the pictures of its screens, by fingerprint
    steps: dict[str, str]  # the steps of each skill in words, by the key of the skill


def write_report(folder: Path, summaries: Sequence[ApplicationSummary], path: Path | None = None) -> Path:
    """Write the page.

    Args:
        folder: Folder of the exploration.
        summaries: What was found.
        path: Path of the page; `report.html` in the folder if None.

    Raises:
        ExplorationError: It cannot be written.
        ResultsError: The results cannot be read.
    """
    target = path or folder / REPORT_FILE
    page = render_report(read_results(folder)[0], summaries, folder)
    write_whole(target, page)
    return target


def render_report(header: Header, summaries: Sequence[ApplicationSummary], folder: Path) -> str:
    """Return the page as HTML."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader("exploration.report"), PackageLoader("agent_s.trajectory")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": _percent, "minutes": _minutes, "address": quote}
    explored = [summary for summary in summaries if not summary.problem]
    return environment.get_template("exploration.html.j2").render(
        header=header,
        folder=str(folder),
        sections=[_section(summary) for summary in explored],
        skipped=[summary for summary in summaries if summary.problem],
        total=_totals(explored, proposal_dollars(folder)),
        failed=[
            (summary, row)
            for summary in explored
            for row in summary.tasks
            if row.result is not None and row.result.status != "done"
        ],
        made=f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S %Z}",
        node_w=NODE_W,
        node_h=NODE_H,
        label_w=LABEL_W,
    )


def _section(summary: ApplicationSummary) -> Section:
    drawn = draw_map(summary.states, summary.attempts, summary.skills, summary.boundaries) if summary.states else None
    shown = [node.state for node in drawn.nodes] if drawn is not None else []
    return Section(
        summary=summary,
        start=_picture(summary.folder, PICTURE_FILE),
        map=drawn,
        pictures={state.fingerprint: _picture(summary.folder, state.thumbnail) for state in shown},
        steps={
            skill.key: " → ".join(step.intent or str(step.action.action) for step in skill.steps)
            for skill in (*summary.skills, *summary.composites)
        },
    )


def _picture(folder: Path, name: str) -> str:
    """Return a picture as a data URL, cropped to its windows; empty if it is missing, broken or outside the folder."""
    from PIL import Image, UnidentifiedImageError

    path = folder / name
    if not name or not path.resolve().is_relative_to(folder.resolve()):
        return ""
    content = BytesIO()
    try:
        with Image.open(path) as image:
            inside = image.convert("L").point(lambda value: 255 * (value > DARKEST)).getbbox()
            image.convert("RGB").crop(inside).save(content, "JPEG", quality=QUALITY)
    except (OSError, UnidentifiedImageError):
        return ""
    return f"data:image/jpeg;base64,{base64.b64encode(content.getvalue()).decode('ascii')}"


def _totals(summaries: Sequence[ApplicationSummary], proposals: float | None) -> dict[str, Any]:
    costs = [*(one.dollars for one in summaries), proposals]
    return {
        "screens": sum(summary.screens for summary in summaries),
        "skills": sum(len(summary.skills) for summary in summaries),
        "boundaries": sum(len(summary.boundaries) for summary in summaries),
        "tried": sum(summary.done for summary in summaries),
        "verified": sum(summary.verified for summary in summaries),
        "seconds": sum(summary.seconds for summary in summaries),
        "dollars": None if None in costs else sum(filter(None, costs)),
        "stored": sum(summary.stored for summary in summaries),
    }


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f}%"


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"
