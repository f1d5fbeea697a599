"""Tasks of the set `everyday` that need an office suite: untouched they score 0, and done by their solution 1."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.evaluation.everyday import OFFICE, after, conformance, names

pytestmark = [pytest.mark.desktop, pytest.mark.slow]


@pytest.mark.parametrize("name", names(*OFFICE))
def test_every_task_conforms(name: str, tmp_path: Path) -> None:
    result = conformance(name, tmp_path)

    assert (result.outcome, result.reason) == ("success", "")


def test_double_spacing_of_all_paragraphs_scores_0(tmp_path: Path) -> None:
    steps = [
        {"do": "hotkey", "keys": ["ctrl", "a"]},
        {"do": "click", "role": "menu", "name": "Format"},
        {"do": "click", "role": "menu", "name": "Spacing"},
        {"do": "click", "role": "check menu item", "name": "Line Spacing: 2"},
        {"do": "hotkey", "keys": ["ctrl", "s"]},
        {"do": "click", "role": "push button", "name": "Use Word 2007–365 Format"},
        {"do": "file", "path": "~/Documents/essay.docx"},
    ]
    result = after("writer-double-spacing", steps, tmp_path)

    assert result.outcome == "failure"
    assert "is 2.0, expected 1.15" in result.reason
