"""A benchmark as a process: its figures, and that it leaves nothing behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.command_line import LIMIT_S, User


@pytest.mark.desktop
@pytest.mark.slow
def test_startup_ends_with_one_json_object_and_leaves_nothing(user: User) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.startup", "--json", "--quick"],
        cwd=Path(__file__).parents[2],
        env=user.environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["leftovers"] == 0
    assert figures["leftovers_after_kill"] == 0
    assert all(figures[name] > 0 for name in ("help_s", "desktop_ready_s", "desktop_ready_cold_s"))
    assert user.desktops() == []
