"""Somebody to run commands as."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.command_line import User, new_user


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_is_heeded() -> None:
    """A shell that runs the tests in the background lets them, and all that they start, ignore Ctrl-C."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    with new_user(tmp_path / "home") as somebody:
        yield somebody
