"""Results in the layout of OSWorld's run script, for the tools that read it.

```
OUT/ACTION_SPACE/OBSERVATION_TYPE/MODEL/DOMAIN/TASK/
├── traj.jsonl       one line per step: step_num, action_timestamp, action, response, reward, done, info and
│                    screenshot_file
├── step_0.png       the screen at the start
├── step_N_TIME.png  the screen after step N
└── result.txt       the score, 0 to 1
```

A task that could not be judged has no `result.txt`, and a line `{"Error": REASON}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import copyfile
from typing import Any

from agent_s.errors import TrajectoryError
from agent_s.events import ActionChosen, Event, Observed
from agent_s.runs.reading import Trajectory, read_trajectory
from evaluation.errors import ResultsError
from evaluation.harness.results import Header, Result, read_results

ACTION_SPACE = "agent_s"
OBSERVATION_TYPES = {"tree": "a11y_tree", "screenshot_tree": "screenshot_a11y_tree", "marks": "som"}
"""OSWorld's names of what a model is shown."""


def write_osworld(results: Path, out: Path) -> list[Path]:
    """Write the results of an evaluation, and return the folder of each task.

    Runs whose recording was not kept have no screens: `--keep-all` keeps those of successes too.

    Raises:
        ResultsError: The results cannot be read, or the folder cannot be written.
    """
    header, found = read_results(results)
    place = out / ACTION_SPACE / _observation_type(header) / _name(header.model)
    folders = []
    for result in found.values():
        folder = place / _name(result.labels.get("application", header.benchmark)) / _name(_id(result))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _write(folder, result, results)
        except OSError as error:
            raise ResultsError(f"{folder} cannot be written: {error.strerror or error}") from error
        folders.append(folder)
    return folders


def _write(folder: Path, result: Result, results: Path) -> None:
    lines: list[dict[str, Any]] = []
    if result.trajectory:
        try:
            lines = list(_steps(read_trajectory(results / result.trajectory), folder))
        except TrajectoryError as error:
            lines = [{"Error": str(error)}]
    if lines and result.status in ("done", "infeasible", "failed") and "Error" not in lines[-1]:
        word = "DONE" if result.status == "done" else "FAIL"
        info = {"done": True} if word == "DONE" else {"fail": True}
        last = {**lines[-1], "step_num": len(lines) + 1, "action": word, "response": result.reason}
        lines.append({**last, "done": True, "info": info})
    if result.outcome == "error":
        lines.append({"Error": result.reason})
    elif result.score is not None:
        (folder / "result.txt").write_text(f"{result.score}\n", encoding="utf-8")
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (folder / "traj.jsonl").write_text(text, encoding="utf-8")


def _steps(trajectory: Trajectory, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a line for each step, and copy the screens."""
    events = trajectory.events
    first = next((event for event in events if isinstance(event, Observed) and event.screenshot), None)
    if first is not None:
        copyfile(trajectory.folder / str(first.screenshot), folder / "step_0.png")
    chosen = [number for number, event in enumerate(events) if isinstance(event, ActionChosen)]
    for number, (begin, end) in enumerate(zip(chosen, [*chosen[1:], len(events)], strict=True), start=1):
        event = events[begin]
        assert isinstance(event, ActionChosen)  # it was looked for
        time = f"{event.at:%Y%m%d@%H%M%S}"
        after = _screen_after(events[begin:end], trajectory.folder, folder / f"step_{number}_{time}.png")
        said = (event.previous_action_check, event.observation_analysis, event.next_action)
        yield {
            "step_num": number,
            "action_timestamp": time,
            "action": {**event.action.model_dump(mode="json", exclude_defaults=True), "action": event.action.action},
            "response": "\n".join(part for part in said if part),
            "reward": 0,
            "done": False,
            "info": {"target": event.target, "boxes": event.boxes},
            "screenshot_file": after,
        }


def _screen_after(events: Sequence[Event], source: Path, target: Path) -> str:
    """Copy the first screen after a step, and return its name; "" if none was seen."""
    seen = next((event for event in events if isinstance(event, Observed) and event.screenshot), None)
    if seen is None:
        return ""
    copyfile(source / str(seen.screenshot), target)
    return target.name


def _observation_type(header: Header) -> str:
    form = str(header.settings.get("observation", "screenshot_tree"))
    return OBSERVATION_TYPES.get(form, form)


def _id(result: Result) -> str:
    return result.task if result.seed is None else f"{result.task}-{result.seed}"


def _name(text: str) -> str:
    """Return a text as the name of one folder."""
    return re.sub(r"[^\w.@+-]+", "_", text).strip(".") or "unknown"
