"""`agent-s` itself: its commands, its help, and how it reports errors and interrupts."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from pydantic_core import SchemaError

from aci.errors import NoDisplay
from agent_s.cli.app import app, run_app
from agent_s.errors import ModelUnavailable, PlanError, SettingsError, TrajectoryError
from agent_s.terminal.exits import INTERRUPTED, EnvironmentProblem
from agent_s.terminal.interrupts import Interrupts
from agent_s.terminal.lazy import LazyGroup
from evaluation.errors import CheckFailed, PagesMissing, TaskFileError
from exploration.errors import LedgerError
from memory_store.errors import StoreBusy, StoreCorrupt, UnknownExperience

HEAVY = (
    "rich",
    "pydantic",
    "numpy",
    "aci",
    "memory_store",
    "evaluation.harness",
    "jinja2",
    "yaml",
    "sqlalchemy",
    "PIL",
)


def all_commands() -> list[list[str]]:
    """Return the words of every command, groups included."""
    words = []
    context = click.Context(app)
    for name in app.list_commands(context):
        words.append([name])
        command = app.get_command(context, name)
        if isinstance(command, click.Group):
            words += [[name, inner] for inner in command.list_commands(context)]
    return words


def test_the_commands_of_this_version() -> None:
    assert [" ".join(words) for words in all_commands()] == [
        "run",
        "resume",
        "runs",
        "runs export",
        "runs list",
        "runs replay",
        "runs report",
        "runs show",
        "record",
        "view",
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
        "memory train",
        "memory vacuum",
        "mcp",
        "osworld",
        "osworld serve",
        "completion",
        "doctor",
        "demo",
        "eval",
        "eval miniwob",
        "eval tasks",
        "eval ablation",
        "eval check",
        "eval export",
        "eval errors",
        "eval report",
        "explore",
    ]


@pytest.mark.parametrize("words", [[], *all_commands()], ids=" ".join)
def test_every_command_has_help_with_an_example(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app([*words, "--help"]) == 0
    out = capsys.readouterr().out
    assert "Examples:" in out
    assert " ".join(["  agent-s", *words]) in out.partition("Examples:")[2]


GROUPS_AND_STREAMS = (["runs"], ["eval"], ["memory"], ["mcp"], ["osworld"], ["completion"])


@pytest.mark.parametrize("words", [words for words in all_commands() if words not in GROUPS_AND_STREAMS], ids=" ".join)
def test_every_command_has_json(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    run_app([*words, "--help"])
    assert "--json" in capsys.readouterr().out


def test_help_lists_every_command_with_its_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["--help"]) == 0
    listed = capsys.readouterr().out.partition("Commands:")[2].partition("Examples:")[0].strip().splitlines()
    names = [line.split()[0] for line in listed]
    assert names == app.list_commands(click.Context(app))
    assert all(line.endswith(".") for line in listed)


def register(folder: Path, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Install a package that registers commands."""
    info = folder / "other-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text("\n".join(["[console_scripts]", "x = y:z", "", "[some.group]", *lines]))
    monkeypatch.syspath_prepend(folder)


def test_installed_package_adds_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other_commands.py").write_text(
        "import click\nfrom agent_s.terminal.lazy import Entry\n"
        "HELLO = Entry('other_commands', 'hello', 'Say hello.')\n"
        "hello = click.Command('hello', callback=lambda: click.echo('Hello!'))\n"
    )
    register(tmp_path, monkeypatch, "hello = other_commands:HELLO")
    group = LazyGroup("tool", entries={}, plugins="some.group")
    group.main(["--help"], standalone_mode=False)
    assert "hello  Say hello." in capsys.readouterr().out
    group.main(["hello"], standalone_mode=False)
    assert capsys.readouterr().out == "Hello!\n"


def test_command_that_cannot_be_loaded_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register(tmp_path, monkeypatch, "hello = not_there:HELLO")
    group = LazyGroup("tool", entries={}, plugins="some.group")
    with pytest.raises(EnvironmentProblem, match="'hello' is registered as not_there:HELLO"):
        group.main(["--help"], standalone_mode=False)


def test_help_loads_nothing_heavy() -> None:
    program = "import sys; from agent_s.cli.app import run_app; run_app(['--help']); print('LOADED', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = done.stdout.partition("LOADED")[2].split()
    assert "click" in loaded
    assert not set(loaded) & set(HEAVY)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rnu", "x"], "Did you mean 'run'?"),
        (["memory", "serch"], "Did you mean 'search'?"),
        (["runs", "lst"], "Did you mean 'list'?"),
        (["run", "x", "--virtul"], "--virtual"),
        (["click the button"], "agent-s run 'click the button'"),
        (["replay", "last"], "Did you mean 'runs replay'?"),
        (["qqqqq"], "Available commands: run, resume, runs"),
        (["--model", "offline", "run", "x"], "Put the options of a command after it: agent-s run"),
        (["--display", ":9", "--virtual"], "not both"),
        (["run"], "Missing argument 'TASK'"),
        (["run", "--virtual", "Open", "the", "editor"], 'Put quotes around the task: agent-s run "Open the editor"'),
        (["record", "Write", "a", "note"], 'agent-s record "Write a note"'),
        (["run", "   "], "the instruction is empty"),
        (["run", "x", "-c", "limits"], "KEY=VALUE"),
        (["run", "x", "-c", "limits.max_step=3"], "Did you mean limits.max_steps?"),
        (["run", "x", "--config", "/nonexistent.yaml"], "There is no configuration file"),
        (["run", "x", "--display", ":9", "--virtual"], "not both"),
        (["demo", "--only", "99"], "Available tasks: 1 "),
        (["memory", "forget"], "--all"),
        (["record", "--end-key", "foo", "x"], "--end-key"),
    ],
)
def test_wrong_usage_is_status_2_and_suggests_a_fix(
    words: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: object,
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert run_app(words) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_misspelt_application_is_suggested_as_a_task_and_an_exploration(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "applications").mkdir()
    entry = "[Desktop Entry]\nType=Application\nName=Mouse Pad\nExec=sh\nKeywords=mousepad;\n"
    (tmp_path / "applications" / "pad.desktop").write_text(entry)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path))
    assert run_app(["musepad"]) == 2
    err = capsys.readouterr().err
    assert "Did you mean the application Mouse Pad?" in err
    assert 'agent-s run "Open Mouse Pad ..."' in err
    assert "agent-s explore 'Mouse Pad'" in err
    assert run_app(["memory", "musepad"]) == 2
    assert "Available commands: check," in capsys.readouterr().err


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
        (CheckFailed("broken"), 1),
        (TaskFileError("broken"), 2),
        (PagesMissing("broken"), 3),
        (LedgerError("broken"), 1),
        (NoDisplay("broken"), 3),
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
    assert "Broken" in err or status == 130


def test_a_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(app, "main", fail)
    with pytest.raises(ZeroDivisionError):
        run_app([])


class Panic(BaseException):
    """What a library written in Rust raises, such as pydantic's core, if a call back into Python fails."""


def interrupted(number: int, error: BaseException) -> None:
    """Fail as a library does that turns the KeyboardInterrupt of a signal into an error of its own."""
    try:
        signal.raise_signal(number)
    except KeyboardInterrupt:
        raise error from None


ERRORS = [
    SchemaError("KeyboardInterrupt: the schema could not be built"),
    ImportError("numpy: the C extensions could not be imported"),
    click.Abort(),
    SettingsError("a setting could not be read"),
    Panic("Python API call failed"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_error_after_ctrl_c_is_the_interrupt(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(app, "main", lambda **_: interrupted(signal.SIGINT, error))
    assert run_app([]) == INTERRUPTED
    assert capsys.readouterr().err == "Stopped.\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_error_after_a_signal_while_a_run_starts_is_the_interrupt(
    error: BaseException, number: int, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(**_: object) -> None:
        with Interrupts(lambda _: None):
            interrupted(number, error)

    monkeypatch.setattr(app, "main", start)
    assert run_app([]) == status
    assert capsys.readouterr().err == "Stopped.\n"


def test_closed_output_pipe_is_not_an_error() -> None:
    command = f"{sys.executable} -m agent_s run --help | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["--version"]) == 0
    assert capsys.readouterr().out.startswith("agent-s ")
