"""The bytes of a recorded run, by kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_s.cli.app import run_app
from agent_s.runs.listing import RunSize, format_bytes, measure_run
from agent_s.trajectory.recorder import Recorder
from tests.unit.agent_s.a_run import events_of_a_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    recorder = Recorder(tmp_path / "run")
    for event in events_of_a_run():
        recorder(event)
    recorder.close()
    return tmp_path / "run"


def test_the_kinds_add_up_to_the_files_of_the_recorder(run: Path) -> None:
    size = measure_run(run)
    assert size.total == sum(file.stat().st_size for file in run.rglob("*") if file.is_file())
    assert size.screens == sum(file.stat().st_size for file in (run / "screens").iterdir()) > 0
    assert size.sent == 0
    (run / "sent").mkdir()
    (run / "sent" / "0001.png").write_bytes(b"12345")
    (run / "report.html").write_text("a page is written later, and again at will")
    assert measure_run(run) == RunSize(size.events, size.texts, size.screens, 5)


def test_a_run_shows_its_bytes_per_step(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size = measure_run(run)
    assert run_app(["runs", "show", str(run)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"{format_bytes(size.total)}, {format_bytes(size.total / 4)} per step: events ")
    assert run_app(["runs", "show", str(run), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bytes"] == {
        "events": size.events, "texts": size.texts, "screens": size.screens, "sent": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (512, "512 B"), (3420, "3.4 kB"), (999.97, "1000 B"), (28_834, "28.8 kB"), (2.34e9, "2340.0 MB")],
)
def test_bytes_are_shown_in_readable_units(number: float, text: str) -> None:
    assert format_bytes(number) == text
