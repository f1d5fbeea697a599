"""Recording the answers of a model to a file, and replaying them without it."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from agent_s.errors import ModelError
from agent_s.llm.protocol import Model, ModelRequest, ModelResponse, model_name

SCHEMA_VERSION = 1  # 1: a header line, then one line per call: kind, task instruction, output


class RecordingModel:
    """Passes requests on, and appends each answer to a file.

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


class RecordedModel:
    """Replays recorded answers in order, and refuses a request that differs from the recorded one.

    Args:
        path: A file that `RecordingModel` wrote.

    Raises:
        ModelError: The file cannot be read, or a newer version wrote it.
    """

    def __init__(self, path: Path) -> None:
        self.name = f"recorded:{path}"
        try:
            # Not splitlines: it also splits at U+2028 and its like, which JSON leaves as they are.
            lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
            header, *self._lines = [json.loads(line) for line in lines]
            version = header["schema_version"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(f"{path} is not a recording of a model: {error}") from error
        if version > SCHEMA_VERSION:
            raise ModelError(f"{path} has version {version}; this program reads up to {SCHEMA_VERSION}. Update it.")
        self._position = 0

    def complete(self, request: ModelRequest) -> ModelResponse:
        """Return the next recorded answer.

        Raises:
            ModelError: The recording has ended, or was made for another request.
        """
        if self._position >= len(self._lines):
            raise ModelError(f"The recording ends after {self._position} calls. Record the task again.")
        line = self._lines[self._position]
        asked = (request.kind, request.context.task.instruction)
        if (line.get("kind"), line.get("instruction")) != asked:
            raise ModelError(
                f"Call {self._position + 1} asks for {asked[0]!r}, the recording has {line.get('kind')!r}, "
                "or it was made for another task. Record the task again."
            )
        self._position += 1
        try:
            return ModelResponse(request.response_type.model_validate(line["output"]))
        except (ValidationError, KeyError) as error:
            raise ModelError(f"Call {self._position} of the recording cannot be read: {error}") from error
