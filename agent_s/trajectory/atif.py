"""Export of recorded runs to ATIF, the trajectory format of Harbor (version 1.8).

https://www.harborframework.com/docs/agents/trajectory-format
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile
from typing import Any

from aci.acting.wording import describe_result
from agent_s.errors import TrajectoryError
from agent_s.events import ActionChosen, ActionPerformed, EffectSeen, Event, ModelCalled, Observed, RunEnded, RunStarted
from agent_s.records import Usage
from agent_s.runs.reading import Trajectory
from agent_s.version import program_version

VERSION = "ATIF-v1.8"
FILE = "trajectory.json"


def write_atif(trajectory: Trajectory, folder: Path) -> Path:
    """Write a run as `trajectory.json` with its screenshots, and return the path of that file.

    Raises:
        TrajectoryError: The run has no beginning, or the folder cannot be written.
    """
    content = to_atif(trajectory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in {event.screenshot for event in trajectory.events if isinstance(event, Observed)} - {None}:
            if not (trajectory.folder / str(name)).resolve().is_relative_to(trajectory.folder.resolve()):
                raise TrajectoryError(f"The run in {trajectory.folder} names a picture outside of it: {name}")
            target = folder / str(name)
            target.parent.mkdir(parents=True, exist_ok=True)
            copyfile(trajectory.folder / str(name), target)
        file = folder / FILE
        file.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise TrajectoryError(f"The run cannot be written to {folder}: {error.strerror or error}.") from error
    return file


def to_atif(trajectory: Trajectory) -> dict[str, Any]:
    """Return a run as JSON; pictures are paths relative to the run's folder.

    A step of the agent is one primitive, with the model's reasoning and the screen after it. Other model calls, such as
    for planning, count only in the final metrics.

    Raises:
        TrajectoryError: The run has no beginning.
    """
    started = next((event for event in trajectory.events if isinstance(event, RunStarted)), None)
    if started is None:
        raise TrajectoryError(f"The run in {trajectory.folder} has no beginning.")
    steps: list[dict[str, Any]] = [
        {"timestamp": started.at.isoformat(), "source": "user", "message": started.task.instruction},
        *_agent_steps(trajectory.events),
    ]
    ended = next((event for event in trajectory.events if isinstance(event, RunEnded)), None)
    notes = [trajectory.problem] if trajectory.problem else []
    extra: dict[str, Any] = {"desktop": started.desktop}
    if ended is not None:
        outcome = ended.outcome
        message = f"{outcome.status}: {outcome.reason}" if outcome.reason else outcome.status
        steps.append({"timestamp": ended.at.isoformat(), "source": "agent", "message": message, "llm_call_count": 0})
        extra |= {"status": outcome.status, "verified": outcome.verified}
    used = sum((event.usage for event in trajectory.events if isinstance(event, ModelCalled)), Usage(dollars=0.0))
    metrics = {f"total_{name}": value for name, value in _metrics(used).items()}
    content = {
        "schema_version": VERSION,
        "session_id": started.run_id,
        "agent": {"name": "agent-s", "version": program_version(), "model_name": started.model},
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, start=1)],
        "final_metrics": {**metrics, "total_steps": len(steps)},
        "extra": extra,
    }
    return {**content, "notes": " ".join(notes)} if notes else content


def _agent_steps(events: tuple[Event, ...]) -> Iterator[dict[str, Any]]:
    """Yield one step for each primitive, once the screen after it is known."""
    used, calls = Usage(dollars=0.0), 0
    step: dict[str, Any] | None = None
    for event in events:
        match event:
            case ModelCalled(call="act"):
                used, calls = used + event.usage, calls + 1
            case ActionChosen():
                if step is not None:
                    yield step
                step, used, calls = _step(event, used, calls), Usage(dollars=0.0), 0
            case ActionPerformed() | EffectSeen() if step is not None:
                _result(step)["content"][0] = {"type": "text", "text": describe_result(event.result)}
            case Observed(screenshot=str(name)) if step is not None and len(_result(step)["content"]) == 1:
                source = {"media_type": "image/png", "path": name}
                _result(step)["content"].append({"type": "image", "source": source})
    if step is not None:
        yield step


def _step(event: ActionChosen, used: Usage, calls: int) -> dict[str, Any]:
    call = f"call_{event.step}"
    arguments = event.action.model_dump(mode="json", exclude={"action"}, exclude_defaults=True)
    said = " ".join(part for part in (event.previous_action_check, event.observation_analysis) if part)
    by_model = {"reasoning_content": said, "metrics": _metrics(used)} if calls else {}
    return {
        "timestamp": event.at.isoformat(),
        "source": "agent",
        "message": event.next_action,
        "llm_call_count": calls,
        **{key: value for key, value in by_model.items() if value},
        "tool_calls": [{"tool_call_id": call, "function_name": event.action.action, "arguments": arguments}],
        "observation": {"results": [{"source_call_id": call, "content": [{"type": "text", "text": ""}]}]},
        "extra": {"target": event.target, "boxes": event.boxes, "replayed": event.replayed},
    }


def _result(step: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = step["observation"]["results"][0]
    return result


def _metrics(used: Usage) -> dict[str, Any]:
    known = {
        "prompt_tokens": used.input_tokens,
        "completion_tokens": used.output_tokens,
        "cached_tokens": used.cached_tokens,
        "cost_usd": used.dollars,
    }
    return {name: value for name, value in known.items() if value is not None}
