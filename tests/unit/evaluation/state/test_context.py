from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.errors import EvaluationError
from evaluation.state.context import TaskContext, substituted


@pytest.mark.parametrize(
    ("written", "below_home"),
    [
        ("~", ""),
        ("~/Documents/a.txt", "Documents/a.txt"),
        ("/home/user", ""),
        ("/home/user/Documents/a.txt", "Documents/a.txt"),
    ],
)
def test_home_of_the_desktop_stands_for_tilde_and_osworlds_home(
    context: TaskContext, home: Path, written: str, below_home: str
) -> None:
    assert context.path(written) == home / below_home


@pytest.mark.parametrize("written", ["/home/username/a.txt", "/home/user.bak", "/etc/hostname"])
def test_other_paths_are_kept(context: TaskContext, written: str) -> None:
    assert context.path(written) == Path(written)


def test_home_is_substituted_in_arguments_but_not_in_longer_names(context: TaskContext, home: Path) -> None:
    argv = context.argv(["cat", "~/a", "--in=/home/user/b", "/home/username/c", "/mnt/home/user/d", "a~/b"])

    assert argv == ["cat", f"{home}/a", f"--in={home}/b", "/home/username/c", "/mnt/home/user/d", "a~/b"]


def test_command_runs_in_the_environment_and_home_of_the_desktop(context: TaskContext, home: Path) -> None:
    ended = context.run(["sh", "-c", "pwd; echo $HOME"])

    assert ended.stdout.splitlines() == [str(home), str(home)]


def test_missing_or_slow_program_is_an_error_with_a_reason(context: TaskContext) -> None:
    with pytest.raises(EvaluationError, match="no program 'frobnicate-it'"):
        context.run(["frobnicate-it"])
    with pytest.raises(EvaluationError, match=r"'sleep' did not end within 0\.1 s"):
        context.run(["sleep", "20"], limit_s=0.1)


def test_only_known_names_are_substituted_at_any_depth() -> None:
    value = {"a": ["{server}/x", {"b": "{server}{code}"}], "n": 3, "json": "{other}"}

    assert substituted(value, {"server": "S", "code": "C"}) == {"a": ["S/x", {"b": "SC"}], "n": 3, "json": "{other}"}
