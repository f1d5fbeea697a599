"""The version of this program."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def program_version() -> str:
    """Return the installed version; "unknown" when the program runs from loose files."""
    try:
        return version("agent-s")
    except PackageNotFoundError:
        return "unknown"
