"""A team at work on one memory: processes that write and read on a PostgreSQL server that is restarted meanwhile."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

from benchmarks.support.memories import own_word, texts, vectors
from benchmarks.support.postgres import Server
from memory_store import MemoryStore, NarrativeExperience, Provenance
from memory_store.keys import make_key, near_digest
from memory_store.storage.postgres import SCHEMA

ROOT = Path(__file__).resolve().parents[2]
DIMENSION = 384
MAX_WAIT_S = 120.0  # for the processes after their time is over
QUESTIONS_ALONE = 200

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TeamWork:
    """What a team did, and what became of it."""

    acknowledged: int  # number of experiences that writers were told are stored
    # of these, the number of those that are missing afterwards, plus inconsistencies and processes that failed
    lost: int
    doubled: int  # number of experiences that were stored, counted or used more than once
    asked: int  # number of questions of the readers for experience that was just acknowledged to another process
    stale: int  # of these, the number of those that did not find it
    p95_ms: float  # 95th percentile of the time of a question, waiting for the server included, ms
    alone_p95_ms: float  # of a single reader without writers, before, ms


class Seeded:
    """An embedder whose vectors depend on the number and the name at the end of a text only; it takes no time."""

    min_similarity = 0.3
    name = f"given-{DIMENSION}"
    dimension = DIMENSION

    def embed(self, wanted: Sequence[str]) -> Vectors:
        """Return the ``(n, 384)`` unit vectors of texts."""
        seeds = [zlib.crc32(" ".join(text.split()[-2:]).encode()) for text in wanted]
        rows = np.stack([np.random.default_rng(seed).standard_normal(DIMENSION) for seed in seeds])
        unit: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return unit


def fill_server(url: str, count: int) -> None:
    """Put many narrative experiences with synthetic vectors into an empty store on a server."""
    MemoryStore.open(url, Seeded()).close()
    now = datetime.now(UTC).replace(tzinfo=None)
    keys = texts(count)
    tables = {
        "experience": "pk, uid, kind, key_text, key_digest, near_digest, app, embedder, created_at, run_id, task_id,"
        " platform, model, outcome, verified_by, version, times_used, times_worked",
        "narrative": "pk, query, instruction, instruction_digest, summary, plan, success",
        "vector": "pk, embedder, data, near, kind",
    }
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(f"SET search_path TO {SCHEMA}, public")
        indexes = cursor.execute("SELECT indexname FROM pg_indexes WHERE indexname LIKE 'vector_near_%'").fetchall()
        for (index,) in indexes:
            cursor.execute(f"DROP INDEX {index}")
        cursor.execute("ALTER TABLE vector DISABLE TRIGGER vector_near")
        pk = 0
        for part in vectors(count, DIMENSION):
            rows: dict[str, list[tuple[Any, ...]]] = {table: [] for table in tables}
            for vector in part:
                pk += 1
                app, text = next(keys)
                key = make_key(text)
                about = (pk, f"n-{pk:016x}", "narrative", key.text, key.digest, near_digest(text), app, Seeded.name)
                rows["experience"].append((*about, now, "run", "", "linux/x11", "m", "done", "", "", 0, 0))
                rows["narrative"].append((pk, text, text, key.digest, "Opened it and chose the entry.", "[]", True))
                near = "[" + ",".join(map(str, vector.tolist())) + "]"
                rows["vector"].append((pk, Seeded.name, vector.astype("<f4").tobytes(), near, "narrative"))
            for table, columns in tables.items():
                with cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
                    for row in rows[table]:
                        copy.write_row(row)
        cursor.execute("ALTER TABLE vector ENABLE TRIGGER vector_near")
        cursor.execute("SELECT setval(pg_get_serial_sequence('experience', 'pk'), %s)", (count,))
    MemoryStore.open(url, Seeded()).close()  # builds the indexes
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ANALYZE")


def work_as_team(server: Server, url: str, folder: Path, members: int, seconds: float, restarts: int) -> TeamWork:
    """Let members write, and as many read, while the server is restarted: in order and by a crash, in turn.

    Args:
        server: The server.
        url: The store.
        folder: For the outputs of the processes.
        members: Number of writers, and of readers.
        seconds: How long they work, s.
        restarts: Number of restarts, at equal distances.
    """
    names = [own_word(number) for number in range(members)]
    outputs = {name: folder / f"{name}.written" for name in names}
    for output in outputs.values():
        output.touch()
    answers = [folder / f"{number}.read" for number in range(members)]
    alone = _alone_p95(url)
    processes = [_start("write", url, name, str(seconds), output=outputs[name]) for name in names]
    processes += [_start("read", url, str(folder), str(seconds), output=output) for output in answers]
    failed = 0
    try:
        _await_first([*outputs.values(), *answers])
        for number in range(restarts):
            time.sleep(seconds / (restarts + 1))
            server.stop(crash=number % 2 == 1)
            server.start()
        for process in processes:
            failed += process.wait(seconds + MAX_WAIT_S) != 0
    finally:
        for process in processes:
            process.send_signal(signal.SIGKILL)
            process.wait()
    acknowledged = {line.split()[0] for output in outputs.values() for line in _lines(output)}
    found = [line.split() for output in answers for line in _lines(output)]
    stored, problems = _stored(url)
    names_known = set(names)
    of_team = [one for one in stored if one.query.split()[-1] in names_known]
    repeated = sum(count - 1 for count in Counter(one.query for one in of_team).values())
    counted = sum(one.provenance.times_seen > 1 or one.provenance.times_used > 1 for one in of_team)
    unused = sum(one.id in acknowledged and one.provenance.times_used != 1 for one in of_team)
    lost = len(acknowledged - {one.id for one in of_team}) + unused
    return TeamWork(
        acknowledged=len(acknowledged),
        lost=lost + len(problems) + failed,
        doubled=repeated + counted,
        asked=len(found),
        stale=sum(answer == "0" for _, answer in found),
        p95_ms=float(np.percentile([float(took) for took, _ in found], 95)) if found else float("inf"),
        alone_p95_ms=alone,
    )


def _alone_p95(url: str) -> float:
    keys = [text for _, text in texts(QUESTIONS_ALONE)]
    given = next(vectors(QUESTIONS_ALONE, DIMENSION))[:QUESTIONS_ALONE]
    taken = []
    with MemoryStore.open(url, Seeded()) as store:
        for warm in (True, False):
            for text, vector in zip(keys, given, strict=True):
                started = time.perf_counter()
                store.search_narrative(text.replace("How to", "Please"), vector=vector)
                taken += [] if warm else [1000 * (time.perf_counter() - started)]
    return float(np.percentile(taken, 95))


def _stored(url: str) -> tuple[list[NarrativeExperience], list[str]]:
    with MemoryStore.open(url, Seeded()) as store, store.snapshot() as (_, experiences):
        stored = [one for one in experiences if isinstance(one, NarrativeExperience)]
        return stored, store.check()


def _start(job: str, *arguments: str, output: Path) -> subprocess.Popen[bytes]:
    with output.open("wb") as file, output.with_suffix(".errors").open("wb") as errors:
        command = [sys.executable, "-m", "benchmarks.support.team", job, *arguments]
        return subprocess.Popen(command, stdout=file, stderr=errors, cwd=ROOT)


def _await_first(outputs: Sequence[Path]) -> None:
    """Wait until every process has written something: opening a store does not outlive a restart."""
    deadline = time.monotonic() + MAX_WAIT_S
    while not all(output.is_file() and _lines(output) for output in outputs) and time.monotonic() < deadline:
        time.sleep(0.1)


def _lines(output: Path) -> list[str]:
    return [line for line in output.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]


def write(url: str, name: str, seconds: float) -> None:
    """Add experience, use it, and print its id and number, until the time is over."""
    until, number = time.monotonic() + seconds, 0
    with MemoryStore.open(url, Seeded(), busy_timeout_s=60) as store:
        while time.monotonic() < until:
            text = f"How to do the thing {own_word(number)} {name}"
            source = Provenance(run_id=name, app="calc", platform="linux/x11")
            made = store.add_narrative(query=text, instruction=text, summary="x", success=True, provenance=source)
            store.record_uses([made.id], worked=True)
            print(made.id, own_word(number), name, flush=True)
            number += 1


def read(url: str, folder: str, seconds: float) -> None:
    """Ask for what a writer was last told is stored, and print the time, ms, and whether it was found."""
    until, chance = time.monotonic() + seconds, random.Random()
    outputs = sorted(Path(folder).glob("*.written"))
    with MemoryStore.open(url, Seeded(), busy_timeout_s=60) as store:
        while time.monotonic() < until:
            lines = _lines(chance.choice(outputs))
            if not lines:
                time.sleep(0.05)
                continue
            uid, word, name = lines[-1].split()
            started = time.perf_counter()
            hits = store.search_narrative(f"Please do the thing {word} {name}")
            took = 1000 * (time.perf_counter() - started)
            print(f"{took:.3f}", int(uid in [hit.experience.id for hit in hits]), flush=True)


if __name__ == "__main__":
    jobs = {"write": write, "read": read}
    jobs[sys.argv[1]](sys.argv[2], sys.argv[3], float(sys.argv[4]))
