"""Wrong usage of `agent-s explore`."""

from __future__ import annotations

import io
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aci.applications.catalog import Application
from agent_s.cli.app import run_app
from agent_s.llm.scripted import ScriptedModel
from agent_s.settings import Settings
from exploration.job.exploration_job import Exploration, Plan, Progress
from exploration.job.folders import locked, write_whole
from exploration.job.scope import Scope

SH = Application("sh", "sh", ("sh",))


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine with everything but applications, somebody's home, and no desktop that would start."""
    monkeypatch.setattr("evaluation.commands.eval_run.refuse_missing_programs", lambda: None)
    for name in ("HOME", "XDG_DATA_HOME", "XDG_DATA_DIRS"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "nobodys")
    monkeypatch.setattr("exploration.job.exploration_job.Exploration.run", lambda self: pytest.fail("it began"))


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--search", "-1"], "x>=0"),
        (["--search", "nan"], "not a finite number"),
        (["--dollars", "inf"], "not a finite number"),
        (["--out", ""], "give a folder"),
        (["--tasks", "many"], "--tasks"),
        (["--depth", "0"], "--depth"),
        (["sh", "--model", "offline", "--aware", "5"], "--aware needs a language model"),
        (["sh", "-c", "roles.plan=offline", "--independent", "5"], "--independent needs a language model"),
        ([""], "No application matches ''"),
        (["no-such-thing"], "No application matches 'no-such-thing'"),
        ([], "No installed application can be explored"),
        (["sh", "--model", "openai:unheard-of", "--dollars", "1"], "price of openai:unheard-of is unknown"),
    ],
)
def test_wrong_usage_is_reported_before_anything_starts(
    words: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["explore", *words]) == 2
    assert problem in capsys.readouterr().err


@pytest.fixture
def mousepad(tmp_path: Path) -> None:
    """The application Mousepad is installed."""
    (tmp_path / "home" / "applications").mkdir(parents=True)
    entry = "[Desktop Entry]\nType=Application\nName=Mousepad\nExec=sh\n"
    (tmp_path / "home" / "applications" / "mousepad.desktop").write_text(entry)


@pytest.mark.usefixtures("mousepad")
def test_misspelled_application_is_not_explored_unasked(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["explore", "musepad"]) == 2
    assert "No application matches 'musepad'. Did you mean Mousepad?" in capsys.readouterr().err


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """The plans that would be carried out, with a model that answers nothing."""
    seen: list[Plan] = []

    def run(job: Exploration) -> Iterator[Progress]:
        seen.append(job.plan)
        return iter(())

    monkeypatch.setattr("agent_s.llm.build.build_models", lambda *_: ScriptedModel({}))
    monkeypatch.setattr("exploration.job.exploration_job.Exploration.run", run)
    return seen


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--model", "offline"], (10, 0, 0)),
        (["--model", "openai:unheard-of"], (0, 50, 0)),
        (["--model", "openai:unheard-of", "--tasks", "4"], (4, 0, 0)),
        (["--model", "openai:unheard-of", "--aware", "9"], (0, 50, 9)),
        (["--model", "openai:unheard-of", "--tasks", "4", "--independent", "3"], (4, 3, 0)),
    ],
)
def test_default_number_of_tasks_depends_on_the_model(
    words: list[str], expected: tuple[int, ...], plans: list[Plan], tmp_path: Path
) -> None:
    run_app(["explore", "sh", "--quiet", "--dry-run", "--out", str(tmp_path / "out"), *words])
    assert [(plan.wanted, plan.independent, plan.aware) for plan in plans] == [expected]


def test_a_resumed_exploration_of_an_earlier_version_gets_no_other_tasks(plans: list[Plan], tmp_path: Path) -> None:
    scope = Scope(applications=(SH,), tasks=7, search_s=None, depth=5, settings=Settings(model="openai:unheard-of"))
    write_whole(tmp_path / "scope.json", scope.model_dump_json(exclude={"independent", "aware"}))
    run_app(["explore", "--quiet", "--dry-run", "--out", str(tmp_path)])
    assert [(plan.wanted, plan.independent, plan.aware) for plan in plans] == [(7, 0, 0)]


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "photo.jpg").touch()
    assert run_app(["explore", "sh", "--out", str(tmp_path)]) == 1
    assert "holds no exploration, but other files" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["photo.jpg"]


class Terminal(io.StringIO):
    """What a person types."""

    def isatty(self) -> bool:
        return True


@pytest.mark.usefixtures("mousepad")
@pytest.mark.parametrize(("answer", "names"), [("y\n", [["Mousepad"]]), ("n\n", [])])
def test_person_is_asked_which_application_is_meant(
    answer: str, names: list[list[str]], plans: list[Plan], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    run_app(["explore", "musepad", "--model", "offline", "--out", str(tmp_path / "out")])
    assert [[application.name for application in plan.applications] for plan in plans] == names


def test_folders_of_an_exploration_are_private(tmp_path: Path) -> None:
    with locked(tmp_path / "agent-s" / "explorations" / "one"):
        pass
    folders = [
        tmp_path / "agent-s",
        tmp_path / "agent-s" / "explorations",
        tmp_path / "agent-s" / "explorations" / "one",
    ]
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700] * 3
