"""Trains the model that compares two requests (`memory_store/embedding/same_task.safetensors`), with PyTorch.

```
pip install 'agent-s[train]' -r requirements-embedder.txt
python -m benchmarks.train_same_task --steps 4000 --out same_task.safetensors
```

all-MiniLM-L6-v2 reads both requests at once. Its weights stay as they are; low-rank differences of the matrices (LoRA;
Hu et al., 2021), biases, norms and a logistic regression are learned from `data/same_task.txt`,
`data/same_task_templates.yaml` and the labels that today's rules were tuned on (`data/memory_labels.txt`). The rate of
learning falls to zero over the steps given. Nothing of `data/same_task_held_out.txt` is trained on;
`--held-out` measures on it, as `benchmarks.memory` does, what memory finds with the model that is installed.
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.support.quality import LABELS, WITHOUT, Labelled, measure_quality
from benchmarks.support.same_task_pairs import Sampler, fill_templates, read_labels, read_paragraphs
from memory_store import MemoryStore, Provenance
from memory_store.embedding.minilm import MiniLmEmbedder, _cut, _Model, _padded

DATA = Path(__file__).parent / "data"
PARTS = ("qkv", "mix", "widen", "narrow")
NORMS = ("mix_norm", "narrow_norm")
RANK = 16
BATCH = 48
FROM_TEMPLATES = 0.32  # share of the pairs
RATE, HEAD_RATE = 1.2e-3, 0.07
WARM_UP = 40  # steps
DROPOUT = 0.1
SMOOTHING = 0.02  # how far the probabilities to learn are from 0 and 1
GAIN, START = 10.0, -6.0  # Before the training, the log-odds are START + GAIN * cosine.


def main() -> None:
    """Train, or measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, help="file to write")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--held-out", action="store_true", help="measure the installed model on the held-out tasks")
    wanted = parser.parse_args()
    if wanted.out:
        train(wanted.out, wanted.steps)
    if wanted.held_out:
        measure()


def train(out: Path, steps: int) -> None:
    """Train and write the differences to the weights."""
    import torch
    from safetensors.numpy import save_file

    torch.manual_seed(0)
    random.seed(0)
    embedder = MiniLmEmbedder()
    base = embedder._load()
    begun = _untrained(base)
    weights = {name: torch.tensor(value.astype(np.float32), requires_grad=True) for name, value in begun.items()}
    reader = _Reader(base, weights)
    written = read_paragraphs(DATA / "same_task.txt") + read_labels(LABELS["tuning"])
    by_hand = Sampler(written, embedder.embed)
    by_template = Sampler(fill_templates(DATA / "same_task_templates.yaml"), embedder.embed)
    head = [value for name, value in weights.items() if name.startswith("head")]
    body = [value for name, value in weights.items() if not name.startswith("head")]
    optimizer = torch.optim.AdamW([{"params": body}, {"params": head}], lr=RATE, weight_decay=0.01, betas=(0.9, 0.98))
    started, shown = time.monotonic(), []
    batches: list[list[tuple[str, str, float]]] = []
    for step in range(steps):
        if not batches:
            # Batches of similar length need little padding.
            from_templates = round(8 * BATCH * FROM_TEMPLATES)
            pairs = by_hand.draw(8 * BATCH - from_templates) + by_template.draw(from_templates)
            pairs.sort(key=lambda pair: len(pair[0]) + len(pair[1]))
            batches = [pairs[place : place + BATCH] for place in range(0, len(pairs), BATCH)]
            random.shuffle(batches)
        batch = batches.pop()
        for group, rate in zip(optimizer.param_groups, (RATE, HEAD_RATE), strict=True):
            group["lr"] = rate * min(1.0, (step + 1) / WARM_UP) * (1 - step / steps)
        aims = torch.tensor([same for *_, same in batch]) * (1 - 2 * SMOOTHING) + SMOOTHING
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=reader.halves):
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
    halves = {name: value.detach().numpy().astype(np.float16) for name, value in weights.items()}
    save_file(halves, out, metadata={"base": embedder.name})


def _untrained(base: _Model) -> dict[str, Any]:
    """Return differences that change nothing, and a head that goes by the cosine."""
    numbers = np.random.default_rng(0)
    size = base.words.shape[1]
    found: dict[str, Any] = {"segments": base.segments, "norm.weight": base.norm[0], "norm.bias": base.norm[1]}
    for number, layer in enumerate(base.layers):
        for part in PARTS:
            before: Any = getattr(layer, part)
            wide, high = before.shape
            found[f"layers.{number}.{part}.down"] = numbers.standard_normal((RANK, wide)) / math.sqrt(wide)
            found[f"layers.{number}.{part}.up"] = np.zeros((high, RANK))
            found[f"layers.{number}.{part}.bias"] = getattr(layer, f"{part}_bias")
        for part in NORMS:
            found[f"layers.{number}.{part}.weight"], found[f"layers.{number}.{part}.bias"] = getattr(layer, part)
    found["head.weight"] = np.concatenate([np.zeros(size), np.full(size, GAIN), np.zeros(size)])
    found["head.bias"] = np.array([START])
    return found


class _Reader:
    """The forward pass of `MiniLmEmbedder.same` in PyTorch, with dropout."""

    def __init__(self, base: _Model, weights: dict[str, Any]) -> None:
        import torch

        # Where the processor cannot multiply these, they take several times as long as whole ones.
        self.halves = bool(torch.cpu._is_avx512_bf16_supported())
        dtype = torch.bfloat16 if self.halves else torch.float32
        self._base, self._weights = base, weights
        self._words, self._positions = torch.tensor(base.words), torch.tensor(base.positions)
        self._frozen = [
            {part: torch.tensor(getattr(layer, part).T.copy(), dtype=dtype) for part in PARTS} for layer in base.layers
        ]

    def odds(self, pairs: list[tuple[str, str]]) -> Any:
        """Return the log-odds of pairs that they ask for the same, ``(n,)``."""
        import torch
        from torch.nn.functional import dropout, gelu, linear, normalize, scaled_dot_product_attention

        encode = self._base.tokenizer.encode
        rows = [(_cut(encode(one).ids), _cut(encode(other).ids)[1:]) for one, other in pairs]
        listed, marked = _padded([first + second for first, second in rows])
        ids, mask = torch.tensor(listed), torch.tensor(marked)
        second = mask.clone()
        for row, (first, _) in enumerate(rows):
            second[row, : len(first)] = 0.0
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
            hidden = self._norm(hidden + dropout(mixed, DROPOUT), f"{at}.mix_norm")
            narrow = apply("narrow", gelu(apply("widen", hidden)))
            hidden = self._norm(hidden + dropout(narrow, DROPOUT), f"{at}.narrow_norm")
        hidden = hidden.float()
        one, other = (
            normalize((hidden * each[:, :, None]).sum(1) / each[:, :, None].sum(1), dim=-1)
            for each in (mask - second, second)
        )
        compared = torch.cat([(one - other).abs(), one * other, normalize(hidden[:, 0], dim=-1)], -1)
        odds = dropout(compared, DROPOUT) * weights["head.weight"]
        return odds.sum(-1) + weights["head.bias"]

    def _norm(self, values: Any, name: str) -> Any:
        from torch.nn.functional import layer_norm

        scale, shift = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return layer_norm(values, values.shape[-1:], scale, shift, self._base.epsilon)


def measure() -> None:
    """Print what memory finds of the held-out tasks, and what it takes for them, with and without the model."""
    labelled = Labelled()
    for paragraph in read_paragraphs(DATA / "same_task_held_out.txt"):
        (_, (key, *wordings)), *others = paragraph.tasks
        labelled.stored.append((paragraph.applications[0], f"How to {key} in {paragraph.applications[0]}"))
        labelled.queries.extend((wording, len(labelled.stored) - 1) for wording in wordings)
        for mark, listed in others:
            labelled.without[WITHOUT[mark]].extend(listed)
    for name, embedder in (("with the model", MiniLmEmbedder()), ("by rules only", _OnlyRules())):
        with tempfile.TemporaryDirectory() as folder, MemoryStore.open(Path(folder) / "memory.db", embedder) as store:
            for app, key in labelled.stored:
                source = Provenance(run_id="r", app=app)
                store.add_narrative(query=key, instruction=key, summary="x", success=True, provenance=source)

            def search(query: str, store: MemoryStore = store) -> list[str]:
                return [hit.experience.query for hit in store.search_narrative(query, 5)]

            found = measure_quality(labelled, search)
        print(f"{name}: recall@1 {found.recall_at_1:.3f}, opposites answered {found.false_positive_rate:.3f}")


class _OnlyRules(MiniLmEmbedder):
    def same(self, query: str, key: str) -> None:
        """Compare nothing."""


if __name__ == "__main__":
    main()
