r"""Export and import in one documented format: JSON lines, UTF-8, one record a line.

The first line is the header, each further line one experience, oldest first::

    {"format": "agent-s-memory", "version": 4, "experiences": 3}
    {"kind": "narrative", "id": "n-...", "query": ..., "instruction": ..., "summary": ..., "plan":
        [{"name": ..., "info": ...}], "success": true, "provenance": {...}}
    {"kind": "episodic", "id": "e-...", "task_query": ..., "subtask": ..., "context": ..., "summary": ...,
        "steps": [{...}], "provenance": {...}}
    {"kind": "skill", "id": "s-...", "name": ..., "aliases": [...], "intent": {"kind": "switch", ...},
        "description": ..., "preconditions": [...], "steps": [{...}], "effects": [{...}], "replaced_by": ...,
        "provenance": {...}}

(each on one line). A subtask that a skill did also has ``skill``, its id, and ``values``. ``provenance`` holds the
fields of `Provenance`; times are ISO 8601 in UTC. Vectors are left out: the importing store makes its own.
``experiences`` in the header is the number of lines that follow, so that a truncated file is detected. Earlier
versions are read as well: version 1 had no skills and fewer fields of provenance, version 2 had the aliases of a
skill in its description, version 3 no authors.

Import adds the experiences whose id the store does not have and leaves the others as they are in the store;
importing a file twice therefore changes nothing. It is all or nothing.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError

from memory_store.errors import InvalidExperience, TransferError
from memory_store.knowledge_base import read_knowledge_base
from memory_store.migrations.packed_descriptions import unpack
from memory_store.records.experience import Experience, Record, first_problem
from memory_store.storage.rows import RECORDS, to_values
from memory_store.store import MemoryStore

FORMAT = "agent-s-memory"
VERSION = 4
READABLE = (1, 2, 3, 4)


class ImportReport(Record):
    """The result of an import."""

    added: int  # number of experiences added
    present: int  # number of experiences that were already present


def export_store(store: MemoryStore, path: str | os.PathLike[str]) -> int:
    """Export all experiences to a file (mode 0600), replacing it only once it is complete.

    Returns:
        The number of experiences written.

    Raises:
        TransferError: The file cannot be written.
        MemoryStoreError: The store cannot be read.
    """
    with store.snapshot() as (count, experiences):
        write_export(path, count, experiences)
    return count


def write_export(path: str | os.PathLike[str], count: int, experiences: Iterable[Experience]) -> None:
    """Write experiences to a file; see `write_lines`."""
    header = {"format": FORMAT, "version": VERSION, "experiences": count}
    records = ({"kind": experience.kind, **experience.model_dump(mode="json")} for experience in experiences)
    write_lines(path, chain([header], records))


def write_lines(path: str | os.PathLike[str], values: Iterable[dict[str, Any]]) -> int:
    """Write values as JSON lines to a file (mode 0600), replacing it only once it is complete, and return their number.

    Raises:
        TransferError: The file cannot be written.
    """
    target = Path(path).expanduser().absolute()
    part: Path | None = None
    number = 0
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="\n", dir=target.parent, prefix=f".{target.name}.", delete=False
        ) as file:
            part = Path(file.name)
            for value in values:
                number += 1
                file.write(json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        raise TransferError(f"{target} cannot be written ({error.strerror}): choose another place") from error
    finally:
        if part is not None:
            part.unlink(missing_ok=True)
    return number


def merge_export(store: MemoryStore, path: str | os.PathLike[str]) -> None:
    """Store the experiences of an exported file as if the store learned them now; see `MemoryStore.merge_records`.

    Raises:
        TransferError: As for `import_store`.
        MemoryStoreError: The store cannot be written.
    """
    store.merge_records(_read_export(Path(path)))


def import_store(store: MemoryStore, path: str | os.PathLike[str]) -> ImportReport:
    """Add the experiences of an exported file that the store does not have yet, all or none.

    A folder is read as the knowledge base of the Agent S reference (`memory_store.knowledge_base`).

    Raises:
        TransferError: The file cannot be read, is no export, is of a newer version, or was cut short.
        MemoryStoreError: The store cannot be written.
    """
    source = Path(path).expanduser()
    records = read_knowledge_base(source) if source.is_dir() else _read_export(source)
    added = store.add_records(records)
    return ImportReport(added=added, present=len(records) - added)


def _read_export(source: Path) -> list[Experience]:
    try:
        with source.open(encoding="utf-8", newline="\n") as file:
            return list(_read(file, source))
    except OSError as error:
        raise TransferError(f"{source} cannot be read ({error.strerror}): check the path") from error
    except UnicodeDecodeError as error:
        raise TransferError(f"{source} is not UTF-8 text: give a file made by export") from error


def _read(file: IO[str], source: Path) -> Iterator[Experience]:
    header = _parse(file.readline(), source, 1)
    expected = header.get("experiences")
    if header.get("format") != FORMAT or not isinstance(expected, int):
        raise TransferError(f"{source} is not an export of a memory store: its first line is not the header")
    if header.get("version") not in READABLE:
        raise TransferError(
            f"{source} has format version {header.get('version')}, this program reads up to {VERSION}:"
            " update the program"
        )
    found = 0
    for number, text in enumerate(file, start=2):
        if text.strip():
            found += 1
            line = _parse(text, source, number)
            match line:
                case {"kind": "skill", "name": str(name), "description": str(packed), "provenance": {"app": str(app)}}:
                    if header["version"] < 3:
                        line["aliases"], line["description"] = unpack(name, packed, app)
            yield _record(line, source, number)
    if found != expected:
        raise TransferError(f"{source} has {found} experiences, not {expected} as it says: export it again")


def _parse(text: str, source: Path, number: int) -> dict[str, Any]:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TransferError(f"{source}, line {number} is not JSON: export it again or fix that line") from error
    if not isinstance(line, dict):
        raise TransferError(f"{source}, line {number} is not a JSON object: export it again or fix that line")
    return line


def _record(line: dict[str, Any], source: Path, number: int) -> Experience:
    kind = RECORDS.get(str(line.pop("kind", None)))
    if kind is None:
        raise TransferError(f"{source}, line {number} has an unknown kind: update the program or remove that line")
    try:
        # Strict JSON mode: no number is read as a text and no text as a truth value.
        record = kind.model_validate_json(json.dumps(line), strict=True)
        to_values(record)  # Also checks that its keys are not blank.
    except (ValidationError, InvalidExperience) as error:
        raise TransferError(f"{source}, line {number} is not a valid experience: {first_problem(error)}") from error
    return record
