"""Small pictures of screens, for the map of an application."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from exploration.errors import LedgerError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDTH = 320
FOLDER = "screens"
_QUALITY = 70


def save_thumbnail(picture: NDArray[np.uint8], folder: Path, name: str) -> str:
    """Save a small copy of a screenshot (H, W, 3) RGB and return its path relative to the folder.

    Raises:
        LedgerError: The file cannot be written.
    """
    from PIL import Image

    relative = f"{FOLDER}/{name}.jpg"
    try:
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        image = Image.fromarray(picture)
        image.thumbnail((WIDTH, WIDTH))
        image.save(folder / relative, quality=_QUALITY)
    except OSError as error:
        raise LedgerError(f"{folder / relative} cannot be written: {error.strerror or error}.") from error
    return relative
