"""HTML reports: the page of a run, which opens without a server, and the index of several runs.

The page is the viewer of `agent-s view` with the events of the run embedded. It needs no network. Its script inserts
text from screens, models and the web as text only, and a content security policy forbids all other scripts.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from agent_s.errors import TrajectoryError
from agent_s.events import ModelCalled, Observed, SentPicture
from agent_s.runs.listing import make_private_folder
from agent_s.runs.reading import Trajectory
from agent_s.trajectory.html import render_page
from agent_s.trajectory.presenting import Presenter

REPORT_FILE = "report.html"
STATIC = files("agent_s.trajectory") / "templates"


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
    """Write the page of a run.

    Args:
        trajectory: The run.
        path: The page; None for `report.html` in the run's folder.
        embed: Embed the pictures, so that the page is a single file.

    Raises:
        TrajectoryError: The page cannot be written.
    """
    target = path or trajectory.folder / REPORT_FILE
    embed = embed or target.resolve().parent != trajectory.folder.resolve()
    page = render_report(trajectory, embed=embed)
    return _write(target, page)


def render_report(trajectory: Trajectory, *, embed: bool = False) -> str:
    """Return the page of a run as HTML; pictures are linked unless they are embedded."""
    present = Presenter()
    values: dict[str, Any] = {
        "events": [present(event) for event in trajectory.events],
        "folder": str(trajectory.folder),
        "problem": trajectory.problem,
    }
    if embed:
        values["pictures"] = {name: _picture(trajectory.folder, name) for name in _pictures_of(trajectory)}
    script = (STATIC / "run.js").read_text("utf-8")
    first = values["events"][0] if values["events"] else {}
    return render_page(
        "report.html.j2",
        title=first.get("instruction", "Incomplete record"),
        data=_for_script(values),
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def write_index(title: str, rows: Sequence[IndexRow], path: Path) -> Path:
    """Write a page that lists runs with links to their reports.

    Raises:
        TrajectoryError: The page cannot be written.
    """
    links = [_relative(row.report, path.parent) if row.report else "" for row in rows]
    return _write(path, render_page("index.html.j2", title=title, rows=list(zip(rows, links, strict=True))))


def _for_script(values: Any) -> str:
    """Escape JSON for a script element, which it must not close."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _pictures_of(trajectory: Trajectory) -> list[str]:
    names: dict[str, None] = {}
    for event in trajectory.events:
        match event:
            case Observed(screenshot=str(name)):
                names[name] = None
            case ModelCalled():
                parts = [part for exchange in event.exchanges for turn in exchange.turns for part in turn.parts]
                names |= {part.file: None for part in parts if isinstance(part, SentPicture) and part.file}
    return list(names)


def _picture(folder: Path, name: str) -> str | None:
    """Return a picture as a data URL; None if it is missing, broken, or outside the run's folder."""
    from PIL import Image, UnidentifiedImageError

    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        return None
    try:
        with Image.open(path) as image:
            image.verify()
        content = base64.b64encode(path.read_bytes()).decode("ascii")
    except (OSError, SyntaxError, UnidentifiedImageError):  # Pillow raises SyntaxError for a broken PNG
        return None
    return f"data:image/{'jpeg' if path.suffix == '.jpeg' else 'png'};base64,{content}"


def _relative(path: Path, start: Path) -> str:
    try:
        return quote(str(path.resolve().relative_to(start.resolve())))
    except ValueError:
        return path.resolve().as_uri()


def _write(path: Path, page: str) -> Path:
    try:
        make_private_folder(path.parent)
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise TrajectoryError(f"Cannot write the report {path}: {error.strerror or error}.") from error
    return path
