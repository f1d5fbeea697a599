"""Nearest neighbours among unit vectors with FAISS.

Vectors take one byte for each number: a quarter of the memory and half of the time of floats. The error of a cosine is
less than 0.01; exact cosines are computed from the vectors in the database.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


class VectorIndex:
    """Inner-product search over unit vectors with integer ids; compares the query with all of them.

    Args:
        dimension: Length of the vectors.
    """

    def __init__(self, dimension: int) -> None:
        import faiss
        import numpy as np

        # One query at a time: starting threads costs more than they save.
        faiss.omp_set_num_threads(1)
        quantizer = faiss.ScalarQuantizer.QT_8bit_uniform
        scalars: Any = faiss.IndexScalarQuantizer(dimension, quantizer, faiss.METRIC_INNER_PRODUCT)
        # The numbers of a unit vector lie between -1 and 1, so no data is needed for training.
        scalars.train(np.outer([-1.0, 1.0], np.ones(dimension)).astype(np.float32))
        self._index: Any = faiss.IndexIDMap(scalars)
        self._index.own_fields = True
        scalars.this.disown()
        self._ids: set[int] = set()

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> frozenset[int]:
        """The ids in the index."""
        return frozenset(self._ids)

    def add(self, ids: Sequence[int], vectors: Vector) -> None:
        """Add ``(n, d)`` vectors; ids that are already present keep their vectors."""
        import numpy as np

        new = [row for row, number in enumerate(ids) if number not in self._ids]
        if new:
            chosen = np.asarray([ids[row] for row in new], dtype=np.int64)
            self._index.add_with_ids(vectors if len(new) == len(ids) else vectors[new], chosen)
            self._ids.update(chosen.tolist())

    def remove(self, ids: Iterable[int]) -> None:
        """Remove the vectors with these ids; unknown ids are ignored."""
        import numpy as np

        present = self._ids.intersection(ids)
        if present:
            self._index.remove_ids(np.fromiter(present, dtype=np.int64, count=len(present)))
            self._ids -= present

    def search(self, vector: Vector, count: int) -> list[tuple[int, float]]:
        """Return up to ``count`` pairs of id and approximate cosine nearest to a ``(d,)`` vector, best first."""
        count = min(count, len(self._ids))
        if count < 1:
            return []
        cosines, ids = self._index.search(vector.reshape(1, -1), count)
        return list(zip(ids[0].tolist(), cosines[0].tolist(), strict=True))
