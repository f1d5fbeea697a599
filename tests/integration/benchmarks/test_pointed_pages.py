"""Pages that need points, paths and spans are solved by a model that knows the answers."""

from __future__ import annotations

import pytest

from benchmarks.support.figures import NotMeasured
from benchmarks.support.pointed_pages import measure_pages

NAMES = ("circle-center", "drag-box", "drag-items", "draw-circle", "highlight-text", "use-colorwheel", "use-slider")


@pytest.mark.desktop
@pytest.mark.slow
def test_pages_that_need_points_paths_and_spans_are_solved() -> None:
    try:
        solved = measure_pages((3,), NAMES)
    except NotMeasured as error:
        pytest.skip(str(error))
    assert solved == {name: [True] for name in NAMES}
