"""Factual narrative of a recorded run: the steps with the screens before and after them, and the end.

Facts are recorded or looked up by code. The agent's reasoning, plans and claims are omitted, so that runs can be
compared by what they did.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from aci.acting.effects import changed_pixels
from aci.acting.result import ActionResult, Difference
from aci.acting.wording import describe_action, describe_result
from aci.observation.quoting import quote
from agent_s.events import Observed, Probed
from agent_s.llm.protocol import Attempt
from agent_s.runs.reading import Trajectory
from agent_s.trajectory.timeline import StepEntry, build_timeline

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_REGIONS = 4  # maximum number of changed regions of the picture to describe, the largest ones
MAX_SCREEN = 6000  # maximum number of characters of the last screen


def narrate(trajectory: Trajectory) -> Attempt:
    """Return the facts about a run, for comparison with other runs of its task; an incomplete run ended as `error`."""
    timeline = build_timeline(trajectory.events)
    steps = [step for entry in timeline.subtasks for step in entry.steps]
    afters = [*(step.before for step in steps[1:]), timeline.last_seen]
    facts = [
        _step(step, after, trajectory.folder) for step, after in zip(steps, afters, strict=False)
    ]  # no steps: one screen
    for event in trajectory.events:
        if isinstance(event, Probed):
            probe = event.result
            holds = {True: "yes", False: "no", None: "could not be read"}[probe.holds]
            facts.append(
                f"looked up {probe.probe.model_dump_json(exclude_defaults=True)}: {holds}, {quote(probe.found)}"
            )
    outcome, last = timeline.outcome, timeline.last_seen
    if last is not None:
        facts.append(f"the last screen:\n{last.text[:MAX_SCREEN]}")
    facts.append(f"the agent ended it as {outcome.status}" if outcome is not None else "the run was cut off")
    return Attempt(
        facts=tuple(facts),
        status=outcome.status if outcome is not None else "error",
        verified=outcome.verified if outcome is not None else None,
        steps=len(steps),
        last_screen=_file(trajectory.folder, last),
    )


def _step(step: StepEntry, after: Observed | None, folder: Path) -> str:
    action = describe_action(step.chosen.action, step.chosen.target)
    if step.performed is None:
        return f"{action}: not performed"
    parts = [action, *_changes(step.performed.result), *_regions(step.before, after, folder)]
    return "; ".join(parts)


def _changes(result: ActionResult) -> Iterator[str]:
    """Yield the result of a step, then each difference with its state before and after."""
    if not result.ok or result.effect is None or result.effect.kind == "none":
        yield describe_result(result)
        return
    if result.effect.remark:
        yield result.effect.remark.replace("_", " ")
    yield from map(_difference, result.effect.differences)


def _difference(one: Difference) -> str:
    values = f": {one.before or 'nothing'} became {one.after or 'nothing'}" if one.before or one.after else ""
    return f"{one.kind} {one.what}{values}".strip() + (f" and {one.count - 1} more" if one.count > 1 else "")


def _regions(before: Observed | None, after: Observed | None, folder: Path) -> Iterator[str]:
    """Yield the largest regions of the picture that differ between two screens."""
    pictures = [_picture(folder, seen) for seen in (before, after)]
    if pictures[0] is None or pictures[1] is None:
        return
    areas = sorted(changed_pixels(pictures[0], pictures[1]) or (), key=lambda area: -area.area)
    if areas:
        told = ", ".join(f"{area.width}x{area.height} at {area.x},{area.y}" for area in areas[:MAX_REGIONS])
        more = f" and {len(areas) - MAX_REGIONS} smaller ones" if len(areas) > MAX_REGIONS else ""
        yield f"changed regions {told}{more}"


def _file(folder: Path, seen: Observed | None) -> bytes | None:
    """Return the picture of a screen; None if it was not recorded, or lies outside of the run's folder."""
    if seen is None or seen.screenshot is None:
        return None
    path = folder / seen.screenshot
    if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
        return None
    return path.read_bytes()


def _picture(folder: Path, seen: Observed | None) -> NDArray[np.uint8] | None:
    content = _file(folder, seen)
    if content is None:
        return None
    import io

    import numpy as np
    from PIL import Image

    with Image.open(io.BytesIO(content)) as image:
        return np.asarray(image.convert("RGB"))
