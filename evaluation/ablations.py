"""Configurations compared in an ablation study, read from a table such as `configs/ablations/paper.yaml`."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from agent_s.records import Record
from agent_s.search.build import chosen_engine
from agent_s.settings import Settings
from evaluation.errors import EvaluationError

MEMORY_FILE = "memory.sqlite"

Start = Literal["explored", "raw", "empty"]  # initial content of the memory of a row


class Row(Record):
    """One configuration of the agent."""

    title: str  # description for tables
    tables: tuple[int, ...] = ()  # tables of the paper that contain the row
    memory: Start = "empty"  # initial content of the memory
    set: dict[str, Any] = Field(default_factory=dict)  # settings by dotted key


class Rows(Record):
    """A table of configurations."""

    common: dict[str, Any] = Field(default_factory=dict)  # settings shared by all rows, by dotted key
    reference: str  # name of the baseline row
    rows: Annotated[dict[str, Row], Field(min_length=1)]  # rows by name


@dataclass(frozen=True, slots=True)
class Planned:
    """A row with its resolved settings, or the reason for skipping it."""

    name: str  # name of the row
    row: Row
    settings: Settings  # all settings; the memory file is in the folder of the row
    start: Path | None = None  # memory file to copy there; None for an empty memory
    same_as: str = ""  # earlier row with the same configuration, whose results this one shares; empty if none
    left_out: str = ""  # reason for skipping the row; empty if it runs


def load_rows(path: Path) -> Rows:
    """Read a table of rows.

    Raises:
        EvaluationError: The file cannot be read or is invalid.
    """
    import yaml

    try:
        rows = Rows.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError) as error:
        raise EvaluationError(f"The table {path} cannot be read: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise EvaluationError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}.") from error
    if rows.reference not in rows.rows:
        raise EvaluationError(f"{path}: there is no row {rows.reference!r}, which `reference` names.")
    return rows


def plan_rows(
    rows: Rows, settings: Mapping[str, Settings], folder: Path, memories: Mapping[Start, Path | None]
) -> list[Planned]:
    """Resolve the selected rows: give each its own memory, and detect duplicate and unavailable configurations.

    Args:
        rows: The table.
        settings: Settings of the selected rows by name, in order.
        folder: Results folder; each row gets a subfolder.
        memories: Memory file for each kind of initial content, None if there is none.
    """
    planned: list[Planned] = []
    known: dict[tuple[str, Path | None], str] = {}
    for name, given in settings.items():
        row = rows.rows[name]
        start = memories.get(row.memory) if given.memory.enabled else None
        if row.memory == "raw" and memories.get("explored") is not None and start is None:
            planned.append(Planned(name, row, given, left_out="it needs --raw-memory"))
            continue
        own = given.memory.model_copy(update={"path": folder / name / MEMORY_FILE, "url": None})
        search = given.search.model_copy(update={"engine": chosen_engine(given)})
        key = (given.model_copy(update={"search": search}).model_dump_json(), start)
        same = known.setdefault(key, name)
        changed = given.model_copy(update={"memory": own}) if given.memory.enabled else given
        planned.append(Planned(name, row, changed, start, same_as="" if same == name else same))
    return planned


def prepare_memory(one: Planned) -> None:
    """Copy the initial memory of a row, unless the row already has a memory.

    Raises:
        EvaluationError: The file cannot be copied.
    """
    target = one.settings.memory.path
    if one.start is None or target is None or target.exists():
        return
    partial = target.with_suffix(".partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.unlink(missing_ok=True)
        address = f"{one.start.resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as source, closing(sqlite3.connect(partial)) as copy:
            source.backup(copy)
        partial.replace(target)
    except (OSError, sqlite3.Error) as error:
        raise EvaluationError(f"The memory {one.start} cannot be copied to {target}: {error}") from error


def choose_rows(rows: Rows, names: Sequence[str], tables: Sequence[int]) -> list[str]:
    """Return the names of the selected rows in table order; without names and tables, all of them.

    Raises:
        EvaluationError: A row or table does not exist.
    """
    for name in names:
        if name not in rows.rows:
            raise EvaluationError(f"There is no row {name!r}. Rows: {', '.join(rows.rows)}.")
    known = sorted({table for row in rows.rows.values() for table in row.tables})
    for table in tables:
        if table not in known:
            raise EvaluationError(f"There is no table {table}. Tables: {', '.join(map(str, known))}.")
    if not names and not tables:
        return list(rows.rows)
    return [name for name, row in rows.rows.items() if name in names or set(row.tables) & set(tables)]
