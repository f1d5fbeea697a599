"""Episodes on real pages in a real browser."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from aci.processes import belonging_to, end
from agent_s.runs.reading import read_trajectory
from agent_s.settings import Limits, MemorySettings, Settings
from evaluation.harness.results import Job
from evaluation.miniwob.suite import MiniwobBench

pytestmark = [pytest.mark.desktop, pytest.mark.slow]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def bench(folder: Path) -> Iterator[MiniwobBench]:
    settings = Settings(memory=MemorySettings(enabled=False), limits=Limits(max_seconds=60, max_replans=0))
    with MiniwobBench(settings, folder) as bench:
        yield bench


def test_rewarded_episode_is_a_success_without_a_recording(bench: MiniwobBench, folder: Path) -> None:
    result = bench.run(Job(task="click-button-sequence", seed=1))

    assert (result.outcome, result.score, result.status, result.failure) == ("success", 1.0, "done", None)
    assert result.instruction == "Click button ONE, then click button TWO."
    assert (result.steps, result.model_calls > 0, result.seconds > 0) == (2, True, True)
    assert not result.trajectory
    assert list((folder / "runs").glob("*")) == []


def test_failed_episode_keeps_its_recording_and_report(bench: MiniwobBench, folder: Path) -> None:
    result = bench.run(Job(task="visual-addition", seed=1))  # what it asks for is to be counted in a picture

    assert result.outcome == "failure"
    assert result.failure is not None
    assert (folder / result.report).is_file()
    trajectory = read_trajectory(folder / result.trajectory)
    assert trajectory.problem == ""
    assert result.instruction in (folder / result.report).read_text(encoding="utf-8")


def test_task_and_seed_determine_the_page(bench: MiniwobBench) -> None:
    first, other, again = (bench.run(Job(task="click-button", seed=seed)) for seed in (3, 4, 3))

    assert first.instruction == again.instruction != other.instruction
    assert first.outcome == again.outcome == "success"


def test_episode_begins_with_an_empty_clipboard(bench: MiniwobBench) -> None:
    bench.run(Job(task="click-button", seed=3))
    assert bench.arena is not None
    environment = bench.arena[0].environment
    xclip = ["xclip", "-selection", "clipboard"]
    quiet = subprocess.DEVNULL
    subprocess.run(
        [*xclip, "-in"], env=environment, input="of before", text=True, stdout=quiet, stderr=quiet, check=True
    )

    def clipboard() -> str:
        return subprocess.run([*xclip, "-out"], env=environment, capture_output=True, text=True, check=False).stdout

    deadline = time.monotonic() + 30
    while clipboard() != "of before":  # xclip may end before the server knows of its text
        assert time.monotonic() < deadline
    assert bench.run(Job(task="click-button", seed=4)).outcome == "success"
    assert bench.arena[0].environment == environment, "this is about one and the same desktop"
    assert clipboard() == ""


def test_broken_desktop_is_replaced(bench: MiniwobBench) -> None:
    assert bench.arena is not None
    broken = bench.arena[0].id
    end(lambda: belonging_to(broken), 0.1)

    result = bench.run(Job(task="click-test", seed=1))

    assert (result.outcome, result.reason) == ("success", "the page gave the reward 1")
    assert bench.arena[0].id != broken
