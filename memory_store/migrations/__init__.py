"""Schema migrations (Alembic), run by `memory_store.storage.database` when a store is opened.

Revisions are numbered "0001", "0002", ... so that a newer store can be told from an older one without
loading Alembic. A released migration never changes; a change of `memory_store.storage.schema` needs a new one.
"""

from __future__ import annotations

from pathlib import Path

HEAD = "0004"
"""The revision this version of the program reads and writes."""

SCRIPTS = Path(__file__).resolve().parent
"""The folder Alembic reads the migrations from."""
