"""Embedding in the background what has no vector yet, so that a change of the embedder delays no opening."""

from __future__ import annotations

import logging
import threading

from memory_store.embedding.embedders import Embedder
from memory_store.errors import MemoryStoreError, StoreBusy
from memory_store.search.index import store_missing_vectors
from memory_store.storage.database import Database

_log = logging.getLogger(__name__)


class Background:
    """A thread that embeds what is missing, and ends when that is done or the store is closed.

    Args:
        database: Where.
        embedder: Makes the vectors.
    """

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._error: MemoryStoreError | None = None

    def start(self) -> None:
        """Begin."""
        self._thread = threading.Thread(target=self._run, name="memory-embedding", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End after the batch at hand; the rest is done after the next opening."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def wait(self) -> None:
        """Wait for the end.

        Raises:
            MemoryStoreError: It ended with this error.
        """
        if self._thread is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                store_missing_vectors(self._database, self._embedder, self._stopped.is_set)
                return
            except StoreBusy:
                self._stopped.wait(0.2)
            except MemoryStoreError as error:
                self._error = error
                _log.warning("not everything has a vector by %s yet: %s", self._embedder.name, error)
                return
