"""A user to run commands as."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.command_line import User, new_user


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    with new_user(tmp_path / "home") as new:
        yield new
