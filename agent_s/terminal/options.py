"""Options and arguments that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from agent_s.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])


class HomePath(click.Path):
    """A path in which `~` is expanded even where the shell does not do it, as in `--files=~/papers`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path.

        Raises:
            click.BadParameter: The path does not meet the option's requirements.
        """
        return super().convert(os.path.expanduser(value), param, ctx)  # noqa: PTH111 - the value may be text


PATH = HomePath(path_type=Path)
FILE = HomePath(path_type=Path, dir_okay=False)
FOLDER = HomePath(path_type=Path, file_okay=False)
EXISTING_FOLDER = HomePath(path_type=Path, exists=True, file_okay=False)


class Number(click.IntRange):
    """An integer, shown as N in help."""

    name = "N"


def settings_options(command: F) -> F:
    """Add `--config FILE` and `-c KEY=VALUE`, whose values go to `read_settings`."""
    one = click.option(
        "-c",
        "overrides",
        metavar="KEY=VALUE",
        multiple=True,
        shell_complete=_setting_keys,
        help="Override one setting, such as -c replay=false; repeatable.",
    )
    file = click.option("--config", "config_file", metavar="FILE", type=FILE, help="Settings file (YAML).")
    return file(one(command))


def run_argument(command: F) -> F:
    """Add the argument RUN, with shell completion."""
    return click.argument("run", shell_complete=_run_ids)(command)


def with_settings(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """Add `--config FILE` and `-c KEY=VALUE`, and pass the command `settings` instead of their values."""

    @settings_options
    @wraps(command)
    def run(config_file: Path | None, overrides: tuple[str, ...], **values: Any) -> int | None:
        return command(settings=read_settings(config_file, overrides), **values)

    return run


def task_argument(required: bool) -> Callable[[F], F]:
    """Add the argument TASK; several unquoted words are refused with a hint."""

    def as_one(context: click.Context, _parameter: click.Parameter, words: tuple[str, ...]) -> str:
        if len(words) > 1:
            raise click.UsageError(f'Put quotes around the task: {context.command_path} "{" ".join(words)}"', context)
        return "".join(words)

    return click.argument(
        "task", nargs=-1, metavar="TASK" if required else "[TASK]", required=required, callback=as_one
    )


def acting_options(command: F) -> F:
    """Add `--model`, `--display` (`--osworld`), `--virtual` and `--confirm`."""
    for option in (
        click.option(
            "--confirm",
            type=click.Choice(["risky", "always", "never"]),
            help="When to ask you before an action (default: risky actions on your own screen).",
        ),
        click.option("--virtual", is_flag=True, help="Work on a private virtual desktop."),
        display_option,
        click.option("--model", metavar="NAME", help="Model to use (default: from settings)."),
    ):
        command = option(command)
    return command


def display_option(command: F) -> F:
    """Add `--display` (also `--osworld`), which takes an X display or the address of a machine."""
    text = "X display to work on, or the address of an OSWorld machine, such as http://HOST:5000."
    return click.option("--display", "--osworld", "display", metavar=":N|URL", help=text)(command)


def files_option(command: F) -> F:
    """Add `--files`, for commands that may work on a virtual desktop."""
    text = "Folder to copy into the home of the virtual desktop."
    return click.option("--files", metavar="DIR", type=EXISTING_FOLDER, help=text)(command)


def cluster_option(command: F) -> F:
    """Add `--cluster`, for commands that work on several desktops."""
    text = "Use the desktops of this Ray cluster; 'auto' for the one that this machine belongs to."
    return click.option("--cluster", metavar="ADDRESS", help=text)(command)


def check_cluster(cluster: str | None, settings: Settings) -> None:
    """Check that the machines of a cluster, if there is one, can share their memory.

    Raises:
        click.UsageError: Memory is a file.
    """
    if cluster is not None and settings.memory.enabled and settings.memory.url is None:
        raise click.UsageError(
            "--cluster: machines cannot share a memory in a file. Give them a PostgreSQL server with"
            " -c memory.url=postgresql://USER@HOST/DATABASE, or switch memory off with -c memory.enabled=false."
        )


def quiet_option(command: F) -> F:
    """Add `--quiet`."""
    return click.option("-q", "--quiet", is_flag=True, help="Show no progress.")(command)


def json_option(help_text: str) -> Callable[[F], F]:
    """Add `--json`, passed as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help=help_text)


def _setting_keys(_context: click.Context, _parameter: click.Parameter, prefix: str) -> list[str]:
    """Complete the key of a setting."""
    from agent_s.settings import setting_keys

    return [f"{key}=" for key in setting_keys() if key.startswith(prefix)]


def _run_ids(_context: click.Context, _parameter: click.Parameter, prefix: str) -> list[str]:
    """Complete the id of a recorded run, newest first."""
    from agent_s.runs.listing import list_runs
    from agent_s.settings import load_settings

    ids = ["last", *(run.run_id for run in list_runs(load_settings().runs_folder))]
    return [run for run in ids if run.startswith(prefix)]


def read_settings(
    config_file: Path | None, overrides: tuple[str, ...], options: Mapping[str, str | None] | None = None
) -> Settings:
    """Read the settings of a command line.

    Args:
        config_file: A YAML file.
        overrides: Settings as KEY=VALUE.
        options: Values of further command-line options, by setting; None for an option that was not given.

    Raises:
        click.UsageError: An override is not KEY=VALUE.
        SettingsError: A key is unknown, or a value is invalid.
    """
    from agent_s.settings import load_settings

    values: dict[str, object] = {}
    for override in overrides:
        key, sign, value = override.partition("=")
        if not sign or not key.strip():
            raise click.UsageError(f"-c takes KEY=VALUE, such as -c limits.max_steps=30, not {override!r}.")
        values[key.strip()] = value
    values.update({key: value for key, value in (options or {}).items() if value is not None})
    return load_settings(config_file, values)


def with_default_model(settings: Settings) -> Settings:
    """Return settings with a default model if they name none: of the provider whose API key is set, else `offline`."""
    if "model" in settings.model_fields_set:
        return settings
    from agent_s.llm.build import default_model

    return settings.model_copy(update={"model": default_model(os.environ)})
