"""Nearest neighbours among unit vectors with FAISS, by the way that suits their number.

Up to `EXACT_ROWS` vectors are all compared, as 16-bit floats, which changes a cosine by some 1e-5 and takes half of the
time, as that goes by the bytes that are read. More are compared as bytes, eight bits a number, and
above `CLUSTERED_ROWS` only those of the clusters that are nearest to the query; what is found is then to be compared
again with the vectors of the database (`VectorIndex.is_exact` tells). Bytes take a quarter of the memory and half of
the time; clusters make the time depend on the number of vectors by its root only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Ids = NDArray[np.int64]

EXACT_ROWS = 20_000
CLUSTERED_ROWS = 200_000

_PROBED = 256
_TRAINING_ROWS = 40
"""For each cluster."""
_CHUNK = 16_384

Form = Literal["exact", "bytes", "clusters"]


class VectorIndex:
    """Inner-product search over unit vectors with integer ids.

    Args:
        dimension: Length of the vectors.
    """

    def __init__(self, dimension: int) -> None:
        import faiss

        # One query at a time: starting threads costs more than they save.
        faiss.omp_set_num_threads(1)
        self._faiss = faiss
        self._dimension = dimension
        self.form: Form = "exact"
        halves = faiss.ScalarQuantizer.QT_fp16
        self._index: Any = self._mapped(faiss.IndexScalarQuantizer(dimension, halves, faiss.METRIC_INNER_PRODUCT))
        # What FAISS casts down lives only as long as what it was cast from.
        self._owner: Any = None
        self._ids: set[int] = set()

    @classmethod
    def read(cls, dimension: int, form: Form, data: memoryview) -> VectorIndex:
        """Return the index that `write` wrote.

        Raises:
            ValueError: These bytes are no index of this form and dimension.
        """
        import numpy as np

        index = cls(dimension)
        try:
            read = index._faiss.deserialize_index(np.frombuffer(data, dtype=np.uint8))
        except RuntimeError as error:
            raise ValueError(f"not an index: {error}") from error
        index._index = index._faiss.downcast_index(read)
        index._owner = read
        index.form = form
        wanted = index._faiss.IndexIVF if form == "clusters" else index._faiss.IndexIDMap
        if not isinstance(index._index, wanted) or read.d != dimension:
            raise ValueError("an index of another form or dimension")
        index._ids = {number for ids in index._id_arrays() for number in ids.tolist()}
        if len(index._ids) != read.ntotal:
            raise ValueError("an index with repeated ids")
        return index

    def write(self) -> bytes:
        """Return the index as bytes."""
        data: bytes = self._faiss.serialize_index(self._index).tobytes()
        return data

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> frozenset[int]:
        """The ids in the index."""
        return frozenset(self._ids)

    @property
    def is_exact(self) -> bool:
        """Whether cosines can be taken as they are and none is passed over."""
        return self.form == "exact"

    def add(self, ids: Sequence[int], vectors: Vector) -> None:
        """Add ``(n, d)`` vectors; ids already present are left as they are (FAISS would keep both)."""
        import numpy as np

        new = [row for row, number in enumerate(ids) if number not in self._ids]
        if not new:
            return
        chosen = np.asarray([ids[row] for row in new], dtype=np.int64)
        self._index.add_with_ids(vectors if len(new) == len(ids) else vectors[new], chosen)
        self._ids.update(chosen.tolist())
        if self.form == "exact" and len(self._ids) > EXACT_ROWS:
            self._become_bytes()

    def settle(self) -> None:
        """Take the form that suits the number of vectors; call it after many were added."""
        if len(self._ids) > CLUSTERED_ROWS and (
            self.form != "clusters" or len(self._ids) > 16 * _TRAINING_ROWS * self._index.nlist
        ):
            self._become_clusters()

    def remove(self, ids: Iterable[int]) -> None:
        """Remove the vectors with these ids; unknown ids are ignored."""
        import numpy as np

        gone = self._ids.intersection(ids)
        if gone:
            self._index.remove_ids(np.fromiter(gone, dtype=np.int64, count=len(gone)))
            self._ids -= gone

    def search(self, vector: Vector, count: int) -> list[tuple[int, float]]:
        """Return up to ``count`` (id, cosine) pairs nearest to a ``(d,)`` vector, best first."""
        count = min(count, len(self._ids))
        if count < 1:
            return []
        similarities, ids = self._index.search(vector.reshape(1, -1), count)
        found = zip(ids[0].tolist(), similarities[0].tolist(), strict=True)
        return [(number, cosine) for number, cosine in found if number >= 0]

    def cosines(self, ids: Sequence[int], vector: Vector) -> dict[int, float] | None:
        """Return the cosine of each id that is there; None where they are not known exactly."""
        import numpy as np

        if not self.is_exact:
            return None
        faiss: Any = self._faiss
        # The selector must outlive the search.
        wanted = faiss.IDSelectorBatch(np.asarray(ids, dtype=np.int64))
        count = min(len(ids), len(self._ids))
        if count < 1:
            return {}
        chosen = faiss.SearchParameters(sel=wanted)
        similarities, found = self._index.search(vector.reshape(1, -1), count, params=chosen)
        pairs = zip(found[0].tolist(), similarities[0].tolist(), strict=True)
        return {number: cosine for number, cosine in pairs if number >= 0}

    def _mapped(self, inner: Any) -> Any:
        """Return the index with ids of our own."""
        index = self._faiss.IndexIDMap(inner)
        index.own_fields = True
        inner.this.disown()
        return index

    def _become_bytes(self) -> None:
        faiss = self._faiss
        bytes_of = faiss.IndexScalarQuantizer(
            self._dimension, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
        )
        # Trained on the first rows with room around them: what comes later is not to be cut off.
        bytes_of.sq.rangestat = faiss.ScalarQuantizer.RS_minmax
        bytes_of.sq.rangestat_arg = 0.25
        old = list(self._rows())
        bytes_of.train(old[0][1] if len(old) == 1 else _stack([rows for _, rows in old]))
        self._index = self._mapped(bytes_of)
        for ids, rows in old:
            self._index.add_with_ids(rows, ids)
        self.form = "bytes"

    def _become_clusters(self) -> None:
        import numpy as np

        faiss = self._faiss
        clusters = max(64, round(math.sqrt(len(self._ids))))
        made = faiss.index_factory(self._dimension, f"IVF{clusters},SQ8", faiss.METRIC_INNER_PRODUCT)
        made.nprobe = _PROBED
        made.cp.niter = 8
        share = min(1.0, clusters * _TRAINING_ROWS / len(self._ids))
        chance = np.random.default_rng(0)
        made.train(_stack([rows[chance.random(len(rows)) < share] for _, rows in self._rows()]))
        for ids, rows in self._rows():
            made.add_with_ids(rows, ids)
        self._index = faiss.downcast_index(made)
        self._owner = made
        self.form = "clusters"

    def _rows(self) -> Iterator[tuple[Ids, Vector]]:
        """Yield all ids and vectors in parts."""
        if self.form == "clusters":
            self._index.make_direct_map(True)
        inner = self._index if self.form == "clusters" else self._faiss.downcast_index(self._index.index)
        start = 0
        for ids in self._id_arrays():
            for first in range(0, len(ids), _CHUNK):
                some = ids[first : first + _CHUNK]
                if self.form == "clusters":
                    yield some, _stack([inner.reconstruct(int(number)).reshape(1, -1) for number in some])
                else:
                    yield some, inner.reconstruct_n(start + first, len(some))
            start += len(ids)

    def _id_arrays(self) -> Iterator[Ids]:
        if self.form != "clusters":
            yield self._faiss.vector_to_array(self._index.id_map)
            return
        lists = self._index.invlists
        for number in range(lists.nlist):
            size = lists.list_size(number)
            if size:
                yield self._faiss.rev_swig_ptr(lists.get_ids(number), size).copy()


def _stack(parts: list[Vector]) -> Vector:
    import numpy as np

    return np.concatenate(parts)
