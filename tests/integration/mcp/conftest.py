"""Clients of the SDK that talk to the server as a process of its own, as users' clients do."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import StdioServerParameters
from mcp_types import ElicitResult

from tests.e2e.command_line import User, new_user

LIMIT_S = 240.0


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    with new_user(tmp_path / "home") as new:
        yield new


def over_stdio(user: User, *words: str, env: Mapping[str, str] | None = None) -> StdioServerParameters:
    """Return how a client starts the server."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "agent_s", "mcp", "--model", "offline", *words],
        env=user.environment(**(env or {})),
    )


class Answers:
    """A person at a client, who gives the same answer to every question.

    Attributes:
        questions: What they were asked.
    """

    def __init__(self, agree: bool, answer: str = "") -> None:
        self.questions: list[str] = []
        self._content = {"agree": agree, "answer": answer}

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        self.questions.append(params.message)
        wanted = params.requested_schema["properties"]
        return ElicitResult(action="accept", content={name: self._content[name] for name in wanted})


def text_of(result: Any) -> str:
    """Return the text of a tool's result."""
    return "\n".join(block.text for block in result.content if block.type == "text")
