"""Demonstrations as recorded runs, and learning from them.

A demonstration is a run whose model is the person. Its folder contains the usual events. Until the person has confirmed
the steps and named the values that vary, `demonstration.json` contains what is needed to finish it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import ValidationError

from aci.acting.actions import Type
from aci.acting.result import ActionResult, Effect
from aci.acting.wording import describe_action, describe_target
from agent_s.demonstration.interpretation import Look, Shown
from agent_s.errors import TrajectoryError
from agent_s.events import (
    EVENT_ADAPTER,
    ActionChosen,
    ActionPerformed,
    EffectSeen,
    Event,
    Observed,
    Planned,
    RunEnded,
    RunStarted,
    SubtaskEnded,
    SubtaskStarted,
    Verified,
)
from agent_s.llm.no_model import NoModel
from agent_s.loop.drafts import draft_subtask
from agent_s.loop.learner import PLATFORM, Learner
from agent_s.records import (
    ActResponse,
    GroundedStep,
    Limits,
    Outcome,
    Plan,
    Record,
    Step,
    Subtask,
    Task,
    Usage,
    Verdict,
)
from agent_s.replay.derived import Derivation, not_in_wording, unexplained_pieces
from agent_s.replay.grounded_steps import ground_steps, is_repeatable
from agent_s.replay.recall import Recall
from agent_s.replay.seen_texts import SeenTexts
from agent_s.replay.written_files import written_file
from agent_s.roles.evaluator import Evaluator
from agent_s.runs.listing import run_folder
from agent_s.runs.reading import EVENTS_FILE
from agent_s.safety.secrets import PLACEHOLDER
from agent_s.safety.untrusted_text import UntrustedText
from agent_s.trajectory.recorder import Recorder
from memory_store import MemoryStore

FILE = "demonstration.json"
MODEL = "demonstration"
NO_WORDING = "A demonstration without a name"
_QUOTES = ('""', "''", "“”", "‘’")


class Demonstration(Record):
    """A captured demonstration."""

    run_id: str
    desktop: str  # as in `RunStarted`
    wording: str = ""  # the task; empty until the person has named it
    lines: tuple[str, ...] = ()  # the steps in words
    left_out: tuple[str, ...] = ()  # undone steps, which are omitted, in words
    problems: tuple[str, ...] = ()  # why it cannot be replayed
    steps: tuple[GroundedStep, ...] = ()  # empty if it cannot be replayed
    summary: str = ""  # what was done, for memory
    app: str = ""  # the active application at the end

    @property
    def values(self) -> tuple[str, ...]:
        """The typed texts and secrets that the wording lacks, in order; each may be a parameter."""
        found: list[str] = []
        for step in self.steps:
            action = step.action
            if isinstance(action, Type):
                named = PLACEHOLDER.findall(action.text)
                secret = [] if all(f"{{{{secret:{one}}}}}" in self.wording for one in named) else [action.text]
                found += secret if named else [action.text] if unexplained_pieces(step, self.wording) else []
        return tuple(dict.fromkeys(found))

    def named(self, wording: str, names: Mapping[str, str | None]) -> Demonstration:
        """Return the demonstration with a wording and named values.

        Args:
            wording: The task in words.
            names: Name of each value that varies, to be added to the wording; None for a value that never varies. Other
                values are not replayed. Secrets are always named.
        """
        added = [f"{name} {_quoted(value)}" for value, name in names.items() if name]
        added += [value for value in self.values if PLACEHOLDER.search(value) and value not in wording]
        wording = f"{wording.rstrip()} ({', '.join(added)})" if added else wording
        fixed = {value for value, name in names.items() if name is None}
        steps = []
        for step in self.steps:
            text = step.action.text if isinstance(step.action, Type) else ""
            known = tuple(one for one in step.derived or () if not_in_wording(one.typed, wording) and text not in names)
            steps.append(step.model_copy(update={"fixed": text in fixed, "derived": known}))
        return self.model_copy(update={"wording": wording, "steps": tuple(steps)})

    @property
    def subtask(self) -> Subtask:
        """The only subtask of its plan."""
        return Subtask.of_all(self.wording or NO_WORDING)


def write_run(
    shown: Sequence[Shown],
    left_out: Sequence[Shown],
    last: Look,
    wording: str,
    desktop: str,
    run_id: str,
    folder: Path,
    home: Path | None,
) -> tuple[Demonstration, Path]:
    """Write the run of an unfinished demonstration; return the demonstration and its folder.

    Args:
        shown: The actions to keep.
        left_out: The undone actions.
        last: The last look.
        wording: The task in words; may be empty.
        desktop: As in `RunStarted`.
        run_id: Id of the run.
        folder: The folder of all runs.
        home: Home of the applications, if its files can be read.

    Raises:
        TrajectoryError: The folder cannot be written.
    """
    steps = [_step(number, one) for number, one in enumerate(shown, start=1)]
    problems = [f"step {number}: {one.problem}" for number, one in enumerate(shown, start=1) if one.problem] or (
        [] if is_repeatable(steps) else ["no element is known where something was done"]
    )
    wall = time.time() - time.monotonic()
    began = wall + (shown[0].before.ended if shown else last.began)
    grounded: tuple[GroundedStep, ...] = ()
    if steps and not problems:
        seen = SeenTexts()
        for done, one in enumerate(shown):
            seen.add(one.before.seen, done)
        seen.add(last.seen, len(shown))
        grounded = ground_steps(steps, last.seen, lambda text: written_file(text, home, began), wording)
        grounded = Derivation(seen).derive(steps, grounded, wording)
    front = last.seen.active_window
    demonstration = Demonstration(
        run_id=run_id,
        desktop=desktop,
        wording=wording,
        lines=tuple(map(_in_words, shown)),
        left_out=tuple(map(_in_words, left_out)),
        problems=tuple(problems),
        steps=grounded,
        summary=draft_subtask(steps),
        app=front.app if front is not None else "",
    )
    started, planned, begun, ended = _frame(demonstration, began)
    place = run_folder(folder, started)
    recorder = Recorder(place)
    try:
        for event in (started, planned, begun, *_events(shown, steps, last, wall), ended):
            recorder(event)
    finally:
        recorder.close()
    if recorder.problem:
        raise TrajectoryError(recorder.problem)
    _save(demonstration, place)
    return demonstration, place


def read_demonstration(folder: Path) -> Demonstration:
    """Read an unfinished demonstration.

    Raises:
        TrajectoryError: The run is not a demonstration, or it is finished.
    """
    try:
        return Demonstration.model_validate_json((folder / FILE).read_bytes())
    except FileNotFoundError as error:
        raise TrajectoryError(f"{folder} contains no unfinished demonstration.") from error
    except ValidationError as error:
        raise TrajectoryError(f"{folder / FILE} is damaged: {error.errors()[0]['msg']}") from error


def finish(demonstration: Demonstration, folder: Path, memory: MemoryStore) -> str:
    """Learn from a demonstration and end its run; return why it cannot be replayed, or an empty text.

    If it is only unclear which values vary, nothing is stored, so that the demonstration can be finished again.

    Raises:
        MemoryStoreError: The memory cannot be written.
    """
    stored: list[Event] = []
    verdict = Verdict(verified=True, by="person", reason="a person has shown it")
    problem = "; ".join(demonstration.problems) or ("" if demonstration.steps else "nothing was done")
    if not problem:
        with TemporaryDirectory() as scratch, MemoryStore.open(Path(scratch) / "memory.sqlite") as trial:
            _, problem = _learned(demonstration, verdict, trial)
        if problem:
            return problem
        stored, problem = _learned(demonstration, verdict, memory)
    outcome = Outcome(
        status="done",
        verified=True,
        reason=f"it cannot be replayed: {problem}" if problem else "",
        usage=Usage(steps=len(demonstration.lines)),
        run_id=demonstration.run_id,
    )
    _end_run(demonstration, folder, (Verified(verdict=verdict), *stored, RunEnded(outcome=outcome)))
    (folder / FILE).unlink(missing_ok=True)
    return problem


def _learned(demonstration: Demonstration, verdict: Verdict, memory: MemoryStore) -> tuple[list[Event], str]:
    """Store the experience from a demonstration; return the events, and why it cannot be replayed, or an empty text."""
    task, subtask = Task(instruction=demonstration.wording), demonstration.subtask
    learner = Learner(
        evaluator=Evaluator(NoModel()),
        memory=memory,
        learned=memory,
        run_id=demonstration.run_id,
        task=task,
        model=MODEL,
        untrusted=UntrustedText(task.instruction),
        derivation=Derivation(SeenTexts()),
        summaries=False,
    )
    plan = Plan(subtasks=(subtask,), source="task")
    stored: list[Event] = []
    stored += learner.store_steps(subtask, demonstration.summary, demonstration.steps, demonstration.app)
    learner.mark_subtasks(verdict)
    stored += learner.store_task("", plan, ("done", ""), verdict, demonstration.summary, trivial=True)
    stored += learner.store_skills(verdict)
    recall = Recall(memory, task, PLATFORM, demonstration.run_id, has_fallback=False)
    return stored, "" if recall.same_task() is not None else recall.doubt


def _save(demonstration: Demonstration, folder: Path) -> None:
    (folder / FILE).write_text(demonstration.model_dump_json(), "utf-8")


def _end_run(demonstration: Demonstration, folder: Path, ending: Sequence[Event]) -> None:
    """Give the recorded run its final wording, and append how it ended."""
    path = folder / EVENTS_FILE
    final = {event.kind: event for event in _frame(demonstration, 0.0)}
    # Not splitlines, which also splits at U+2028 and the like.
    header, *recorded = path.read_text("utf-8").removesuffix("\n").split("\n")
    for at, line in enumerate(recorded):
        kind = next((kind for kind in final if f'"kind":"{kind}"' in line[:120]), None)
        if kind is not None:
            moment = EVENT_ADAPTER.validate_json(line).at
            recorded[at] = final[kind].model_copy(update={"at": moment}).model_dump_json()
    new = path.with_suffix(".new")
    new.write_text("\n".join([header, *recorded, *(event.model_dump_json() for event in ending)]) + "\n", "utf-8")
    new.replace(path)


def _frame(demonstration: Demonstration, began: float) -> tuple[RunStarted, Planned, SubtaskStarted, SubtaskEnded]:
    """Return the events that contain the wording."""
    subtask = demonstration.subtask
    task = Task(instruction=demonstration.wording or NO_WORDING)
    at, steps = datetime.fromtimestamp(began, UTC), len(demonstration.lines)
    return (
        RunStarted(
            at=at, run_id=demonstration.run_id, task=task, model=MODEL, limits=Limits(), desktop=demonstration.desktop
        ),
        Planned(at=at, plan=Plan(subtasks=(subtask,), source="task")),
        SubtaskStarted(at=at, subtask=subtask, index=1, total=1),
        SubtaskEnded(subtask=subtask, ok=True, steps=steps),
    )


def _events(shown: Sequence[Shown], steps: Sequence[Step], last: Look, wall: float) -> list[Event]:
    events: list[Event] = []
    for one, step in zip(shown, steps, strict=True):
        at = datetime.fromtimestamp(wall + one.before.ended, UTC)
        action, target = one.action, describe_target(one.action, one.before.seen)
        events += [
            _observed(one.before, wall),
            ActionChosen(at=at, step=step.number, action=action, target=target, next_action=one.problem),
            ActionPerformed(at=at, step=step.number, action=action, result=ActionResult(ok=True)),
            EffectSeen(at=datetime.fromtimestamp(wall + one.after.ended, UTC), step=step.number, result=step.result),
        ]
    return [*events, _observed(last, wall)]


def _observed(look: Look, wall: float) -> Observed:
    seen = look.seen
    return Observed(
        at=datetime.fromtimestamp(wall + look.ended, UTC),
        observation=seen,
        text=seen.to_text(),
        elements=len(seen.elements),
        seconds=look.ended - look.began,
        notes=seen.notes,
    )


def _step(number: int, shown: Shown) -> Step:
    response = ActResponse(next_action=_in_words(shown), action=shown.action)
    already = Effect(kind="none", remark="already")
    step = Step(number, shown.before.seen, response, ActionResult(ok=True))
    if shown.gesture is None:
        return Step(number, shown.before.seen, response, ActionResult(ok=True, effect=already))
    return step.followed_by(shown.after.seen) if shown.alone else step


def _in_words(shown: Shown) -> str:
    return describe_action(shown.action, describe_target(shown.action, shown.before.seen))


def _quoted(value: str) -> str:
    """Return a value in a kind of quotation marks that it does not contain."""
    marks = next((marks for marks in _QUOTES if not set(marks) & set(value)), _QUOTES[0])
    return f"{marks[0]}{value}{marks[1]}"
