from __future__ import annotations

import pytest

from aci.accessibility.scope import Scope
from aci.geometry import Rect

SCOPE = Scope(areas=(Rect(10, 100, 50, 50),))


@pytest.mark.parametrize(
    ("rect", "reached"),
    [
        (Rect(0, 90, 20, 20), True),
        (Rect(60, 100, 5, 5), False),
        (Rect(10, 100, 160, 0), True),  # it was empty, and got what now shows there
        (Rect(10, 99, 160, 0), False),
        (None, False),
    ],
)
def test_what_lies_where_the_screen_looks_different_is_asked(rect: Rect | None, reached: bool) -> None:
    assert SCOPE.reaches(rect) is reached
