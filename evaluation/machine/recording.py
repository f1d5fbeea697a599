"""A video of the screen, as OSWorld's run script asks for."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from evaluation.errors import Unavailable

END_LIMIT_S = 30.0


class Recording:
    """Records from now on.

    Args:
        display: Name of the X display.
        size: Width and height of its screen, px.

    Raises:
        Unavailable: `ffmpeg` is not installed.
    """

    def __init__(self, display: str, size: tuple[int, int]) -> None:
        program = shutil.which("ffmpeg")
        if program is None:
            raise Unavailable("there is no program 'ffmpeg' to record the screen with: apt install ffmpeg")
        self._folder = tempfile.TemporaryDirectory(prefix="agent-s-recording-")
        self._file = Path(self._folder.name) / "recording.mp4"
        source = ["-f", "x11grab", "-draw_mouse", "1", "-s", f"{size[0]}x{size[1]}", "-i", display]
        argv = [program, "-y", *source, "-r", "30", "-loglevel", "error", str(self._file)]
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, start_new_session=True)

    def end(self) -> bytes:
        """End it, and return the MP4 file."""
        try:
            self._process.communicate(b"q", timeout=END_LIMIT_S)
            return self._file.read_bytes()
        finally:
            self._process.kill()
            self._folder.cleanup()
