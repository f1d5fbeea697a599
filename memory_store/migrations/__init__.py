"""Schema migrations (Alembic), run when a store is opened.

Revisions are numbered "0001", "0002", ... so that a newer store is recognized without loading Alembic. A released
migration never changes and names all of its constraints; a change of `memory_store.storage.schema` needs a new one.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from memory_store.errors import StoreNewer

if TYPE_CHECKING:
    from sqlalchemy import Connection

HEAD = "0006"  # the revision that this version of the program reads and writes
SCRIPTS = Path(__file__).resolve().parent

_lock = threading.Lock()  # Alembic keeps its context in module globals.


def check_revision(revision: str, head: str, place: Path | str) -> None:
    """Refuse a store of a newer version.

    Raises:
        StoreNewer: The revision is newer than ``head``.
    """
    if not revision.isdecimal() or int(revision) > int(head):
        raise StoreNewer(
            f"the memory store {place} has schema {revision}, this version reads up to {head}:"
            " update the program, or give it another file"
        )


def run_migrations(connection: Connection, scripts: Path, head: str) -> None:
    """Bring the tables to a revision, within the transaction of a connection."""
    from alembic import command
    from alembic.config import Config

    with _lock:
        config = Config()
        config.set_main_option("script_location", str(scripts).replace("%", "%%"))
        config.attributes["connection"] = connection
        command.upgrade(config, head)
