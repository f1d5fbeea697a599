"""The clipboard of a served desktop, with the two functions of pyperclip that scripts on OSWorld's machine use.

pyperclip itself needs a program such as xclip. A process of its own keeps what was copied until something else is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from aci.input.clipboard import Clipboard

_POLL_S = 0.5


def copy(text: str) -> None:
    """Put a text on the clipboard."""
    holder = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert holder.stdin is not None and holder.stdout is not None  # both are pipes
    holder.stdin.write(str(text).encode("utf-8", errors="replace"))
    holder.stdin.close()
    if not holder.stdout.readline():
        raise RuntimeError("the clipboard cannot be used")


def paste() -> str:
    """Return the text on the clipboard."""
    clipboard = Clipboard(os.environ["DISPLAY"])
    try:
        return clipboard.content().text or ""
    finally:
        clipboard.close()


def _hold() -> None:
    clipboard = Clipboard(os.environ["DISPLAY"])
    clipboard.offer(sys.stdin.buffer.read().decode("utf-8", errors="replace"))
    offered = clipboard.changes()
    os.write(1, b"ready\n")
    os.close(1)
    while clipboard.changes() == offered:
        time.sleep(_POLL_S)


if __name__ == "__main__":
    _hold()
