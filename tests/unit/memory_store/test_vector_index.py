from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memory_store.search.index import VectorIndex
from memory_store.storage.embeddings import decode, encode


def unit(rows: int, dimension: int = 16, seed: int = 0) -> np.ndarray[Any, Any]:
    vectors = np.random.default_rng(seed).standard_normal((rows, dimension)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def test_search_finds_the_nearest_in_order() -> None:
    vectors, query = unit(200), unit(1, seed=1)[0]
    index = VectorIndex(16)
    index.add(range(1000, 1200), vectors)
    found = index.search(query, 10)
    expected = np.argsort(-(vectors @ query))[:10] + 1000
    assert {number for number, _ in found[:8]} <= set(expected.tolist())
    assert [cosine for _, cosine in found] == sorted((cosine for _, cosine in found), reverse=True)
    np.testing.assert_allclose([cosine for _, cosine in found], np.sort(vectors @ query)[::-1][:10], atol=1e-2)


def test_adding_an_id_again_changes_nothing() -> None:
    index = VectorIndex(16)
    first, second = unit(1, seed=1), unit(1, seed=2)
    index.add([7], first)
    index.add([7, 8], np.concatenate([second, second]))
    assert len(index) == 2
    assert dict(index.search(first[0], 5))[7] == pytest.approx(1.0, abs=1e-2)


def test_removed_ids_are_not_found_and_unknown_ids_are_ignored() -> None:
    index = VectorIndex(16)
    index.add([1, 2, 3], unit(3))
    index.remove([2, 99])
    assert index.ids == {1, 3}
    assert {number for number, _ in index.search(unit(3)[1], 10)} == {1, 3}


def test_an_empty_index_finds_nothing() -> None:
    assert VectorIndex(16).search(unit(1)[0], 3) == []


def test_stored_vectors_are_read_back_and_damaged_ones_are_unusable() -> None:
    vector = unit(1)[0]
    blobs = [encode(vector), None, b"short", encode(vector * np.float32("nan")), encode(vector * 3)]
    vectors, sound = decode(blobs, 16)
    assert sound == [True, False, False, False, False]
    np.testing.assert_array_equal(vectors[0], vector)
