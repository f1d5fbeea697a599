"""Command groups that load commands on first use, so that help and completion stay fast."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import Any

import click
from click.shell_completion import CompletionItem

from agent_s.terminal.exits import EnvironmentProblem


@dataclass(frozen=True, slots=True)
class Entry:
    """Reference to a command, with its summary for help."""

    module: str
    name: str
    summary: str


class SuggestingGroup(click.Group):
    """A group that suggests the nearest command for an unknown one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, or fail with a suggestion."""
        if args and not args[0].startswith("-") and args[0] not in (known := self.list_commands(ctx)):
            suggestion = self._suggest_from_groups(ctx, args[0]) or _suggestion(args[0], known, ctx.command_path)
            ctx.fail(f"There is no command {args[0]!r}. {suggestion}")
        return super().resolve_command(ctx, args)

    def _suggest_from_groups(self, ctx: click.Context, word: str) -> str:
        """Return a suggestion if a subgroup has a command with this name; empty if none has."""
        for name in self.list_commands(ctx):
            group = self.get_command(ctx, name)
            if isinstance(group, click.Group) and word in group.list_commands(ctx):
                return f"Did you mean '{name} {word}'?"
        return ""


class LazyGroup(SuggestingGroup):
    """A group whose commands are listed in a table, and registered by other packages.

    Args:
        entries: Commands by name, in the order in which help lists them.
        plugins: Entry point group under which packages register further commands, each an `Entry`.
    """

    def __init__(self, *args: Any, entries: Mapping[str, Entry], plugins: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._entries = dict(entries)
        self._plugins = plugins

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self._all_entries())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command."""
        entry = self._entries.get(cmd_name) or self._all_entries().get(cmd_name)
        if entry is None:
            return None
        command: click.Command = getattr(import_module(entry.module), entry.name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the names of commands, without loading them, and options."""
        entries = self._all_entries().items()
        matching = [CompletionItem(name, help=entry.summary) for name, entry in entries if name.startswith(incomplete)]
        return [*matching, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in self._all_entries().items()])

    def _all_entries(self) -> Mapping[str, Entry]:
        if self._plugins:
            found, self._plugins = entry_points(self._plugins), ""
            self._entries |= {name: _load(name, found[name]) for name in sorted(found.keys() - self._entries.keys())}
        return self._entries


def entry_points(group: str) -> dict[str, str]:
    """Return the `module:object` references that installed packages register under a group, by name.

    `importlib.metadata` returns the same, but importing it takes a quarter of the time of `agent-s --help`.
    """
    found: dict[str, str] = {}
    for folder in sys.path:
        for file in sorted(Path(folder).glob("*-info/entry_points.txt")):
            section = ""
            for line in file.read_text(encoding="utf-8").splitlines():
                name, sign, reference = (part.strip() for part in line.partition("="))
                if name.startswith("["):
                    section = name.strip("[]")
                elif sign and section == group:
                    found.setdefault(name, reference)
    return found


def _load(name: str, reference: str) -> Entry:
    module, _, attribute = reference.partition(":")
    try:
        entry: Entry = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        message = f"The command {name!r} is registered as {reference}, which cannot be loaded: {error}. "
        raise EnvironmentProblem(f"{message}Reinstall the package that registers it.") from error
    return entry


def examples(*lines: str) -> str:
    """Return the examples section of a command's help, one command line per line."""
    # click does not wrap a paragraph that begins with a backspace.
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def _suggestion(word: str, known: Sequence[str], path: str) -> str:
    """Suggest the nearest command, a task for a sentence or an application, or list all commands."""
    from difflib import get_close_matches

    if " " in word:
        return f"To give a task, write: {path.split()[0]} run {word!r}"
    if near := get_close_matches(word, known, n=1):
        return f"Did you mean {near[0]!r}?"
    if {"run", "explore"} <= set(known) and (name := _application(word)):
        return (
            f'Did you mean the application {name}? To use it, write: {path} run "Open {name} ..."; to let the agent '
            f"learn it: {path} explore {quote(name)}"
        )
    return f"Available commands: {', '.join(known)}."


def _application(word: str) -> str:
    """Return the name of the installed application that a word refers to, or an empty string."""
    from aci.applications.catalog import installed_applications

    return next((found.name for found in installed_applications(os.environ).matches(word)), "")
