"""Cells, paragraphs and shapes of LibreOffice are seen as they are, and a click on one hits it."""

from __future__ import annotations

import subprocess

import pytest

from benchmarks.support.reference import SYSTEM_PYTHON
from benchmarks.support.truth.office import KINDS, look_and_click

pytestmark = [
    pytest.mark.desktop,
    pytest.mark.slow,
    pytest.mark.skipif(
        subprocess.run([SYSTEM_PYTHON, "-c", "import uno"], capture_output=True, check=False).returncode != 0,
        reason="python3-uno is not installed: make setup-toolkits",
    ),
]


@pytest.mark.parametrize("kind", KINDS)
def test_parts_of_documents_are_seen_and_hit(kind: str) -> None:
    found = look_and_click(kind, seed=5, steps=8)
    assert found.parts > 20
    assert (found.unseen, found.phantoms, found.missed) == ([], [], [])
