"""Commands about memory: invalid selections, and what they load."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent_s.cli.memory import forget, list_command


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


def test_listing_memory_loads_neither_the_loop_nor_the_orm(tmp_path: Path) -> None:
    program = (
        "import sys; from click.testing import CliRunner; from agent_s.cli.memory import list_command;"
        "print(CliRunner().invoke(list_command, ['-c', 'memory.embedder=hashing']).output);"
        "print([name for name in sys.modules if name.startswith(('agent_s.loop', 'sqlalchemy.orm'))])"
    )
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path)}
    for _ in range(2):  # Creating the store loads Alembic, which may load more.
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "There is nothing in" in done.stdout
    assert done.stdout.strip().endswith("[]")


def test_a_filter_that_finds_nothing_does_not_call_memory_empty(tmp_path: Path) -> None:
    place = ["-c", f"memory.path={tmp_path / 'memory.sqlite'}", "-c", "memory.embedder=hashing"]
    filtered = CliRunner().invoke(list_command, [*place, "--app", "gimp"])
    assert "matches" in filtered.output
    assert "There is nothing in" not in filtered.output
