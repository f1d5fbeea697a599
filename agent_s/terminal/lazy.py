"""A group of commands that loads a command when it is used, so that help and completion stay fast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a command is defined, and the line that help shows for it."""

    module: str
    name: str
    summary: str


class LazyGroup(click.Group):
    """A group whose commands are named in a table.

    Args:
        entries: Commands by name, in the order in which help lists them.
    """

    def __init__(self, *args: Any, entries: Mapping[str, Entry], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._entries = dict(entries)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self._entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command."""
        from importlib import import_module

        entry = self._entries.get(cmd_name)
        if entry is None:
            return None
        command: click.Command = getattr(import_module(entry.module), entry.name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in self._entries.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one may have been meant."""
        if args and args[0] not in self._entries and not args[0].startswith("-"):
            ctx.fail(f"There is no command {args[0]!r}. {suggestion(args[0], self._entries, ctx.command_path)}")
        return super().resolve_command(ctx, args)


class SuggestingGroup(click.Group):
    """An ordinary group that says which command may have been meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one may have been meant."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            ctx.fail(f"There is no command {args[0]!r}. {suggestion(args[0], self.commands, ctx.command_path)}")
        return super().resolve_command(ctx, args)


def examples(*lines: str) -> str:
    """Return command lines as the end of a command's help, each on a line of its own."""
    # A paragraph that begins with a backspace is one that click does not wrap.
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def suggestion(word: str, known: Mapping[str, object], path: str) -> str:
    """Return the near command, or all of them; a whole sentence was probably meant as a task."""
    from difflib import get_close_matches

    if " " in word:
        return f"To give a task, write: {path.split()[0]} run {word!r}"
    near = get_close_matches(word, known, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(known)}."
