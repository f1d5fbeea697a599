"""Stores of many experiences for benchmarks, the reference's way of keeping them, and writers that are killed."""

from __future__ import annotations

import json
import pickle
import random
import secrets
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_store import Embedder, HashingEmbedder, MemoryStore, default_embedder
from memory_store.keys import make_key, near_digest

Vectors = NDArray[np.float32]

_VERBS = ("open", "save", "export", "rename", "insert", "remove", "format", "sort", "filter", "print", "copy", "move")
_THINGS = [
    "table",
    "chart",
    "letter",
    "invoice",
    "photo",
    "report",
    "slide",
    "folder",
    "bookmark",
    "message",
    "formula",
    "column",
    "heading",
    "layer",
    "track",
]
_WAYS = [
    "with a keyboard shortcut",
    "from the menu",
    "by the dialog",
    "in the side bar",
    "for all pages",
    "on the second sheet",
]
_APPS = ("calc", "writer", "gimp", "thunar", "chromium", "thunderbird", "vlc", "mousepad")
_SUMMARY = (
    "Opened the application from the launcher, waited for its window, chose the entry in the menu, filled in the dialog"
    " and confirmed it; the first try failed because a panel covered the button, after that it was there. "
) * 4
_BATCH = 5000


def texts(count: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Yield applications and keys of the length that a Manager writes (about 90 characters)."""
    chance = random.Random(seed)
    for number in range(count):
        verb, thing, way = chance.choice(_VERBS), chance.choice(_THINGS), chance.choice(_WAYS)
        app = chance.choice(_APPS)
        yield (
            app,
            f"How to {verb} the {thing} {own_word(number)} {way} in {app}, project {number % 977} of {thing}s",
        )


def own_word(number: int) -> str:
    """Return a word of its own for a number."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    word = ""
    value = number + 17_000
    while value:
        value, rest = divmod(value, 26)
        word += letters[rest]
    return word


def vectors(count: int, dimension: int, seed: int = 0) -> Iterator[Vectors]:
    """Yield unit vectors in parts, gathered around centres as those of texts are; the same for the same seed."""
    centres = np.random.default_rng(7).standard_normal((2000, dimension)).astype(np.float32)
    chance = np.random.default_rng(seed)
    for start in range(0, count, _BATCH):
        size = min(_BATCH, count - start)
        rows = centres[chance.integers(0, len(centres), size)] * np.float32(0.9)
        rows += chance.standard_normal((size, dimension)).astype(np.float32) * np.float32(0.7)
        yield rows / np.linalg.norm(rows, axis=1, keepdims=True)


def fill(path: Path, count: int, embedder: Embedder) -> None:
    """Make a store of so many narrative experiences, faster than by adding them one by one."""
    MemoryStore.open(path, embedder).close()
    now = datetime.now(UTC).replace(tzinfo=None).isoformat(sep=" ")
    keys = texts(count)
    with closing(sqlite3.connect(path)) as raw:
        pk = 0
        for part in vectors(count, embedder.dimension):
            rows, stories, blobs = [], [], []
            for vector in part:
                pk += 1
                app, text = next(keys)
                key = make_key(text)
                rows.append(
                    (pk, f"n-{secrets.token_hex(8)}", key.text, key.digest, app, embedder.name, now, near_digest(text))
                )
                stories.append((pk, text, text, key.digest, _SUMMARY, "[]"))
                blobs.append((pk, embedder.name, vector.astype("<f4").tobytes()))
            raw.executemany(
                "INSERT INTO experience (kind, run_id, task_id, platform, model, outcome, verified_by, version,"
                " times_used, times_worked, pk, uid, key_text, key_digest, app, embedder, created_at, near_digest)"
                " VALUES ('narrative', 'run', '', 'linux/x11', 'm', 'done', '', '', 0, 0, ?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
            raw.executemany("INSERT INTO narrative VALUES (?, ?, ?, ?, ?, ?, 1)", stories)
            raw.executemany("INSERT INTO vector VALUES (?, ?, ?)", blobs)
            raw.commit()
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")


class ReferenceWay:
    """How the reference keeps and finds experience: JSON and a pickle, both read again for each query.

    It compares with scikit-learn's cosine similarity; the same formula is written out here.
    """

    def __init__(self, folder: Path) -> None:
        """Take an empty folder."""
        self._texts = folder / "narrative_memory.json"
        self._vectors = folder / "embeddings.pkl"

    def fill(self, count: int, dimension: int) -> None:
        """Store as much as `fill` does."""
        rows = (row for part in vectors(count, dimension) for row in part)
        keys = [text for _, text in texts(count)]
        self._texts.write_text(json.dumps(dict.fromkeys(keys, _SUMMARY)), encoding="utf-8")
        self._vectors.write_bytes(pickle.dumps({key: row.reshape(1, -1) for key, row in zip(keys, rows, strict=True)}))

    def search(self, vector: Vectors) -> tuple[str, str]:
        """Return the most similar key and its text."""
        kept: dict[str, str] = json.loads(self._texts.read_text(encoding="utf-8"))
        known: dict[str, Any] = pickle.loads(self._vectors.read_bytes())  # noqa: S301 - our own file, the reference's form
        keys = list(known)
        matrix = np.vstack([known[key] for key in keys])
        cosines = (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)) @ (vector / np.linalg.norm(vector))
        best = keys[int(np.argsort(cosines)[::-1][0])]
        self._vectors.write_bytes(pickle.dumps(known))
        return best, kept[best]


class Fixed:
    """An embedder of a given dimension that embeds nothing: all vectors are given."""

    min_similarity = 0.3

    def __init__(self, dimension: int = 384) -> None:
        """Take the dimension."""
        self.dimension = dimension
        self.name = f"given-{dimension}"

    def embed(self, wanted: Any) -> Vectors:
        """Return the same vector for every text; an added experience has to have one."""
        rows = np.zeros((len(wanted), self.dimension), dtype=np.float32)
        rows[:, 0] = 1.0
        return rows


OPEN = """
import sys, time
import psutil
started = time.perf_counter()
import numpy as np
from memory_store import MemoryStore
from benchmarks.support.memories import Fixed, embedder_of
embedder = embedder_of(sys.argv[2])
vector = np.random.default_rng(3).standard_normal(384).astype(np.float32)
vector /= np.linalg.norm(vector)
given = vector if sys.argv[2] == "given" else None
store = MemoryStore.open(sys.argv[1], embedder)
store.search_narrative("How to open the letter in writer", vector=given)
took = time.perf_counter() - started
print(took, psutil.Process().memory_info().rss / 1e6, flush=True)
store.close()
"""
"""A program that opens a store and tells how long that took until the first answer, s, and its memory, MB."""

WRITER = """
import sys
from memory_store import HashingEmbedder, MemoryStore, Provenance
store = MemoryStore.open(sys.argv[1], HashingEmbedder(64), busy_timeout_s=60)
for number in range(1_000_000):
    text = f"How to do {sys.argv[2]} {number}"
    source = Provenance(run_id="r")
    made = store.add_narrative(query=text, instruction=text, summary="x", success=True, provenance=source)
    print(made.id, flush=True)
"""
"""A program that adds experience and acknowledges each by its id until it is killed."""

READER = """
import sys
from memory_store import HashingEmbedder, MemoryStore
store = MemoryStore.open(sys.argv[1], HashingEmbedder(64), busy_timeout_s=60)
while True:
    store.search_narrative("How to do w 1")
    print(store.stats().narrative, flush=True)
"""
"""A program that reads until it is killed."""


def embedder_of(name: str) -> Embedder:
    """Return the embedder of a benchmark's store."""
    return Fixed() if name == "given" else default_embedder()


def opening(path: Path, embedder: str) -> tuple[float, float]:
    """Open a store in a new process; return the seconds to the first answer, and its memory, MB."""
    done = subprocess.run([sys.executable, "-c", OPEN, str(path), embedder], capture_output=True, text=True, check=True)
    seconds, megabytes = done.stdout.split()
    return float(seconds), float(megabytes)


def kill_writers(path: Path, kills: int, seed: int = 0) -> tuple[int, int, int]:
    """Kill writers at random moments while four write and four read.

    Returns:
        How many acknowledged experiences there were, how many of them are lost, and how many readers failed.
    """
    chance = random.Random(seed)
    with MemoryStore.open(path, HashingEmbedder(64)):
        pass
    quiet = subprocess.DEVNULL
    readers = [
        subprocess.Popen([sys.executable, "-c", READER, str(path)], stdout=quiet, stderr=quiet) for _ in range(4)
    ]
    outputs = [path.with_name(f"writer-{number}") for number in range(kills + 4)]
    running: list[subprocess.Popen[bytes]] = []
    acknowledged: set[str] = set()
    failed = 0
    try:
        for number, output in enumerate(outputs):
            with output.open("wb") as file:
                running.append(
                    subprocess.Popen([sys.executable, "-c", WRITER, str(path), f"w{number}"], stdout=file, stderr=quiet)
                )
            if len(running) < 4:
                continue
            victim = running.pop(chance.randrange(len(running)))
            try:
                victim.wait(chance.uniform(0.0, 3.0))
            except subprocess.TimeoutExpired:
                victim.send_signal(signal.SIGKILL)
            victim.wait()
        failed = sum(reader.poll() is not None for reader in readers)
    finally:
        for process in (*running, *readers):
            process.kill()
            process.wait()
    for output in outputs:
        text = output.read_text(encoding="utf-8")
        acknowledged |= {line.strip() for line in text.splitlines(keepends=True) if line.endswith("\n")}
    with MemoryStore.open(path, HashingEmbedder(64)) as store:
        there = {record.id for record in store.list_experiences()}
        problems = store.check()
    return len(acknowledged), len(acknowledged - there) + len(problems), failed
