"""Replay of recorded model answers, from a recorded run or a file that `RecordingModel` wrote."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from aci.acting.wording import describe_target
from agent_s.errors import (
    EmptyResponse,
    MalformedResponse,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    ResponseCutOff,
    TrajectoryError,
)
from agent_s.events import ActionChosen, Event, ModelCalled, RunStarted, SubtaskEnded, SubtaskStarted
from agent_s.llm.protocol import ActContext, ActResponse, Model, ModelRequest, ModelResponse, model_name
from agent_s.llm.routing import ROLES
from agent_s.runs.listing import find_run
from agent_s.runs.reading import read_trajectory

SCHEMA_VERSION = 1  # 1: a header line, then one line per call: kind, task instruction, output
# with the kinds of earlier versions
_BACKGROUND = {kind for kind, role in ROLES.items() if role == "summarize"} | {"summarize_subtask", "summarize_task"}
_ADVICE = "Record the task again, and where memory replays a part of it, both times with -c memory.enabled=false."
_ERRORS = {
    kind.__name__: kind for kind in (EmptyResponse, MalformedResponse, ModelRefused, ModelUnavailable, ResponseCutOff)
}


class RecordingModel:
    """A model that records the answers of another model in a file.

    Args:
        model: The model that answers.
        path: A JSON lines file that does not exist yet.
    """

    def __init__(self, model: Model, path: Path) -> None:
        self.name = f"{model_name(model)} (recording)"
        self._model = model
        self._path = path
        with path.open("x", encoding="utf-8") as file:
            file.write(json.dumps({"schema_version": SCHEMA_VERSION}) + "\n")

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer one request and record the answer."""
        response = self._model.complete(request)
        line = {
            "kind": request.kind,
            "instruction": request.context.task.instruction,
            "output": response.output.model_dump(mode="json"),
        }
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
        return response


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A recorded call; fields are None if the recording lacks them."""

    number: int  # its position in the recording, from 1
    kind: str  # kind of the request
    instruction: str  # instruction of the task
    output: dict[str, Any]  # fields of the answer
    error: str = ""  # why there was no answer
    subtask: str | None = None  # name of the subtask, for `act`
    target: str | None = None  # the target element of the answer's primitive, in words

    @property
    def background(self) -> bool:
        """Whether it is a summary, which may be requested at any time."""
        return _is_background(self.kind)


class RecordedModel:
    """Replays recorded answers in order, and refuses a request that differs from the recorded one.

    A request differs if its kind, task or subtask does, or if the recorded answer targets another element on its
    screen. Summaries are matched separately, since they are written while other calls are made.

    Args:
        name: A file that `RecordingModel` wrote, or a recorded run: its folder, its id or the start of it, or "last".
        runs_folder: Folder of the recorded runs; None for files and folders only.

    Raises:
        ModelError: There is no such recording, it cannot be read, or a newer version wrote it.
    """

    def __init__(self, name: str | Path, runs_folder: Path | None = None) -> None:
        self.name = f"recorded:{name}"
        calls = _calls_of_file(Path(name)) if Path(name).is_file() else _calls_of_run(str(name), runs_folder)
        self._calls = {
            background: iter([call for call in calls if call.background is background]) for background in (False, True)
        }
        self._given = 0

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the next recorded answer, or raise its error.

        Raises:
            ModelError: The recording has ended, or was made for another request.
        """
        calls = self._calls[_is_background(request.kind)]
        call = next(calls, None)
        if call is not None and (call.kind, request.kind) == ("query", "plan"):
            call = next(calls, None)  # earlier versions requested a query even without a web search
        if call is None:
            raise ModelError(f"The recording ends after {self._given} calls, and {request.kind!r} is asked. {_ADVICE}")
        self._given += 1
        _refuse_other(call, request)
        if call.error:
            kind, _, message = call.error.partition(": ")
            raise _ERRORS.get(kind, ModelError)(message or call.error)
        try:
            output = request.response_type.model_validate(call.output)
        except ValidationError as error:
            raise ModelError(f"Call {call.number} of the recording cannot be read: {error}") from error
        if isinstance(output, ActResponse) and isinstance(request.context, ActContext) and call.target is not None:
            target = describe_target(output.action, request.context.observation)
            if target != call.target:
                raise _differs(call, f"its answer is for {call.target or 'no element'}, here {target or 'no element'}")
        return ModelResponse(output)


def _is_background(kind: str) -> bool:
    return kind in _BACKGROUND


def _refuse_other(call: RecordedCall, request: ModelRequest) -> None:
    """Raise an error if a request is not the recorded one."""
    instruction = request.context.task.instruction
    if call.kind != request.kind:
        raise _differs(call, f"the record has {call.kind!r}, and {request.kind!r} is asked")
    if call.instruction != instruction:
        raise _differs(call, f"the record is of another task, {call.instruction!r}, not {instruction!r}")
    if call.subtask is not None and isinstance(request.context, ActContext):
        name = request.context.subtask.name
        if call.subtask != name:
            raise _differs(call, f"the record has the subtask {call.subtask!r}, here it is {name!r}")


def _differs(call: RecordedCall, how: str) -> ModelError:
    return ModelError(f"Call {call.number} differs from the record: {how}. {_ADVICE}")


def _calls_of_run(name: str, runs_folder: Path | None) -> list[RecordedCall]:
    try:
        trajectory = read_trajectory(Path(name) if runs_folder is None else find_run(runs_folder, name))
    except TrajectoryError as error:
        raise ModelError(f"{name} is not a recording of a model: {error}") from error
    return list(_calls_in(trajectory.events))


def _calls_in(events: Iterable[Event]) -> Iterator[RecordedCall]:
    """Yield the calls of a run; calls of `act` with the action that followed."""
    instruction, subtask, number = "", "", 0
    act: RecordedCall | None = None
    for event in events:
        match event:
            case RunStarted():
                instruction = event.task.instruction
            case SubtaskStarted():
                subtask = event.subtask.name
            case ActionChosen() if act is not None:
                yield replace(act, target=event.target, output=_with_kind(act.output, event.action.action))
                act = None
            case SubtaskEnded() if act is not None:
                yield replace(act, output=_with_kind(act.output, "done" if event.ok else "fail"))
                act = None
            case ModelCalled() if event.call in ROLES:
                number += 1
                call = RecordedCall(number, event.call, instruction, event.answer, event.error)
                if act is not None and not call.background:
                    yield act
                    act = None
                if event.call == "act":
                    act = replace(call, subtask=subtask)
                else:
                    yield call
    if act is not None:
        yield act


def _with_kind(output: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return an answer with the kind of its primitive, which recordings before version 3 omit."""
    return {**output, "action": {"action": kind, **output["action"]}} if "action" in output else output


def _calls_of_file(path: Path) -> list[RecordedCall]:
    try:
        # Not splitlines, which also splits at U+2028 and similar characters that JSON does not escape.
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        header, *records = [json.loads(line) for line in lines]
        version = header["schema_version"]
        calls = [
            RecordedCall(number, one["kind"], one["instruction"], one["output"])
            for number, one in enumerate(records, start=1)
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path} is not a recording of a model: {error}") from error
    if version > SCHEMA_VERSION:
        raise ModelError(f"{path} has version {version}; this program reads up to {SCHEMA_VERSION}. Update it.")
    return calls
