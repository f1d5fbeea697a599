"""A watchdog process for each private desktop, which removes the desktop if its owner is killed.

A shell, which costs next to nothing, waits on a pipe that only the owner holds open. The owner dismisses it by writing
a line. If the pipe closes without one, the owner is gone, and the shell executes a Python interpreter that cleans up.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from aci.desktop.cleanup import remove_when_abandoned
from aci.desktop.folders import DesktopFolder
from aci.errors import StartFailed

_WAIT = 'read -r _ || exec "$@"'


class Watcher:
    """The watchdog of one desktop, which is owned by the calling process."""

    def __init__(self, place: DesktopFolder) -> None:
        """Start the watchdog.

        Raises:
            StartFailed: The shell cannot be started.
        """
        clean_up = [sys.executable, "-P", "-m", "aci.desktop.watcher", str(place.path)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        try:
            with (place.logs / "watcher.log").open("ab") as log:
                self._process = subprocess.Popen(
                    ["/bin/sh", "-c", _WAIT, "agent-s-watcher", *clean_up],
                    env=environment,
                    cwd="/",
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # signals to the owner's group must not reach it
                )
        except OSError as error:
            raise StartFailed(f"The watchdog of a desktop could not be started: {error}") from error

    def dismiss(self) -> None:
        """End the watchdog, since the owner has removed the desktop itself."""
        self._process.communicate(b"\n")


if __name__ == "__main__":
    remove_when_abandoned(DesktopFolder(Path(sys.argv[1])))
