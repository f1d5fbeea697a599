"""Root as an ordinary user, for applications that refuse to run as root."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache

_USER = ("unshare", "--user", "--map-user=1000", "--map-group=1000", "--")
_PROBE_LIMIT_S = 10.0


@cache
def obstacle() -> str:
    """Return why programs cannot run as an ordinary user here; "" if they can."""
    if os.geteuid() != 0:
        return ""
    try:
        subprocess.run([*_USER, "true"], check=True, capture_output=True, timeout=_PROBE_LIMIT_S)
    except (OSError, subprocess.SubprocessError) as error:
        return f"root cannot become an ordinary user in a user namespace: {error}"
    return ""


def as_person(argv: Sequence[str]) -> list[str]:
    """Return the command that runs a program as an ordinary user, in a user namespace if this process is root's."""
    return [*_USER, *argv] if os.geteuid() == 0 else list(argv)


def become_person() -> None:
    """Start this program again as an ordinary user, if it runs as root and a user namespace can be had."""
    if os.geteuid() == 0 and not obstacle():
        os.execvp(_USER[0], as_person([sys.executable, *sys.orig_argv[1:]]))
