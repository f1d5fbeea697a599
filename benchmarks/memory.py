"""Measures how fast experience is found and stored, how well, and whether any of it is lost.

```
python -m benchmarks.memory --json
```

`ratio_1e4`, `ratio_1e5`: how many times faster a retrieval with a given embedding is than in the reference
implementation (JSON and a pickle of embeddings, read again for each query), medians of one run on the same texts.
`p50_ms_1e5`: such a retrieval at 1e5 experiences, median, ms; `recall_1e5`: the share of the ten nearest vectors that
are found, compared with exact search. `retrieve_p50_ms_1e5`: a retrieval that embeds the query and compares it with as
many keys as it ever does, median, ms. `open_s_1e5`: from the start of the imports to the first answer, s;
`rss_mb_1e5`: memory of that process with given embeddings, MB (MiniLM takes 200 MB more, the comparison 45 MB).
`add_p50_ms`: embedding and storing one experience at 1e5, median, ms.
`recall_at_1`, `false_positive_rate`: on labelled paraphrases (`memory_heldout.txt`); a false positive is an answer to a
query for the opposite or for another application. `fresh_`, `unseen_`, `spoken_`, `apart_`: on labels that were
written later (`memory_fresh.txt` and so on; nothing was chosen on the last); `judged_`: where a judge that knows the
labels is asked about doubtful experience, as before a replay; `erring_`: where 5% of its answers are wrong.
`calls_per_query`: of the
judge, where each query is asked once. `kills`: number of writers killed with SIGKILL while four others wrote and four
read; `lost`: number of acknowledged experiences missing afterwards, plus inconsistencies.
`team_acknowledged`: experiences that 8 processes stored on a PostgreSQL server with pgvector and 1e5 experiences,
while 8 read and the server was restarted twice, in order and by a crash; `team_lost`: acknowledged ones missing
afterwards, plus inconsistencies and processes that failed; `team_doubled`: stored, counted or used twice. `team_found`:
share of the questions for what another process was just told is stored that found it. `team_p95_ms`: time of such a
question, the waiting for the server included, 95th percentile, ms; `team_alone_p95_ms`: of one reader without writers.
`--quick` kills few writers, and the team works for 20 s. `--part team` measures the team only.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.support.figures import Figures, command, tell
from benchmarks.support.memories import Fixed, ReferenceWay, Vectors, fill, kill_writers, opening, texts, vectors
from benchmarks.support.postgres import running_server
from benchmarks.support.quality import LABELS, JudgedSearch, Labelled, Quality, measure_quality, read_labelled
from benchmarks.support.team import fill_server, work_as_team
from memory_store import Embedder, HashingEmbedder, MemoryStore, Provenance, default_embedder
from memory_store.embedding.minilm import MiniLmEmbedder
from memory_store.search.ranking import MOST_COMPARED

LATER = ("fresh", "unseen", "spoken", "apart")
QUALITY = tuple(
    f"{part}{name}"
    for part in ("", *(f"{later}_{judge}" for later in LATER for judge in ("", "judged_", "erring_")))
    for name in ("recall_at_1", "false_positive_rate")
) + tuple(f"{later}_calls_per_query" for later in LATER)
NAMES = (
    *("ratio_1e4", "ratio_1e5", "p50_ms_1e5", "recall_1e5", "retrieve_p50_ms_1e5", "open_s_1e5", "rss_mb_1e5"),
    "add_p50_ms",
    *QUALITY,
    *("kills", "lost"),
    *("team_acknowledged", "team_lost", "team_doubled", "team_found", "team_p95_ms", "team_alone_p95_ms"),
)
QUERIES = 40
MEMBERS = 8
DIMENSION = 384


def measure(wanted: argparse.Namespace) -> Figures:
    """Measure everything, or the wanted parts."""
    figures = Figures(NAMES)
    with tempfile.TemporaryDirectory(prefix="agent-s-memory-") as name:
        for part in wanted.part:
            PARTS[part](figures, Path(name), wanted)
    return figures


def _measure_quality(figures: Figures, folder: Path, wanted: argparse.Namespace) -> None:
    with figures.part(*QUALITY):
        _quality(figures, folder)


def _measure_speed(figures: Figures, folder: Path, wanted: argparse.Namespace) -> None:
    for size in (1_000, 10_000, 100_000):
        with figures.part(*[key for key in (f"ratio_1e{len(str(size)) - 1}",) if key in NAMES]):
            _compare_with_reference(figures, folder, size)
    with figures.part(*("open_s_1e5", "rss_mb_1e5", "p50_ms_1e5", "recall_1e5", "retrieve_p50_ms_1e5", "add_p50_ms")):
        _hundred_thousand(figures, folder)


def _measure_kills(figures: Figures, folder: Path, wanted: argparse.Namespace) -> None:
    with figures.part("kills", "lost"):
        kills = 8 if wanted.quick else 200
        (folder / "kills").mkdir()
        acknowledged, lost, failed = kill_writers(folder / "kills" / "memory.db", kills)
        tell(f"{acknowledged} acknowledged, {lost} lost, {failed} readers failed")
        figures.set("kills", kills)
        figures.set("lost", lost + failed)


def _measure_team(figures: Figures, folder: Path, wanted: argparse.Namespace) -> None:
    with figures.part(*(name for name in NAMES if name.startswith("team_"))):
        _team(figures, folder, 20.0 if wanted.quick else wanted.seconds)


PARTS = {"quality": _measure_quality, "speed": _measure_speed, "kills": _measure_kills, "team": _measure_team}


def _team(figures: Figures, folder: Path, seconds: float, wanted_size: int = 100_000) -> None:
    with running_server("fsync=on", "shared_buffers=512MB", "maintenance_work_mem=512MB") as server:
        url = server.new_database()
        fill_server(url, wanted_size)
        done = work_as_team(server, url, folder, MEMBERS, seconds, restarts=2)
    tell(f"{done}")
    figures.set("team_acknowledged", done.acknowledged)
    figures.set("team_lost", done.lost)
    figures.set("team_doubled", done.doubled)
    figures.set("team_found", 1 - done.stale / max(1, done.asked))
    figures.set("team_p95_ms", done.p95_ms)
    figures.set("team_alone_p95_ms", done.alone_p95_ms)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--part", choices=list(PARTS), nargs="+", default=list(PARTS), help="by default all")
    parser.add_argument("--seconds", type=float, default=300.0, help="how long the team works; by default 300")


def _median_ms(act: Callable[[int], object], times: int) -> float:
    taken = []
    for number in range(times):
        started = time.perf_counter()
        act(number)
        taken.append(1000 * (time.perf_counter() - started))
    return statistics.median(taken)


def _questions(size: int, count: int = QUERIES) -> tuple[list[str], Vectors]:
    """Return texts and vectors of queries: those of stored experiences, slightly changed."""
    asked = [text.replace("How to", "Please") for _, text in texts(count)]
    near = next(vectors(size, DIMENSION))[:count]
    noise = np.random.default_rng(5).standard_normal(near.shape).astype(np.float32) * np.float32(0.02)
    near = near + noise
    return asked, near / np.linalg.norm(near, axis=1, keepdims=True)


def _compare_with_reference(figures: Figures, folder: Path, size: int) -> None:
    path = folder / f"{size}.db"
    fill(path, size, Fixed())
    asked, given = _questions(size, 2 * QUERIES)
    with MemoryStore.open(path, Fixed()) as store:
        # Other queries first: an agent asks many in the life of its process.
        for number in range(QUERIES, 2 * QUERIES):
            store.search_narrative(asked[number], vector=given[number])
        ours = _median_ms(lambda n: store.search_narrative(asked[n], vector=given[n]), QUERIES)
    (folder / f"reference-{size}").mkdir()
    reference = ReferenceWay(folder / f"reference-{size}")
    reference.fill(size, DIMENSION)
    theirs = _median_ms(lambda n: reference.search(given[n]), 3 if size >= 100_000 else 10)
    tell(f"{size}: {ours:.2f} ms, the reference {theirs:.1f} ms, {theirs / ours:.0f} times")
    name = f"ratio_1e{len(str(size)) - 1}"
    if name in NAMES:
        figures.set(name, theirs / ours)


def _hundred_thousand(figures: Figures, folder: Path) -> None:
    path = folder / "100000.db"
    seconds, megabytes = zip(*(opening(path, "given") for _ in range(3)), strict=True)
    figures.set("open_s_1e5", statistics.median(seconds))
    figures.set("rss_mb_1e5", max(megabytes))
    embedder = default_embedder()
    with MemoryStore.open(path, Fixed()) as store:
        asked, given = _questions(100_000)
        store.search_narrative(asked[0], vector=given[0])
        figures.set("p50_ms_1e5", _median_ms(lambda n: store.search_narrative(asked[n], vector=given[n]), QUERIES))
        with store._database.read() as connection:
            near = [store._retriever.index.search(connection, "narrative", vector, 32, ())[0][:10] for vector in given]
        figures.set("recall_1e5", _recall([[pk for pk, _ in found] for found in near], given))
        if embedder.dimension != DIMENSION:
            figures.lack("retrieve_p50_ms_1e5", "MiniLM is not installed")
            figures.lack("add_p50_ms", "MiniLM is not installed")
            return

        compared = [text for _, text in texts(MOST_COMPARED)]

        def retrieve(number: int) -> None:
            embedder.embed([asked[number]])
            store.search_narrative(asked[number], vector=given[number])
            if isinstance(embedder, MiniLmEmbedder):
                for text in compared:
                    embedder.same(asked[number], text)

        retrieve(0)
        figures.set("retrieve_p50_ms_1e5", _median_ms(retrieve, QUERIES))

        def add(number: int) -> None:
            text = f"How to try the new thing {number} in another way"
            embedder.embed([text])
            source = Provenance(run_id="r", app="calc")
            store.add_narrative(query=text, instruction=text, summary="x", success=True, provenance=source)

        figures.set("add_p50_ms", _median_ms(add, QUERIES))


def _quality(figures: Figures, folder: Path) -> None:
    for part, path in LABELS.items():
        labelled = read_labelled(path)
        embedders: list[tuple[str, Embedder]] = [("hybrid", default_embedder()), ("hashing", HashingEmbedder())]
        for name, embedder in embedders:
            with MemoryStore.open(folder / f"{name}-{part}.db", embedder) as store:
                for app, key in labelled.stored:
                    source = Provenance(run_id="r", app=app)
                    store.add_narrative(query=key, instruction=key, summary="x", success=True, provenance=source)

                def search(query: str, store: MemoryStore = store) -> list[str]:
                    return [hit.experience.query for hit in store.search_narrative(query, 5)]

                found = _report_quality(f"{name}, {part}", labelled, search)
                if name == "hybrid":
                    _report_quality(f"embedding only, {part}", labelled, _by_meaning(store, embedder))
                    _report_quality(f"lexical only, {part}", labelled, _by_words(store))
                    if part == "measuring":
                        _among_many(folder, labelled)
                        _set_quality(figures, "", found)
                    elif part in LATER:
                        _set_quality(figures, f"{part}_", found)
                        _with_judge(figures, part, labelled, store)


def _set_quality(figures: Figures, prefix: str, found: Quality) -> None:
    figures.set(f"{prefix}recall_at_1", found.recall_at_1)
    figures.set(f"{prefix}false_positive_rate", found.false_positive_rate)


def _with_judge(figures: Figures, part: str, labelled: Labelled, store: MemoryStore) -> None:
    """Measure what a judge that knows the labels adds, one without errors and one that errs."""
    for kind, error_rate in (("judged", 0.0), ("erring", 0.05)):
        judged = JudgedSearch(labelled, store, error_rate)
        _set_quality(
            figures, f"{part}_{kind}_", _report_quality(f"{judged.model.name}, {part}", labelled, judged.search)
        )
        if not error_rate:
            queries = len(labelled.queries) + sum(map(len, labelled.without.values()))
            figures.set(f"{part}_calls_per_query", judged.calls / queries)


def _report_quality(name: str, labelled: Labelled, search: Callable[[str], list[str]]) -> Quality:
    found = measure_quality(labelled, search)
    answered = ", ".join(f"{what} {share:.3f}" for what, share in found.answered.items())
    tell(
        f"{name}: recall@1 {found.recall_at_1:.3f}, MRR {found.mrr:.3f}, held back {found.held_back:.3f}, outranked"
        f" {found.outranked:.3f}, false positives {found.false_positive_rate:.3f}; answered of {answered}"
    )
    return found


def _among_many(folder: Path, labelled: Labelled, size: int = 1000) -> None:
    """Report the share of correct hits in a store with many similar experiences."""
    embedder = default_embedder()
    with MemoryStore.open(folder / "many.db", embedder) as store:
        others = read_labelled(LABELS["tuning"]).stored + list(texts(size))
        for app, key in (labelled.stored + others)[:size]:
            source = Provenance(run_id="r", app=app)
            store.add_narrative(query=key, instruction=key, summary="x", success=True, provenance=source)
        right = given = answered = 0
        for query, position in labelled.queries:
            hits = [hit.experience.query for hit in store.search_narrative(query)]
            right += labelled.stored[position][1] in hits
            given += len(hits)
            answered += bool(hits)
        count = len(labelled.queries)
        tell(
            f"among {len(store.list_experiences())}: the right one is found for {right / count:.3f} of the queries,"
            f" something for {answered / count:.3f}, {given / max(1, answered):.2f} each;"
            f" {right / max(1, given):.3f} of the hits are right"
        )


def _by_meaning(store: MemoryStore, embedder: Embedder) -> Callable[[str], list[str]]:
    keys = [record.key.text for record in store.list_experiences()]
    known = embedder.embed(keys)

    def search(query: str) -> list[str]:
        cosines = known @ embedder.embed([query])[0]
        return [keys[place] for place in np.argsort(-cosines)[:5] if cosines[place] >= 0.5]

    return search


def _by_words(store: MemoryStore) -> Callable[[str], list[str]]:
    from memory_store.search.lexical import WordSearch

    words = WordSearch()
    database = store._database
    keys = {number: record.key.text for number, record in enumerate(reversed(store.list_experiences()), start=1)}

    def search(query: str) -> list[str]:
        with database.read() as connection:
            return [keys[pk] for pk in words.search(connection, "narrative", query, 5, len(keys))]

    return search


def _recall(found: list[list[int]], given: Vectors) -> float:
    cosines = given @ np.concatenate(list(vectors(100_000, DIMENSION))).T
    nearest = np.argpartition(-cosines, 10, axis=1)[:, :10] + 1
    shares = [len(set(pks) & set(exact.tolist())) / 10 for pks, exact in zip(found, nearest, strict=True)]
    return float(np.mean(shares))


if __name__ == "__main__":
    sys.exit(command("memory", (__doc__ or "").partition("\n")[0], measure, _options))
