"""Careless words on the command line of memory."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from agent_s.cli.memory import forget


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give ids"),
        (["--all", "--app", "gimp"], "Give ids"),
        (["--text", "", "--yes"], "empty"),
        (["--app", "", "--yes"], "empty"),
        (["--run", "", "--yes"], "empty"),
        (["", "--yes"], "empty"),
        (["--older-than", "nan", "--yes"], "older-than"),
        (["--older-than", "inf", "--yes"], "older-than"),
        (["--older-than", "1e300", "--yes"], "older-than"),
    ],
)
def test_invalid_selection_is_refused_before_memory_is_opened(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(forget, arguments)
    assert result.exit_code == 2
    assert message in result.output
