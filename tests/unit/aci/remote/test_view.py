"""Observations of a machine of which only the picture is known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from aci.ocr.text_engine import TextBox
from aci.remote.view import View

pytest.importorskip("cv2", reason="pip install agent-s[ocr]")


class Reads:
    """An engine for pictures without text."""

    def recognize(self, pixels: NDArray[np.uint8]) -> list[TextBox]:
        return []


def test_shapes_on_a_screen_without_a_tree_get_ids_that_stay() -> None:
    pixels = np.full((300, 400, 3), 240, dtype=np.uint8)
    pixels[100:140, 50:90] = (229, 57, 53)
    view = View(ocr=Reads())
    try:
        (first,) = view.observe(pixels, None).candidates
        (again,) = view.observe(pixels.copy(), None).candidates
    finally:
        view.close()
    assert (first.role, first.description, first.rect.center) == ("shape", "red", (first.point))
    assert again == first
