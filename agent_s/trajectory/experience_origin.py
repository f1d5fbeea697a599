"""Origin of an experience: the steps and screenshots of the recorded run that it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from dataclasses import replace as with_fields
from pathlib import Path

from agent_s.errors import TrajectoryError
from agent_s.events import Event, Observed, RunEnded, RunStarted, SubtaskEnded, SubtaskStarted
from agent_s.runs.listing import list_runs
from agent_s.runs.reading import Trajectory, read_trajectory
from agent_s.trajectory.timeline import build_timeline
from memory_store import EpisodicExperience, Experience, SkillExperience


@dataclass(frozen=True, slots=True)
class Origin:
    """The part of a recorded run that an experience comes from."""

    trajectory: Trajectory | None  # the events that it comes from; None if the run no longer exists
    screenshots: tuple[Path, ...] = ()  # the screens before its steps, in order
    problem: str = ""  # why there are no screenshots


def find_origin(runs_folder: Path, experience: Experience) -> Origin:
    """Return the steps that an experience comes from: those of its subtask, or of the whole run for a narrative."""
    run_id = experience.provenance.run_id
    folder = next((run.folder for run in list_runs(runs_folder) if run.run_id == run_id), None)
    if folder is None:
        return Origin(None, problem=f"the run {run_id} was deleted or recorded elsewhere; its screenshots are gone")
    try:
        whole = read_trajectory(folder)
    except TrajectoryError as error:
        return Origin(None, problem=f"the run {run_id} cannot be read: {error}")
    trajectory = with_fields(whole, events=tuple(_part(whole.events, _subtask_of(experience))))
    steps = [step for subtask in build_timeline(trajectory.events).subtasks for step in subtask.steps]
    names = dict.fromkeys(step.before.screenshot for step in steps if step.before and step.before.screenshot)
    pictures = tuple(path for name in names if (path := whole.folder / name).is_file())
    problem = "" if pictures else f"the run {run_id} no longer has screenshots of these steps"
    return Origin(trajectory, pictures, problem)


def _subtask_of(experience: Experience) -> tuple[str, str] | None:
    match experience:
        case EpisodicExperience():
            return experience.subtask, experience.context
        case SkillExperience():
            return experience.name, experience.description
    return None


def _part(events: Iterable[Event], wanted: tuple[str, str] | None) -> Iterator[Event]:
    """Yield the events of one subtask, with the start and end of the run; all events if `wanted` is None."""
    within = False
    seen: Observed | None = None
    for event in events:
        if isinstance(event, SubtaskStarted):
            within = (event.subtask.name, event.subtask.info) == wanted
            if within and seen is not None:
                # The first step may have been chosen on an earlier observation.
                yield seen
        if isinstance(event, Observed):
            seen = event
        if wanted is None or within or isinstance(event, RunStarted | RunEnded):
            yield event
        if isinstance(event, SubtaskEnded):
            within = False
