r"""The knowledge base of the Agent S reference: a folder with two JSON objects of texts by key.

``narrative_memory.json`` maps a task to its summary, ``episodic_memory.json`` a task with one subtask, in the form
``Task:\n<task>\n\nSubtask: <subtask>\nSubtask Instruction: <context>``, to its plan. Neither records the outcome, the
application or the time. As the reference keeps finished work only, it counts as an unverified success, which is never
replayed. Ids are derived from the keys, so that a second import changes nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from memory_store.errors import InvalidExperience, TransferError
from memory_store.records.experience import Experience, Provenance, first_problem
from memory_store.records.kinds import EpisodicExperience, NarrativeExperience
from memory_store.storage.rows import to_values

NARRATIVE = "narrative_memory.json"
EPISODIC = "episodic_memory.json"
_KEY = re.compile(
    r"\A\s*Task:\s*(?P<task>.*?)\s*\n\s*Subtask:\s*(?P<subtask>.*?)"
    r"(?:\s*\n\s*Subtask (?:Instruction|Info):\s*(?P<context>.*?))?\s*\Z",
    re.DOTALL,
)


def is_knowledge_base(folder: Path) -> bool:
    """Return whether a folder contains at least one of the two files."""
    return folder.is_dir() and any((folder / name).is_file() for name in (NARRATIVE, EPISODIC))


def read_knowledge_base(folder: Path) -> list[Experience]:
    """Return the experience in a folder.

    Raises:
        TransferError: Neither file exists, or one of them cannot be read or has unexpected content.
    """
    if not is_knowledge_base(folder):
        raise TransferError(f"{folder} has neither {NARRATIVE} nor {EPISODIC}: give such a folder, or an exported file")
    return [*_narratives(folder / NARRATIVE), *_episodes(folder / EPISODIC)]


def _narratives(path: Path) -> Iterator[Experience]:
    for key, summary, source in _entries(path):
        fields = {"query": key, "instruction": key, "summary": summary, "success": True, "provenance": source}
        yield _made(NarrativeExperience, path, key, fields)


def _episodes(path: Path) -> Iterator[Experience]:
    for key, summary, source in _entries(path):
        parts = _KEY.match(key)
        task, subtask, context = parts.groups(default="") if parts else ("", key, "")
        fields = {"task_query": task, "subtask": subtask, "context": context, "summary": summary, "provenance": source}
        yield _made(EpisodicExperience, path, key, fields)


def _entries(path: Path) -> Iterator[tuple[str, str, Provenance]]:
    if not path.exists():
        return
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        moment = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError as error:
        raise TransferError(f"{path} cannot be read ({error.strerror}): check the path and its rights") from error
    except (ValueError, RecursionError) as error:
        raise TransferError(f"{path} is not JSON ({error}): it may be cut short; restore it from a copy") from error
    if not isinstance(entries, dict):
        raise TransferError(f"{path} is not a JSON object of texts: give the folder of a knowledge base")
    source = Provenance(run_id="knowledge-base", outcome="imported", created_at=moment, from_screen=True)
    for key, summary in entries.items():
        if not isinstance(summary, str):
            raise TransferError(f"{path}: {key[:60]!r} is not a text: give the folder of a knowledge base")
        yield key, summary, source


def _made(kind: type[Experience], path: Path, key: str, fields: dict[str, object]) -> Experience:
    number = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    try:
        record = kind.model_validate({"id": f"{kind.kind[0]}-{number}", **fields})
        to_values(record)
    except (ValidationError, InvalidExperience) as error:
        raise TransferError(f"{path}: {key[:60]!r} cannot be stored: {first_problem(error)}") from error
    return record
