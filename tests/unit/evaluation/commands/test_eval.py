from __future__ import annotations

from pathlib import Path

import click
import pytest

from agent_s.cli.app import run_app
from evaluation.commands.eval_miniwob import DEVELOPMENT, read_seeds, task_names
from evaluation.commands.eval_run import ABLATIONS, read_options
from evaluation.miniwob.pages import find_pages

GIVEN = {
    "config_file": None, "overrides": (), "model": "offline", "desktops": 1, "time_limit": None, "out": None,
    "cluster": None, "keep_all": False, "without": (), "as_json": False, "quiet": False,
}  # fmt: skip


@pytest.mark.parametrize(("text", "seeds"), [("1", [1]), ("1-3,7", [1, 2, 3, 7]), ("5 4-5", [5, 4]), ("0-0,", [0])])
def test_seeds_are_numbers_and_ranges(text: str, seeds: list[int]) -> None:
    assert read_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "x", "3-1", "1--3", "-1", "1-99999999"])
def test_other_seeds_are_refused(text: str) -> None:
    with pytest.raises(click.UsageError):
        read_seeds(text)


def test_development_set_lists_existing_tasks() -> None:
    names = task_names(DEVELOPMENT)

    assert find_pages().chosen(names) == tuple(names)
    assert len(names) == 25


def test_unknown_task_is_an_error_that_suggests_names(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run_app(["eval", "miniwob", "--tasks", "click-buton", "--out", str(tmp_path / "out")]) == 2

    assert "no task 'click-buton'. Did you mean click-button" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_memory_is_off_unless_enabled_explicitly(tmp_path: Path) -> None:
    plain = read_options("miniwob", GIVEN, 300.0).settings
    learning = read_options("miniwob", {**GIVEN, "overrides": ("memory.enabled=true",)}, 300.0).settings

    assert not plain.memory.enabled
    assert learning.memory.enabled


def test_time_limit_comes_from_the_option_then_the_settings_then_the_benchmark() -> None:
    set_in_settings = {**GIVEN, "overrides": ("limits.max_seconds=70",)}

    assert read_options("miniwob", GIVEN, 300.0).settings.limits.max_seconds == 300
    assert read_options("miniwob", set_in_settings, 300.0).settings.limits.max_seconds == 70
    assert read_options("miniwob", {**set_in_settings, "time_limit": 9.0}, 300.0).settings.limits.max_seconds == 9


def test_each_part_can_be_switched_off_alone() -> None:
    everything = ("memory.enabled=true", "search.engine=searxng", "search.url=http://127.0.0.1:9/")
    with_memory = {**GIVEN, "overrides": everything}
    whole = read_options("tasks", with_memory, 300.0).settings.model_dump()

    for part, setting in ABLATIONS.items():
        settings = read_options("tasks", {**with_memory, "without": (part,)}, 300.0).settings
        key, _, value = setting.partition("=")
        section, _, name = key.rpartition(".")
        found = getattr(getattr(settings, section) if section else settings, name)
        assert str(found).lower() == value
        changed = settings.model_dump()
        assert changed != whole
        (changed[section] if section else changed)[name] = (whole[section] if section else whole)[name]
        assert changed == whole


@pytest.mark.parametrize("part", ["narrative", "episodic", "update"])
def test_switching_off_a_part_of_disabled_memory_is_refused(part: str) -> None:
    with pytest.raises(click.UsageError, match=r"memory\.enabled=true"):
        read_options("tasks", {**GIVEN, "without": (part,)}, 300.0)
