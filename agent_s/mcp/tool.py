"""Definition of tools: arguments and results as pydantic models, and a coroutine that carries the tool out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from mcp_types import CallToolResult, ImageContent, TextContent, ToolAnnotations
from mcp_types import Tool as ListedTool
from pydantic import BaseModel, ConfigDict, ValidationError


class ToolProblem(Exception):
    """A tool cannot fulfill a request; the message says why, and what would work."""


class Arguments(BaseModel):
    """Base of all arguments, without extra fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Answered(BaseModel):
    """Base of all results."""

    model_config = ConfigDict(frozen=True)


class Person(Protocol):
    """The person at the client, and the client itself, during a call."""

    async def confirm(self, question: str) -> bool:
        """Return whether the person agrees; False if the client cannot ask."""

    async def answer(self, question: str) -> str | None:
        """Return the person's answer; None if there is none, or the client cannot ask."""

    def tell(self, progress: str) -> None:
        """Report progress to the client, if it has requested that."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of a tool: values for programs, and text and pictures for models."""

    values: Answered
    text: str
    pictures: tuple[ImageContent, ...] = ()
    failed: bool = False

    def as_result(self) -> CallToolResult:
        """Convert it to the protocol's result."""
        return CallToolResult(
            content=[TextContent(text=self.text), *self.pictures],
            structured_content=self.values.model_dump(mode="json"),
            is_error=self.failed,
        )


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool."""

    name: str
    description: str  # what it does, for models
    arguments: type[Arguments]
    result: type[Answered]
    run: Callable[[Any, Person], Awaitable[Reply]]  # carries it out
    # whether it only reads, may destroy something, and so on
    hints: ToolAnnotations = field(default_factory=ToolAnnotations)

    def listed(self) -> ListedTool:
        """Convert it to an entry in the protocol's list of tools."""
        return ListedTool(
            name=self.name,
            description=self.description,
            input_schema=_small(self.arguments.model_json_schema()),
            output_schema=_small(self.result.model_json_schema()),
            annotations=self.hints,
        )

    def read_arguments(self, given: dict[str, Any] | None) -> Arguments:
        """Return the arguments.

        Raises:
            ToolProblem: One is unknown, missing or wrong.
        """
        try:
            return self.arguments.model_validate(given or {})
        except ValidationError as error:
            problems = [f"{'.'.join(map(str, item['loc'])) or self.name}: {item['msg']}" for item in error.errors()]
            known = ", ".join(self.arguments.model_fields) or "none"
            raise ToolProblem(f"{self.name}: {'; '.join(problems)}. Its arguments: {known}.") from error


READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
HARMLESS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
ACTS = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True)


def _small(schema: Any) -> Any:
    """Remove titles and docstrings from a schema, since every client sends it to its model."""
    if isinstance(schema, list):
        return [_small(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    dropped = ("title", "description") if "properties" in schema else ("title",)
    return {
        key: {name: _small(value) for name, value in part.items()} if key in ("properties", "$defs") else _small(part)
        for key, part in schema.items()
        if key not in dropped
    }
