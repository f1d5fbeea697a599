"""The command line says what it can do, quickly, and what is wrong with a command."""

from __future__ import annotations

import signal
import subprocess
import sys

import click
import pytest

from agent_s.cli.app import ENTRIES, app, run_app
from agent_s.errors import ModelUnavailable, PlanError, SettingsError, TrajectoryError
from agent_s.terminal.exits import INTERRUPTED
from memory_store.errors import StoreBusy, StoreCorrupt, UnknownExperience

HEAVY = ("rich", "pydantic", "numpy", "aci", "memory_store", "evaluation", "jinja2", "yaml", "sqlalchemy", "PIL")


def all_commands() -> list[list[str]]:
    """Return the words of every command, groups included."""
    words = []
    context = click.Context(app)
    for name in ENTRIES:
        words.append([name])
        command = app.get_command(context, name)
        if isinstance(command, click.Group):
            words += [[name, inner] for inner in command.list_commands(context)]
    return words


def test_the_commands_of_this_version() -> None:
    assert [" ".join(words) for words in all_commands()] == [
        "run",
        "resume",
        "demo",
        "runs",
        "runs list",
        "runs replay",
        "runs report",
        "runs show",
        "explore",
        "eval",
        "eval miniwob",
        "eval tasks",
        "eval report",
        "memory",
        "memory check",
        "memory export",
        "memory forget",
        "memory import",
        "memory list",
        "memory quarantine",
        "memory release",
        "memory search",
        "memory show",
        "memory stats",
        "memory vacuum",
        "doctor",
    ]


@pytest.mark.parametrize("words", [[], *all_commands()], ids=" ".join)
def test_every_command_has_help_with_an_example(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app([*words, "--help"]) == 0
    out = capsys.readouterr().out
    assert "Examples:" in out
    assert " ".join(["  agent-s", *words]) in out.partition("Examples:")[2]


@pytest.mark.parametrize(
    "words", [words for words in all_commands() if words not in (["runs"], ["eval"], ["memory"])], ids=" ".join
)
def test_every_command_has_json(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    run_app([*words, "--help"])
    assert "--json" in capsys.readouterr().out


def test_the_summaries_of_the_overview_are_those_of_the_commands() -> None:
    context = click.Context(app)
    for name, entry in ENTRIES.items():
        command = app.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert entry.summary.endswith(".")


def test_help_loads_nothing_heavy() -> None:
    program = "import sys; from agent_s.cli.app import run_app; run_app(['--help']); print('LOADED', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = done.stdout.partition("LOADED")[2].split()
    assert "click" in loaded
    assert not [name for name in loaded if name.split(".")[0] in HEAVY]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["rnu", "x"], "Did you mean 'run'?"),
        (["memory", "serch"], "Did you mean 'search'?"),
        (["runs", "lst"], "Did you mean 'list'?"),
        (["run", "x", "--virtul"], "--virtual"),
        (["click the button"], "agent-s run 'click the button'"),
        (["qqqqq"], "There are: run, resume, demo"),
        (["--model", "offline", "run", "x"], "Options of a command stand behind it: agent-s run"),
        (["--display", ":9", "--virtual"], "not both"),
        (["run"], "Missing argument 'TASK'"),
        (["run", "   "], "the instruction is empty"),
        (["run", "x", "-c", "limits"], "KEY=VALUE"),
        (["run", "x", "-c", "limits.max_step=3"], "Did you mean limits.max_steps?"),
        (["run", "x", "--config", "/nonexistent.yaml"], "There is no configuration file"),
        (["run", "x", "--display", ":9", "--virtual"], "not both"),
        (["demo", "--only", "99"], "There are: 1 "),
        (["memory", "forget"], "--all"),
    ],
)
def test_wrong_usage_is_status_2_and_names_the_mend(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert run_app(words) == 2
    captured = capsys.readouterr()
    assert told in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (SettingsError("broken"), 2),
        (TrajectoryError("broken"), 1),
        (UnknownExperience("broken"), 1),
        (StoreBusy("broken"), 3),
        (StoreCorrupt("broken"), 3),
        (ModelUnavailable("broken"), 3),
        (PlanError("broken"), 3),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
    ],
)
def test_errors_have_their_exit_status_and_no_traceback(
    error: BaseException, status: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(app, "main", fail)
    assert run_app([]) == status
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert "broken" in err or status == 130


def test_a_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(app, "main", fail)
    with pytest.raises(ZeroDivisionError):
        run_app([])


def test_ctrl_c_that_a_library_makes_another_error_of_is_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def build(**_: object) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ValueError("the schema could not be built: KeyboardInterrupt") from None

    monkeypatch.setattr(app, "main", build)
    assert run_app([]) == INTERRUPTED
    assert capsys.readouterr().err == "Stopped.\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m agent_s run --help | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["--version"]) == 0
    assert capsys.readouterr().out.startswith("agent-s ")
