"""Trains the model that compares two requests (`memory_store/embedding/same_task.safetensors`), with PyTorch.

```
pip install 'agent-s[train]' -r requirements-embedder.txt
python -m benchmarks.train_same_task --out same_task.safetensors
```

all-MiniLM-L6-v2 reads both requests at once. Its weights stay as they are; low-rank differences of the matrices (LoRA;
Hu et al., 2021), biases, norms and a logistic regression are learned from the files of `data/same_task`,
`data/same_task_templates.yaml` and the labels that today's rules were tuned on (`data/memory_labels.txt`). The rate of
learning falls to zero over the steps given. Several trainings, one for each of `RECIPES`, are averaged (a model soup;
Wortsman et al., 2022), and the differences are stored with a lower rank. A GPU is used if there is one. The steps
given by default took 6 minutes on an H100 with all recipes side by side; one after the other on a laptop, expect a day.
The other labels (`data/memory_*.txt`) are for `benchmarks.memory`, and none of their wordings is trained on.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.support.same_task_pairs import Sampler, fill_templates, read_labels, read_paragraphs
from memory_store.embedding.minilm import MiniLmEmbedder, _cut, _Model, _padded

DATA = Path(__file__).parent / "data"
TASKS = DATA / "same_task"
TUNING = DATA / "memory_labels.txt"
PARTS = ("qkv", "mix", "widen", "narrow")
NORMS = ("mix_norm", "narrow_norm")
STORED_RANK = 64
BATCH = 192
HEAD_RATE = 0.07
WARM_UP = 40  # steps
GAIN, START = 10.0, -6.0  # Before the training, the log-odds are START + GAIN * cosine.


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one of the averaged models is trained."""

    rank: int
    rate: float  # of learning, but for the regression
    from_templates: float = 0.12  # share of the pairs
    neighbours: float = 0.36  # share of pairs of one paragraph, of those drawn by hand
    near: float = 0.11  # share of pairs of similar tasks of different paragraphs, likewise
    dropout: float = 0.1
    smoothing: float = 0.02  # how far the probabilities to learn are from 0 and 1


RECIPES = (
    Recipe(16, 1.2e-3),
    Recipe(64, 0.9e-3),
    Recipe(16, 1.2e-3, neighbours=0.29, near=0.18),
    Recipe(64, 0.9e-3, from_templates=0.2, dropout=0.2, smoothing=0.05),
)


def main() -> None:
    """Train as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    parser.add_argument("--steps", type=int, default=5500)
    wanted = parser.parse_args()
    train(wanted.out, wanted.steps)


def train(out: Path, steps: int) -> None:
    """Train by each recipe, and write the averaged differences to the weights."""
    from safetensors.numpy import save_file

    embedder = MiniLmEmbedder()
    written = [paragraph for file in sorted(TASKS.glob("*.txt")) for paragraph in read_paragraphs(file)]
    written += read_labels(TUNING)
    templates = fill_templates(DATA / "same_task_templates.yaml")
    known: dict[str, Any] = {}

    def embed(texts: Sequence[str]) -> Any:
        new = [text for text in texts if text not in known]
        known.update(zip(new, embedder.embed(new), strict=True))
        return np.array([known[text] for text in texts])

    trained = []
    for number, recipe in enumerate(RECIPES, start=1):
        print(f"training {number} of {len(RECIPES)}", flush=True)
        by_hand, by_template = (
            Sampler(each, embed, neighbours=recipe.neighbours, near=recipe.near) for each in (written, templates)
        )
        trained.append(_train_one(embedder._load(), recipe, steps, by_hand, by_template))
    halves = {name: value.astype(np.float16) for name, value in average(trained, STORED_RANK).items()}
    save_file(halves, out, metadata={"base": embedder.name})


def average(trained: Sequence[dict[str, Any]], rank: int) -> dict[str, Any]:
    """Return the mean of several sets of differences, the matrices as two factors of a rank."""
    found: dict[str, Any] = {}
    for name in trained[0]:
        if name.endswith(".down"):
            up = name.removesuffix("down") + "up"
            mean = sum(one[up] @ one[name] for one in trained) / len(trained)
            left, sizes, right = np.linalg.svd(mean, full_matrices=False)
            roots = np.sqrt(sizes[:rank])
            found[up], found[name] = left[:, :rank] * roots, roots[:, None] * right[:rank]
        elif not name.endswith(".up"):
            found[name] = sum(one[name] for one in trained) / len(trained)
    return found


def _train_one(base: _Model, recipe: Recipe, steps: int, by_hand: Sampler, by_template: Sampler) -> dict[str, Any]:
    import torch

    torch.manual_seed(0)
    random.seed(0)
    begun = _untrained(base, recipe.rank)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    weights = {
        name: torch.tensor(value.astype(np.float32), requires_grad=True, device=device) for name, value in begun.items()
    }
    reader = _Reader(base, weights, device, recipe.dropout)
    head = [value for name, value in weights.items() if name.startswith("head")]
    body = [value for name, value in weights.items() if not name.startswith("head")]
    optimizer = torch.optim.AdamW(
        [{"params": body}, {"params": head}], lr=recipe.rate, weight_decay=0.01, betas=(0.9, 0.98)
    )
    started, shown = time.monotonic(), []
    batches: list[list[tuple[str, str, float]]] = []
    for step in range(steps):
        if not batches:
            # Batches of similar length need little padding.
            from_templates = round(8 * BATCH * recipe.from_templates)
            pairs = by_hand.draw(8 * BATCH - from_templates) + by_template.draw(from_templates)
            pairs.sort(key=lambda pair: len(pair[0]) + len(pair[1]))
            batches = [pairs[place : place + BATCH] for place in range(0, len(pairs), BATCH)]
            random.shuffle(batches)
        batch = batches.pop()
        for group, rate in zip(optimizer.param_groups, (recipe.rate, HEAD_RATE), strict=True):
            group["lr"] = rate * min(1.0, (step + 1) / WARM_UP) * (1 - step / steps)
        aims = torch.tensor([same for *_, same in batch], device=device) * (1 - 2 * recipe.smoothing)
        aims += recipe.smoothing
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=reader.halves):
            odds = reader.odds([(one, other) for one, other, _ in batch])
        loss = torch.nn.functional.binary_cross_entropy_with_logits(odds, aims)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(body + head, 1.0)
        optimizer.step()
        shown.append((loss.item(), ((odds > 0) == (aims > 0.5)).float().mean().item()))
        if len(shown) == 50:
            lost, right = np.mean(shown, axis=0)
            took = time.monotonic() - started
            print(f"{step + 1} steps, {took:.0f} s: loss {lost:.3f}, right {right:.3f}", flush=True)
            shown = []
    return {name: value.detach().cpu().numpy() for name, value in weights.items()}


def _untrained(base: _Model, rank: int) -> dict[str, Any]:
    """Return differences that change nothing, and a head that goes by the cosine."""
    numbers = np.random.default_rng(0)
    size = base.words.shape[1]
    found: dict[str, Any] = {"segments": base.segments, "norm.weight": base.norm[0], "norm.bias": base.norm[1]}
    for number, layer in enumerate(base.layers):
        for part in PARTS:
            before: Any = getattr(layer, part)
            wide, high = before.shape
            found[f"layers.{number}.{part}.down"] = numbers.standard_normal((rank, wide)) / math.sqrt(wide)
            found[f"layers.{number}.{part}.up"] = np.zeros((high, rank))
            found[f"layers.{number}.{part}.bias"] = getattr(layer, f"{part}_bias")
        for part in NORMS:
            found[f"layers.{number}.{part}.weight"], found[f"layers.{number}.{part}.bias"] = getattr(layer, part)
    found["head.weight"] = np.concatenate([np.zeros(size), np.full(size, GAIN), np.zeros(size)])
    found["head.bias"] = np.array([START])
    return found


class _Reader:
    """The forward pass of `MiniLmEmbedder.same` in PyTorch, with dropout."""

    def __init__(self, base: _Model, weights: dict[str, Any], device: Any, dropout: float) -> None:
        import torch

        # Where the processor cannot multiply these, they take several times as long as whole ones.
        self.halves = device.type == "cuda" or bool(torch.cpu._is_avx512_bf16_supported())
        dtype = torch.bfloat16 if self.halves else torch.float32
        self._base, self._weights, self._device, self._dropout = base, weights, device, dropout
        self._words = torch.tensor(base.words, device=device)
        self._positions = torch.tensor(base.positions, device=device)
        self._frozen = [
            {part: torch.tensor(getattr(layer, part).T.copy(), dtype=dtype, device=device) for part in PARTS}
            for layer in base.layers
        ]

    def odds(self, pairs: list[tuple[str, str]]) -> Any:
        """Return the log-odds of pairs that they ask for the same, ``(n,)``."""
        import torch
        from torch.nn.functional import dropout, gelu, linear, normalize, scaled_dot_product_attention

        encode = self._base.tokenizer.encode
        rows = [(_cut(encode(one).ids), _cut(encode(other).ids)[1:]) for one, other in pairs]
        listed, marked = _padded([first + second for first, second in rows])
        ids, mask = torch.tensor(listed, device=self._device), torch.tensor(marked, device=self._device)
        begins = torch.tensor([len(first) for first, _ in rows], device=self._device)
        second = mask * (torch.arange(mask.shape[1], device=self._device) >= begins[:, None])
        weights = self._weights
        embedded = self._words[ids] + self._positions[: ids.shape[1]] + weights["segments"][second.long()]
        hidden = self._norm(embedded, "norm")
        count, length, size = hidden.shape
        for number, frozen in enumerate(self._frozen):
            at = f"layers.{number}"

            def apply(part: str, given: Any, at: str = at, frozen: dict[str, Any] = frozen) -> Any:
                change = linear(linear(given, weights[f"{at}.{part}.down"]), weights[f"{at}.{part}.up"])
                return linear(given, frozen[part]) + weights[f"{at}.{part}.bias"] + change

            heads = apply("qkv", hidden).view(count, length, 3, self._base.heads, -1).permute(2, 0, 3, 1, 4)
            attended = scaled_dot_product_attention(*heads, attn_mask=mask[:, None, None, :].bool())
            mixed = apply("mix", attended.transpose(1, 2).reshape(count, length, size))
            hidden = self._norm(hidden + dropout(mixed, self._dropout), f"{at}.mix_norm")
            narrow = apply("narrow", gelu(apply("widen", hidden)))
            hidden = self._norm(hidden + dropout(narrow, self._dropout), f"{at}.narrow_norm")
        hidden = hidden.float()
        one, other = (
            normalize((hidden * each[:, :, None]).sum(1) / each[:, :, None].sum(1), dim=-1)
            for each in (mask - second, second)
        )
        compared = torch.cat([(one - other).abs(), one * other, normalize(hidden[:, 0], dim=-1)], -1)
        odds = dropout(compared, self._dropout) * weights["head.weight"]
        return odds.sum(-1) + weights["head.bias"]

    def _norm(self, values: Any, name: str) -> Any:
        from torch.nn.functional import layer_norm

        scale, shift = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return layer_norm(values, values.shape[-1:], scale, shift, self._base.epsilon)


if __name__ == "__main__":
    main()
