"""Reading of a recorded run: a folder with one line of JSON per event, long texts, and pictures.

```
20260314-093012-1f0c9a/
├── events.jsonl        a header line, then one event per line, flushed one by one
├── texts.jsonl         every distinct line of the long texts, once (`agent_s.runs.texts`)
├── screens/0001.png    one file per distinct screenshot
└── sent/0001.png       one file per distinct picture sent to a model
```

Versions of the format; a reader refuses newer ones:

1. Header, the events of `agent_s.events`, PNG screenshots.
2. The event `effect_seen`, and results with fields in place of a note.
3. Long texts in a file of their own; the prompts and answers of model calls.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from agent_s.errors import TrajectoryError
from agent_s.events import EVENT_ADAPTER, Event, RunEnded
from agent_s.runs.texts import TextReader

SCHEMA_VERSION = 3
EVENTS_FILE = "events.jsonl"
TEXTS_FILE = "texts.jsonl"
SCREENS_FOLDER = "screens"
SENT_FOLDER = "sent"


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A recorded run."""

    folder: Path  # its folder; the pictures that events name are relative to it
    version: int  # format version of the file
    events: tuple[Event, ...]  # the events, in order
    problem: str = ""  # what is missing, such as a truncated last line; empty if the recording is complete


def read_trajectory(folder: Path) -> Trajectory:
    """Read a recorded run.

    A truncated last line, as after a kill, is skipped and reported in `Trajectory.problem`.

    Raises:
        TrajectoryError: There is no run, it is damaged before its end, or a newer version wrote it.
    """
    try:
        # A kill may leave a partial character. Not splitlines, which also splits at U+2028 and the like.
        text = (folder / EVENTS_FILE).read_text("utf-8", errors="replace")
    except OSError as error:
        raise TrajectoryError(f"There is no readable run in {folder}: {error.strerror or error}.") from error
    lines = text.removesuffix("\n").split("\n")
    version = read_version(folder, lines[0])
    texts = TextReader(folder / TEXTS_FILE)
    events: list[Event] = []
    problem = ""
    for number, line in enumerate(lines[1:], start=2):
        try:
            events.append(EVENT_ADAPTER.validate_json(texts.with_long_texts(line)))
        except (ValueError, OSError) as error:
            if number != len(lines):
                why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
                raise TrajectoryError(f"{folder / EVENTS_FILE}, line {number} is damaged: {why}") from error
            problem = "The last event is truncated."
    if not events or not isinstance(events[-1], RunEnded):
        problem = f"{problem} The record ends before the run did.".strip()
    return Trajectory(folder=folder, version=version, events=tuple(events), problem=problem)


def read_version(folder: Path, line: str) -> int:
    """Return the format version in the header of a run.

    Raises:
        TrajectoryError: It is not a header, or is from a newer version.
    """
    try:
        version = json.loads(line)["schema_version"]
    except (ValueError, KeyError, TypeError):
        version = None
    if not isinstance(version, int):
        raise TrajectoryError(f"{folder / EVENTS_FILE} is not the record of a run: its header is missing.")
    if version > SCHEMA_VERSION:
        raise TrajectoryError(
            f"The run in {folder} has format {version}; this agent-s reads up to {SCHEMA_VERSION}. Update agent-s."
        )
    return version
