"""Cells, paragraphs and shapes of LibreOffice are seen as they are, and a click on one hits it."""

from __future__ import annotations

import pytest

from benchmarks.support.truth.office import KINDS, look_and_click
from tests.integration.benchmarks.toolkits import needs

pytestmark = [pytest.mark.desktop, pytest.mark.slow]


@pytest.mark.parametrize("kind", KINDS)
def test_parts_of_documents_are_seen_and_hit(kind: str) -> None:
    needs("UNO")
    found = look_and_click(kind, seed=5, steps=8)
    assert found.parts > 20
    assert (found.unseen, found.phantoms, found.missed) == ([], [], [])
