"""Terminal output: JSON, tables, and sanitized text."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

_PLAIN_WORD = re.compile(r"[A-Za-z0-9 .,:;_+/@%='-]*")  # text without characters that are special in double quotes


def printable(text: str) -> str:
    """Return text without control characters, so that text from the screen cannot control the terminal."""
    if text.isprintable():
        return text
    return "".join(" " if char in "\n\t" else "\ufffd" if _is_control(char) else char for char in text)


def sentence(text: str) -> str:
    """Return printable text that begins with a capital letter, unless it begins with a name, such as `max_steps`."""
    first, _, _ = text.partition(" ")
    return printable(text[:1].upper() + text[1:] if first.rstrip(",:;").isalpha() and first.islower() else text)


def shorten(text: str, width: int) -> str:
    """Return text as one printable line of at most `width` characters."""
    line = " ".join(printable(text).split())
    return line if len(line) <= width else line[: max(0, width - 1)] + "…"


def echo_json(value: Any) -> None:
    """Write one JSON value to standard output, on one line."""
    click.echo(json.dumps(value, ensure_ascii=False, default=str))


def show_result(values: Any, text: str, as_json: bool) -> None:
    """Write a result as one JSON value or as a line of text."""
    if as_json:
        echo_json(values)
    else:
        click.echo(text)


def new_console(stderr: bool = False) -> Console:
    """Return a rich console that does not interpret markup."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, soft_wrap=not _is_tty(stderr))


def show_table(columns: Sequence[str], rows: Iterable[Sequence[str]], figures: Sequence[str] = ()) -> None:
    """Write a table to standard output.

    Args:
        columns: Headings.
        rows: Cells; control characters are removed.
        figures: Headings of the columns to align right.
    """
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for column in columns:
        right = column in figures
        table.add_column(column, justify="right" if right else "left", no_wrap=right, overflow="fold")
    for row in rows:
        table.add_row(*(printable(cell) for cell in row))
    console = new_console()
    if not console.is_terminal:
        console.width = 200
    console.print(table)


def in_words(verified: bool | None) -> str:
    """Return a verdict as a word."""
    return {True: "yes", False: "no", None: "not checkable"}[verified]


def local_time(moment: datetime | None) -> str:
    """Return a time in the local time zone; "?" for None."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S}" if moment else "?"


def plural(count: int, one: str, many: str = "") -> str:
    """Return "1 step" or "2 steps"; `many` is the irregular plural."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def shell_word(text: str) -> str:
    """Return a text quoted as one word of a shell command line."""
    from shlex import quote

    return f'"{text}"' if _PLAIN_WORD.fullmatch(text) else quote(text)


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf") and char != "\u200d"


def _is_tty(stderr: bool) -> bool:
    return (sys.stderr if stderr else sys.stdout).isatty()
