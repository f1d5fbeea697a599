"""Embeddings by a server with OpenAI's API: OpenAI itself, vLLM, Ollama, llama.cpp, text-embeddings-inference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from memory_store.errors import EmbedderUnavailable, EmbeddingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

OPENAI = "https://api.openai.com/v1"
DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072}
"""Lengths of vectors that need not be asked for."""
_BATCH = 128


class ServedEmbedder:
    """An embedder behind a server; it sends at most 128 texts per request.

    Args:
        address: Base URL, such as http://localhost:8000/v1.
        model: Name of the model, which identifies the vector space.
        key: API key; empty if the server needs none. No error repeats it.
        min_similarity: Minimum cosine of two texts about the same thing, which depends on the model.
        timeout_s: Longest wait for an answer, s.
    """

    def __init__(
        self, address: str, model: str, key: str = "", min_similarity: float = 0.4, timeout_s: float = 20.0
    ) -> None:
        self.min_similarity = min_similarity
        self._address = address.rstrip("/")
        self._model = model
        self._key = key
        self._timeout_s = timeout_s

    @property
    def name(self) -> str:
        """Identifies the vector space."""
        return f"served-{self._model}"

    @cached_property
    def dimension(self) -> int:
        """Length of a vector, determined by a request if unknown.

        Raises:
            EmbeddingError: The request failed.
        """
        return DIMENSIONS.get(self._model) or len(self._ask(["length"])[0])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each text, ``(n, dimension)`` float32.

        Raises:
            EmbedderUnavailable: The server cannot be reached, or is too busy.
            EmbeddingError: It refuses, or its response is not a list of vectors.
        """
        import numpy as np

        rows = [row for start in range(0, len(texts), _BATCH) for row in self._ask(texts[start : start + _BATCH])]
        vectors = np.array(rows, dtype=np.float32).reshape(len(texts), self.dimension)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not lengths.all():
            raise EmbeddingError(f"{self._where} returned a vector of zeros: use another embedder")
        unit: Vectors = vectors / lengths
        return unit

    @property
    def _where(self) -> str:
        return f"{self._model} at {self._address}"

    def _ask(self, texts: Sequence[str]) -> list[list[float]]:
        import httpx

        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        body = {"model": self._model, "input": [text or " " for text in texts], "encoding_format": "float"}
        try:
            reply = httpx.post(f"{self._address}/embeddings", json=body, headers=headers, timeout=self._timeout_s)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise EmbedderUnavailable(f"{self._where} does not answer ({error}): check memory.embedder") from None
        if reply.status_code == 429 or reply.status_code >= 500:
            raise EmbedderUnavailable(f"{self._where} is not available (HTTP {reply.status_code}): try again later")
        if not reply.is_success:
            said = " ".join(reply.text.replace(self._key or "\0", "[key]").split())[:200]
            raise EmbeddingError(f"{self._where} refuses (HTTP {reply.status_code}: {said}): check model and key")
        try:
            listed = sorted(reply.json()["data"], key=lambda one: int(one["index"]))
            rows = [[float(value) for value in one["embedding"]] for one in listed]
        except (ValueError, KeyError, TypeError) as error:
            raise EmbeddingError(f"{self._where} does not answer in OpenAI's format: check the address") from error
        sizes = {len(row) for row in rows}
        if len(rows) != len(texts) or len(sizes) != 1 or not all(math.isfinite(value) for row in rows for value in row):
            raise EmbeddingError(f"{self._where} returned {len(rows)} vectors for {len(texts)} texts, or broken ones")
        wanted = DIMENSIONS.get(self._model)
        if wanted is not None and sizes != {wanted}:
            raise EmbeddingError(f"{self._where} returned vectors of length {sizes.pop()}, not {wanted}")
        return rows
