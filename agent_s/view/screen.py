"""Pictures of a run's screen for a browser."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from aci.screen.screen import Screen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FRAME_S = 0.12
MAX_EDGE_PX = 1600  # longest edge of a picture
QUALITY = 70


class ScreenFeed:
    """Captures an X display.

    Raises:
        DesktopError: It cannot be opened.
    """

    def __init__(self, display: str) -> None:
        self._screen = Screen(display)
        self._last: NDArray[np.uint32] | None = None

    def changed(self) -> bytes | None:
        """Return the screen as a JPEG file; None if it has not changed."""
        import numpy as np
        from PIL import Image

        frame = self._screen.frame()
        if self._last is not None and np.array_equal(self._last, frame):
            return None
        self._last = frame
        height, width = frame.shape
        # Pillow converts the server's pixels (BGRX) five times as fast as `to_rgb`.
        image, file = Image.frombuffer("RGB", (width, height), frame, "raw", "BGRX", 0, 1), io.BytesIO()
        if max(image.size) > MAX_EDGE_PX:
            image.thumbnail((MAX_EDGE_PX, MAX_EDGE_PX))
        image.save(file, "JPEG", quality=QUALITY)
        return file.getvalue()

    def close(self) -> None:
        """Close the connection."""
        self._screen.close()
