"""Embedders behind a server with OpenAI's API."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agent_s.errors import SettingsError
from agent_s.memory import choose_embedder
from agent_s.settings import load_settings
from memory_store import (
    EmbedderUnavailable,
    EmbeddingError,
    HashingEmbedder,
    MemoryStore,
    Provenance,
    ServedEmbedder,
)
from tests.wire.formats import KEY
from tests.wire.server import Http, Seen, WireServer

WORDS = ("save", "open", "note", "file", "sheet", "print", "volume", "sound")
SOURCE = Provenance(run_id="r1")


def vectors(seen: Seen) -> Http:
    """Answer with one dimension for each known word, in an order of its own."""
    rows = [[1e-3 + text.lower().count(word) for word in WORDS] for text in seen.body["input"]]
    data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
    return Http(body={"object": "list", "data": data[::-1], "model": seen.body["model"], "usage": {}})


def embedder(server: WireServer) -> ServedEmbedder:
    return ServedEmbedder(f"{server.url}/v1", "words", KEY, min_similarity=0.5)


def test_texts_become_unit_vectors_in_their_order() -> None:
    server = WireServer([vectors] * 9)
    with server.running():
        found = embedder(server).embed(["save the file", "print the sheet"])
    assert found.shape == (2, len(WORDS)) and found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0)
    assert found[0].argmax() == WORDS.index("save") and found[1].argmax() == WORDS.index("sheet")
    assert server.seen[0].path == "/v1/embeddings"
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (Http(503, {"error": "busy"}), EmbedderUnavailable, "503"),
        (Http(429, {"error": "busy"}), EmbedderUnavailable, "429"),
        (Http(401, {"error": {"message": f"wrong key {KEY}"}}), EmbeddingError, "check model and key"),
        (Http(200, {"who": "knows"}), EmbeddingError, "OpenAI's format"),
        (Http(200, {"data": []}), EmbeddingError, "0 vectors for 1 texts"),
    ],
)
def test_a_fault_of_the_server_is_an_error_without_the_key(
    answer: Http, error: type[EmbeddingError], message: str
) -> None:
    server = WireServer([answer])
    with server.running(), pytest.raises(error, match=message) as caught:
        embedder(server).embed(["save"])
    assert type(caught.value) is error and KEY not in str(caught.value)


def test_changing_the_embedder_embeds_again_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    with MemoryStore.open(path, HashingEmbedder()) as store:
        kept = store.add_narrative(query="How to save a note", instruction="Save the note", summary="ctrl+s",
                                   success=True, provenance=SOURCE)  # fmt: skip
    server = WireServer([vectors] * 20)
    with server.running(), MemoryStore.open(path, embedder(server)) as store:
        store.wait_until_embedded()
        assert [hit.experience.id for hit in store.search_narrative("How to save the note")] == [kept.id]
        assert set(store.stats().vectors) == {"hashing-512", "served-words"}
    with MemoryStore.open(path, HashingEmbedder()) as store:
        assert [hit.experience.id for hit in store.search_narrative("How to save the note")] == [kept.id]


def test_experience_is_kept_while_the_server_is_away(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    server = WireServer([])
    with server.running():
        away = embedder(server)
    away.__dict__["dimension"] = len(WORDS)
    with MemoryStore.open(path, away) as store:
        kept = store.add_narrative(query="How to save a note", instruction="Save the note", summary="ctrl+s",
                                   success=True, provenance=SOURCE)  # fmt: skip
        assert [hit.experience.id for hit in store.search_narrative("How to save a note")] == [kept.id]
        assert store.search_narrative("How to print the sheet") == []
    server = WireServer([vectors] * 20)
    with server.running(), MemoryStore.open(path, embedder(server)) as store:
        assert [hit.experience.id for hit in store.search_narrative("How to save the note")] == [kept.id]


def test_settings_name_the_embedder_and_its_key(tmp_path: Path) -> None:
    paper = load_settings(overrides={"memory.embedder": "openai:text-embedding-3-small"})
    built = choose_embedder(paper, {"OPENAI_API_KEY": KEY})
    assert (built.name, built.dimension) == ("served-text-embedding-3-small", 1536)
    with pytest.raises(EmbeddingError, match="OPENAI_API_KEY"):
        choose_embedder(paper, {})
    own = load_settings(overrides={"memory.embedder": "http://localhost:11434/v1#bge-m3", "memory.min_similarity": 0.6})
    assert (choose_embedder(own, {}).name, choose_embedder(own, {}).min_similarity) == ("served-bge-m3", 0.6)
    with pytest.raises(SettingsError, match="embedder"):
        load_settings(overrides={"memory.embedder": "best"})
