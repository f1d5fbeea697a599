"""Embedders, which map texts to vectors.

Only vectors of the same embedder are comparable. Therefore each embedder has a name, which is stored with its vectors,
and its own similarity threshold for texts about the same thing.
"""

from __future__ import annotations

import importlib.util
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from memory_store.embedding.minilm import MODEL_FILES, MiniLmEmbedder, find_model
from memory_store.errors import EmbeddingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_RUNTIME = ("numpy", "tokenizers", "safetensors")
_WORD = re.compile(r"\w+|[^\w\s]")


class Embedder(Protocol):
    """Maps texts to unit vectors; safe to use from several threads."""

    @property
    def name(self) -> str:
        """Identifies the vector space: equal names mean comparable vectors."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    @property
    def min_similarity(self) -> float:
        """Minimum cosine of two texts about the same thing."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text, ``(n, dimension)`` float32.

        Raises:
            EmbeddingError: The embedder cannot be loaded or run.
        """


class HashingEmbedder:
    """Words and character 3- to 5-grams hashed into a fixed number of signed buckets.

    A fallback that needs no model files; it finds shared words and spellings, but not meaning.
    """

    min_similarity = 0.42

    def __init__(self, dimension: int = 512) -> None:
        if dimension < 8:
            raise ValueError("dimension must be at least 8")
        self._dimension = dimension

    @property
    def name(self) -> str:
        """Identifies the vector space."""
        return f"hashing-{self._dimension}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each text, ``(n, dimension)`` float32."""
        import numpy as np

        vectors = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for gram, count in Counter(_grams(text)).items():
                code = zlib.crc32(gram.encode("utf-8", "surrogatepass"))
                # The top bit gives the sign, so that collisions cancel instead of adding up.
                sign = 1.0 if code & 0x80000000 else -1.0
                vectors[row, (code & 0x7FFFFFFF) % self._dimension] += sign * (1.0 + float(np.log(count)))
            if not vectors[row].any():
                vectors[row, 0] = 1.0
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = vectors / lengths
        return unit


def _grams(text: str) -> Iterator[str]:
    for word in _WORD.findall(text.casefold()):
        marked = f"<{word}>"
        yield marked
        for size in (3, 4, 5):
            for start in range(len(marked) - size + 1):
                yield marked[start : start + size]


def default_embedder(model_dir: Path | None = None) -> Embedder:
    """Return MiniLM if its files and libraries are installed, else `HashingEmbedder`.

    Args:
        model_dir: Folder with the model files; None for that of the installed package.

    Raises:
        EmbeddingError: ``model_dir`` was given and contains no model.
    """
    found = find_model(model_dir)
    if found is None and model_dir is not None:
        raise EmbeddingError(f"{model_dir} lacks one of {', '.join(MODEL_FILES)}: give the folder of the model")
    if found is None or any(importlib.util.find_spec(name) is None for name in _RUNTIME):
        return HashingEmbedder()
    return MiniLmEmbedder(found)


def checked_embed(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Embed the texts and check that the vectors can be stored and compared.

    Raises:
        EmbeddingError: Wrong shape or type, NaN, infinity, or a length other than one.
    """
    import numpy as np

    vectors = np.asarray(embedder.embed(texts))
    wanted = (len(texts), embedder.dimension)
    if vectors.shape != wanted:
        raise EmbeddingError(f"{embedder.name} returned shape {vectors.shape}, not {wanted}: use another embedder")
    if vectors.dtype != np.float32:
        raise EmbeddingError(f"{embedder.name} returned {vectors.dtype}, not float32: use another embedder")
    if not np.isfinite(vectors).all():
        raise EmbeddingError(f"{embedder.name} returned NaN or infinity: use another embedder")
    if np.abs(np.linalg.norm(vectors, axis=1) - 1.0).max(initial=0.0) > 1e-3:
        raise EmbeddingError(f"{embedder.name} returned vectors of a length other than one: use another embedder")
    return np.ascontiguousarray(vectors)


def checked_vector(vector: object, dimension: int) -> Vectors:
    """Check a ``(d,)`` vector from a caller and return it.

    Raises:
        EmbeddingError: Not numbers, wrong shape, NaN, infinity, or a length other than one.
    """
    import numpy as np

    try:
        given = np.ascontiguousarray(vector, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbeddingError(
            f"the vector is not one of numbers ({error}): make it with the store's embedder"
        ) from error
    if given.shape != (dimension,):
        raise EmbeddingError(
            f"the vector has shape {given.shape}, not {(dimension,)}: make it with the store's embedder"
        )
    if not np.isfinite(given).all() or abs(float(np.linalg.norm(given)) - 1.0) > 1e-3:
        raise EmbeddingError("the vector holds NaN or infinity or is not of length one: divide it by its length")
    return given
