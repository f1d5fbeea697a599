"""The errors of a memory store.

::

    MemoryStoreError
    ├── StoreUnavailable     the file cannot be opened, read or written at all
    │   └── ConnectionLost       the server of a store is away or has closed the connection
    ├── StoreBusy            another process kept the store locked for longer than the wait
    ├── StoreCorrupt         the file is damaged
    ├── StoreNewer           the file was written by a newer version
    ├── NotAStore            the file is the database of another program
    ├── StoreFull            no room left on the disk
    ├── StoreReadOnly        the file or its folder is not writable
    ├── StoreClosed          used after close()
    ├── InvalidExperience    a text or record cannot be stored or looked up
    ├── UnknownExperience    no experience has this id
    ├── EmbeddingError       the embedder cannot be loaded or gave unusable vectors
    │   └── EmbedderUnavailable   its server cannot be reached now
    └── TransferError        an export file cannot be read

Every message suggests a fix. The operation that failed has changed nothing.
"""

from __future__ import annotations


class MemoryStoreError(Exception):
    """Root of every error of this package."""


class StoreUnavailable(MemoryStoreError):
    """The file cannot be opened, read or written at all."""


class ConnectionLost(StoreUnavailable):
    """The server of a store is away or has closed the connection, and did not come back in time."""


class StoreBusy(MemoryStoreError):
    """Another process kept the store locked for longer than the wait."""


class StoreCorrupt(MemoryStoreError):
    """The file is damaged. It has been left as it was."""


class StoreNewer(MemoryStoreError):
    """The file was written by a newer version. It has been left as it was."""


class NotAStore(MemoryStoreError):
    """The file is an SQLite database of some other program. It has been left as it was."""


class StoreFull(MemoryStoreError):
    """There is no room left on the disk. Everything stored before is intact."""


class StoreReadOnly(MemoryStoreError):
    """The file or its folder is not writable by this user."""


class StoreClosed(MemoryStoreError):
    """The store was used after it had been closed."""


class InvalidExperience(MemoryStoreError, ValueError):
    """A text or record is not acceptable (empty, too long, NUL, lone surrogate, not JSON). Nothing was written."""


class UnknownExperience(MemoryStoreError, LookupError):
    """No experience in the store has this id."""


class EmbeddingError(MemoryStoreError):
    """The embedder cannot be loaded, or its vectors have the wrong shape, contain NaN or are not unit vectors."""


class EmbedderUnavailable(EmbeddingError):
    """The server of an embedder cannot be reached at the moment. Experience stored meanwhile is embedded later."""


class TransferError(MemoryStoreError):
    """An export file cannot be written or read. Nothing was imported."""
