"""Experience for the tests of the memory store."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Update

from memory_store import (
    EpisodicExperience,
    MemoryStore,
    NarrativeExperience,
    PlannedSubtask,
    Provenance,
    WebAnswer,
    WebPage,
)
from memory_store.storage.opening import locate, open_located

SAVE = "How to save a text file under another name in Mousepad"
SAVE_LIKE = "How to save the text file with another name in Mousepad"
SUM = "How to sum a column of numbers in LibreOffice Calc"

WEB_ANSWER = WebAnswer(
    engine="searxng http://localhost:8080 5",
    query=SAVE,
    pages=(WebPage(title="é 漢字 \U0001f600", url="http://one.example/", content="File > Save As\n'quotes' \\"),),
    asked_at=datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
)


def source(**fields: Any) -> Provenance:
    return Provenance(**{"run_id": "run-1", "app": "mousepad", "platform": "linux/x11", **fields})


def narrative(store: MemoryStore, query: str = SAVE, success: bool = True, **fields: Any) -> NarrativeExperience:
    instruction = fields.pop("instruction", f"Please: {query}")
    return store.add_narrative(
        query=query,
        instruction=instruction,
        summary="Opened the dialog and gave the new name; é 漢字 \U0001f600 'quotes' \\ and\nlines.",
        success=success,
        plan=(PlannedSubtask(name="Open the file", info="from Documents"), PlannedSubtask(name="Save it")),
        provenance=source(**fields),
    )


def episodic(store: MemoryStore, subtask: str = "Save it as draft.txt", **fields: Any) -> EpisodicExperience:
    task_query, context = fields.pop("task_query", SAVE), fields.pop("context", "")
    return store.add_episodic(
        task_query=task_query,
        subtask=subtask,
        context=context,
        summary="Pressed ctrl+s and typed the name.",
        steps=[
            {"action": "hotkey", "keys": ["ctrl", "s"]},
            {"action": "type", "text": "é 漢字 'x'", "element": {"role": "text", "name": None, "at": [1.5, -2]}},
        ],
        provenance=source(**fields),
    )


def change_rows(place: str, statement: Update) -> None:
    """Change rows of a store's tables behind its back."""
    database, _ = open_located(locate(place), 60.0)
    try:
        with database.write() as connection:
            connection.execute(statement)
    finally:
        database.close()
