"""Tasks of the set `everyday` without an office suite: untouched they score 0, and done by their solution 1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.integration.evaluation.everyday import OFFICE, after, conformance, groups, names

pytestmark = [pytest.mark.desktop, pytest.mark.slow]

BOOKED = {"do": "keep", "role": "heading", "name": "Booking received"}


@pytest.mark.parametrize("name", names(*(group for group in groups() if group not in OFFICE)))
def test_every_task_conforms(name: str, tmp_path: Path) -> None:
    result = conformance(name, tmp_path)

    assert (result.outcome, result.reason) == ("success", "")


@pytest.mark.parametrize(
    ("name", "steps", "reason"),
    [
        pytest.param(
            "chromium-train",
            [
                {"do": "click", "role": "radio button", "name": "E20"},
                {"do": "click", "role": "push button", "name": "Book"},
                BOOKED,
            ],
            "fields.train should be eq 'E32'",
            id="a train that arrives in time and costs more",
        ),
        pytest.param(
            "thunar-move-pictures",
            [
                {"do": "hotkey", "keys": ["ctrl", "2"]},
                {"do": "hotkey", "keys": ["ctrl", "a"]},
                {"do": "hotkey", "keys": ["ctrl", "x"]},
                {"do": "hotkey", "keys": ["ctrl", "l"]},
                {"do": "type", "text": "~/Pictures", "enter": True},
                {"do": "window", "title": "Pictures - Thunar"},
                {"do": "hotkey", "keys": ["ctrl", "v"]},
                {"do": "file", "path": "~/Pictures/poster-list.txt"},
                {"do": "file", "path": "~/Pictures/poster-b.svg"},
            ],
            "poster-list.txt",
            id="what is no picture moved too",
        ),
        pytest.param(
            "terminal-executable",
            [
                {"do": "type", "text": "chmod u+x ~/Documents/backup.sh && ~/Documents/backup.sh", "enter": True},
                {"do": "file", "path": "~/Backup/backup.sh"},
            ],
            "a line fits '^Backup$'",
            id="a script that was not to be run",
        ),
        pytest.param(
            "chromium-delete-site-data",
            [
                {"do": "keep", "role": "heading", "name": "A site that remembers you"},
                {"do": "hotkey", "keys": ["ctrl", "l"]},
                {"do": "type", "text": "chrome://settings/content/all", "enter": True},
                {"do": "click", "role": "push button", "name": "Delete all data"},
                {"do": "click", "role": "push button", "name": "Delete"},
                {"do": "keep", "role": "heading", "name": "All sites"},
            ],
            "0.domain should be eq 'library.localhost'",
            id="the data of all sites",
        ),
    ],
)
def test_wrong_solution_scores_0(name: str, steps: list[dict[str, Any]], reason: str, tmp_path: Path) -> None:
    result = after(name, steps, tmp_path)

    assert result.outcome == "failure"
    assert "the solution does not score 1" in result.reason
    assert reason in result.reason
